"""Ordinary block-style YAML, line by line: the fastest way to read it, for a chunk all of whose lines are ordinary.

First every line becomes an entry, and the text of literal blocks is gathered. Then the entries are put together by
their places alone: a function takes all entries of its place and returns the first that is not its own. A chunk with
an entry that fits nowhere, or with duplicate keys, is left to a parser, which can say what is wrong.
"""

from collections.abc import Callable
from typing import Any

from render.expressions import lazy_expression

from .document import MAX_DEPTH
from .holes import copy_value
from .lines import Block, Kind, KnownLines, LineEntry, NotOrdinary

_LINES = KnownLines()
_SEPARATOR = lazy_expression("---(?: +(?:#[ -~]*)?)?")
_UNFIT_FOR_BLOCK = lazy_expression("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_END = LineEntry(-1, Kind.KEY, "", None)
_KEY, _KEY_AND_SCALAR, _DASH, _DASH_AND_SCALAR, _DASH_AND_ENTRY = (
    Kind.KEY,
    Kind.KEY_AND_SCALAR,
    Kind.DASH,
    Kind.DASH_AND_SCALAR,
    Kind.DASH_AND_ENTRY,
)
_WITH_TEXT = {Kind.KEY_AND_BLOCK: Kind.KEY_AND_SCALAR, Kind.DASH_AND_BLOCK: Kind.DASH_AND_SCALAR}

Follow = Callable[[], LineEntry]


def value_of_chunk(text: str) -> tuple[Any, int]:
    """Return the value of a chunk and the line (from 0) it starts on; None where there are only comments.

    Raises ``NotOrdinary``.
    """
    lines = text.split("\n")
    if not lines[-1]:
        del lines[-1]
    start = 1 if lines and _SEPARATOR.fullmatch(lines[0]) else 0
    while start < len(lines) and _LINES[lines[start]] is None:
        start += 1
    if start == len(lines):
        return None, 0
    follow = iter(_entries_of_lines(lines, start)).__next__
    value, rest = _container_of_entry(follow(), follow, 1)
    if rest is not _END:
        raise NotOrdinary
    return value, start


def _entries_of_lines(lines: list[str], resume: int) -> list[LineEntry]:
    """Return the entries of the lines from one on, then the end."""
    entries: list[LineEntry] = []
    for number, line in enumerate(lines):
        if number < resume or (entry := _LINES[line]) is None:
            continue
        if "|" in line:
            entry, resume = _entry_with_block_text(entry, lines, number + 1)
        entries.append(entry)
    entries.append(_END)
    return entries


def _entry_with_block_text(entry: LineEntry, lines: list[str], start: int) -> tuple[LineEntry, int]:
    """Return an entry with the text of its block, if it opens one, and the number of the next line to read."""
    if entry.kind is _DASH_AND_ENTRY:
        inner, resume = _entry_with_block_text(entry.value, lines, start)
        return entry._replace(value=inner), resume
    if entry.kind not in _WITH_TEXT:
        return entry, 0
    text, resume = _block_text(entry.value, entry.place >> 1, lines, start)
    return entry._replace(kind=_WITH_TEXT[entry.kind], value=text), resume


def _block_text(header: Block, column: int, lines: list[str], start: int) -> tuple[str, int]:
    """Return the text of a literal block that belongs to a column, and the number of the line after it."""
    width = column + header.indent if header.indent else _column_of_block_text(column, lines, start)
    pad, end = " " * width, start
    while end < len(lines) and (lines[end].startswith(pad) or not lines[end].strip(" ")):
        end += 1
    text = "\n".join([line[width:] for line in lines[start:end]])
    content = text.rstrip("\n")
    if not content or _UNFIT_FOR_BLOCK.search(text):
        raise NotOrdinary
    if header.chomping == "+":
        return f"{text}\n", end
    return (content if header.chomping == "-" else f"{content}\n"), end


def _column_of_block_text(column: int, lines: list[str], start: int) -> int:
    """Return the column of a block's text, that of its first line with any; the blank ones above are no longer."""
    for number in range(start, len(lines)):
        text = lines[number].lstrip(" ")
        if text:
            width = len(lines[number]) - len(text)
            if width <= column or text[0] == "\t" or max(map(len, lines[start:number]), default=0) > width:
                break
            return width
    raise NotOrdinary


def _container_of_entry(entry: LineEntry, follow: Follow, depth: int) -> tuple[Any, LineEntry]:
    """Return the mapping or list that starts with an entry, and the first entry that does not belong to it."""
    if depth > MAX_DEPTH:
        raise NotOrdinary
    return _list_from_entry(entry, follow, depth) if entry.place & 1 else _mapping_from_entry(entry, follow, depth)


def _mapping_from_entry(entry: LineEntry, follow: Follow, depth: int) -> tuple[Any, LineEntry]:
    own = entry.place
    mapping: dict[str, Any] = {}
    while True:
        _, kind, key, value = entry
        entry = follow()
        if kind is _KEY:
            value, entry = _container_of_entry(entry, follow, depth + 1) if entry.place > own else (None, entry)
        elif kind is not _KEY_AND_SCALAR:
            value = copy_value(value)
        if key in mapping:
            raise NotOrdinary
        mapping[key] = value
        if entry.place != own:
            return mapping, entry


def _list_from_entry(entry: LineEntry, follow: Follow, depth: int) -> tuple[Any, LineEntry]:
    own = entry.place
    items: list[Any] = []
    while True:
        _, kind, _, value = entry
        if kind is _DASH_AND_ENTRY:
            value, entry = _container_of_entry(value, follow, depth + 1)
        else:
            entry = follow()
            if kind is _DASH:
                value, entry = _container_of_entry(entry, follow, depth + 1) if entry.place > own else (None, entry)
            elif kind is not _DASH_AND_SCALAR:
                value = copy_value(value)
        items.append(value)
        if entry.place != own:
            return items, entry
