"""The fields that are fixed once an object is there: a Service's address, the labels of a Job's pods.

They stay as the cluster has them, as in Karmada, where a manifest says nothing of them. One that states another value
is put to the server, which makes exceptions: a Job that is suspended gets other labels. Where it refuses, nothing of
the object is applied, as kubectl has it, and it is not as its commit says, with a line for each such field.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from render.interpretation.retention import EACH
from render.model import Manifest
from render.words import first_few

from .conflicts import field_changes, value_differences
from .field_paths import MISSING, Key, Path, value_at
from .field_rules import value_with_value_at
from .model import Action, FieldChange, PlannedObject
from .ownership import DifferenceKind, FieldDifference, Fields, fields_at, item_steps
from .retention import retained_fields_of_kind

_ABSENT: tuple[Any, ...] = (MISSING, None, "", {}, [], 0)


def with_fixed_fields(
    rest: PlannedObject, want: Manifest, live: Manifest, fields: Fields, ours: Container[str]
) -> PlannedObject:
    """Return the plan for an object of ours that also states its fixed fields, where these are otherwise than wanted.

    ``rest`` is the plan without them, ``fields`` are those we own by one of the managers in ``ours``.
    """
    stated = (
        path
        for each in retained_fields_of_kind(rest.ref)
        if each.is_fixed
        for path in _paths_of_pattern(want, each.path, ())
    )
    by_path = {path: tuple(_differences_in_fixed_field(want, live, fields, path)) for path in stated}
    found = tuple(each for different in by_path.values() for each in different)
    if not found or rest.action not in {Action.UNCHANGED, Action.CONFIGURED}:
        return rest
    fixed = field_changes(want, live, found, ours)
    whole, texts = dict(rest.manifest or {}), {change.path for change in fixed}
    for path in (path for path, different in by_path.items() if different):
        whole = value_with_value_at(whole, path, value_at(want, path))
    return replace(
        rest,
        action=Action.CONFIGURED,
        reason="Changed" if rest.action is Action.UNCHANGED else rest.reason,
        manifest=whole,
        message="",
        changes=(*rest.changes, *fixed),
        yielded=tuple(each for each in rest.yielded if each.path not in texts),
        is_asked=True,
        fixed=fixed,
    )


def _paths_of_pattern(want: Any, pattern: tuple[str, ...], path: Path) -> Iterator[Path]:
    """Yield the paths that a pattern leads to in a manifest; a star is for every item of a list."""
    if not pattern:
        yield path
        return
    name, rest = pattern[0], pattern[1:]
    if name == EACH:
        for item in want if isinstance(want, list) else ():
            if isinstance(item, Mapping) and "name" in item:
                yield from _paths_of_pattern(item, rest, (*path, Key((("name", item["name"]),))))
    elif isinstance(want, Mapping) and name in want:
        yield from _paths_of_pattern(want[name], rest, (*path, name))


def _differences_in_fixed_field(
    want: Manifest, live: Manifest, fields: Fields, path: Path
) -> Iterator[FieldDifference]:
    """Yield what differs in a fixed field: other values, and what we own and the manifest does not state any more."""
    stated, present = value_at(want, path), value_at(live, path)
    if stated in _ABSENT or present in _ABSENT:
        return
    yield from value_differences(stated, present, live, path)
    for step in item_steps(fields_at(fields, path)):
        if value_at(stated, (step,)) is MISSING and value_at(present, (step,)) is not MISSING:
            yield FieldDifference((*path, step), DifferenceKind.DROPPED)


def fixed_message(changes: Iterable[FieldChange]) -> str:
    """Return the sentence about fixed fields that a manifest states otherwise."""
    return f"of an object that is there already {first_few([each.path for each in changes])} cannot change"
