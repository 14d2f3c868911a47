"""The shapes of Federation v1's documents, as far as anything is made of them."""

from collections.abc import Mapping

from render.federations.decoding import integer, struct, text
from render.federations.shapes import Read, check_metadata, fields, list_of, map_of, texts
from render.model import Manifest

_WORKLOAD = fields(
    replicas=integer,
    selector=struct,
    template=fields(metadata=fields(labels=map_of(text))),
)
_SPECS: Mapping[str, Read] = {
    "Cluster": fields(serverAddressByClientCIDRs=list_of(fields(serverAddress=text)), secretRef=fields(name=text)),
    "DaemonSet": _WORKLOAD,
    "Deployment": _WORKLOAD,
    "ReplicaSet": _WORKLOAD,
    "Job": fields(parallelism=integer, completions=integer, selector=struct),
    "HorizontalPodAutoscaler": fields(
        minReplicas=integer, maxReplicas=integer, scaleTargetRef=fields(kind=text, name=text)
    ),
    "Ingress": fields(
        backend=struct,
        rules=list_of(fields(http=fields(paths=list_of(fields(backend=struct))))),
    ),
    "Service": fields(type=text),
}


def check_shape(manifest: Manifest) -> None:
    """Raise WrongShape for a document whose fields are not of the types that Federation v1 gives them."""
    check_metadata(manifest)
    kind = manifest.get("kind") or ""
    if kind in _SPECS:
        _SPECS[kind](manifest.get("spec"), "spec")
    if kind == "Cluster":
        fields(region=text, zones=texts)(manifest.get("status"), "status")
