"""A file as lines, of which those of one entry change: spliced within a line, written again, added or removed."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from render.documents.chunks import Chunk, ParsedChunk, decode_text
from render.documents.document import DocumentError
from render.documents.emitting import emit
from render.documents.positions import Path, Step
from render.documents.reading import read_chunks
from render.documents.scalars import UnusableScalar
from render.documents.scanning import SyntaxProblem
from render.expressions import lazy_expression

from .nodes import Form, Mark, Node, NodeEntry, UneditableError, entries_along, root_node

BY_HAND = "change it by hand"
_COMMENT = lazy_expression(r"(?:^|\s)#")
_PLAIN = lazy_expression(r"[A-Za-z0-9_./@+-][A-Za-z0-9_./@+ -]*(?<! )")
REMOVED = object()
"""The value of an edit that removes an entry, and with it every parent that this leaves empty."""


class Edit(NamedTuple):
    """The path of an entry and its new value; the number after a list's last item adds one."""

    path: Path
    value: Any = REMOVED


class Page(Struct, kw_only=True):
    """A file as lines without their LF, and the root of the document to change; ``first`` is its first line."""

    lines: list[str]
    first: int
    root: Node
    mark: bytes
    eol: str

    @classmethod
    def of(cls, data: bytes, index: int) -> "Page":
        """Return a file with the document of that index to change; UneditableError where that is not possible."""
        text = decode_text(data)
        readings: list[ParsedChunk] = [reading for reading in read_chunks(data) if reading.value is not None]
        chunk = readings[index].chunk
        if isinstance(text, DocumentError) or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise UneditableError(DocumentError(chunk.line, 1, "it is not written in UTF-8", "save the file as UTF-8"))
        lines = text.split("\n")
        return cls(
            lines=lines,
            first=chunk.line - 1,
            root=_root_of_chunk(chunk),
            mark=b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b"",
            eol="\r" if lines[0].endswith("\r") else "",
        )

    def refusal(self, place: Mark, message: str, hint: str) -> UneditableError:
        """Return the refusal of a change, at a place in the document."""
        return UneditableError(DocumentError(place.line + self.first + 1, place.column + 1, message, hint))

    def with_edit(self, edit: Edit, value: Any) -> bytes:
        """Return the file with one edit made; ``value`` is the document's as it is."""
        way = entries_along(self.root, edit.path)
        nodes = [self.root, *(entry.node for entry in way)]
        is_complete = len(way) == len(edit.path)
        for node in nodes[:-1] if is_complete and edit.value is REMOVED else nodes:
            if node.form is Form.ALIAS or node.is_marked:
                raise self.refusal(node.start, "an anchor, an alias or a tag stands here", BY_HAND)
        if edit.value is REMOVED and not is_complete:
            raise self.refusal(nodes[-1].start, "what is to go is not written here", BY_HAND)
        depth = _depth_of_change(way, nodes, edit)
        if any(node.is_flow and node.entries for node in nodes[: depth + 1]):
            self._rewrite_flow_node(nodes[depth], edit, depth, value)
        elif edit.value is REMOVED:
            self._remove_entry(way[depth])
        elif is_complete:
            self._replace_value_of_entry(way[-1], edit.value)
        else:
            self._add_missing_entry(way, nodes[-1], edit.path[len(way) :], edit.value)
        return self.mark + "\n".join(self.lines).encode()

    def _rewrite_flow_node(self, node: Node, edit: Edit, depth: int, value: Any) -> None:
        """Write a node in braces or brackets again, with an edit made below it or in its place."""
        for step in edit.path[:depth]:
            value = value[step]
        if depth < len(edit.path) and not node.is_empty:
            step = edit.path[depth]
            if node.form is not (Form.LIST if isinstance(step, int) else Form.MAPPING):
                raise self.refusal(node.start, f"it is {node.form.value}", BY_HAND)
            if isinstance(step, int) and step > len(node.entries):
                raise self.refusal(node.start, f"there is no item {step}", BY_HAND)
        lines = self.lines[self.first + node.start.line : self.first + node.end.line]
        if any(map(_COMMENT.search, lines)):
            raise self.refusal(node.start, "comments stand between these braces or brackets", BY_HAND)
        changed = value_after_edit(value, Edit(edit.path[depth:], edit.value))
        self._replace_text_of_node(node, flow_text(changed, is_json=self.root.is_flow))

    def _replace_text_of_node(self, node: Node, text: str) -> None:
        """Put text in the place of a node."""
        first, last = self.first + node.start.line, self.first + node.end.line
        before, after = self.lines[first][: node.start.column], self.lines[last][node.end.column :]
        space = " " if node.start == node.end else ""
        self.lines[first : last + 1] = [f"{before}{space}{text}{after}"]

    def _replace_value_of_entry(self, entry: NodeEntry, value: Any) -> None:
        """Put a value in place of another one, on its line if both are that short."""
        node = entry.node
        text = flow_text(value) if node.is_flow else emit(value).decode().removesuffix("\n")
        is_short = "\n" not in text and (node.is_flow or not isinstance(value, dict | list) or not value)
        if is_short and not node.entries and node.start.line == node.end.line:
            self._replace_text_of_node(node, text)
        else:
            self._rewrite_entry(entry, value)

    def _rewrite_entry(self, entry: NodeEntry, value: Any) -> None:
        """Write an entry again, without its comments except the one that ends the line of its key."""
        node, start = entry.node, entry.start
        texts = emit([value] if isinstance(entry.step, int) else {entry.step: value}).decode().splitlines()
        first, last = self.first + start.line, self.first + max([start.line, *node.lines()])
        line, is_below = self.lines[first], node.start.line > start.line
        if is_below or (not node.entries and node.start.line == node.end.line):
            comment = _COMMENT.search(line, start.column if is_below else node.end.column)
            texts[0] += f"  {line[comment.start() :].strip()}" if comment else ""
        texts = [line[: start.column] + texts[0], *(" " * start.column + text for text in texts[1:])]
        end = "\r" if self.lines[last].endswith("\r") else ""
        self.lines[first : last + 1] = [*(text + self.eol for text in texts[:-1]), texts[-1] + end]

    def _add_missing_entry(self, way: list[NodeEntry], parent: Node, missing: Path, value: Any) -> None:
        """Add an entry that is not there, with every missing parent."""
        for step in reversed(missing[1:]):
            value = [value] if isinstance(step, int) else {step: value}
        step = missing[0]
        if isinstance(step, int) and step != len(parent.entries):
            raise self.refusal(parent.start, f"there is no item {step}", BY_HAND)
        column, line = parent.start.column, parent.last_line
        if parent.is_empty:
            column, line = self._remove_empty_value(way, parent, is_list=isinstance(step, int))
        elif parent.form is not (Form.LIST if isinstance(step, int) else Form.MAPPING):
            raise self.refusal(parent.start, f"it is {parent.form.value}", BY_HAND)
        text = emit([value] if isinstance(step, int) else {step: value}).decode().removesuffix("\n")
        self._insert_lines(line + 1, [" " * column + each for each in text.split("\n")])

    def _remove_empty_value(self, way: list[NodeEntry], parent: Node, *, is_list: bool) -> tuple[int, int]:
        """Remove the text of an empty value; return the column of its future content, and the line above it."""
        if not way or isinstance(way[-1].step, int) or way[-1].start.line != parent.end.line:
            raise self.refusal(parent.start, "nothing can be added here", BY_HAND)
        at = self.first + parent.start.line
        line = self.lines[at]
        before, after = line[: parent.start.column], line[parent.end.column :]
        self.lines[at] = (before if after.strip() else before.rstrip()) + after.lstrip(" ")
        return way[-1].start.column + (0 if is_list else 2), parent.start.line

    def _insert_lines(self, line: int, texts: list[str]) -> None:
        at = self.first + line
        if at >= len(self.lines):
            self.lines[-1] += self.eol
            self.lines += [text + self.eol for text in texts[:-1]] + texts[-1:]
        else:
            self.lines[at:at] = [text + self.eol for text in texts]

    def _remove_entry(self, entry: NodeEntry) -> None:
        """Remove an entry; comments on lines of their own stay."""
        if self.lines[self.first + entry.start.line][: entry.start.column].strip():
            raise self.refusal(entry.start, "it does not begin its line", BY_HAND)
        content = {entry.start.line, *entry.node.lines()}
        for line in range(max(content), entry.start.line - 1, -1):
            if line in content or not self.lines[self.first + line].lstrip().startswith("#"):
                del self.lines[self.first + line]


def _depth_of_change(way: list[NodeEntry], nodes: list[Node], edit: Edit) -> int:
    """Return the depth of the node that an edit changes: the value itself, or the parent that gains or loses an entry.

    A parent that loses its only entry is removed as well, so that its own parent changes.
    """
    if edit.value is not REMOVED:
        return len(way)
    depth = len(way) - 1
    while depth > 0 and len(nodes[depth].entries) == 1:
        depth -= 1
    return depth


def _root_of_chunk(chunk: Chunk) -> Node:
    try:
        return root_node(chunk.text)
    except (SyntaxProblem, UnusableScalar) as error:
        where = DocumentError(chunk.line, 1, "it is written in a way that cannot be edited in place", BY_HAND)
        raise UneditableError(where) from error


def flow_text(value: Any, *, is_json: bool = False) -> str:
    """Return a value on one line; text that another reading might take for something else is quoted.

    >>> flow_text({"a": ["x", "1", 1, True, "b, c"]}), flow_text(["x"], is_json=True)
    ('{a: [x, "1", 1, true, "b, c"]}', '["x"]')
    """
    if is_json:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow_text_of_scalar(key)}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    return _flow_text_of_scalar(value)


def _flow_text_of_scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = _PLAIN.fullmatch(value) and emit(value) == f"{value}\n".encode()
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def has_entry_at(value: Any, path: Path) -> bool:
    """Say whether there is an entry at a path."""
    for step in path:
        has_item = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not (has_item or (isinstance(value, dict) and step in value)):
            return False
        value = value[step]
    return True


def value_after_edit(value: Any, edit: Edit) -> Any:
    """Return plain data with an edit made."""
    if not edit.path:
        return edit.value
    step, rest = edit.path[0], Edit(edit.path[1:], edit.value)
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        inner = value_after_edit(items[step] if step < len(items) else None, rest)
        return [*items[:step], *([] if _is_removed_by(inner, rest) else [inner]), *items[step + 1 :]]
    fields = dict(value) if isinstance(value, dict) else {}
    inner = value_after_edit(fields.get(step), rest)
    return {
        key: inner if key == step else fields[key]
        for key in _keys_after_change(fields, step, is_gone=_is_removed_by(inner, rest))
    }


def _is_removed_by(value: Any, edit: Edit) -> bool:
    return value is REMOVED or (edit.value is REMOVED and bool(edit.path) and value in ({}, []))


def _keys_after_change(fields: Mapping[str, Any], step: Step, *, is_gone: bool) -> list[Any]:
    return [key for key in fields if key != step] if is_gone else list(dict.fromkeys([*fields, step]))
