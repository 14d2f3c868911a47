"""Identity never changes by override: an object keeps its apiVersion, kind, namespace and name in every cluster.

Karmada allows it, and then loses track of the object: the one under its old name is never removed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import Refused

Identity = tuple[Any, ...]

_KEYS_BY_FIELD: Mapping[str, tuple[str, ...]] = {
    "apiVersion": ("apiVersion",),
    "kind": ("kind",),
    "metadata.namespace": ("metadata", "namespace"),
    "metadata.name": ("metadata", "name"),
}


MOVED = "give these clusters a template of their own, and leave them out of this one's propagation policy"


def identity_field(tokens: Sequence[str]) -> str:
    """Return the field of identity at a path, or an empty text.

    >>> identity_field(["metadata", "name"]), identity_field(["metadata"])
    ('metadata.name', '')
    """
    return next((field for field, keys in _KEYS_BY_FIELD.items() if tuple(tokens) == keys), "")


def touches_identity(tokens: Sequence[str]) -> bool:
    """Say whether an edit at a path could change an identity: at one of its fields, or above one.

    >>> touches_identity(["metadata", "name"]), touches_identity(["metadata", "labels"]), touches_identity([])
    (True, False, True)
    """
    return any(tuple(tokens) == keys[: len(tokens)] for keys in _KEYS_BY_FIELD.values())


def identity_of(manifest: Any) -> Identity:
    """Return the identity of an object: apiVersion, kind, namespace and name; an empty one is None."""
    return tuple(_value_at_keys(manifest, keys) for keys in _KEYS_BY_FIELD.values())


def check_identity(before: Identity, manifest: Any) -> None:
    """Refuse an edit that changed the identity of an object."""
    pairs = zip(_KEYS_BY_FIELD, before, identity_of(manifest), strict=True)
    changed = [field for field, old, new in pairs if old != new]
    if changed:
        raise Refused(
            f"changes {' and '.join(changed)}: an override never renames or moves an object",
            hint=MOVED,
        )


def _value_at_keys(manifest: Any, keys: Sequence[str]) -> Any:
    node = manifest
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node or None
