"""Overrides of KubeFed as plaintext overriders: the operations that do the same to this template."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from render.federations.json_patch import JsonPatch, PatchFailed, exact_path
from render.federations.units import Remark, Rule, refused
from render.model import Manifest

_IDENTITY = frozenset({"/apiVersion", ""})


class PlainPatches(Struct, frozen=True, kw_only=True):
    """The rules, one a cluster, and what to know about them."""

    rules: tuple[Rule, ...] = ()
    remarks: tuple[Remark, ...] = ()


def plain_patches(manifest: Manifest, overrides: Mapping[str, Sequence[Mapping[str, Any]]]) -> PlainPatches:
    """Return what overrides of each cluster do to a manifest, as operations that mean the same in strict RFC 6902."""
    rules: list[Rule] = []
    remarks: list[Remark] = []
    for name, operations in overrides.items():
        found = _of_cluster(name, manifest, operations)
        if isinstance(found, Remark):
            remarks.append(found)
        elif found:
            rules.append(Rule(names=(name,), operations=found))
    return PlainPatches(rules=tuple(rules), remarks=tuple(remarks))


def _of_cluster(
    name: str, manifest: Manifest, operations: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...] | Remark:
    made: list[Mapping[str, Any]] = []
    current: Any = manifest
    for operation in operations:
        if operation["path"] in _IDENTITY:
            message = f"{name}: the override of {operation['path'] or 'the whole object'} has no counterpart"
            return refused("override-identity", message)
        try:
            path, is_there = exact_path(current, operation["path"])
            current = JsonPatch.V4.apply(current, [operation])
        except PatchFailed as error:
            message = f"{name}: KubeFed cannot apply its overrides ({error}), and sends it nothing"
            return refused("override-fails", message)
        if operation["op"] == "test":
            continue
        operator = "add" if operation["op"] == "replace" and not is_there else operation["op"]
        value = {} if operator == "remove" else {"value": operation.get("value")}
        made.append({"operator": operator, "path": path, **value})
    return tuple(made)
