"""The shapes of KubeFed's documents: a document of another shape is refused before anything is made of it."""

from collections.abc import Mapping

from render.federations.decoding import integer, struct, text, truth
from render.federations.shapes import METADATA, Read, check_metadata, fields, map_of, texts
from render.model import Manifest

_BOUNDS = fields(minReplicas=integer, maxReplicas=integer, weight=integer)
_TYPE = fields(group=text, version=text, kind=text, scope=text)
_SPECS: Mapping[str, Read] = {
    "ReplicaSchedulingPreference": fields(
        targetKind=text,
        totalReplicas=integer,
        rebalance=truth,
        intersectWithClusterSelector=truth,
        clusters=map_of(_BOUNDS),
    ),
    "FederatedTypeConfig": fields(targetType=_TYPE, federatedType=_TYPE, propagation=text),
    "KubeFedCluster": fields(
        apiEndpoint=text, proxyURL=text, secretRef=fields(name=text), disabledTLSValidations=texts
    ),
}
_FEDERATED = fields(retainReplicas=truth, template=fields(metadata=METADATA, spec=struct))
_STATUS = fields(region=text, zones=texts)


def check_shape(manifest: Manifest) -> None:
    """Raise WrongShape for a document whose fields are not of the types that KubeFed gives them."""
    check_metadata(manifest)
    kind = manifest.get("kind") or ""
    if kind in _SPECS or kind.startswith("Federated"):
        _SPECS.get(kind, _FEDERATED)(manifest.get("spec"), "spec")
    if kind == "KubeFedCluster":
        _STATUS(manifest.get("status"), "status")
