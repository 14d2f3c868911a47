"""The fields that a cluster allocates to an object by itself: a Service's addresses and ports, the volume of a claim.

They differ from cluster to cluster. No plan asks about one that the manifest does not state and no manager owns, so
objects of two clusters that differ in such fields alone are equal to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.interpretation.retention import EACH
from render.kinds import KUBERNETES
from render.model import Manifest, group_of

from .ownership import Fields

_Names = tuple[str, ...]

ALLOCATED: Mapping[tuple[str, str], tuple[_Names, ...]] = {
    (kind.group, kind.kind): tuple(paths)
    for kind in KUBERNETES
    if (
        paths := dict.fromkeys(
            (
                *(each.path for each in kind.retained if each.is_fixed),
                *(path for path in kind.filled_in if path[0] == "spec"),
            )
        )
    )
}
"""The paths of the fields that clusters allocate, by group and kind; a star is for each item of a list."""


def live_without_allocated_fields(live: Manifest, want: Manifest) -> Manifest:
    """Return a live object without what its cluster allocated to it, unless ``want`` states it or a manager owns it."""
    paths = ALLOCATED.get((group_of(str(want.get("apiVersion") or "")), str(want.get("kind") or "")), ())
    present = [path for path in paths if _is_any_present(live, path)]
    if not present:
        return live
    owned = [each.get("fieldsV1") or {} for each in live["metadata"].get("managedFields") or ()]
    for path in present:
        live = _without_field(live, [want], owned, path)
    return live


def _is_any_present(live: Any, path: _Names) -> bool:
    """Return whether a field is there, in any item of a list where the path leads through one."""
    for position, name in enumerate(path):
        if name == EACH:
            return isinstance(live, list) and any(_is_any_present(item, path[position + 1 :]) for item in live)
        if not isinstance(live, dict) or name not in live:
            return False
        live = live[name]
    return True


def _without_field(live: Any, wanted: Sequence[Any], owned: Sequence[Fields], path: _Names) -> Any:
    """Return a value without a field in it; ``wanted`` and ``owned`` are all that is stated and owned at its place."""
    name, rest = path[0], path[1:]
    if name == EACH:
        return _without_field_of_items(live, wanted, owned, rest)
    if not isinstance(live, dict) or name not in live:
        return live
    inside = [each[name] for each in wanted if isinstance(each, dict) and name in each]
    inner = [each[f"f:{name}"] for each in owned if f"f:{name}" in each]
    if not rest:
        return live if inside or inner else {key: value for key, value in live.items() if key != name}
    if not _is_known_by_parts(inside, inner):
        return live
    after = _without_field(live[name], inside, inner, rest)
    return live if after is live[name] else {**live, name: after}


def _without_field_of_items(live: Any, wanted: Sequence[Any], owned: Sequence[Fields], path: _Names) -> Any:
    """Return a list without a field in each of its items, unless any item is wanted or owned with it."""
    if not isinstance(live, list):
        return live
    inside = [item for each in wanted for item in each]
    inner = [fields for each in owned for text, fields in each.items() if text != "."]
    if not _is_known_by_parts(inside, inner):
        return live
    return [_without_field(item, inside, inner, path) for item in live]


def _is_known_by_parts(wanted: Iterable[Any], owned: Iterable[Fields]) -> bool:
    """Return whether all that is stated and owned at a place says of each part that it is, and not of the whole."""
    return all(isinstance(each, dict | list) for each in wanted) and all(
        each and isinstance(each, dict) for each in owned
    )
