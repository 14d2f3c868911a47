"""The shapes of Clusternet's documents: a document of another shape is refused before anything is made of it."""

from collections.abc import Mapping

from render.federations.decoding import integer, struct, text, truth
from render.federations.shapes import Read, check_metadata, fields, list_of, map_of, texts
from render.model import Manifest

_FEED = fields(apiVersion=text, kind=text, namespace=text, name=text)
_TOLERATION = fields(key=text, operator=text, value=text, effect=text)
_OVERRIDES = fields(
    feed=_FEED,
    priority=integer,
    clusterAffinity=struct,
    overrides=list_of(fields(name=text, value=text, type=text, overrideChart=truth, fieldPath=text, fieldFormat=text)),
)
_SPECS: Mapping[str, Read] = {
    "Subscription": fields(
        subscribers=list_of(
            fields(clusterAffinity=struct, weight=integer, subGroupStrategy=fields(minClusters=integer))
        ),
        feeds=list_of(_FEED),
        schedulingStrategy=text,
        schedulingBySubGroup=truth,
        dividingScheduling=fields(type=text, dynamicDividing=fields(strategy=text)),
        clusterTolerations=list_of(_TOLERATION),
        priority=integer,
    ),
    "Globalization": _OVERRIDES,
    "Localization": _OVERRIDES,
    "FeedInventory": fields(feeds=list_of(fields(apiVersion=text, kind=text, name=text, desiredReplicas=integer))),
    "HelmChart": fields(
        repo=text,
        chart=text,
        version=text,
        targetNamespace=text,
        timeoutSeconds=integer,
        chartPullSecret=fields(name=text),
    ),
    "ManagedCluster": fields(syncMode=text, taints=list_of(_TOLERATION)),
}
_STATUSES: Mapping[str, Read] = {
    "Subscription": fields(bindingClusters=texts, replicas=map_of(list_of(integer))),
    "ManagedCluster": fields(apiserverURL=text),
}


def check_shape(manifest: Manifest, *, is_its: bool) -> None:
    """Raise WrongShape for a document whose fields are not of the types that Clusternet gives them."""
    check_metadata(manifest)
    kind = manifest.get("kind") or ""
    if not is_its:
        struct(manifest.get("spec"), "spec")
    elif kind in _SPECS:
        _SPECS[kind](manifest.get("spec"), "spec")
        _STATUSES.get(kind, struct)(manifest.get("status"), "status")
