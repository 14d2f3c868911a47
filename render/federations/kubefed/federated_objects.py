"""Federated objects of KubeFed: the object that each stands for, its overrides, and operations that do what these do.

They are read as in ``resource.go`` and ``overrides.go`` of KubeFed.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from msgspec import Struct

from render.federations.decoding import WrongShape, decode_list, decode_object, decode_text, value_of_key_in_any_case
from render.federations.patches import JsonPatch, PatchFailed, strict_path_and_presence
from render.federations.units import Remark, Rule, refused_remark
from render.kinds import KUBERNETES
from render.model import Manifest

_FIXED_PATHS = frozenset({"/metadata/namespace", "/metadata/name", "/metadata/generateName", "/kind"})
_TARGETS = {kind.kind: kind for kind in KUBERNETES if kind.version and not kind.not_written}
_IDENTITY = frozenset({"/apiVersion", ""})


class PlainPatches(Struct, frozen=True, kw_only=True):
    """The rules, one a cluster, and what to know about them."""

    rules: tuple[Rule, ...] = ()
    remarks: tuple[Remark, ...] = ()


class TargetType(Struct, frozen=True, kw_only=True):
    """The type that a federated type stands for, as its FederatedTypeConfig says."""

    group: str
    version: str
    kind: str
    is_namespaced: bool

    @property
    def api_version(self) -> str:
        """The apiVersion of a template that has none; that of the core group begins with a slash, as KubeFed's does."""
        return f"{self.group}/{self.version}"


class SentObject(Struct, frozen=True):
    """The object that clusters are sent before their overrides, and the warnings on the way."""

    manifest: dict[str, Any]
    warnings: tuple[str, ...] = ()


def patch_operations_by_cluster(federated: Manifest) -> dict[str, list[dict[str, Any]]]:
    """Return the JSON patch operations by cluster; WrongShape for overrides that KubeFed refuses altogether."""
    spec = decode_object(value_of_key_in_any_case(federated, "spec"), "spec")
    found: dict[str, list[dict[str, Any]]] = {}
    for name, operations in decode_list(
        value_of_key_in_any_case(spec, "overrides"), "spec.overrides", _overrides_of_cluster
    ):
        if name in found:
            raise WrongShape(f"spec.overrides: the cluster {name} stands there twice")
        paths = [operation["path"] for operation in operations]
        if fixed := sorted(_FIXED_PATHS.intersection(paths)):
            raise WrongShape(f"spec.overrides: {fixed[0]} cannot be overridden")
        if len(set(paths)) < len(paths):
            raise WrongShape(f"spec.overrides: a path stands there twice for the cluster {name}")
        found[name] = operations
    return found


def object_of_template(federated: Manifest, target: TargetType) -> SentObject:
    """Return the object that the template stands for, before anything of a cluster; WrongShape where it is none."""
    spec = federated.get("spec", {})
    template = spec.get("template", {}) if isinstance(spec, dict) else None
    if not isinstance(template, dict):
        raise WrongShape("spec.template is not an object")
    manifest = deepcopy(template)
    warnings = []
    metadata = _metadata_of_manifest(manifest)
    if _map_of_texts_or_none(metadata.get("annotations")):
        del metadata["annotations"]
        warnings.append("AnnotationsNotSupported")
    if _texts_or_none(metadata.get("finalizers")):
        del metadata["finalizers"]
        warnings.append("FinalizersNotSupported")
    own = federated.get("metadata", {})
    metadata["name"] = own.get("name", "")
    if target.kind != "Namespace":
        metadata.pop("namespace", None)
        if target.is_namespaced:
            metadata["namespace"] = own.get("namespace", "")
    manifest["kind"] = target.kind
    if not isinstance(manifest.get("apiVersion"), str) or not manifest["apiVersion"]:
        manifest["apiVersion"] = target.api_version
    return SentObject(manifest, tuple(warnings))


def _overrides_of_cluster(plain: Any, what: str) -> tuple[str, list[dict[str, Any]]]:
    fields = decode_object(plain, what)
    name = decode_text(value_of_key_in_any_case(fields, "clusterName"), f"{what}.clusterName")
    return name, decode_list(
        value_of_key_in_any_case(fields, "clusterOverrides"), f"{what}.clusterOverrides", _decode_operation
    )


def _decode_operation(plain: Any, what: str) -> dict[str, Any]:
    """Return one operation; KubeFed knows no ``from``, replaces by default, and drops a value of null."""
    fields = decode_object(plain, what)
    operation = {
        "op": decode_text(value_of_key_in_any_case(fields, "op"), f"{what}.op") or "replace",
        "path": decode_text(value_of_key_in_any_case(fields, "path"), f"{what}.path"),
    }
    value = value_of_key_in_any_case(fields, "value")
    return operation if value is None else {**operation, "value": value}


def _metadata_of_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(manifest.get("metadata"), dict):
        manifest["metadata"] = {}
    metadata: dict[str, Any] = manifest["metadata"]
    return metadata


def _texts_or_none(plain: Any) -> list[str] | None:
    """Return a list of texts, None for anything else."""
    return plain if isinstance(plain, list) and all(isinstance(each, str) for each in plain) else None


def _map_of_texts_or_none(plain: Any) -> dict[str, str] | None:
    """Return a map of texts, None for anything else."""
    return plain if isinstance(plain, dict) and all(isinstance(each, str) for each in plain.values()) else None


def target_type_of_federated(federated: Manifest) -> TargetType | None:
    """Return what a federated object stands for by its kind, else by the apiVersion of its template."""
    kind = str(federated.get("kind", "")).removeprefix("Federated")
    if kind in _TARGETS:
        known = _TARGETS[kind]
        # To KubeFed a Namespace counts as its own: the federated one lives in it.
        is_namespaced = known.is_namespaced or kind == "Namespace"
        return TargetType(group=known.group, version=known.version, kind=kind, is_namespaced=is_namespaced)
    template = (federated.get("spec") or {}).get("template") or {}
    api_version = template.get("apiVersion") if isinstance(template, dict) else None
    if not isinstance(api_version, str) or not api_version:
        return None
    group, _, version = api_version.rpartition("/")
    is_namespaced = bool((federated.get("metadata") or {}).get("namespace"))
    return TargetType(group=group, version=version, kind=kind, is_namespaced=is_namespaced)


def plain_patches_of_overrides(
    manifest: Manifest, overrides: Mapping[str, Sequence[Mapping[str, Any]]]
) -> PlainPatches:
    """Return what overrides of each cluster do to a manifest, as operations that mean the same in strict RFC 6902."""
    rules: list[Rule] = []
    remarks: list[Remark] = []
    for name, operations in overrides.items():
        found = _plain_operations(name, manifest, operations)
        if isinstance(found, Remark):
            remarks.append(found)
        elif found:
            rules.append(Rule(names=(name,), operations=found))
    return PlainPatches(rules=tuple(rules), remarks=tuple(remarks))


def _plain_operations(
    name: str, manifest: Manifest, operations: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...] | Remark:
    made: list[Mapping[str, Any]] = []
    current: Any = manifest
    for operation in operations:
        if operation["path"] in _IDENTITY:
            message = f"{name}: the override of {operation['path'] or 'the whole object'} has no counterpart"
            return refused_remark("override-identity", message)
        try:
            path, is_there = strict_path_and_presence(current, operation["path"])
            current = JsonPatch.V4.apply(current, [operation])
        except PatchFailed as error:
            message = f"{name}: KubeFed cannot apply its overrides ({error}), and sends it nothing"
            return refused_remark("override-fails", message)
        if operation["op"] == "test":
            continue
        operator = "add" if operation["op"] == "replace" and not is_there else operation["op"]
        value = {} if operator == "remove" else {"value": operation.get("value")}
        made.append({"operator": operator, "path": path, **value})
    return tuple(made)
