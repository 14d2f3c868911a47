"""Where a field stands in its file, for messages: the file is read again, so that reading costs nothing for it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from .chunks import Chunk
from .document import Position
from .reading import Reading, read_chunks
from .scalars import UnusableScalar, plain_key
from .syntax import (
    FastProblem,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    fast_events,
)

Step = str | int
_PART = re.compile(r"\[([^\]]*)\]|([^.\[]+)")
_ENDS = (MappingEndEvent, SequenceEndEvent)
_STARTS = (MappingStartEvent, SequenceStartEvent)


def locate(data: bytes, index: int, path: tuple[Step, ...]) -> Position:
    r"""Return the place of a field's key or item in the document of that index, or of its nearest parent there.

    >>> locate(b"spec:\n  ports:\n  - port: 80\n", 0, ("spec", "ports", 0, "port"))
    Position(line=3, column=5)
    """
    reading = _reading(data, index)
    return _place(reading.chunk, path) if reading else Position(1, 1)


def locate_field(data: bytes, index: int, field: str) -> Position:
    """Return the place of a field given as a message names it: ``spec.rules[0].host``, ``metadata.labels[a.b/c]``.

    A key with dots may also stand without brackets where the document has such a key.
    """
    reading = _reading(data, index)
    return _place(reading.chunk, _path(reading.value, field)) if reading else Position(1, 1)


def _reading(data: bytes, index: int) -> Reading | None:
    filled = (reading for reading in read_chunks(data) if reading.value is not None)
    return next((reading for number, reading in enumerate(filled) if number == index), None)


def _path(value: Any, field: str) -> tuple[Step, ...]:
    """Split a field's name into steps, joining parts with dots where the value has such a key."""
    parts = [(bracketed.strip("\"'") or name, not bracketed) for bracketed, name in _PART.findall(field)]
    path: list[Step] = []
    while parts:
        taken = _joined(value, parts)
        name = ".".join(part for part, _ in parts[:taken])
        step: Step = int(name) if isinstance(value, list) and name.isdecimal() else name
        path.append(step)
        value = _child(value, step)
        del parts[:taken]
    return tuple(path)


def _joined(value: Any, parts: list[tuple[str, bool]]) -> int:
    """Return how many of the parts are one key of the value: as many as possible, else one."""
    dotted = next((number for number, (_, dotted) in enumerate(parts) if not dotted), len(parts))
    lengths = range(dotted, 1, -1) if isinstance(value, dict) else ()
    return next((length for length in lengths if ".".join(part for part, _ in parts[:length]) in value), 1)


def _child(value: Any, step: Step) -> Any:
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _place(chunk: Chunk, path: tuple[Step, ...]) -> Position:
    place = Position(1, 1)
    try:
        for mark in _marks(fast_events(chunk.text), path):
            place = Position(mark.line + 1, mark.column + 1)
    except (*FastProblem, UnusableScalar):
        pass  # JSON that is no YAML, or text only the exact parser reads: the nearest parent found has to do
    return Position(place.line + chunk.line - 1, place.column)


def _marks(next_event: Callable[[], Any], path: tuple[Step, ...]) -> Iterator[Any]:
    """Yield the marks of the document's root and of each step of a path, as far as the document has it."""
    next_event()
    if type(next_event()) is StreamEndEvent:
        return
    event = next_event()
    yield event.start_mark
    for step in path:
        if type(event) is MappingStartEvent:
            found = _value_of(next_event, str(step))
        elif type(event) is SequenceStartEvent and isinstance(step, int):
            found = _item(next_event, step)
        else:
            return
        if found is None:
            return
        mark, event = found
        yield mark


def _value_of(next_event: Callable[[], Any], name: str) -> tuple[Any, Any] | None:
    """Return the mark of a key and the event its value starts with."""
    while type(event := next_event()) is not MappingEndEvent:
        if type(event) is ScalarEvent and _key(event) == name:
            return event.start_mark, next_event()
        _skip(next_event, event)
        _skip(next_event, next_event())
    return None


def _item(next_event: Callable[[], Any], index: int) -> tuple[Any, Any] | None:
    for _ in range(index):
        event = next_event()
        if type(event) is SequenceEndEvent:
            return None
        _skip(next_event, event)
    event = next_event()
    return None if type(event) is SequenceEndEvent else (event.start_mark, event)


def _key(event: Any) -> str:
    return plain_key(event.value) if event.implicit[0] else str(event.value)


def _skip(next_event: Callable[[], Any], event: Any) -> None:
    """Pull the events of a node after its first."""
    depth = 1 if isinstance(event, _STARTS) else 0
    while depth:
        event = next_event()
        depth += isinstance(event, _STARTS) - isinstance(event, _ENDS)
