"""Documents held to their JSON Schema, closed: a field that is printed and that no schema knows is a fault."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from reconciler.reference.schemas import json_schema_of_kind


def faults(value: Any, kind: str) -> list[str]:
    """Return what is wrong with a document of a kind, each with its path."""
    found = sorted(_validator(kind).iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in found]


@cache
def _validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(closed(json_schema_of_kind(kind)))


def closed(shape: Any) -> Any:
    """Return a schema in which every object with named fields has no others."""
    if isinstance(shape, Mapping):
        inner = {name: closed(each) for name, each in shape.items()}
        return {"additionalProperties": False, **inner} if isinstance(shape.get("properties"), Mapping) else inner
    return [closed(each) for each in shape] if isinstance(shape, list) else shape
