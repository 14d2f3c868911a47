"""Builders for JSON Schema: a line for each field of a document, with its sentence.

The name of a field that may be left out ends in ``?``. Objects stay open, because fields may be added within a
version; the tests close them, so that no field is printed that no schema knows.
"""

from collections.abc import Mapping
from typing import Any

Shape = dict[str, Any]
Fields = Mapping[str, Shape]


def text(about: str = "") -> Shape:
    """Return the shape of a text."""
    return _told({"type": "string"}, about)


def whole(about: str = "") -> Shape:
    """Return the shape of a whole number."""
    return _told({"type": "integer"}, about)


def number(about: str = "") -> Shape:
    """Return the shape of a number."""
    return _told({"type": "number"}, about)


def flag(about: str = "") -> Shape:
    """Return the shape of a boolean."""
    return _told({"type": "boolean"}, about)


def anything(about: str = "") -> Shape:
    """Return the shape of a value of any type."""
    return _told({}, about)


def manifest(about: str = "") -> Shape:
    """Return the shape of an object of another API, such as a Kubernetes object."""
    return _told({"type": "object"}, about)


def nullable(shape: Shape) -> Shape:
    """Return a shape that null has as well."""
    return {**shape, "type": [shape["type"], "null"]}


def sequence(items: Shape, about: str = "") -> Shape:
    """Return the shape of a list."""
    return _told({"type": "array", "items": items}, about)


def texts(about: str = "") -> Shape:
    """Return the shape of a list of texts."""
    return sequence(text(), about)


def mapping(values: Shape, about: str = "") -> Shape:
    """Return the shape of a map whose keys are names."""
    return _told({"type": "object", "additionalProperties": values}, about)


def record(fields: Fields, about: str = "") -> Shape:
    """Return the shape of an object with these fields."""
    required = [name for name in fields if not name.endswith("?")]
    properties = {name.removesuffix("?"): shape for name, shape in fields.items()}
    shape: Shape = {"type": "object", "properties": properties}
    return _told({**shape, "required": required} if required else shape, about)


def records(fields: Fields, about: str = "") -> Shape:
    """Return the shape of a list of objects with these fields."""
    return sequence(record(fields), about)


def _told(shape: Shape, about: str) -> Shape:
    return {"description": about, **shape} if about else shape
