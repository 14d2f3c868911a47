"""Files into documents: JSON or YAML, every document of a file, and every error of every document."""

from collections.abc import Callable, Iterable, Iterator

from .chunks import Chunk, ParsedChunk, decode_text, position_in, split_chunks
from .document import Document, DocumentError, DocumentErrors, UnusableDocument
from .jsontext import NotJson, next_json_value
from .lines import NotOrdinary
from .outline import value_of_chunk


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
    return documents_and_errors(read_chunks(data))


def document_texts(data: bytes) -> tuple[bytes, ...]:
    """Return the text of each of a file's documents that are not empty: all of the file where there is one alone."""
    return _texts_of_readings(read_chunks(data), data)


def documents_with_texts(data: bytes) -> tuple[tuple[Document, bytes], ...]:
    """Return the readable documents of a file that are not empty, each with its text, from one reading of the file."""
    readings = tuple(read_chunks(data))
    return tuple(zip(documents_and_errors(readings)[0], _texts_of_readings(readings, data), strict=True))


def _texts_of_readings(readings: Iterable[ParsedChunk], data: bytes) -> tuple[bytes, ...]:
    found = [reading.chunk.text for reading in readings if reading.value is not None]
    return (data,) if len(found) == 1 else tuple(text.encode() for text in found)


def documents_and_errors(readings: Iterable[ParsedChunk]) -> tuple[tuple[Document, ...], tuple[DocumentError, ...]]:
    """Number the documents of a file, and put the errors in order."""
    documents: list[Document] = []
    errors: list[DocumentError] = []
    for reading in readings:
        if reading.error:
            errors.append(reading.error)
        elif reading.value is not None:
            documents.append(Document(value=reading.value, line=reading.line, index=len(documents)))
    return tuple(documents), tuple(sorted(errors))


def read_chunk(chunk: Chunk) -> ParsedChunk:
    """Read one YAML document: by its lines if all are ordinary, else with libyaml, else exactly."""
    try:
        value, line = value_of_chunk(chunk.text)
    except NotOrdinary:
        from .parsing import read_quickly

        return read_quickly(chunk)
    return ParsedChunk(chunk, value, chunk.line + line)


ReadChunk = Callable[[Chunk], ParsedChunk]


def read_chunks(data: bytes, *, read: ReadChunk = read_chunk) -> Iterator[ParsedChunk]:
    """Read a file chunk by chunk, first as JSON where it starts like JSON."""
    text = decode_text(data)
    if isinstance(text, DocumentError):
        yield ParsedChunk(Chunk("", 1), error=text)
    elif text.lstrip().startswith("{"):
        yield from _read_json(text, read)
    else:
        yield from _read_yaml(Chunk(text, 1), read)


def _json_error(rest: Chunk, refusal: UnusableDocument) -> DocumentError:
    """Return the error of refused JSON, at the place where the YAML parser refuses it for the same reason, if any."""
    from .parsing import HUGE, read_exactly

    error = read_exactly(rest).error if len(rest.text) <= HUGE else None
    if error and error.message == refusal.message:
        return error
    return DocumentError(rest.line, 1, refusal.message, refusal.hint)


def _read_yaml(rest: Chunk, read: ReadChunk) -> Iterator[ParsedChunk]:
    chunks, errors = split_chunks(rest)
    yield from (ParsedChunk(rest, error=error) for error in errors)
    yield from map(read, chunks)


def _read_json(text: str, read: ReadChunk) -> Iterator[ParsedChunk]:
    """Read JSON values; text that is none is YAML from there on, unless two values before it make a JSON stream."""
    start = count = 0
    line = 1
    try:
        while (found := next_json_value(text, start)) is not None:
            line += text.count("\n", start, found.start)
            yield ParsedChunk(Chunk(text[found.start : found.end], line), found.value, line)
            line += text.count("\n", found.start, found.end)
            start, count = found.end, count + 1
    except UnusableDocument as refusal:
        yield ParsedChunk(Chunk("", line), error=_json_error(Chunk(text[start:], line), refusal))
    except NotJson as problem:
        if count > 1:
            error = DocumentError(*position_in(text, problem.offset), f"not JSON: {problem.message}")
            yield ParsedChunk(Chunk("", line), error=error)
        else:
            yield from _read_yaml(Chunk(text[start:], line), read)
