"""The object that KubeFed sends to a cluster (``retain.go``, ``overrides.go``): what an import must amount to.

On an update fields are retained from the live object before the overrides; the label that marks it as managed is last.
Recorded answers of KubeFed are replayed against it.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from render.federations.decoding import WrongShape
from render.federations.kubefed.federated_objects import (
    SentObject,
    TargetType,
    object_of_template,
    patch_operations_by_cluster,
)
from render.federations.patches import JsonPatch, PatchFailed
from render.model import Manifest

MANAGED_LABEL = "kubefed.io/managed"


@dataclass(frozen=True, slots=True)
class NotSent:
    """A cluster is sent nothing; ``status`` is what KubeFed reports for it."""

    status: str
    message: str


def labels_by_name(clusters: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, str]]:
    """Return the labels of clusters that are given as ``{name, labels}``."""
    return {each["name"]: each.get("labels") or {} for each in clusters}


def sent_to(cluster: str, federated: Manifest, target: TargetType, live: Manifest | None) -> SentObject | NotSent:
    """Return what a cluster is sent; ``live`` is the object that it has, None where it has none."""
    if live is not None and _labels(live).get(MANAGED_LABEL) == "false":
        return NotSent("ManagedLabelFalse", f"the object has the label {MANAGED_LABEL}: false")
    try:
        sent = object_of_template(federated, target)
    except WrongShape as error:
        return NotSent("ComputeResourceFailed", str(error))
    manifest = sent.manifest
    if live is not None:
        try:
            _retain(manifest, live, federated, target.kind)
        except WrongShape as error:
            return NotSent("FieldRetentionFailed", str(error))
    try:
        manifest = patched(manifest, patch_operations_by_cluster(federated).get(cluster, ()))
    except (WrongShape, PatchFailed) as error:
        return NotSent("ApplyOverridesFailed", str(error))
    _metadata(manifest)["labels"] = {**_labels(manifest), MANAGED_LABEL: "true"}
    return SentObject(manifest, sent.warnings)


def patched(manifest: Manifest, operations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a manifest with the overrides of one cluster; PatchFailed or WrongShape where they do not apply."""
    if not operations:
        return dict(manifest)
    result = JsonPatch.V4.apply(manifest, operations)
    if not isinstance(result, dict) or not isinstance(result.get("kind"), str) or not result["kind"]:
        raise WrongShape("the overrides leave an object without a kind")
    return result


def _retain(desired: dict[str, Any], live: Manifest, federated: Manifest, kind: str) -> None:
    """Take over from the live object what controllers of its cluster own."""
    metadata, live_metadata = _metadata(desired), live.get("metadata", {})
    kept = {
        "resourceVersion": live_metadata.get("resourceVersion"),
        "finalizers": _strings(live_metadata.get("finalizers")),
        "annotations": _string_map(live_metadata.get("annotations")),
    }
    for field, value in kept.items():
        metadata.pop(field, None)
        if value is not None and (value or field != "resourceVersion"):
            metadata[field] = deepcopy(value)
    if kind == "Service":
        _retain_service(desired, live)
    if kind == "ServiceAccount" and not _typed(desired, list, "secrets") and _typed(live, list, "secrets"):
        desired["secrets"] = deepcopy(live["secrets"])
    if _typed(federated, bool, "spec", "retainReplicas"):
        replicas = _typed(live, int, "spec", "replicas")
        if replicas is not None:
            _set(desired, replicas, "spec", "replicas")


def _retain_service(desired: dict[str, Any], live: Manifest) -> None:
    for field, kind in (("clusterIP", str), ("clusterIPs", list), ("healthCheckNodePort", int)):
        if value := _typed(live, kind, "spec", field):
            _set(desired, deepcopy(value), "spec", field)
    live_ports = _typed(live, list, "spec", "ports")
    if live_ports is None:
        return
    if "ports" not in desired.get("spec", {}):
        _set(desired, [], "spec", "ports")
    node_ports = {_port_key(port): port["nodePort"] for port in live_ports if "nodePort" in port}
    for port in _typed(desired, list, "spec", "ports"):
        if _port_key(port) in node_ports:
            port["nodePort"] = node_ports[_port_key(port)]


def _port_key(port: Mapping[str, Any]) -> tuple[Any, ...]:
    return port.get("name"), port.get("protocol"), port.get("port")


def _typed(manifest: Manifest, kind: type, *path: str) -> Any:
    """Return a field, None where it is absent; WrongShape where it, or what it lies in, is of another type."""
    found: Any = manifest
    for part in path:
        if not isinstance(found, dict):
            raise WrongShape(f"{'.'.join(path)} lies in no object")
        if part not in found:
            return None
        found = found[part]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise WrongShape(f"{'.'.join(path)} is of another type")
    return found


def _set(manifest: dict[str, Any], value: Any, parent: str, field: str) -> None:
    holder = manifest.setdefault(parent, {})
    if not isinstance(holder, dict):
        raise WrongShape(f"{parent} is not an object")
    holder[field] = value


def _metadata(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata: dict[str, Any] = manifest.setdefault("metadata", {})
    return metadata


def _labels(manifest: Manifest) -> dict[str, str]:
    metadata = manifest.get("metadata")
    return _string_map(metadata.get("labels")) or {} if isinstance(metadata, dict) else {}


def _strings(plain: Any) -> list[str] | None:
    """Return a list of texts, None for anything else."""
    return plain if isinstance(plain, list) and all(isinstance(each, str) for each in plain) else None


def _string_map(plain: Any) -> dict[str, str] | None:
    """Return a map of texts, None for anything else."""
    return plain if isinstance(plain, dict) and all(isinstance(each, str) for each in plain.values()) else None
