"""YAML texts that are edited in place: read as kubectl reads them, written with sorted keys and without comments."""

from typing import Any

from render.documents import read_documents
from render.documents.emitting import emit

from .errors import Refused


def parse_yaml(text: str) -> Any:
    """Return the value of a text's first document; None if there is none."""
    documents, errors = read_documents(text.encode())
    first = documents[0] if documents else None
    if errors and (first is None or errors[0].line < first.line):
        raise Refused(f"cannot be read as YAML: line {errors[0].line}: {errors[0].message}", hint=errors[0].hint)
    return first.value if first else None


def yaml_text(value: Any) -> str:
    """Return a value as YAML."""
    return emit(value).decode()
