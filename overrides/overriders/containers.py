"""The containers Karmada's image, command and args overriders find: by kind alone, regular containers alone.

The API group does not matter, so kinds of the same name in other groups take part; init and ephemeral containers,
CronJobs and every other kind do not.
"""

from collections.abc import Mapping
from typing import Any

from overrides.draft import Key
from overrides.errors import Refused
from overrides.pointer import escaped_pointer
from render.kinds import KUBERNETES

_CONTAINERS: Mapping[str, tuple[str, ...]] = {
    kind.kind: (*kind.pod_spec, "containers") for kind in KUBERNETES if kind.has_edited_containers
}


def containers_of(manifest: Any) -> list[tuple[tuple[Key, ...], Mapping[str, Any]]]:
    """Return the regular containers of a manifest, each with the keys that lead to it."""
    path = _CONTAINERS.get(manifest["kind"], ())
    node = manifest if path else None
    for depth, key in enumerate(path):
        if not isinstance(node, dict):
            raise Refused(f"{escaped_pointer(path[:depth])} is not a mapping")
        node = node.get(key)
        if node is None:
            return []
    if node is None:
        return []
    if not isinstance(node, list):
        raise Refused(f"{escaped_pointer(path)} is not a list")
    return [_container_with_its_keys((*path, index), item) for index, item in enumerate(node)]


def _container_with_its_keys(keys: tuple[Key, ...], item: Any) -> tuple[tuple[Key, ...], Mapping[str, Any]]:
    if not isinstance(item, dict):
        raise Refused(f"{escaped_pointer(keys)} is not a mapping")
    return keys, item
