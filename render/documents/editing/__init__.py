r"""One value of a file changed where it stands: comments, order and every other byte stay as they are.

1. Follow the path through the document as it is written (``nodes``) to the entry, or to where it is missing.
2. Change the text there: put a value in place of another, add lines after what is there, or take lines away. In braces
   and brackets a value is replaced within them, and a collection that gains or loses an entry is written again.
3. Read the result. If it does not say exactly what was wanted, nothing is changed and the file is refused.

A value with an anchor, an alias or a tag is left to its author.

>>> print(edit_file(b"labels:\n  env: test # for now\n", 0, [Edit(("labels", "env"), "prod")]).decode(), end="")
labels:
  env: prod # for now
"""

from collections.abc import Iterable

from msgspec.structs import replace

from render.documents.chunks import ParsedChunk
from render.documents.document import DocumentErrors
from render.documents.emitting import emit
from render.documents.reading import parse_documents, read_chunks

from .page import BY_HAND, REMOVED, Edit, Page, has_entry_at, value_after_edit

__all__ = ["REMOVED", "Edit", "edit_file", "without_document"]


def edit_file(data: bytes, index: int, edits: Iterable[Edit]) -> bytes:
    """Return a file with edits made, one after another, in the document of that index.

    Raises ``UneditableError`` where the style of the file does not allow it, ``DocumentErrors`` if it cannot be read.
    """
    for edit in edits:
        data = _edited_text(data, index, edit)
    return data


def _edited_text(data: bytes, index: int, edit: Edit) -> bytes:
    documents = parse_documents(data)
    if edit.value is REMOVED and not has_entry_at(documents[index].value, edit.path):
        return data
    wanted = [emit(value_after_edit(each.value, edit) if each.index == index else each.value) for each in documents]
    if wanted[index] == emit(documents[index].value):
        return data
    page = Page.of(data, index)
    result = page.with_edit(edit, documents[index].value)
    try:
        written = [emit(each.value) for each in parse_documents(result)]
    except DocumentErrors:
        written = []
    if written != wanted:
        raise page.refusal(page.root.start, "it is written in a way that does not allow this change", BY_HAND)
    return result


def without_document(data: bytes, index: int) -> bytes:
    """Return a file without the document of that index, its separator and the comments in it; b"" if none is left."""
    before = parse_documents(data)
    if len(before) == 1:
        return b""
    page = Page.of(data, index)
    readings: list[ParsedChunk] = [reading for reading in read_chunks(data) if reading.value is not None]
    end = page.first + readings[index].chunk.text.count("\n")
    start = page.first
    if start and page.lines[start - 1].startswith("---"):
        start -= 1
    elif end < len(page.lines) and page.lines[end].startswith("---"):
        end += 1
    result = page.mark + "\n".join([*page.lines[:start], *page.lines[end:]]).encode()
    left = [replace(each, line=0, index=0) for each in parse_documents(result)]
    if left != [replace(each, line=0, index=0) for each in before if each.index != index]:
        raise page.refusal(page.root.start, "the documents of this file cannot be distinguished", BY_HAND)
    return result
