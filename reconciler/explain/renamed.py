"""An explanation of an earlier pass, told by the names that clusters have now."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.renames import NewNames
from render.model import TargetCluster

_NAMES = frozenset({"cluster", "clusters", "terminating"})


def with_new_names(value: Any, names: NewNames) -> Any:
    """Return a value whose fields about clusters have the new names."""
    if isinstance(value, TargetCluster):
        return TargetCluster(names.get(value.name, value.name), value.replicas)
    if isinstance(value, tuple):
        return tuple(with_new_names(each, names) for each in value)
    if not isinstance(value, Struct):
        return value
    inner = {name: getattr(value, name) for name in value.__struct_fields__}
    return replace(value, **{name: _field(name, part, names) for name, part in inner.items()})


def _field(name: str, value: Any, names: NewNames) -> Any:
    if name not in _NAMES:
        return with_new_names(value, names)
    return names.get(value, value) if isinstance(value, str) else tuple(names.get(each, each) for each in value)
