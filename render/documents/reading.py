"""Files into documents: JSON or YAML, every document of a file, and every error of every document."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .building import Builder
from .chunks import Chunk, character_error, encoding_error, split_chunks
from .document import Document, DocumentError, DocumentErrors, Position
from .doubting import Doubtful, FastBuilder
from .jsontext import NotJson, next_json_value
from .refusal import Refusal
from .scanning import SyntaxProblem
from .syntax import ExactEvents, FastProblem


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
    return sorted_out(read_chunks(data))


def sorted_out(readings: Iterable[Reading]) -> tuple[tuple[Document, ...], tuple[DocumentError, ...]]:
    """Number the documents of a file, and put the errors in order."""
    documents: list[Document] = []
    errors: list[DocumentError] = []
    for reading in readings:
        if reading.error:
            errors.append(reading.error)
        elif reading.value is not None:
            documents.append(Document(value=reading.value, line=reading.line, index=len(documents)))
    return tuple(documents), tuple(sorted(errors))


def read_chunk(chunk: Chunk) -> Reading:
    """Read one YAML document: quickly, and where anything at all is wrong or doubtful, again and exactly."""
    try:
        builder = FastBuilder(chunk.data)
        value = builder.document()
    except (*FastProblem, Refusal, Doubtful):
        return read_exactly(chunk)
    return Reading(chunk, value, chunk.line + builder.line)


def read_exactly(chunk: Chunk) -> Reading:
    """Read one YAML document with the parser that knows all of kubectl's rules and the place of every error."""
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


ReadChunk = Callable[[Chunk], Reading]


def read_chunks(data: bytes, *, read: ReadChunk = read_chunk) -> Iterator[Reading]:
    """Read a file chunk by chunk, first as JSON where it starts like JSON."""
    whole = Chunk(data, 1)
    error = encoding_error(data)
    if error:
        yield Reading(whole, error=error)
    elif data.lstrip().startswith(b"{"):
        yield from _read_json(data.decode(), read)
    else:
        yield from _read_yaml(whole, read)


def _read_yaml(rest: Chunk, read: ReadChunk) -> Iterator[Reading]:
    chunks, errors = split_chunks(rest)
    yield from (Reading(rest, error=error) for error in errors)
    yield from map(read, chunks)


def _read_json(text: str, read: ReadChunk) -> Iterator[Reading]:
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
            yield from _read_yaml(Chunk(text[start:].encode(), line), read)


def _position(text: str, offset: int) -> Position:
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
