"""Schemas of custom kinds as API servers publish them, reduced to what is checked of an object.

A server publishes the schema of a CustomResourceDefinition whole: with descriptions, patterns and rules of CEL, which
are most of its size and are not checked here. What came from a server, or stands in a definition, may have any shape,
so every part that is kept is looked at; a schema with a part of another type is not used at all.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .checking import Schema

_RESOURCE = frozenset({"apiVersion", "kind", "metadata"})
_METADATA = ".meta.v1.ObjectMeta"
_EMBEDDED = "x-kubernetes-embedded-resource"


class UnusableSchema(Exception):
    """A published schema is not one that a CustomResourceDefinition may have."""


def published_definition_name(group: str, version: str, kind: str) -> str:
    """Return the name under which a server publishes the schema of a CustomResourceDefinition.

    >>> published_definition_name("cert-manager.io", "v1", "Certificate")
    'io.cert-manager.v1.Certificate'
    """
    return ".".join([*reversed(group.split(".")), version, kind])


def checked_parts_of_published_schema(published: Any) -> Schema | None:
    """Return what is checked of the published schema of a kind; None where nothing can be told from it."""
    if not isinstance(published, dict) or not isinstance(published.get("properties"), dict):
        return None
    try:
        kept = _keywords_that_are_checked(published)
    except UnusableSchema:
        return None
    return {**kept, "properties": _properties_without_metadata(kept["properties"])}


def checked_parts_of_written_schema(schema: Any) -> Schema | None:
    """Return what is checked of a definition's schema; None for one with a part of another type.

    The schema of definitions themselves says nothing of what ``items`` and ``additionalProperties`` hold.
    """
    try:
        return _keywords_that_are_checked(schema)
    except UnusableSchema:
        return None


def _keywords_that_are_checked(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise UnusableSchema
    if _refers_to_metadata(schema):
        return {}
    kept = {name: keep(schema[name]) for name, keep in _PARTS.items() if name in schema}
    if kept.get(_EMBEDDED) and "properties" in kept:
        kept["properties"] = _properties_without_metadata(kept["properties"])
    return kept


def _refers_to_metadata(schema: Mapping[str, Any]) -> bool:
    """Say whether a schema is that of metadata, the only one that definitions refer to."""
    parts = schema.get("allOf") or ()
    each = (
        [schema, *(part for part in parts if isinstance(part, dict))] if isinstance(parts, list | tuple) else [schema]
    )
    references = [part["$ref"] for part in each if "$ref" in part]
    if not all(isinstance(reference, str) and reference.endswith(_METADATA) for reference in references):
        raise UnusableSchema
    return bool(references)


def _properties_without_metadata(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in properties.items() if name not in _RESOURCE}


def _keeper_of_types(*types: type) -> Callable[[Any], Any]:
    def keep(value: Any) -> Any:
        if type(value) not in types:
            raise UnusableSchema
        return value

    return keep


def _checked_texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UnusableSchema
    return value


def _checked_enumeration(value: Any) -> list[Any]:
    """Return the values that an enumeration names; none where one is more than a word or a number."""
    if not isinstance(value, list):
        raise UnusableSchema
    is_plain = all(each is None or isinstance(each, str | int | float) for each in value)
    return value if is_plain else []


def _checked_properties(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnusableSchema
    return {name: _keywords_that_are_checked(each) for name, each in value.items()}


def _checked_additional_properties(value: Any) -> Any:
    return value if isinstance(value, bool) else _keywords_that_are_checked(value)


def _default_or_its_presence(value: Any) -> Any:
    """Return a default as far as it tells entries of a list apart; of others it counts that there is one."""
    return value if isinstance(value, str | int | float) else {}


_NUMBER = _keeper_of_types(int, float)
_FLAG = _keeper_of_types(bool)
_TEXT = _keeper_of_types(str)
_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "type": _TEXT,
    "format": _TEXT,
    "properties": _checked_properties,
    "additionalProperties": _checked_additional_properties,
    "items": _keywords_that_are_checked,
    "required": _checked_texts,
    "enum": _checked_enumeration,
    "nullable": _FLAG,
    "default": _default_or_its_presence,
    **dict.fromkeys(("minimum", "maximum", "minLength", "maxLength"), _NUMBER),
    **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties"), _NUMBER),
    "x-kubernetes-int-or-string": _FLAG,
    "x-kubernetes-preserve-unknown-fields": _FLAG,
    _EMBEDDED: _FLAG,
    "x-kubernetes-list-type": _TEXT,
    "x-kubernetes-list-map-keys": _checked_texts,
}
"""The parts of a schema that are checked, and the functions that keep them."""
