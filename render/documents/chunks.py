"""A file's bytes as the texts kubectl parses one by one: decoded, and cut at the lines that start with ``---``."""

import re
from typing import Any, NamedTuple

from render.expressions import lazy_expression

from .document import DocumentError, Position

_SEPARATOR = lazy_expression(r"^---[^\n]*\n?", re.MULTILINE)
_FORBIDDEN = lazy_expression("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_UTF_16, _UTF_8 = (b"\xff\xfe", b"\xfe\xff"), b"\xef\xbb\xbf"
# No API server accepts an object a tenth as large.
MAX_SIZE = 32 * 1024 * 1024


class Chunk(NamedTuple):
    """The text of one document and the line of the file, counted from 1, on which it starts."""

    text: str
    line: int


class ParsedChunk(NamedTuple):
    """The content of one chunk of a file: a value and the line it starts on (from 1), or an error."""

    chunk: Chunk
    value: Any = None
    line: int = 0
    error: DocumentError | None = None


def split_chunks(chunk: Chunk) -> tuple[list[Chunk], list[DocumentError]]:
    """Cut a file, or the rest of one, at its separators; line ends become LF, and the last line gets one.

    A separator may carry a comment; kubectl refuses any other text on it.
    """
    text, line = chunk.text.replace("\r\n", "\n"), chunk.line
    if text and not text.endswith("\n"):
        text += "\n"
    chunks: list[Chunk] = []
    errors: list[DocumentError] = []
    start = 0
    for match in _SEPARATOR.finditer(text):
        rest = match[0][3:].strip()
        if match.start() == start and (not rest or rest.startswith("#")):
            continue  # a separator before any text belongs to the document that follows
        chunks.append(Chunk(text[start : match.start()], line))
        line += text.count("\n", start, match.start())
        if rest and not rest.startswith("#"):
            hint = "write '---' alone on its line and the document below it"
            errors.append(DocumentError(line, 4, "text after a document separator, which kubectl refuses", hint))
        line += match[0].endswith("\n")
        start = match.end()
    chunks.append(Chunk(text[start:], line))
    return chunks, errors


def decode_text(data: bytes) -> str | DocumentError:
    """Return a file as text without its byte order mark, or an error: it is too large, or broken at a byte.

    kubectl reads UTF-16 that starts with its mark, and takes everything else for UTF-8. Where that fails it replaces
    bytes; we refuse to.
    """
    if len(data) > MAX_SIZE:
        return DocumentError(1, 1, f"larger than {MAX_SIZE} bytes", "split the file")
    encoding, name = ("utf-16", "UTF-16") if data.startswith(_UTF_16) else ("utf-8-sig", "UTF-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        offset = error.start + (3 if data.startswith(_UTF_8) else 0)
        place = position_in(data[:offset].decode(encoding, errors="replace"))
        message = f"not {name}: byte 0x{data[offset]:02x} at offset {offset}"
        return DocumentError(*place, message, "save the file as UTF-8")


def position_in(text: str, offset: int | None = None) -> Position:
    """Return the line and column of an offset, or of the end."""
    offset = len(text) if offset is None else offset
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def character_error(chunk: Chunk) -> DocumentError | None:
    """Return the error of the first character that YAML does not allow."""
    text = chunk.text
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    line, column = position_in(text, match.start())
    hint = 'write it as an escape in double quotes, such as "\\x1b"'
    return DocumentError(chunk.line + line - 1, column, f"control character U+{ord(match[0]):04X}", hint)
