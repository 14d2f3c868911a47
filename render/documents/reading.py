"""Files into documents: JSON or YAML, every document of a file, and every error of every document."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from .building import Builder
from .chunks import Chunk, character_error, encoding_error, split_chunks
from .document import Document, DocumentError, DocumentErrors, Position
from .events import ExactEvents, FastProblem, SyntaxProblem, fast_events
from .jsontext import NotJson, next_json_value
from .refusal import Refusal


class Reading(NamedTuple):
    """What one chunk of a file holds: a value and the line it starts on (from 1), or an error."""

    chunk: Chunk
    value: Any = None
    line: int = 0
    error: DocumentError | None = None


def parse_documents(data: bytes) -> tuple[Document, ...]:
    """Return the documents of a file that are not empty, as kubectl reads them.

    Raises ``DocumentErrors`` with an error for each document that cannot be read. Unlike kubectl, a duplicate key is
    an error, and so is text that kubectl would drop without a word.
    """
    documents, errors = read_documents(data)
    if errors:
        raise DocumentErrors(errors)
    return documents


def read_documents(data: bytes) -> tuple[tuple[Document, ...], tuple[DocumentError, ...]]:
    """Return the readable documents of a file that are not empty, and the errors of the others."""
    readings = list(read_chunks(data))
    errors = tuple(sorted(reading.error for reading in readings if reading.error))
    filled = (reading for reading in readings if reading.value is not None)
    documents = (Document(value=read.value, line=read.line, index=index) for index, read in enumerate(filled))
    return tuple(documents), errors


def read_chunks(data: bytes) -> Iterator[Reading]:
    """Read a file chunk by chunk, first as JSON where it starts like JSON."""
    whole = Chunk(data, 1)
    error = encoding_error(data)
    if error:
        yield Reading(whole, error=error)
    elif data.lstrip().startswith(b"{"):
        yield from _read_json(data.decode())
    else:
        yield from _read_yaml(whole)


def _read_yaml(rest: Chunk) -> Iterator[Reading]:
    chunks, errors = split_chunks(rest)
    yield from (Reading(rest, error=error) for error in errors)
    yield from map(_read_chunk, chunks)


def _read_json(text: str) -> Iterator[Reading]:
    """Read JSON values; from the first that is none the rest is YAML, unless two values make it a JSON stream."""
    start = count = 0
    line = 1
    try:
        while (found := next_json_value(text, start)) is not None:
            line += text.count("\n", start, found.start)
            yield Reading(Chunk(text[found.start : found.end].encode(), line), found.value, line)
            line += text.count("\n", found.start, found.end)
            start, count = found.end, count + 1
    except Refusal as refusal:
        yield Reading(Chunk(b"", line), error=DocumentError(line, 1, refusal.message, refusal.hint))
    except NotJson as problem:
        if count > 1:
            place = _position(text, problem.offset)
            yield Reading(Chunk(b"", line), error=DocumentError(*place, f"not JSON: {problem.message}"))
        else:
            yield from _read_yaml(Chunk(text[start:].encode(), line))


def _position(text: str, offset: int) -> Position:
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _read_chunk(chunk: Chunk) -> Reading:
    """Read one YAML document: quickly, and where anything at all is wrong or doubtful, again and exactly."""
    builder = Builder(fast_events(chunk.data))
    try:
        value = builder.document()
    except (FastProblem, Refusal):
        return _read_exactly(chunk)
    return Reading(chunk, value, chunk.line + builder.line)


def _read_exactly(chunk: Chunk) -> Reading:
    error = character_error(chunk)
    if error:
        return Reading(chunk, error=error)
    events = ExactEvents(chunk.data)
    builder = Builder(events.next_event)
    try:
        value = builder.document()
    except SyntaxProblem as problem:
        return Reading(chunk, error=_moved(problem.position, problem.message, problem.hint, chunk))
    except Refusal as refusal:
        return Reading(chunk, error=_moved(events.position, refusal.message, refusal.hint, chunk))
    return Reading(chunk, value, chunk.line + builder.line)


def _moved(position: Position, message: str, hint: str, chunk: Chunk) -> DocumentError:
    return DocumentError(position.line + chunk.line - 1, position.column, message, hint)
