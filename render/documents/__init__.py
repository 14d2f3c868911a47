"""YAML in and out: documents read as kubectl reads them, and written so that kubectl reads the same back.

A file is cut into chunks as kubectl cuts it, and each is read in one of three ways that give the same value: ordinary
text line by line (``outline``), anything else from libyaml's events (``parsing``), and text that libyaml refuses or
might read otherwise by a parser with all of kubectl's rules, which also says what is wrong and where (``syntax``).
"""

from typing import TYPE_CHECKING, Any

from .document import Document, DocumentError, DocumentErrors, Position
from .emitting import SimilarDocuments, emit, emit_together
from .holes import Emitted, Hole, copy_value, with_number
from .reading import document_texts, documents_with_texts, parse_documents, read_documents

if TYPE_CHECKING:
    from .positions import Places, locate_field

__all__ = [
    "Document",
    "DocumentError",
    "DocumentErrors",
    "Emitted",
    "Hole",
    "Places",
    "Position",
    "SimilarDocuments",
    "copy_value",
    "document_texts",
    "documents_with_texts",
    "emit",
    "emit_together",
    "locate_field",
    "parse_documents",
    "read_documents",
    "with_number",
]

_PLACED = frozenset({"Places", "locate_field"})


def __getattr__(name: str) -> Any:
    """Import the module that finds places in files, and the parser it needs, when it is first asked for."""
    if name not in _PLACED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import positions

    return getattr(positions, name)
