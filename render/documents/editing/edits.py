"""Edits of plain data: an entry gets a value, or is removed together with parents that this leaves empty."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from render.documents.positions import Path, Step

REMOVED = object()
"""The value of an edit that removes an entry, and with it every parent that this leaves empty."""


class Edit(NamedTuple):
    """The path of an entry and its new value; the number after a list's last item adds one."""

    path: Path
    value: Any = REMOVED


def is_there(value: Any, path: Path) -> bool:
    """Say whether there is an entry at a path."""
    for step in path:
        has_item = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not (has_item or (isinstance(value, dict) and step in value)):
            return False
        value = value[step]
    return True


def changed_value(value: Any, edit: Edit) -> Any:
    """Return plain data with an edit made."""
    if not edit.path:
        return edit.value
    step, rest = edit.path[0], Edit(edit.path[1:], edit.value)
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        inner = changed_value(items[step] if step < len(items) else None, rest)
        return [*items[:step], *([] if _is_gone(inner, rest) else [inner]), *items[step + 1 :]]
    fields = dict(value) if isinstance(value, dict) else {}
    inner = changed_value(fields.get(step), rest)
    return {key: inner if key == step else fields[key] for key in _keys(fields, step, is_gone=_is_gone(inner, rest))}


def _is_gone(value: Any, edit: Edit) -> bool:
    return value is REMOVED or (edit.value is REMOVED and bool(edit.path) and value in ({}, []))


def _keys(fields: Mapping[str, Any], step: Step, *, is_gone: bool) -> list[Any]:
    return [key for key in fields if key != step] if is_gone else list(dict.fromkeys([*fields, step]))
