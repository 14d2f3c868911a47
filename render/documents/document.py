"""The values of this package: documents read, positions in a file, and what made a file unreadable."""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Position(NamedTuple):
    """A place in a file; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One YAML or JSON document of a file.

    ``value`` is plain data (dict, list, str, int, float, bool, None) that is never modified in place: aliases share it.
    ``line`` is where its first key or item stands, ``index`` its place among the documents that are not empty.
    """

    value: Any
    line: int
    index: int


@dataclass(frozen=True, slots=True, order=True)
class DocumentError:
    """One thing that keeps a document from being read; it names places and keys, never values."""

    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.line}:{self.column}: {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class DocumentErrors(ValueError):
    """A file that cannot be read: ``errors`` says why, at most once per document, in the order of the file."""

    def __init__(self, errors: tuple[DocumentError, ...]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = errors
