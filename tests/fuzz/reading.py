"""Files as we read them against files as kubectl reads them."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from render.documents import DocumentError
from render.documents.parsing import read_exactly, read_quickly
from render.documents.reading import documents_and_errors, read_chunk, read_chunks
from tests.kubectl import REFUSED, Refused, head, objects_read

from .jsons import json_text
from .scalars import hazard_text
from .structures import ordinary, structure

DELIBERATE = ("duplicate key", "text after the document's end", "a byte order mark inside the file")
"""A refusal of text that kubectl reads, although it loses something without a word."""


class Difference(NamedTuple):
    """A file that we and kubectl read differently."""

    data: bytes
    ours: Any
    theirs: Any


def scalar_file(rng: Random, number: int) -> bytes:
    """A file that holds one hazardous scalar as a value, an item, a key or in a flow collection."""
    text = hazard_text(rng)
    shape = rng.choice(("v: {}", "v:\n- {}", "v:\n  {}: 1", "v: [{}]", "v: {{{}: 1}}", "v: {{a: {}}}", "v: [a, {} ]"))
    return f"{head(number)}{shape.format(text)}\n".encode()


def structure_file(rng: Random, number: int) -> bytes:
    """A file of one or two random documents, now and then with oddities between them."""
    text = head(number) + structure(rng)
    if rng.random() < 0.1:
        between = rng.choice(
            (
                "---\n",
                "--- # c\n",
                "---\n---\n",
                "# c\n---\n",
                "...\n---\n",
                "--- \t\n",
                "...\n",
                "---\ufeff\n",
                "--- x\n",
            )
        )
        text += ("" if text.endswith("\n") else "\n") + between + head(number, 1) + structure(rng)
    if rng.random() < 0.1:
        text = rng.choice(("\ufeff", "---\n", "# c\n", "\n", "--- # c\n", " \n", "---\n---\n", "---\n\ufeff")) + text
    return text.encode()


def ordinary_file(rng: Random, number: int) -> bytes:
    """A file of ordinary lines, some of them edited."""
    return f"{head(number)}{ordinary(rng)}".encode()


def json_file(rng: Random, number: int) -> bytes:
    """A file of one to three JSON objects."""
    names = (f'"metadata": {{"name": "f{number}-{place}"}}' for place in range(rng.choice((1, 1, 1, 2, 3))))
    return json_text(rng, [f'"apiVersion": "v1", "kind": "Test", {name}' for name in names]).encode()


def differences(files: list[bytes]) -> Iterator[Difference]:
    """Yield the files that kubectl reads otherwise; each is read both quickly and exactly."""
    for data, theirs in zip(files, objects_read(files), strict=True):
        for read in (read_chunk, read_quickly, read_exactly):
            documents, errors = documents_and_errors(read_chunks(data, read=read))
            values = [document.value for document in documents]
            # kubectl wants objects; that a document is none is not for the YAML layer to say.
            ours = REFUSED if errors or not all(isinstance(value, dict) for value in values) else values
            if not _same(data, ours, theirs, errors):
                yield Difference(data, [error.message for error in errors] or ours, theirs)
                break


def _same(
    data: bytes, ours: list[Any] | Refused, theirs: list[Any] | Refused, errors: tuple[DocumentError, ...]
) -> bool:
    if errors and theirs is not REFUSED:
        return all(error.message.startswith(DELIBERATE) for error in errors) or _is_shadowed(data)
    return repr(_sorted(ours)) == repr(_sorted(theirs))


def _is_shadowed(data: bytes) -> bool:
    """Return whether the refused part is in text that kubectl drops unseen: that is the reason for refusing it."""
    harmless = re.sub(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]",
        "x",
        re.sub(r"\.(inf|nan)", ".1", data.decode(), flags=re.IGNORECASE),
    )
    _, errors = documents_and_errors(read_chunks(harmless.encode()))
    return bool(errors) and all(error.message.startswith(DELIBERATE) for error in errors)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
