"""A file's bytes as the chunks kubectl parses one by one: checked, and cut at the lines that start with ``---``."""

import re
from typing import NamedTuple

from .document import DocumentError

_SEPARATOR = re.compile(rb"^---[^\n]*\n?", re.MULTILINE)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MAX_SIZE = 32 * 1024 * 1024


class Chunk(NamedTuple):
    """The bytes of one document and the line of the file, counted from 1, on which they start."""

    data: bytes
    line: int


def split_chunks(chunk: Chunk) -> tuple[list[Chunk], list[DocumentError]]:
    """Cut a file, or what is left of it, at its separators; line ends become LF, and the last line gets one.

    A separator may carry a comment; kubectl refuses any other text on it.
    """
    data, line = chunk.data.replace(b"\r\n", b"\n"), chunk.line
    if data and not data.endswith(b"\n"):
        data += b"\n"
    chunks: list[Chunk] = []
    errors: list[DocumentError] = []
    start = 0
    for match in _SEPARATOR.finditer(data):
        rest = match[0][3:].decode().strip()
        if match.start() == start and (not rest or rest.startswith("#")):
            continue  # a separator before any text belongs to the document that follows
        chunks.append(Chunk(data[start : match.start()], line))
        line += data.count(b"\n", start, match.start())
        if rest and not rest.startswith("#"):
            hint = "write '---' alone on its line and the document below it"
            errors.append(DocumentError(line, 4, "text after a document separator, which kubectl refuses", hint))
        line += match[0].endswith(b"\n")
        start = match.end()
    chunks.append(Chunk(data[start:], line))
    return chunks, errors


def encoding_error(data: bytes) -> DocumentError | None:
    """Say why a file as a whole is not text: too large, UTF-16, or not UTF-8."""
    if len(data) > MAX_SIZE:
        return DocumentError(1, 1, f"larger than {MAX_SIZE} bytes", "split the file")
    if data.startswith(_UTF_16):
        return DocumentError(1, 1, "encoded as UTF-16, which kubectl cannot read", "save the file as UTF-8")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return _not_utf_8(data, error.start)
    return None


def _not_utf_8(data: bytes, offset: int) -> DocumentError:
    line_start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[line_start:offset].decode()) + 1
    message = f"not UTF-8: byte 0x{data[offset]:02x} at offset {offset}"
    return DocumentError(data.count(b"\n", 0, offset) + 1, column, message, "save the file as UTF-8")


def character_error(chunk: Chunk) -> DocumentError | None:
    """Say which character of a chunk YAML does not allow."""
    text = chunk.data.decode()
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    line = chunk.line + text.count("\n", 0, match.start())
    column = match.start() - text.rfind("\n", 0, match.start())
    hint = 'write it as an escape in double quotes, such as "\\x1b"'
    return DocumentError(line, column, f"control character U+{ord(match[0]):04X}", hint)
