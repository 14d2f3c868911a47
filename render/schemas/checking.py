"""Schemas turned into functions that check values and report what an API server would refuse.

1. Each schema becomes a function once, and a definition that others refer to when it is first needed: of a pod's
   hundreds of fields, a source uses few.
2. A function is given a value and the steps that lead to it. The steps become a path only for a finding.
3. A null is no value: an API server takes a field that holds one as left out.

Messages never tell a value, which may be secret.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from render.admission.findings import NAME_BY_TYPE, Findings, alternatives
from render.documents import Hole
from render.model import Manifest
from render.suggestions import nearest

from .formats import TEXT_FORMATS, is_quantity
from .rules import RULES, Rule
from .steps import Steps, path_of

Schema = Mapping[str, Any]
"""A schema as plain data."""

Check = Callable[[Any, Steps, Findings], None]
"""Report what is wrong with a value."""

_MOST_NAMED = 12
_QUOTE = "put it in quotes"
_DEFAULT_KEYS: Mapping[str, Any] = {"protocol": "TCP"}
_AGAIN = "an entry before it has the same {}"
_NUMERIC = frozenset({"integer", "number"})
_INT32, _INT64 = 1 << 31, 1 << 63


def check_manifest(check: Check, manifest: Manifest) -> Findings:
    """Return what is wrong with a manifest by the schema of its kind."""
    findings = Findings()
    check(manifest, None, findings)
    return findings


class SchemaSet:
    """The checks of schemas that refer to one set of definitions."""

    def __init__(self, definition: Callable[[str], Schema]) -> None:
        self._definition = definition
        self._checks: dict[str, Check] = {}
        self._builders: Mapping[str, Callable[[Schema], Check]] = {
            "object": self.of_object_fields,
            "array": self._of_list,
            "string": _of_text,
            "integer": _of_whole,
            "number": lambda _schema: _check_number,
            "boolean": lambda _schema: _check_flag,
        }

    def of_definition(self, name: str) -> Check:
        """Return the check of a definition."""
        if name not in self._checks:
            check, rule = self.of(self._definition(name)), RULES.get(name)
            self._checks[name] = partial(_check_with_rule, check, rule) if rule else check
        return self._checks[name]

    def of(self, schema: Schema) -> Check:
        """Return the check of a schema."""
        if "$ref" in schema:
            return partial(self._check_reference, schema["$ref"])
        if schema.get("x-kubernetes-int-or-string"):
            return _check_number_or_text
        if schema.get("format") == "quantity":
            return _check_quantity
        build = self._builders.get(schema.get("type", "object" if "properties" in schema else ""))
        return build(schema) if build else _check_nothing

    def _of_list(self, schema: Schema) -> Check:
        check = partial(_check_list, self.of(schema.get("items") or {}))
        keys = schema.get("x-kubernetes-list-map-keys")
        if schema.get("x-kubernetes-list-type") != "map" or not keys:
            return check
        fields = (schema.get("items") or {}).get("properties")
        defaults = _DEFAULT_KEYS if fields is None else {key: fields.get(key, {}).get("default") for key in keys}
        return partial(_check_entries, check, {key: defaults.get(key) for key in keys})

    def _check_reference(self, name: str, value: Any, steps: Steps, findings: Findings) -> None:
        self.of_definition(name)(value, steps, findings)

    def of_object_fields(self, schema: Schema) -> Check:
        """Return the check of an object's fields."""
        if "properties" in schema:
            members = {name: self._member(each) for name, each in schema["properties"].items()}
            return partial(_check_fields, _KnownFields(members, tuple(schema.get("required", ()))))
        values = schema.get("additionalProperties")
        return partial(_check_map, self._member(values)) if isinstance(values, dict) else _check_object

    def _member(self, schema: Schema) -> "_Member":
        return _Member(_PLAIN_TYPES.get(schema.get("type", "")) if len(schema) == 1 else None, self.of(schema))


class _Member(NamedTuple):
    """The check of a field, and the type whose values are all right (None: there is none)."""

    plain: type | None
    check: Check


class _KnownFields(NamedTuple):
    """The fields of an object, and those it must have."""

    members: Mapping[str, _Member]
    required: tuple[str, ...]


_PLAIN_TYPES: Mapping[str, type] = {"string": str, "boolean": bool}


def _check_nothing(_value: Any, _steps: Steps, _findings: Findings) -> None:
    """Take any value."""


def _check_fields(fields: _KnownFields, value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not dict:
        report_wrong_type(value, steps, "an object", findings)
        return
    members = fields.members
    for name, each in value.items():
        member = members.get(name)
        if member is None:
            report_unknown(name, members, steps, findings)
        elif type(each) is not member.plain and each is not None:
            member.check(each, (steps, name), findings)
    for name in fields.required:
        if value.get(name) is None:
            findings.required(path_of((steps, name)))


def _check_map(values: _Member, value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not dict:
        report_wrong_type(value, steps, "an object", findings)
        return
    for name, each in value.items():
        if type(each) is not values.plain and each is not None:
            values.check(each, (steps, name), findings)


def _check_object(value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not dict:
        report_wrong_type(value, steps, "an object", findings)


def _check_list(check: Check, value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not list:
        hint = "write it as a list, also of one" if type(value) in {str, int, dict} else ""
        report_wrong_type(value, steps, "a list", findings, hint)
        return
    for number, each in enumerate(value):
        if each is not None:
            check(each, (steps, number), findings)


def _check_entries(check: Check, defaults: Mapping[str, Any], value: Any, steps: Steps, findings: Findings) -> None:
    """Check a list whose entries are told apart by some of their fields, which no two may share."""
    check(value, steps, findings)
    if type(value) is not list or len(value) < 2:
        return
    seen: set[tuple[Any, ...]] = set()
    for number, entry in enumerate(value):
        if type(entry) is not dict:
            continue
        found = tuple(entry.get(key) if entry.get(key) is not None else other for key, other in defaults.items())
        if not all(isinstance(each, str | int | float | None) for each in found):
            continue
        if found in seen:
            findings.problem(path_of((steps, number)), _AGAIN.format(" and ".join(defaults)), kind="Duplicate")
        seen.add(found)


def _check_with_rule(check: Check, rule: Rule, value: Any, steps: Steps, findings: Findings) -> None:
    """Check a value, and whether it keeps a rule as well if its types are right."""
    before = len(findings.problems)
    check(value, steps, findings)
    if len(findings.problems) == before:
        rule(value, steps, findings)


def _of_text(schema: Schema) -> Check:
    if "enum" in schema:
        return partial(_check_word, frozenset({*schema["enum"], ""}), tuple(filter(None, schema["enum"])))
    known = TEXT_FORMATS.get(schema.get("format", ""))
    return partial(_check_form, *known) if known else _check_text


def _check_text(value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not str:
        report_wrong_type(value, steps, "a string", findings, _QUOTE if type(value) in {bool, int, float} else "")


def _check_word(words: frozenset[str], named: tuple[str, ...], value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not str:
        _check_text(value, steps, findings)
    elif value not in words:
        near = nearest(value, named)
        hint = f"did you mean {near!r}?" if near else f"write {alternatives(named)}"
        findings.problem(path_of(steps), "none of the values it may have", hint=hint, kind="NotSupported")


def _check_form(is_right: Callable[[str], bool], message: str, value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not str:
        _check_text(value, steps, findings)
    elif not is_right(value):
        findings.problem(path_of(steps), message)


def _of_whole(schema: Schema) -> Check:
    return partial(_check_whole, _INT32 if schema.get("format") == "int32" else _INT64)


def _check_whole(bound: int, value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is int:
        if not -bound <= value < bound:
            findings.problem(path_of(steps), f"must be from {-bound} to {bound - 1}")
    elif type(value) is not Hole and not (type(value) is float and value.is_integer()):
        is_digits = isinstance(value, str) and value.removeprefix("-").isdecimal()
        hint = "write it without quotes" if is_digits else ""
        if type(value) is float:
            findings.unusable(path_of(steps), "must be a whole number")
        else:
            report_wrong_type(value, steps, "a whole number", findings, hint)


def _check_number(value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) not in {int, float, Hole}:
        report_wrong_type(value, steps, "a number", findings)


def _check_flag(value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not bool:
        hint = "write true or false, without quotes" if isinstance(value, str) else ""
        report_wrong_type(value, steps, "a boolean", findings, hint)


def _check_number_or_text(value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is not str and type(value) not in {int, Hole} and not (type(value) is float and value.is_integer()):
        report_wrong_type(value, steps, "a whole number or a string", findings)


def _check_quantity(value: Any, steps: Steps, findings: Findings) -> None:
    if type(value) is str:
        if not is_quantity(value):
            findings.problem(path_of(steps), "must be a quantity such as '500m', '2' or '64Mi'")
    elif type(value) not in {int, float, Hole}:
        report_wrong_type(value, steps, "a quantity such as '500m', '2' or '64Mi'", findings)


def report_unknown(name: str, known: Mapping[str, object], steps: Steps, findings: Findings) -> None:
    """Report a field that a schema does not have."""
    near = nearest(name, known)
    named = f"known here: {', '.join(sorted(known)) or 'nothing'}" if len(known) <= _MOST_NAMED else ""
    hint = f"did you mean {near!r}?" if near else named
    findings.problem(path_of((steps, name)), "unknown field", hint=hint, kind="Unknown")


def report_wrong_type(value: Any, steps: Steps, expected: str, findings: Findings, hint: str = "") -> None:
    """Report a value of another type; its type is named, and nothing of it."""
    found = NAME_BY_TYPE.get(type(value), "something else")
    findings.unusable(path_of(steps), f"must be {expected}, not {found}", hint=hint)
