"""The places of fields in their file, for messages: the file is read again and indexed only when somebody asks."""

from typing import Any

from render.expressions import lazy_expression

from .chunks import Chunk, ParsedChunk
from .document import Position
from .reading import read_chunks
from .scalars import UnusableScalar, kubectl_key_of_plain_scalar
from .scanning import SyntaxProblem
from .syntax import (
    LocatedEvents,
    MappingEndEvent,
    MappingStartEvent,
    NextEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

Step = str | int
Path = tuple[Step, ...]
_PART = lazy_expression(r"\[([^\]]*+)(?:\]|\Z)|([^.\[]+)")


def locate_field(data: bytes, index: int, field: str) -> Position:
    r"""Return the place of a field given as a message names it: ``spec.rules[0].host``, ``metadata.labels[a.b/c]``.

    >>> locate_field(b"spec:\n  ports:\n  - port: 80\n", 0, "spec.ports[0].port")
    Position(line=3, column=5)
    """
    return Places(data).of_field(index, field)


class Places:
    """The places of all fields of a file, which is read once; each document is indexed when it is first asked for."""

    def __init__(self, data: bytes) -> None:
        self._readings: list[ParsedChunk] = [reading for reading in read_chunks(data) if reading.value is not None]
        self._places: dict[int, dict[Path, Position]] = {}

    def of_path(self, index: int, path: Path) -> Position:
        """Return the place of a field's key or item, or of its nearest parent; 1:1 without such a document."""
        if not 0 <= index < len(self._readings):
            return Position(1, 1)
        if index not in self._places:
            self._places[index] = _positions_by_path(self._readings[index].chunk)
        places = self._places[index]
        path = _path_with_keys_as_read(self._readings[index].value, path)
        lengths = range(len(path), -1, -1)
        return next((places[path[:length]] for length in lengths if path[:length] in places), Position(1, 1))

    def of_field(self, index: int, field: str) -> Position:
        """Return the place of a field given by name; a key with dots may stand without brackets if there is one."""
        value = self._readings[index].value if 0 <= index < len(self._readings) else None
        return self.of_path(index, path_of_field_name(value, field))


def _path_with_keys_as_read(value: Any, path: Path) -> Path:
    """Return a path with text where the value has a mapping: ``spec[80]`` may name the key of a port."""
    steps: list[Step] = []
    for step in path:
        steps.append(str(step) if isinstance(value, dict) else step)
        value = _child_at_step(value, steps[-1])
    return tuple(steps)


def path_of_field_name(value: Any, field: str) -> Path:
    """Split a field's name into steps, joining parts with dots where the value has such a key."""
    parts = [(bracketed.strip("\"'") or name, not bracketed) for bracketed, name in _PART.findall(field)]
    path: list[Step] = []
    while parts:
        taken = _count_of_parts_of_one_key(value, parts)
        name = ".".join(part for part, _ in parts[:taken])
        path.append(int(name) if isinstance(value, list) and name.isdecimal() else name)
        value = _child_at_step(value, path[-1])
        del parts[:taken]
    return tuple(path)


def _count_of_parts_of_one_key(value: Any, parts: list[tuple[str, bool]]) -> int:
    """Return how many of the parts are one key of the value: as many as possible, else one."""
    dotted = next((number for number, (_, dotted) in enumerate(parts) if not dotted), len(parts))
    lengths = range(dotted, 1, -1) if isinstance(value, dict) else ()
    return next((length for length in lengths if ".".join(part for part, _ in parts[:length]) in value), 1)


def _child_at_step(value: Any, step: Step) -> Any:
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _positions_by_path(chunk: Chunk) -> dict[Path, Position]:
    """Return the place of every key and item of a document; of JSON, as far as it is YAML."""
    for exact in (False, True):
        index = _Index(LocatedEvents(chunk.text, exact=exact).next_event, chunk.line)
        try:
            index.index_document()
        except (SyntaxProblem, UnusableScalar):
            continue
        break
    return index.places


class _Index:
    """Collects places while events go by."""

    def __init__(self, next_event: NextEvent, line: int) -> None:
        self.next_event = next_event
        self.line = line
        self.places: dict[Path, Position] = {}

    def index_document(self) -> None:
        self.next_event()
        if type(self.next_event()) is not StreamEndEvent:
            self._index_node(self.next_event(), ())

    def _index_node(self, event: Any, path: Path, place: Position | None = None) -> None:
        """Note the place of a node, that of its key if it has one, and of all nodes in it."""
        self.places[path] = place or self._position_of_event(event)
        if type(event) is MappingStartEvent:
            while type(event := self.next_event()) is not MappingEndEvent:
                if type(event) is ScalarEvent:
                    key = kubectl_key_of_plain_scalar(event.value) if event.implicit[0] else event.value
                    self._index_node(self.next_event(), (*path, key), self._position_of_event(event))
                else:
                    self._skip_node(event)
                    self._skip_node(self.next_event())
        elif type(event) is SequenceStartEvent:
            number = 0
            while type(event := self.next_event()) is not SequenceEndEvent:
                self._index_node(event, (*path, number))
                number += 1

    def _position_of_event(self, event: Any) -> Position:
        return Position(event.start_mark.line + self.line, event.start_mark.column + 1)

    def _skip_node(self, event: Any) -> None:
        """Skip a node that no path leads to: a complex key, an alias of one, or its value."""
        depth = int(type(event) in (MappingStartEvent, SequenceStartEvent))
        while depth:
            kind = type(self.next_event())
            depth += (kind in (MappingStartEvent, SequenceStartEvent)) - (kind in (MappingEndEvent, SequenceEndEvent))
