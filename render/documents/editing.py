r"""One value of a file changed where it stands: comments, order and every other byte stay as they are.

1. Follow the path through the document as it is written (``nodes``) to the entry, or to where it is missing.
2. Change the text there: put a scalar in place of another, add lines after what is there, or take lines away.
3. Read the result. If it does not say exactly what was wanted, nothing is changed and the file is refused.

What is written in braces or brackets, or has an anchor, an alias or a tag, is left to its author.

>>> print(edited(b"labels:\n  env: test # for now\n", 0, [Edit(("labels", "env"), "prod")]).decode(), end="")
labels:
  env: prod # for now
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .chunks import Chunk, Reading, decoded
from .document import DocumentError, DocumentErrors
from .emitting import emit
from .nodes import Entry, Form, Mark, Node, UneditableError, root_node, way_to
from .positions import Path, Step
from .reading import parse_documents, read_chunks
from .scalars import UnusableScalar
from .scanning import SyntaxProblem

REMOVED = object()
"""The value of an edit that takes an entry away, and with it whatever that leaves empty."""

_BY_HAND = "change it by hand"
_BLOCK = "write it in block style, an entry a line"


class Edit(NamedTuple):
    """The path of an entry and its new value; the number after a list's last item adds one."""

    path: Path
    value: Any = REMOVED


def edited(data: bytes, index: int, edits: Iterable[Edit]) -> bytes:
    """Return a file with edits made, one after another, in the document of that index.

    Raises ``UneditableError`` where the style of the file does not allow it, ``DocumentErrors`` if it cannot be read.
    """
    for edit in edits:
        data = _made(data, index, edit)
    return data


def _made(data: bytes, index: int, edit: Edit) -> bytes:
    documents = parse_documents(data)
    if edit.value is REMOVED and not _is_there(documents[index].value, edit.path):
        return data
    wanted = [emit(_changed(each.value, edit) if each.index == index else each.value) for each in documents]
    if wanted[index] == emit(documents[index].value):
        return data
    page = _Page.of(data, index)
    result = page.changed(edit)
    try:
        told = [emit(each.value) for each in parse_documents(result)]
    except DocumentErrors:
        told = []
    if told != wanted:
        raise page.refusal(page.root.start, "it is written in a way that does not allow this change", _BY_HAND)
    return result


def _is_there(value: Any, path: Path) -> bool:
    for step in path:
        has_item = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not (has_item or (isinstance(value, dict) and step in value)):
            return False
        value = value[step]
    return True


def _changed(value: Any, edit: Edit) -> Any:
    """Return the plain data an edit asks for."""
    if not edit.path:
        return edit.value
    step, rest = edit.path[0], Edit(edit.path[1:], edit.value)
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        inner = _changed(items[step] if step < len(items) else None, rest)
        return [*items[:step], *([] if _is_gone(inner, rest) else [inner]), *items[step + 1 :]]
    fields = dict(value) if isinstance(value, dict) else {}
    inner = _changed(fields.get(step), rest)
    return {key: inner if key == step else fields[key] for key in _keys(fields, step, is_gone=_is_gone(inner, rest))}


def _is_gone(value: Any, edit: Edit) -> bool:
    return value is REMOVED or (edit.value is REMOVED and bool(edit.path) and value in ({}, []))


def _keys(fields: Mapping[str, Any], step: Step, *, is_gone: bool) -> list[Any]:
    return [key for key in fields if key != step] if is_gone else list(dict.fromkeys([*fields, step]))


@dataclass(slots=True, kw_only=True)
class _Page:
    """A file as lines without their LF, and the root of the document to change; ``first`` is its first line."""

    lines: list[str]
    first: int
    root: Node
    mark: bytes
    eol: str

    @classmethod
    def of(cls, data: bytes, index: int) -> "_Page":
        text = decoded(data)
        readings: list[Reading] = [reading for reading in read_chunks(data) if reading.value is not None]
        chunk = readings[index].chunk
        if isinstance(text, DocumentError) or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise UneditableError(DocumentError(chunk.line, 1, "it is not written in UTF-8", "save the file as UTF-8"))
        lines = text.split("\n")
        return cls(
            lines=lines,
            first=chunk.line - 1,
            root=_root(chunk),
            mark=b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b"",
            eol="\r" if lines[0].endswith("\r") else "",
        )

    def refusal(self, place: Mark, message: str, hint: str) -> UneditableError:
        return UneditableError(DocumentError(place.line + self.first + 1, place.column + 1, message, hint))

    def changed(self, edit: Edit) -> bytes:
        """Return the file with one edit made."""
        way = way_to(self.root, edit.path)
        nodes = [self.root, *(entry.node for entry in way)]
        for node in nodes[:-1] if len(way) == len(edit.path) else nodes:
            self._check(node)
        if edit.value is REMOVED:
            self._remove(way, nodes, complete=len(way) == len(edit.path))
        elif len(way) == len(edit.path):
            self._replace(way[-1].node, edit.value)
        else:
            self._add(way, nodes[-1], edit.path[len(way) :], edit.value)
        return self.mark + "\n".join(self.lines).encode()

    def _check(self, node: Node) -> None:
        if node.form is Form.ALIAS or node.is_marked:
            raise self.refusal(node.start, "an anchor, an alias or a tag stands here", _BY_HAND)
        if node.is_flow and node.entries:
            raise self.refusal(node.start, "it is written in braces or brackets", _BLOCK)

    def _replace(self, node: Node, value: Any) -> None:
        """Put a scalar in place of another one."""
        self._check(node)
        text = emit(value).decode().removesuffix("\n")
        if node.form is not Form.SCALAR or node.start.line != node.end.line or "\n" in text:
            raise self.refusal(node.start, "only what is written on one line can be changed", _BY_HAND)
        line = self.lines[self.first + node.start.line]
        space = " " if node.start == node.end else ""
        changed = f"{line[: node.start.column]}{space}{text}{line[node.end.column :]}"
        self.lines[self.first + node.start.line] = changed

    def _add(self, way: list[Entry], parent: Node, missing: Path, value: Any) -> None:
        """Add an entry that is not there, with all that is missing above it."""
        for step in reversed(missing[1:]):
            value = [value] if isinstance(step, int) else {step: value}
        step = missing[0]
        if isinstance(step, int) and step != len(parent.entries):
            raise self.refusal(parent.start, f"there is no item {step}", _BY_HAND)
        column, line = parent.start.column, parent.last_line
        if parent.is_empty:
            column, line = self._emptied(way, parent, is_list=isinstance(step, int))
        elif parent.form is not (Form.LIST if isinstance(step, int) else Form.MAPPING):
            raise self.refusal(parent.start, f"it is {parent.form.value}", _BY_HAND)
        text = emit([value] if isinstance(step, int) else {step: value}).decode().removesuffix("\n")
        self._insert(line + 1, [" " * column + each for each in text.split("\n")])

    def _emptied(self, way: list[Entry], parent: Node, *, is_list: bool) -> tuple[int, int]:
        """Take away what says that a value is empty; return the column and the line that its content goes below."""
        if not way or isinstance(way[-1].step, int) or way[-1].start.line != parent.end.line:
            raise self.refusal(parent.start, "nothing can be added here", _BY_HAND)
        at = self.first + parent.start.line
        line = self.lines[at]
        before, after = line[: parent.start.column], line[parent.end.column :]
        self.lines[at] = (before if after.strip() else before.rstrip()) + after.lstrip(" ")
        return way[-1].start.column + (0 if is_list else 2), parent.start.line

    def _insert(self, line: int, texts: list[str]) -> None:
        at = self.first + line
        if at >= len(self.lines):
            self.lines[-1] += self.eol
            self.lines += [text + self.eol for text in texts[:-1]] + texts[-1:]
        else:
            self.lines[at:at] = [text + self.eol for text in texts]

    def _remove(self, way: list[Entry], nodes: list[Node], *, complete: bool) -> None:
        """Take away an entry and what it leaves empty; comments on lines of their own stay."""
        if not complete:
            raise self.refusal(nodes[-1].start, "what is to go is not written here", _BY_HAND)
        depth = len(way)
        while depth > 1 and len(nodes[depth - 1].entries) == 1:
            depth -= 1
        entry = way[depth - 1]
        if self.lines[self.first + entry.start.line][: entry.start.column].strip():
            raise self.refusal(entry.start, "it does not begin its line", _BY_HAND)
        content = {entry.start.line, *entry.node.lines()}
        for line in range(max(content), entry.start.line - 1, -1):
            if line in content or not self.lines[self.first + line].lstrip().startswith("#"):
                del self.lines[self.first + line]


def _root(chunk: Chunk) -> Node:
    try:
        return root_node(chunk.text)
    except (SyntaxProblem, UnusableScalar) as error:
        where = DocumentError(chunk.line, 1, "it is written in a way that cannot be edited in place", _BY_HAND)
        raise UneditableError(where) from error


def without_document(data: bytes, index: int) -> bytes:
    """Return a file without the document of that index, its separator and the comments in it; b"" if none is left."""
    before = parse_documents(data)
    if len(before) == 1:
        return b""
    page = _Page.of(data, index)
    readings: list[Reading] = [reading for reading in read_chunks(data) if reading.value is not None]
    end = page.first + readings[index].chunk.text.count("\n")
    start = page.first
    if start and page.lines[start - 1].startswith("---"):
        start -= 1
    elif end < len(page.lines) and page.lines[end].startswith("---"):
        end += 1
    result = page.mark + "\n".join([*page.lines[:start], *page.lines[end:]]).encode()
    left = [replace(each, line=0, index=0) for each in parse_documents(result)]
    if left != [replace(each, line=0, index=0) for each in before if each.index != index]:
        raise page.refusal(page.root.start, "the documents of this file cannot be told apart", _BY_HAND)
    return result
