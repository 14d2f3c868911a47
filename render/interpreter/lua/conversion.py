"""Plain data into Lua and back: as a table constructor on the way in, as JSON on the way out.

A Lua table does not say whether it is an empty object or an empty list; it comes out as a list. As in Karmada, an
empty one takes the form of the value at its path in the objects the script was given, and vanishes if there is none.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from render.expressions import lazy_expression
from render.interpretation.operations import InterpreterError

UNSAFE = lazy_expression(rb"[^ !#-\[\]-~]")
Path = tuple[str, ...]


def lua_chunk_returning(values: Iterable[Any]) -> bytes:
    """Return a chunk that returns these values. Nulls vanish from objects and lists, as in Karmada."""
    return b"return " + b",".join(map(_lua_literal_of_value, values))


def _lua_literal_of_value(value: Any) -> bytes:
    if isinstance(value, str):
        return _lua_literal_of_text(value)
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if value is None:
        return b"nil"
    if isinstance(value, Mapping):
        fields = (
            b"[%b]=%b" % (_lua_literal_of_text(key), _lua_literal_of_value(entry))
            for key, entry in value.items()
            if entry is not None
        )
        return b"{%b}" % b",".join(fields)
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise InterpreterError("a number in the object is not finite")
        return repr(value).encode()
    return b"{%b}" % b",".join(_lua_literal_of_value(entry) for entry in value if entry is not None)


def _lua_literal_of_text(text: str) -> bytes:
    return b'"%b"' % UNSAFE.sub(lambda match: b"\\%03d" % match[0][0], text.encode("utf-8", "surrogatepass"))


def value_without_empty_containers(value: Any) -> Any:
    """Leave out every empty list and object, at any depth."""
    return value_shaped_like_references(value, ())


def value_shaped_like_references(value: Any, references: Iterable[Any]) -> Any:
    """Give every empty table inside a value the form it has in the references, or leave it out."""
    lists: set[Path] = set()
    objects: set[Path] = set()
    for reference in references:
        _collect_paths_of_empty_containers(reference, (), lists, objects)
    return _value_with_types_of_empty(value, (), lists, objects)


def _collect_paths_of_empty_containers(value: Any, path: Path, lists: set[Path], objects: set[Path]) -> None:
    """Note the paths of empty lists and objects; an index is no step of a path."""
    if isinstance(value, Mapping):
        if not value:
            objects.add(path)
        for key, entry in value.items():
            _collect_paths_of_empty_containers(entry, (*path, key), lists, objects)
    elif isinstance(value, list | tuple):
        if not value:
            lists.add(path)
        for entry in value:
            _collect_paths_of_empty_containers(entry, path, lists, objects)


def _value_with_types_of_empty(value: Any, path: Path, lists: set[Path], objects: set[Path]) -> Any:
    if isinstance(value, Mapping):
        fields = {key: _entry_or_dropped(entry, (*path, key), lists, objects) for key, entry in value.items()}
        return {key: entry for key, entry in fields.items() if entry is not GONE}
    if isinstance(value, list):
        entries = [_entry_or_dropped(entry, path, lists, objects) for entry in value]
        return [entry for entry in entries if entry is not GONE]
    return value


def _entry_or_dropped(value: Any, path: Path, lists: set[Path], objects: set[Path]) -> Any:
    if not isinstance(value, Mapping | list) or value:
        return _value_with_types_of_empty(value, path, lists, objects)
    if path in objects:
        return {}
    return [] if path in lists else GONE


GONE = object()
"""The mark of an empty table of unknown form."""
