"""Expectations written back into the file of a test, line by line, so that comments elsewhere stay.

Only a value that stands in block style, under its key or beside it, is replaced; where that does not give a test that
says what is so, the file is left alone.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from render.documents import DocumentErrors, emit, locate_field, parse_documents

from .policy_trials import Mismatch
from .trial_fields import MISSING


class Edit(NamedTuple):
    """A field of a document of a file and its new value."""

    position: int
    field: str
    value: Any


def edits_of(position: int, mismatches: Iterable[Mismatch]) -> list[Edit]:
    """Return the edits that would make a test expect what is so; what has no value cannot be expected."""
    return [Edit(position, each.field, each.got) for each in mismatches if each.got is not MISSING]


def updated(content: bytes, edits: Sequence[Edit]) -> bytes | None:
    """Return a file with edits made, from its end to its beginning; None where it cannot be edited so."""
    placed = sorted(((locate_field(content, each.position, each.field), each) for each in edits), reverse=True)
    lines = content.decode("utf-8").splitlines(keepends=True)
    for place, edit in placed:
        key = edit.field.rpartition(".")[2]
        if not lines[place.line - 1][place.column - 1 :].startswith(f"{key}:"):
            return None
        end = _end_of_value(lines, place.line, place.column - 1)
        lines[place.line - 1 : end] = _lines(lines[place.line - 1][: place.column - 1], key, edit.value)
    result = "".join(lines).encode()
    return result if _says(result, edits) else None


def _end_of_value(lines: Sequence[str], line: int, column: int) -> int:
    """Return the number of the last line of a value whose key stands at a line (from 1) and column (from 0)."""
    end = line
    has_list_below = lines[line - 1].partition(" #")[0].rstrip().endswith(":")
    for number in range(line, len(lines)):
        text = lines[number]
        indent = len(text) - len(text.lstrip(" "))
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        is_item = has_list_below and indent == column and text.lstrip().startswith("- ")
        if text.startswith(("---", "...")) or not (indent > column or is_item):
            break
        end = number + 1
    return end


def _lines(before: str, key: str, value: Any) -> list[str]:
    """Return the lines of a key and its value, the first after what stands before it, the others indented as far."""
    first, *others = emit({key: value}).decode().splitlines(keepends=True)
    return [before + first, *(" " * len(before) + each for each in others)]


def _says(content: bytes, edits: Iterable[Edit]) -> bool:
    """Whether every edited field now has its value."""
    try:
        documents = parse_documents(content)
    except DocumentErrors:
        return False
    return all(_value(documents[each.position].value, each.field) == each.value for each in edits)


def _value(document: Any, field: str) -> Any:
    """Return a field by its path, ``spec.expect[0].clusters``."""
    for part in field.split("."):
        name, _, rest = part.partition("[")
        document = document.get(name) if isinstance(document, dict) else MISSING
        for index in rest.rstrip("]").split("][") if rest else ():
            document = document[int(index)] if isinstance(document, list) else MISSING
    return document
