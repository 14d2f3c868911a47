"""Expectations written back into the file of a test where they stand; everything beside them stays as it is."""

import re
from collections.abc import Iterator
from typing import Any

from reconciler.source.manifests import LocatedManifest
from render.documents import parse_documents
from render.documents.editing import REMOVED, Edit, edited
from render.documents.positions import path_of

from .fields import MISSING, UNTOLD
from .trials import Mismatch, Trial

_FIELD = re.compile(r"(?P<field>.+\.fields\[\d+\])\.value")


def is_told(mismatch: Mismatch) -> bool:
    """Whether a test can say what is so: not of an object that is not there, and not of a Secret's value."""
    return mismatch.got is not UNTOLD and (mismatch.got is not MISSING or _FIELD.fullmatch(mismatch.field) is not None)


def updated(content: bytes, place: LocatedManifest, trial: Trial) -> bytes:
    """Return the file of a test with what is so in place of what did not come true.

    ``place`` is where the test stands. UneditableError says what cannot be changed where.
    """
    for mismatch in filter(is_told, trial.mismatches):
        for field, value in _edits(mismatch):
            document = parse_documents(content)[place.position].value
            path = path_of(document, f"{place.prefix}{field}")
            content = edited(content, place.position, [Edit(path, value)])
    return content


def _edits(mismatch: Mismatch) -> Iterator[tuple[str, Any]]:
    """Yield the fields that change with their values."""
    found = _FIELD.fullmatch(mismatch.field)
    if found:
        is_absent = mismatch.got is MISSING
        yield f"{found['field']}.value", REMOVED if is_absent else mismatch.got
        yield f"{found['field']}.absent", True if is_absent else REMOVED
    else:
        # A filter that refuses nothing is not expected to.
        is_idle = ".refused." in mismatch.field and not mismatch.got
        yield mismatch.field, REMOVED if is_idle else mismatch.got
