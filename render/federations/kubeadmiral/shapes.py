"""The shapes of KubeAdmiral's documents, as far as anything is made of them."""

from collections.abc import Mapping

from render.federations.decoding import WrongShape, integer, struct, text
from render.federations.shapes import Read, check_metadata, fields, list_of, map_of, texts
from render.model import Manifest

_TOLERATION = fields(key=text, operator=text, value=text, effect=text)


def _named_cluster(plain: object, what: str) -> object:
    if not text(struct(plain, what).get("cluster"), f"{what}.cluster"):
        raise WrongShape(f"{what}.cluster is missing")
    return fields(preferences=fields(minReplicas=integer, maxReplicas=integer, weight=integer))(plain, what)


def _patch(plain: object, what: str) -> object:
    if not text(struct(plain, what).get("path"), f"{what}.path"):
        raise WrongShape(f"{what}.path is missing")
    return fields(operator=text)(plain, what)


_PROPAGATION = fields(
    schedulingMode=text,
    schedulingProfile=text,
    maxClusters=integer,
    clusterSelector=map_of(text),
    clusterAffinity=list_of(struct),
    placement=list_of(_named_cluster),
    tolerations=list_of(_TOLERATION),
)
_OVERRIDES = fields(
    overrideRules=list_of(
        fields(
            targetClusters=fields(clusters=texts, clusterSelector=map_of(text), clusterAffinity=list_of(struct)),
            overriders=fields(jsonpatch=list_of(_patch)),
        )
    )
)
_SPECS: Mapping[str, Read] = {
    "ClusterOverridePolicy": _OVERRIDES,
    "ClusterPropagationPolicy": _PROPAGATION,
    "FederatedCluster": fields(apiEndpoint=text, taints=list_of(_TOLERATION)),
    "OverridePolicy": _OVERRIDES,
    "PropagationPolicy": _PROPAGATION,
}


def check_shape(manifest: Manifest, *, is_its: bool) -> None:
    """Raise WrongShape for a document whose fields are not of the types that KubeAdmiral gives them."""
    check_metadata(manifest)
    read = _SPECS.get(manifest.get("kind") or "", struct) if is_its else fields(replicas=integer)
    read(manifest.get("spec"), "spec")
