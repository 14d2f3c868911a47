"""The values of this package: documents, positions in a file, and the errors that make a file unreadable."""

from typing import Any, NamedTuple

from msgspec import Struct

MAX_DEPTH = 200
MAX_ALIASED = 400_000
_LONGEST_QUOTE = 80


class Position(NamedTuple):
    """A place in a file; both count from 1."""

    line: int
    column: int


class Document(Struct, frozen=True, kw_only=True):
    """One YAML or JSON document of a file.

    ``value`` is plain data (dict, list, str, int, float, bool, None) that is never modified in place: aliases share it.
    ``line`` is where its first key or item stands, ``index`` its place among the documents that are not empty.
    """

    value: Any
    line: int
    index: int


class DocumentError(Struct, frozen=True, order=True):
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


class UnusableDocument(ValueError):
    """A document that parses but has no meaning in Kubernetes; its place is that of the event read last."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def quoted_key_for_message(key: str) -> str:
    """Return a key for a message, shortened."""
    return repr(key if len(key) <= _LONGEST_QUOTE else f"{key[:_LONGEST_QUOTE]}...")
