"""The shapes of KubeFed's documents: a document of another shape is refused before anything is made of it."""

from collections.abc import Callable, Mapping
from typing import Any

from render.federations.decoding import WrongShape, integer, sequence, struct, text, truth
from render.model import Manifest

Read = Callable[[Any, str], object]


def _texts(plain: Any, what: str) -> object:
    return sequence(plain, what, text)


def _map_of(read: Read) -> Read:
    return lambda plain, what: [read(value, f"{what}[{key}]") for key, value in struct(plain, what).items()]


def _fields(**reads: Read) -> Read:
    def read(plain: Any, what: str) -> object:
        fields = struct(plain, what)
        return [each(fields.get(name), f"{what}.{name}") for name, each in reads.items()]

    return read


_METADATA = _fields(name=text, namespace=text, labels=_map_of(text), annotations=_map_of(text))
_BOUNDS = _fields(minReplicas=integer, maxReplicas=integer, weight=integer)
_TYPE = _fields(group=text, version=text, kind=text, scope=text)
_SPECS: Mapping[str, Read] = {
    "ReplicaSchedulingPreference": _fields(
        targetKind=text,
        totalReplicas=integer,
        rebalance=truth,
        intersectWithClusterSelector=truth,
        clusters=_map_of(_BOUNDS),
    ),
    "FederatedTypeConfig": _fields(targetType=_TYPE, federatedType=_TYPE, propagation=text),
    "KubeFedCluster": _fields(
        apiEndpoint=text, proxyURL=text, secretRef=_fields(name=text), disabledTLSValidations=_texts
    ),
}
_FEDERATED = _fields(retainReplicas=truth, template=_fields(metadata=_METADATA, spec=struct))
_STATUS = _fields(region=text, zones=_texts)


def check_shape(manifest: Manifest) -> None:
    """Raise WrongShape for a document whose fields are not of the types that KubeFed gives them."""
    kind = text(manifest.get("kind"), "kind")
    _METADATA(manifest.get("metadata"), "metadata")
    if not (manifest.get("metadata") or {}).get("name"):
        raise WrongShape("metadata.name is missing")
    if kind in _SPECS or kind.startswith("Federated"):
        _SPECS.get(kind, _FEDERATED)(manifest.get("spec"), "spec")
    if kind == "KubeFedCluster":
        _STATUS(manifest.get("status"), "status")
