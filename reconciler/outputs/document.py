"""A document that ``-o json`` prints, as a struct: what is printed and its JSON Schema are both made of its fields.

A field that may be left out has the default ``UNSET``. Objects stay open in the schema, because fields may be added
within a version; the tests close them, so that no field is printed that no schema knows.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from reconciler.console.json_values import as_json, fields_set_in_struct
from render.model import ARGOSY_API_VERSION

Value = TypeVar("Value")


class DocumentPart(Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of documents: an object with named fields."""


class OutputDocument(DocumentPart, frozen=True, kw_only=True, rename="camel"):
    """A document: its kind, one sentence, and the commands that print it. ``apiVersion`` and ``kind`` come first."""

    kind: ClassVar[str]
    about: ClassVar[str]
    printed_by: ClassVar[tuple[str, ...]]


def meaning_of_field(text: str) -> Meta:
    """Return the sentence about a field, for ``Annotated``."""
    return Meta(description=text)


def value_unless_empty(value: Value) -> Value | UnsetType:
    """Return a value, or leave the field out where it is empty."""
    return value or UNSET


def document_text(document: OutputDocument) -> str:
    """Return the text that ``-o json`` prints."""
    return as_json(_fields_with_kind(document))


def plain_document(document: OutputDocument) -> dict[str, Any]:
    """Return a document as plain data."""
    plain: dict[str, Any] = json.loads(json.dumps(_fields_with_kind(document), default=fields_set_in_struct))
    return plain


def _fields_with_kind(document: OutputDocument) -> dict[str, Any]:
    return {"apiVersion": ARGOSY_API_VERSION, "kind": document.kind, **fields_set_in_struct(document)}


def document_schema(document: type[OutputDocument]) -> dict[str, Any]:
    """Return the JSON Schema of a document, every part written out where it stands."""
    _, parts = msgspec.json.schema_components([document], ref_template="{name}")
    head = {"apiVersion": {"const": ARGOSY_API_VERSION}, "kind": {"const": document.kind}}
    shape = _with_parts_inlined(_schema_without_names(parts[document.__name__]), parts)
    return {
        "description": document.about,
        **shape,
        "properties": {**head, **shape["properties"]},
        "required": ["apiVersion", "kind", *shape.get("required", ())],
    }


def _with_parts_inlined(shape: Any, parts: Mapping[str, Any]) -> Any:
    """Return a schema without references, in which null is one more type beside another."""
    if isinstance(shape, list):
        return [_with_parts_inlined(each, parts) for each in shape]
    if not isinstance(shape, dict):
        return shape
    whole = {name: _with_parts_inlined(each, parts) for name, each in shape.items() if name not in {"$ref", "anyOf"}}
    if "$ref" in shape:
        return {**whole, **_with_parts_inlined(_schema_without_names(parts[shape["$ref"]]), parts)}
    if "anyOf" in shape:
        found, null = (_with_parts_inlined(each, parts) for each in shape["anyOf"])
        return {**whole, **found, "type": [found["type"], null["type"]]}
    return whole


def _schema_without_names(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a part without its name and its docstring, which are for those who read the code."""
    shown = {name: each for name, each in part.items() if name not in {"title", "description"}}
    if not shown["required"]:
        del shown["required"]  # msgspec writes an empty list, which says nothing.
    return shown
