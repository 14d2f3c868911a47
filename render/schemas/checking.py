"""Schemas turned into functions that check values and report what an API server would refuse.

1. Each schema becomes a function once, and a definition that others refer to when it is first needed: of a pod's
   hundreds of fields, a source uses few.
2. A function is given a value and the steps that lead to it. The steps become a path only for a finding.
3. A null is no value: an API server takes a field that holds one as left out.

Messages never tell a value, which may be secret.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from render.admission.findings import Findings, alternatives, type_name
from render.documents import Hole
from render.model import Manifest
from render.words import most_similar_word

from .formats import TEXT_FORMATS, is_quantity
from .rules import RULES, Rule
from .steps import Steps, path_of_steps

Schema = Mapping[str, Any]
"""A schema as plain data."""

Check = Callable[[Any, Steps, "SchemaFindings"], None]
"""Report what is wrong with a value."""

_MOST_NAMED = 12
_QUOTE = "put it in quotes"
_SCALARS = frozenset({str, int, float, bool})
_KEY_TYPES = frozenset({str, int, float, bool, type(None)})
_DEFAULT_KEYS: Mapping[str, Any] = {"protocol": "TCP"}
_AGAIN = "an entry before it has the same {}"
_INT32, _INT64 = 1 << 31, 1 << 63


class SchemaFindings(Findings):
    """The findings of schemas; from the version ``since`` on, the schemas say the same of what was checked.

    ``known`` are the ids of objects inside that are right, and need not be checked.
    """

    __slots__ = ("known", "since")

    def __init__(self, known: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.since = 0
        self.known = known


def check_manifest(check: Check, manifest: Manifest, known: frozenset[int] = frozenset()) -> SchemaFindings:
    """Return what is wrong with a manifest by the schema of its kind, but for objects inside that are known."""
    findings = SchemaFindings(known)
    check(manifest, None, findings)
    return findings


class SchemaSet:
    """The checks of schemas that refer to one set of definitions."""

    def __init__(self, definition: Callable[[str], Schema]) -> None:
        self._definition = definition
        self._checks: dict[str, Check] = {}
        self._builders: Mapping[str, Callable[[Schema], Check]] = {
            "object": self.of_object_fields,
            "array": self._check_for_list,
            "string": _check_for_text,
            "integer": _check_for_whole_number,
            "number": lambda _schema: _check_number,
            "boolean": lambda _schema: _check_boolean,
        }

    def of_definition(self, name: str) -> Check:
        """Return the check of a definition."""
        if name not in self._checks:
            schema = self._definition(name)
            if "properties" in schema:
                fields = _KnownFields(self.of, schema)
                fields.rule = RULES.get(name)
                self._checks[name] = partial(_check_fields, fields)
            else:
                self._checks[name] = self.of(schema)
        return self._checks[name]

    def of(self, schema: Schema) -> Check:
        """Return the check of a schema."""
        if "$ref" in schema:
            return self.of_definition(schema["$ref"])
        if schema.get("x-kubernetes-int-or-string"):
            return _check_number_or_text
        if schema.get("format") == "quantity":
            return _check_quantity
        build = self._builders.get(schema.get("type", "object" if "properties" in schema else ""))
        return build(schema) if build else _check_nothing

    def _check_for_list(self, schema: Schema) -> Check:
        check = partial(_check_list, _Lazy(self.of, schema.get("items") or {}))
        keys = schema.get("x-kubernetes-list-map-keys")
        if schema.get("x-kubernetes-list-type") == "set":
            return partial(_check_list_as_set, check)
        if schema.get("x-kubernetes-list-type") != "map" or not keys:
            return check
        fields = (schema.get("items") or {}).get("properties")
        defaults = _DEFAULT_KEYS if fields is None else {key: fields.get(key, {}).get("default") for key in keys}
        return partial(_check_list_as_map, check, {key: defaults.get(key) for key in keys})

    def of_object_fields(self, schema: Schema) -> Check:
        """Return the check of an object's fields."""
        if "properties" in schema:
            return partial(_check_fields, _KnownFields(self.of, schema))
        values = schema.get("additionalProperties")
        if not isinstance(values, dict):
            return _check_object
        plain = _PLAIN_TYPES.get(values.get("type", "")) if len(values) == 1 else None
        return partial(_check_map, _Lazy(self.of, values), plain)


class _Lazy:
    """The check of a schema, made when it is first needed: definitions may refer to themselves."""

    __slots__ = ("_of", "_schema", "check")

    def __init__(self, of: Callable[[Schema], Check], schema: Schema) -> None:
        self._of, self._schema = of, schema
        self.check: Check = self._prepare_and_check

    def _prepare_and_check(self, value: Any, steps: Steps, findings: SchemaFindings) -> None:
        self.check = self._of(self._schema)
        self.check(value, steps, findings)


class _KnownFields:
    """The fields of an object: the type whose values are all right, of those that have one, and checks of the rest.

    ``late`` has the version from which on a field is as it is now, of those that changed; "" is the object itself.
    ``rule`` is kept by values whose types are right. ``has_own``: something is said of the object itself.
    """

    __slots__ = ("_of", "has_own", "late", "members", "required", "rule", "schemas")

    def __init__(self, of: Callable[[Schema], Check], schema: Schema) -> None:
        self._of = of
        self.schemas: Mapping[str, Schema] = schema["properties"]
        self.late: Mapping[str, int] = schema.get(SINCE, {})
        self.required: tuple[str, ...] = tuple(schema.get("required", ()))
        self.has_own = bool(self.required) or "" in self.late
        self.rule: Rule | None = None
        self.members: dict[str, type | Check] = {
            name: _PLAIN_TYPES[each["type"]]
            for name, each in self.schemas.items()
            if len(each) == 1 and each.get("type") in _PLAIN_TYPES and name not in self.late
        }

    def check_member(self, name: str, value: Any, steps: Steps, findings: SchemaFindings) -> None:
        """Check a field for the first time, one of the wrong type, or one that is unknown."""
        schema = self.schemas.get(name)
        if schema is None:
            report_unknown(name, self.schemas, steps, findings)
            return
        check = self._of(schema)
        if name in self.late:
            check = partial(_check_from_version_on, self.late[name], check)
        self.members.setdefault(name, check)
        if value is not None:
            check(value, (steps, name), findings)


SINCE = "x-since"
"""The key under which a schema says from which version on its fields are as they are."""

_PLAIN_TYPES: Mapping[str, type] = {"string": str, "boolean": bool}


def _check_nothing(_value: Any, _steps: Steps, _findings: SchemaFindings) -> None:
    """Take any value."""


def _check_from_version_on(minor: int, check: Check, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    """Check a field that is as it is only from a version on."""
    findings.since = max(findings.since, minor)
    check(value, steps, findings)


def _check_fields(fields: _KnownFields, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not dict or id(value) in findings.known:
        _check_object(value, steps, findings)
        return
    problems, members = findings.problems, fields.members
    before = len(problems)
    for name, each in value.items():
        member = members.get(name)
        if member is type(each):
            continue
        if member is None or member is str or member is bool:
            fields.check_member(name, each, steps, findings)
        elif each is not None:
            member(each, (steps, name), findings)
    if fields.has_own:
        _check_fields_of_object(fields, value, steps, findings)
    if fields.rule is not None and len(problems) == before:
        fields.rule(value, steps, findings)


def _check_fields_of_object(fields: _KnownFields, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    for name in fields.required:
        if value.get(name) is None:
            findings.required(path_of_steps((steps, name)))
    if "" in fields.late:
        _check_from_version_on(fields.late[""], _check_nothing, value, steps, findings)


def _check_map(values: _Lazy, plain: type | None, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not dict:
        report_wrong_type(value, steps, "an object", findings)
        return
    for name, each in value.items():
        if type(each) is not plain and each is not None:
            values.check(each, (steps, name), findings)


def _check_object(value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not dict:
        report_wrong_type(value, steps, "an object", findings)


def _check_list(items: _Lazy, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not list:
        hint = "write it as a list, also of one" if type(value) in {str, int, dict} else ""
        report_wrong_type(value, steps, "a list", findings, hint)
        return
    for number, each in enumerate(value):
        if each is not None:
            items.check(each, (steps, number), findings)


def _check_list_as_set(check: Check, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    """Check a list in which nothing may stand twice."""
    check(value, steps, findings)
    if type(value) is not list or len(value) < 2:
        return
    seen: set[tuple[type, Any]] = set()
    for number, entry in enumerate(value):
        if type(entry) in _SCALARS:
            if (type(entry), entry) in seen:
                findings.problem(path_of_steps((steps, number)), "stands in the list before", kind="Duplicate")
            seen.add((type(entry), entry))


def _check_list_as_map(
    check: Check, defaults: Mapping[str, Any], value: Any, steps: Steps, findings: SchemaFindings
) -> None:
    """Check a list whose entries are distinguished by some of their fields, which no two may share."""
    check(value, steps, findings)
    if type(value) is not list or len(value) < 2:
        return
    seen: set[Any] = set()
    keys = tuple(defaults.items())
    for number, entry in enumerate(value):
        if type(entry) is not dict:
            continue
        found = tuple([other if (each := entry.get(key)) is None else each for key, other in keys])
        if not _KEY_TYPES.issuperset(map(type, found)):
            continue
        if found in seen:
            findings.problem(path_of_steps((steps, number)), _AGAIN.format(" and ".join(defaults)), kind="Duplicate")
        seen.add(found)


def _check_for_text(schema: Schema) -> Check:
    if "enum" in schema:
        return partial(_check_enumerated_word, frozenset({*schema["enum"], ""}), tuple(filter(None, schema["enum"])))
    known = TEXT_FORMATS.get(schema.get("format", ""))
    return partial(_check_text_form, *known) if known else _check_text


def _check_text(value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not str:
        report_wrong_type(value, steps, "a string", findings, _QUOTE if type(value) in {bool, int, float} else "")


def _check_enumerated_word(
    words: frozenset[str], named: tuple[str, ...], value: Any, steps: Steps, findings: SchemaFindings
) -> None:
    if type(value) is not str:
        _check_text(value, steps, findings)
    elif value not in words:
        near = most_similar_word(value, named)
        hint = f"did you mean {near!r}?" if near else f"write {alternatives(named)}"
        findings.problem(path_of_steps(steps), "none of the values it may have", hint=hint, kind="NotSupported")


def _check_text_form(
    is_right: Callable[[str], bool], message: str, value: Any, steps: Steps, findings: SchemaFindings
) -> None:
    if type(value) is not str:
        _check_text(value, steps, findings)
    elif not is_right(value):
        findings.problem(path_of_steps(steps), message)


def _check_for_whole_number(schema: Schema) -> Check:
    return partial(_check_whole_number, _INT32 if schema.get("format") == "int32" else _INT64)


def _check_whole_number(bound: int, value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is int:
        if not -bound <= value < bound:
            findings.problem(path_of_steps(steps), f"must be from {-bound} to {bound - 1}")
    elif type(value) is not Hole and not (type(value) is float and value.is_integer()):
        is_digits = isinstance(value, str) and value.removeprefix("-").isdecimal()
        hint = "write it without quotes" if is_digits else ""
        if type(value) is float:
            findings.unusable(path_of_steps(steps), "must be a whole number")
        else:
            report_wrong_type(value, steps, "a whole number", findings, hint)


def _check_number(value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) not in {int, float, Hole}:
        report_wrong_type(value, steps, "a number", findings)


def _check_boolean(value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not bool:
        hint = "write true or false, without quotes" if isinstance(value, str) else ""
        report_wrong_type(value, steps, "a boolean", findings, hint)


def _check_number_or_text(value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is not str and type(value) not in {int, Hole} and not (type(value) is float and value.is_integer()):
        report_wrong_type(value, steps, "a whole number or a string", findings)


def _check_quantity(value: Any, steps: Steps, findings: SchemaFindings) -> None:
    if type(value) is str:
        if not is_quantity(value):
            findings.problem(path_of_steps(steps), "must be a quantity such as '500m', '2' or '64Mi'")
    elif type(value) not in {int, float, Hole}:
        report_wrong_type(value, steps, "a quantity such as '500m', '2' or '64Mi'", findings)


def report_unknown(name: str, known: Mapping[str, object], steps: Steps, findings: SchemaFindings) -> None:
    """Report a field that a schema does not have."""
    near = most_similar_word(name, known)
    named = f"known here: {', '.join(sorted(known)) or 'nothing'}" if len(known) <= _MOST_NAMED else ""
    hint = f"did you mean {near!r}?" if near else named
    findings.problem(path_of_steps((steps, name)), "unknown field", hint=hint, kind="Unknown")


def report_wrong_type(value: Any, steps: Steps, expected: str, findings: SchemaFindings, hint: str = "") -> None:
    """Report a value of another type; its type is named, and nothing of it."""
    findings.unusable(path_of_steps(steps), f"must be {expected}, not {type_name(value, expected)}", hint=hint)
