"""A document as it is written: its nodes with the lines they stand on, so that one can be changed in place."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from msgspec import Struct

from render.documents.document import DocumentError, Position
from render.documents.positions import Path, Step
from render.documents.scalars import UnusableScalar, kubectl_key_of_plain_scalar
from render.documents.scanning import SyntaxProblem
from render.documents.syntax import (
    AliasEvent,
    LocatedEvents,
    MappingEndEvent,
    MappingStartEvent,
    NextEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from render.expressions import lazy_expression

_PLAIN = lazy_expression(r"\S+")


class UneditableError(ValueError):
    """A place that cannot be changed without writing the whole file again; ``error`` has the place and the reason."""

    def __init__(self, error: DocumentError) -> None:
        super().__init__(str(error))
        self.error = error


class Form(Enum):
    """The form of a node."""

    SCALAR = "a scalar"
    MAPPING = "a mapping"
    LIST = "a list"
    ALIAS = "an alias"


class Mark(NamedTuple):
    """A place in a chunk; both count from 0."""

    line: int
    column: int


class Node(Struct, frozen=True, kw_only=True):
    """A value as it is written, from ``start`` to ``end`` (the place after it).

    ``is_marked``: it has an anchor or a tag. ``is_flow``: it is written in braces or brackets. A scalar that is not
    there at all (``key:``) starts where it ends.
    """

    form: Form
    start: Mark
    end: Mark
    entries: tuple["NodeEntry", ...] = ()
    is_flow: bool = False
    is_marked: bool = False
    is_null: bool = False

    @property
    def last_line(self) -> int:
        """The last line with anything of the node on it."""
        return self.end.line - 1 if self.end.column == 0 and self.end.line > self.start.line else self.end.line

    @property
    def is_empty(self) -> bool:
        """Say whether the node is null, ``{}`` or ``[]``."""
        return self.is_null or (self.is_flow and not self.entries)

    def entry(self, step: Step) -> "NodeEntry | None":
        """Return the entry of a key or of an item's number."""
        return next((entry for entry in self.entries if entry.step == step), None)

    def lines(self) -> Iterator[int]:
        """Yield the lines that hold something of the node; those between them are comments or blank."""
        if self.entries and not self.is_flow:
            for entry in self.entries:
                yield entry.start.line
                yield from entry.node.lines()
        else:
            yield from range(self.start.line, self.last_line + 1)


class NodeEntry(NamedTuple):
    """A key with its value, or a dash with its item; ``start`` is the place of the key or the dash."""

    step: Step
    start: Mark
    node: Node


def root_node(text: str) -> Node:
    """Return the root of a chunk's document; SyntaxProblem or UnusableScalar where it is no YAML."""
    return _Tree(LocatedEvents(text, exact=True).next_event, text.split("\n")).document()


def entries_along(root: Node, path: Path) -> list[NodeEntry]:
    """Return the entries that lead along a path, as far as there are any."""
    found: list[NodeEntry] = []
    node = root
    for step in path:
        entry = node.entry(step)
        if entry is None:
            break
        found.append(entry)
        node = entry.node
    return found


class _Tree:
    """Builds nodes while events go by."""

    def __init__(self, next_event: NextEvent, lines: list[str]) -> None:
        self._next_event = next_event
        self._lines = lines

    def document(self) -> Node:
        self._next_event()
        if type(self._next_event()) is StreamEndEvent:
            raise SyntaxProblem("there is nothing here", Position(1, 1))
        return self._node_of_event(self._next_event())

    def _node_of_event(self, event: Any) -> Node:
        start, end = _mark_of_parser_mark(event.start_mark), _mark_of_parser_mark(event.end_mark)
        if type(event) is AliasEvent:
            return Node(form=Form.ALIAS, start=start, end=end)
        is_marked = event.anchor is not None or event.tag is not None
        if type(event) is ScalarEvent:
            is_plain = event.style is None
            return Node(
                form=Form.SCALAR,
                start=start,
                end=self._end_of_plain_scalar(start, event.value) if is_plain else end,
                is_marked=is_marked,
                is_null=is_plain and event.value in {"", "~", "null", "Null", "NULL"},
            )
        form = Form.MAPPING if type(event) is MappingStartEvent else Form.LIST
        entries, closing = (
            self._entries_of_mapping()
            if form is Form.MAPPING
            else self._entries_of_sequence(start, is_flow=event.flow_style)
        )
        if not event.flow_style:
            closing = Mark(entries[-1].node.last_line, 1 << 30) if entries else start
        return Node(
            form=form, start=start, end=closing, entries=entries, is_flow=bool(event.flow_style), is_marked=is_marked
        )

    def _entries_of_mapping(self) -> tuple[tuple[NodeEntry, ...], Mark]:
        entries = []
        while type(event := self._next_event()) is not MappingEndEvent:
            if type(event) is not ScalarEvent:
                raise UnusableScalar("a key that is not text")
            key = kubectl_key_of_plain_scalar(event.value) if event.implicit[0] else event.value
            entries.append(
                NodeEntry(key, _mark_of_parser_mark(event.start_mark), self._node_of_event(self._next_event()))
            )
        return tuple(entries), _mark_of_parser_mark(event.end_mark)

    def _entries_of_sequence(self, start: Mark, *, is_flow: bool) -> tuple[tuple[NodeEntry, ...], Mark]:
        entries: list[NodeEntry] = []
        while type(event := self._next_event()) is not SequenceEndEvent:
            node = self._node_of_event(event)
            entries.append(NodeEntry(len(entries), node.start if is_flow else self._mark_of_dash(node, start), node))
        return tuple(entries), _mark_of_parser_mark(event.end_mark)

    def _mark_of_dash(self, item: Node, start: Mark) -> Mark:
        """Return the place of an item's dash: in the list's column, on the item's line or above."""
        line = item.start.line
        while line > start.line and self._lines[line][start.column : start.column + 1] != "-":
            line -= 1
        return Mark(line, start.column)

    def _end_of_plain_scalar(self, start: Mark, value: str) -> Mark:
        """Return the end of a plain scalar; the parser's own mark is after the blanks that follow it."""
        line, column = start
        for word in _PLAIN.findall(value):
            while (found := self._lines[line].find(word, column)) < 0:
                line, column = line + 1, 0
            column = found + len(word)
        return Mark(line, column)


def _mark_of_parser_mark(mark: Any) -> Mark:
    return Mark(mark.line, mark.column)
