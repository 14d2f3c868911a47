"""Whole documents of a file: taken out as text, put in place of another, or added at the end."""

from render.documents.chunks import ParsedChunk
from render.documents.document import DocumentErrors
from render.documents.emitting import emit
from render.documents.reading import parse_documents, read_chunks

from .page import BY_HAND, Page

_SEPARATOR = "---"


def document_text(data: bytes, index: int) -> str:
    """Return the text of the document of that index, comments and all, without a separator before it."""
    readings: list[ParsedChunk] = [reading for reading in read_chunks(data) if reading.value is not None]
    return _text_without_separator(readings[index].chunk.text)


def with_document(data: bytes, index: int, text: str) -> bytes:
    """Return a file with another text for the document of that index; every other byte stays as it is.

    Raises ``UneditableError`` where the result would not say exactly that.
    """
    page = Page.of(data, index)
    readings: list[ParsedChunk] = [reading for reading in read_chunks(data) if reading.value is not None]
    chunk = readings[index].chunk.text
    end = page.first + chunk.count("\n")
    first = end - _text_without_separator(chunk).count("\n")
    lines = [line + page.eol for line in text.removesuffix("\n").split("\n")]
    result = page.mark + "\n".join([*page.lines[:first], *lines, *page.lines[end:]]).encode()
    if end == len(page.lines):
        result += b"\n"
    wanted = [emit(each.value) for each in parse_documents(data)]
    wanted[index] = emit(parse_documents(text.encode())[0].value)
    if _emitted_documents(result) != wanted:
        raise page.refusal(page.root.start, "the documents of this file cannot be distinguished", BY_HAND)
    return result


def with_added_document(data: bytes, text: str) -> bytes:
    """Return a file with a document added at its end; one that is empty or missing holds it alone."""
    if not data.strip():
        return text.encode()
    separator = b"" if data.endswith(b"\n") else b"\n"
    return data + separator + f"{_SEPARATOR}\n{text}".encode()


def _emitted_documents(data: bytes) -> list[bytes]:
    try:
        return [emit(each.value) for each in parse_documents(data)]
    except DocumentErrors:
        return []


def _text_without_separator(text: str) -> str:
    while text.startswith(_SEPARATOR):
        text = text.partition("\n")[2]
    return text
