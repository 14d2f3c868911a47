"""Paths into manifests as managed fields write them: names, items found by their keys, members of sets.

``.spec.template.spec.containers[name="web"].image`` is the text of ``(".spec"...)``: a step is a field name, a ``Key``
(an item of a list, by the values of its key fields) or a ``Member`` (a value of a set). The text is the API server's
own, so a conflict it reports can be read back.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from render.expressions import lazy_expression

MISSING: Any = object()
"""The value of a field that is absent, which no manifest can have."""


class Key(NamedTuple):
    """An item of a list: the values of its key fields, by field name."""

    values: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        return "[" + ",".join(f"{name}={json.dumps(value)}" for name, value in self.values) + "]"


class Member(NamedTuple):
    """A value of a set."""

    value: Any

    def __str__(self) -> str:
        return f"[={json.dumps(self.value)}]"


Step = str | Key | Member
Path = tuple[Step, ...]

_QUOTED = r'"(?>(?:[^"\\]|\\.?)*)(?:"|\Z)'
_STEP = lazy_expression(
    rf'\.(?P<name>(?>(?:[^.\[\]"]|{_QUOTED})+))|\[(?P<item>(?>(?:[^\]"]|{_QUOTED})*))(?:\]|\Z)', re.DOTALL
)
_PAIR = lazy_expression(rf"(?<![^=,])(?P<name>[^=,]+)=(?P<value>{_QUOTED}|[^,]+)", re.DOTALL)


def path_text(path: Path) -> str:
    """Return a path as the API server writes it."""
    return "".join(f".{step}" if isinstance(step, str) else str(step) for step in path)


@lru_cache(maxsize=4096)
def parse_step(text: str) -> Step | None:
    """Return the step a key of ``fieldsV1`` stands for; None for ``.``, the item itself.

    >>> parse_step("f:spec"), str(parse_step('k:{"name":"web"}')), str(parse_step('v:"a"'))
    ('spec', '[name="web"]', '[="a"]')
    """
    kind, colon, rest = text.partition(":")
    if kind == "f" and colon:
        return rest
    if kind == "k":
        return Key(tuple(sorted(json.loads(rest).items())))
    return Member(_hashable_value(json.loads(rest))) if kind == "v" else None


def parse_path(text: str) -> Path:
    """Read a path an API server wrote; names with dots in them (labels) come out in parts, which ``value_at`` joins.

    >>> path_text(parse_path('.spec.template.spec.containers[name="web"].image'))
    '.spec.template.spec.containers[name="web"].image'
    """
    steps: list[Step] = []
    for match in _STEP.finditer(text):
        if match["name"] is not None:
            steps.append(match["name"])
        else:
            steps.append(_item_in_text(match["item"]))
    return tuple(steps)


def _item_in_text(text: str) -> Step:
    if text.startswith("="):
        return Member(_hashable_value(json.loads(text[1:])))
    return Key(tuple((match["name"], json.loads(match["value"])) for match in _PAIR.finditer(text)))


def _hashable_value(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def item_matching(items: Sequence[Any], key: Key) -> Any:
    """Return the item of a list with these key values; a key the item leaves out counts as the default it stands for.

    An item that spells out more of the keys is the better match.
    """
    best, most = MISSING, -1
    for item in items:
        if not isinstance(item, Mapping):
            continue
        exact = sum(1 for name, value in key.values if item.get(name, MISSING) == value)
        absent = sum(1 for name, _ in key.values if name not in item)
        if exact + absent == len(key.values) and exact > most:
            best, most = item, exact
    return best


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, or MISSING."""
    for number, step in enumerate(path):
        if isinstance(step, str):
            if not isinstance(value, Mapping):
                return MISSING
            if step not in value:
                return _value_at_dotted_key(value, path[number:])
            value = value[step]
        elif not isinstance(value, list):
            return MISSING
        elif isinstance(step, Key):
            value = item_matching(value, step)
        else:
            value = step.value if step.value in value else MISSING
    return value


def _value_at_dotted_key(value: Mapping[str, Any], rest: Path) -> Any:
    """Find a field whose own name has dots in it, which the server's text does not set apart."""
    for end in range(len(rest), 1, -1):
        if all(isinstance(step, str) for step in rest[:end]):
            name = ".".join(map(str, rest[:end]))
            if name in value:
                return value_at(value[name], rest[end:])
    return MISSING


def path_with_names_of_value(path: Path, value: Any) -> Path:
    """Return a path that an API server wrote with the names that a value has, some of which have dots.

    >>> path_with_names_of_value(("labels", "example", "com/tier"), {"labels": {"example.com/tier": "front"}})
    ('labels', 'example.com/tier')
    """
    steps, rest = list[Step](), path
    while rest:
        ends = (end for end in range(len(rest), 0, -1) if all(isinstance(step, str) for step in rest[:end]))
        names = ((end, ".".join(map(str, rest[:end]))) for end in ends)
        found = isinstance(value, Mapping) and next((each for each in names if each[1] in value), None)
        end, step = found or (1, rest[0])
        steps.append(step)
        value, rest = value_at(value, (step,)), rest[end:]
    return tuple(steps)


def value_without_path(value: Any, path: Path) -> Any:
    """Return a copy of plain data without the value at a path; everything beside the path is shared.

    An item of a list keeps its key fields, and a mapping that loses its last field is left out with it.
    """
    if not path:
        return MISSING
    step, rest = path[0], path[1:]
    if isinstance(step, str) and isinstance(value, Mapping):
        return _value_without_field(value, step, path)
    if isinstance(value, list) and not isinstance(step, str):
        matching = item_matching(value, step) if isinstance(step, Key) else step.value
        kept = [value_without_path(item, rest) if item is matching or item == matching else item for item in value]
        return [item for item in kept if item is not MISSING]
    return value


def _value_without_field(value: Mapping[str, Any], step: str, path: Path) -> Any:
    name, rest = step, path[1:]
    if step not in value:
        for end in range(len(path), 1, -1):
            joined = ".".join(map(str, path[:end]))
            if joined in value:
                name, rest = joined, path[end:]
                break
        else:
            return value
    inner = value_without_path(value[name], rest)
    if inner is MISSING or (isinstance(inner, dict | list) and not inner):
        return {key: item for key, item in value.items() if key != name}
    return {key: inner if key == name else item for key, item in value.items()}
