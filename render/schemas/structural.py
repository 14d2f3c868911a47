"""Schemas of CustomResourceDefinitions, as an API server reads them: structure first, then rules about values.

What a schema does not name is refused, as a server would drop it, unless ``x-kubernetes-preserve-unknown-fields`` keeps
it. A required field that has a default is filled in, so it may be missing. Rules that need more than the value itself
(CEL, ``anyOf`` and its like), formats and patterns, which Go reads otherwise, are left to the servers.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from render.admission.findings import alternatives
from render.words import most_similar_word

from .checking import Check, Schema, SchemaFindings, SchemaSet, report_unknown, report_wrong_type
from .steps import Steps, path_of_steps

_SAID = frozenset({"description", "title", "example", "externalDocs", "default", "enum", "format"})
_RESOURCE = ("apiVersion", "kind", "metadata")
_ANYTHING: Schema = MappingProxyType({})
_MOST_WORDS = 12
_PRESERVED = "x-kubernetes-preserve-unknown-fields"


class StructuralSchemas(SchemaSet):
    """The checks of a definition's schemas; ``metadata`` is the check of the metadata that every object has."""

    def __init__(self, metadata: Check) -> None:
        super().__init__(lambda _name: {})
        self._metadata = metadata

    def of_object(self, schema: Schema) -> Check:
        """Return the check of a whole object."""
        named = {"status": {}, **schema.get("properties", {}), **dict.fromkeys(_RESOURCE, _ANYTHING)}
        inner = self.of({**schema, "type": "object", "properties": named})
        return partial(_check_all_of, (inner, partial(_check_property, "metadata", self._metadata)))

    def of(self, schema: Schema) -> Check:
        """Return the check of a schema."""
        # A server takes even a list for a text that has a format.
        is_free = schema.get("type") == "string" and "format" in schema
        typed = super().of({} if is_free else {key: value for key, value in schema.items() if key not in _SAID})
        rules = tuple(_rules_of_schema(schema))
        return partial(_check_all_of, (typed, *rules)) if rules else typed

    def of_object_fields(self, schema: Schema) -> Check:
        """Return the check of an object's fields."""
        properties: Mapping[str, Schema] = schema.get("properties", {})
        values = schema.get("additionalProperties")
        if values is True or (isinstance(values, dict) and not properties):
            return super().of_object_fields({"additionalProperties": values})
        is_resource = bool(schema.get("x-kubernetes-embedded-resource"))
        named: Mapping[str, Schema] = {**(dict.fromkeys(_RESOURCE, _ANYTHING) if is_resource else {}), **properties}
        required = {*schema.get("required", ()), *(_RESOURCE[:2] if is_resource else ())}
        structure = _Structure(
            members={name: self.of(each) for name, each in named.items()},
            nullable=frozenset(name for name, each in named.items() if each.get("nullable")),
            required=tuple(sorted(name for name in required if "default" not in named.get(name, {}))),
            is_open=bool(schema.get(_PRESERVED)),
        )
        return partial(_check_structure, structure)


class _Structure(NamedTuple):
    """The fields of an object: their checks, those that may be null, and those that must be there.

    ``is_open``: it may have others.
    """

    members: Mapping[str, Check]
    nullable: frozenset[str]
    required: tuple[str, ...]
    is_open: bool


def _check_structure(structure: _Structure, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not dict:
        report_wrong_type(value, steps, "an object", findings)
        return
    for name, each in value.items():
        check = structure.members.get(name)
        if check is not None:
            if each is not None:
                check(each, (steps, name), findings)
        elif not structure.is_open:
            report_unknown(name, structure.members, steps, findings)
    for name in structure.required:
        if value.get(name) is None and not (name in structure.nullable and name in value):
            findings.required(path_of_steps((steps, name)))


def _check_all_of(checks: tuple[Check, ...], value: Any, steps: Steps, findings: SchemaFindings) -> None:
    for check in checks:
        check(value, steps, findings)


def _check_property(name: str, check: Check, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if isinstance(value, dict) and value.get(name) is not None:
        check(value[name], (steps, name), findings)


def _rules_of_schema(schema: Schema) -> Iterator[Check]:
    """Yield the checks of a schema's rules about the value itself."""
    if words := schema.get("enum"):
        yield partial(_check_word, tuple(words))
    for key, bound in _BOUNDS.items():
        limit = schema.get(key)
        if isinstance(limit, int | float):
            yield partial(_check_bound, bound, limit)


class _Bound(NamedTuple):
    """A keyword about a number or a size: the types it concerns, whether it is the least, and the message."""

    types: tuple[type, ...]
    is_least: bool
    message: str


_BOUNDS: Mapping[str, _Bound] = {
    "minimum": _Bound((int, float), True, "must be at least {}"),
    "maximum": _Bound((int, float), False, "must be at most {}"),
    "minLength": _Bound((str,), True, "must be at least {} characters long"),
    "maxLength": _Bound((str,), False, "must be at most {} characters long"),
    "minItems": _Bound((list,), True, "must have at least {} items"),
    "maxItems": _Bound((list,), False, "must have at most {} items"),
    "minProperties": _Bound((dict,), True, "must have at least {} entries"),
    "maxProperties": _Bound((dict,), False, "must have at most {} entries"),
}


def _check_bound(bound: _Bound, limit: float, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) in bound.types:
        size = value if isinstance(value, int | float) else len(value)
        if size < limit if bound.is_least else size > limit:
            findings.problem(path_of_steps(steps), bound.message.format(limit))


def _check_word(words: tuple[Any, ...], value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if not isinstance(value, str | int | float | bool) or value in words:
        return
    named = [word for word in words if isinstance(word, str) and word]
    near = most_similar_word(value, named) if isinstance(value, str) else ""
    some = f"write {alternatives(named)}" if 0 < len(named) <= _MOST_WORDS else ""
    hint = f"did you mean {near!r}?" if near else some
    findings.problem(path_of_steps(steps), "none of the values it may have", hint=hint, kind="NotSupported")
