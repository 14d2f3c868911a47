"""The schema engine: a node becomes a function that checks a value, reports problems, and returns it as stored.

Nodes are turned into closures once, so that a document costs a few dictionary look-ups a field. A null is no value:
a field that holds one is absent. Unknown fields are reported and left out.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from render.expressions import lazy_expression
from render.notations import decimal_number
from render.quantity import parse_quantity
from render.syntax import quoted_text

from .findings import Findings, alternatives
from .schema import Anything, DecimalNumber, Flag, ListOf, MapOf, Node, Portion, Quantity, Record, Text, Whole

Walk = Callable[[Any, str, Findings], Any]
"""Check a value at a path; return it as stored. After a finding the value returned means nothing."""

_FITS_64 = -(1 << 63)
_QUOTE = "put it in quotes"
_HINT_OF_DIGITS = "write at most 18 digits before the point, and 18 after it; more than 15 of them in quotes"
_FEW_DIGITS = 15
_OFF = "Off"
_PERCENTAGE = lazy_expression(r"[0-9]{1,9}%", re.ASCII)
_LARGEST_PORTION = (1 << 31) - 1
_ZEROS: Mapping[type[Node], Any] = {
    Text: "",
    Whole: 0,
    Flag: False,
    Quantity: "0",
    Portion: 0,
    DecimalNumber: 0,
    ListOf: [],
    MapOf: {},
    Record: {},
}


class Reading(Struct, frozen=True, kw_only=True):
    """The way documents of a kind are read.

    ``is_typed``: empty values of optional fields vanish. ``is_decoded``: Go reads it without a schema: nulls in lists
    and maps are zero values (elsewhere an error and an absent key) and nothing is required yet.
    """

    is_typed: bool = True
    is_decoded: bool = False


def walk_for_node(node: Node, reading: Reading) -> Walk:
    """Return the function that checks values of a node.

    That of an object is made when the first one comes: there are dozens of kinds, and most sources have few of them.
    """
    build = _BUILDERS[type(node)]
    if type(node) is not Record:
        return build(node, reading)
    made: list[Walk] = []

    def walk(value: Any, path: str, findings: Findings) -> Any:
        if not made:
            made.append(build(node, reading))
        return made[0](value, path, findings)

    return walk


def _walk_for_text(node: Text, _reading: Reading) -> Walk:
    choices, min_length, max_length = frozenset(node.choices), node.min_length, node.max_length
    former = dict(node.former)

    def walk(value: Any, path: str, findings: Findings) -> Any:
        if value is False and _OFF in choices:
            return _OFF  # what YAML makes of it without quotes
        if type(value) is not str:
            hint = _QUOTE if isinstance(value, bool | int | float) and not choices else ""
            findings.wrong_type(path, value, "a string", hint=hint or _hint_of_choices(node))
        elif value in former:
            findings.warning(path, f"is the former word for {former[value]!r}", hint=f"write {former[value]!r}")
            return former[value]
        elif choices and value not in choices:
            findings.not_supported(path, value, node.choices)
        elif len(value) < min_length:
            findings.problem(path, "must not be empty")
        elif max_length and len(value) > max_length:
            findings.problem(path, f"must be at most {max_length} characters long, not {len(value)}", kind="TooLong")
        return value

    return walk


def _walk_for_whole_number(node: Whole, reading: Reading) -> Walk:
    bound = 1 << (node.bits - 1)
    low, high = -bound, bound - 1
    range_kind = "Decode" if reading.is_decoded else "Invalid"
    minimum = low if node.minimum is None else node.minimum
    maximum = high if node.maximum is None else node.maximum

    def walk(value: Any, path: str, findings: Findings) -> Any:
        if type(value) is float and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if type(value) is float:
            findings.unusable(path, f"must be a whole number, not {value!r}")
        elif type(value) is not int:
            is_digits = isinstance(value, str) and value.lstrip("-").isdigit()
            findings.wrong_type(path, value, "a whole number", hint="write it without quotes" if is_digits else "")
        elif not low <= value <= high:
            # A number beyond 64 bits is no integer to Kubernetes, whatever the field's size.
            kind = range_kind if _FITS_64 <= value <= ~_FITS_64 else findings.type_kind
            findings.unusable(path, f"must be between {low} and {high}, not {value}", kind=kind)
        elif value < minimum:
            findings.problem(path, f"must be at least {minimum}, not {value}", kind=range_kind)
        elif value > maximum:
            findings.problem(path, f"must be at most {maximum}, not {value}", kind=range_kind)
        return value

    return walk


def _check_flag(value: Any, path: str, findings: Findings) -> Any:
    if type(value) is not bool:
        hint = "write true or false, without quotes" if isinstance(value, str) else ""
        findings.wrong_type(path, value, "a boolean", hint=hint)
    return value


def _walk_for_quantity(_node: Quantity, reading: Reading) -> Walk:
    # The schema of a CRD has a pattern for quantities and keeps whole numbers; reading typed values does neither.
    numbers = {int, float} if reading.is_decoded else {int}
    kind = "" if reading.is_decoded else "Invalid"

    def walk(value: Any, path: str, findings: Findings) -> Any:
        if type(value) is not str and type(value) not in numbers:
            findings.wrong_type(path, value, "a quantity such as '500m', '2' or '64Mi'")
            return value
        text = str(value).strip()
        try:
            parse_quantity(text)
        except ValueError as error:
            findings.unusable(path, str(error), kind=kind)
        return text if reading.is_typed or type(value) is str else value

    return walk


def _walk_for_portion(node: Portion, _reading: Reading) -> Walk:
    def walk(value: Any, path: str, findings: Findings) -> Any:
        if type(value) is int:
            amount = value
        elif isinstance(value, str) and _PERCENTAGE.fullmatch(value):
            amount = int(value[:-1])
        else:
            findings.unusable(path, "must be a number or a percentage", hint="write it as 3 or '25%'")
            return value
        if not node.minimum <= amount <= _LARGEST_PORTION:
            findings.problem(path, f"must be between {node.minimum} and {_LARGEST_PORTION}, not {value}")
        elif isinstance(value, str) and amount > 100:
            findings.problem(path, f"must be at most 100%, not {value}")
        return value

    return walk


def _accept_anything(value: Any, _path: str, _findings: Findings) -> Any:
    return value


def _walk_for_list(node: ListOf, reading: Reading) -> Walk:
    walk_item, min_items, zero = walk_for_node(node.items, reading), node.min_items, _ZEROS.get(type(node.items))
    is_decoded = reading.is_decoded

    def walk(value: Any, path: str, findings: Findings) -> Any:
        if type(value) is not list:
            hint = "write it as a list, also of one" if isinstance(value, str | int) else ""
            findings.wrong_type(path, value, "a list", hint=hint)
            return value
        if len(value) < min_items:
            findings.problem(path, f"must have at least {min_items} item{'s' if min_items > 1 else ''}")
        if is_decoded and None in value:
            value = [zero if each is None else each for each in value]
        return [walk_item(each, f"{path}[{index}]", findings) for index, each in enumerate(value)]

    return walk


def _walk_for_decimal_number(_node: DecimalNumber, _reading: Reading) -> Walk:
    def walk(value: Any, path: str, findings: Findings) -> Any:
        if type(value) not in {int, float, str}:
            findings.wrong_type(path, value, "a decimal number such as 0.031")
        elif decimal_number(value) is None:
            is_negative = str(value).startswith("-") and decimal_number(str(value)[1:]) is not None
            message = "must not be negative" if is_negative else "must be a decimal number such as 0.031"
            has_many_digits = type(value) is not str or sum(map(str.isdigit, value)) > _FEW_DIGITS
            hint = _HINT_OF_DIGITS if has_many_digits and not is_negative else ""
            shown = quoted_text(value) if type(value) is str else value
            findings.unusable(path, f"{message}, not {shown}", hint=hint)
        return value

    return walk


def _walk_for_map(node: MapOf, reading: Reading) -> Walk:
    walk_value, zero, is_decoded = (
        walk_for_node(node.values, reading),
        _ZEROS.get(type(node.values)),
        reading.is_decoded,
    )

    def walk(value: Any, path: str, findings: Findings) -> Any:
        if type(value) is not dict:
            findings.wrong_type(path, value, "an object")
            return value
        stored = {}
        for key, each in value.items():
            if each is not None:
                stored[key] = walk_value(each, f"{path}.{key}", findings)
            elif is_decoded:
                stored[key] = zero
            else:
                findings.warning(f"{path}.{key}", "has no value, so it is left out", hint="write '' for an empty one")
        return stored

    return walk


class _Missing(NamedTuple):
    """A required field that is left out: a hint, and the empty value by which rules can go on to the other fields."""

    hint: str
    zero: Any


class _Fields(NamedTuple):
    """A struct's fields: the check of each, and whether it stays when empty; the required ones; defaults."""

    members: Mapping[str, tuple[Walk, bool]]
    required: Mapping[str, _Missing]
    defaults: dict[str, Any]


def _walk_for_record(node: Record, reading: Reading) -> Walk:
    named = {name.removesuffix("!"): each for name, each in node.fields.items()}
    required = [name[:-1] for name in node.fields if name.endswith("!")]
    defaults: dict[str, Any] = {
        name: each.default
        for name, each in named.items()
        if isinstance(each, Text | Whole | Flag) and each.default is not None
    }
    if reading.is_decoded:
        defaults |= {name: _ZEROS[type(named[name])] for name in required}
    fields = _Fields(
        members={
            name: (
                walk_for_node(each, reading),
                name in required or not reading.is_typed or _is_serialized_when_empty(each),
            )
            for name, each in named.items()
        },
        required={}
        if reading.is_decoded
        else {name: _Missing(_hint_of_choices(named[name]), _empty_value_of_node(named[name])) for name in required},
        defaults=defaults,
    )
    return partial(_check_record, fields)


def _check_record(fields: _Fields, value: Any, path: str, findings: Findings) -> Any:
    if type(value) is not dict:
        findings.wrong_type(path, value, "an object")
        return value
    members, stored = fields.members, {}
    for name, each in value.items():
        member = members.get(name)
        if member is None:
            findings.unknown(f"{path}.{name}", name, members)
        elif each is not None:
            result = member[0](each, f"{path}.{name}", findings)
            if result or member[1]:
                stored[name] = result
    for name in fields.required:
        if value.get(name) is None:
            missing = fields.required[name]
            findings.required(f"{path}.{name}", hint=missing.hint)
            stored[name] = deepcopy(missing.zero)
    return fields.defaults | stored if fields.defaults else stored


def _empty_value_of_node(node: Node) -> Any:
    """Return the empty value of a node, whose required fields are empty in turn."""
    if isinstance(node, Record):
        return {name[:-1]: _empty_value_of_node(each) for name, each in node.fields.items() if name.endswith("!")}
    return _ZEROS.get(type(node))


def _is_serialized_when_empty(node: Node) -> bool:
    match node:
        case Whole() | Flag():
            return node.keep
        case Record() | Anything() | Portion() | DecimalNumber():
            return True
    return False


def _hint_of_choices(node: Node) -> str:
    return f"write {alternatives(node.choices)}" if isinstance(node, Text) and node.choices else ""


_BUILDERS: Mapping[type[Node], Callable[[Any, Reading], Walk]] = {
    Text: _walk_for_text,
    Whole: _walk_for_whole_number,
    Flag: lambda _node, _reading: _check_flag,
    Quantity: _walk_for_quantity,
    Portion: _walk_for_portion,
    DecimalNumber: _walk_for_decimal_number,
    Anything: lambda _node, _reading: _accept_anything,
    ListOf: _walk_for_list,
    MapOf: _walk_for_map,
    Record: _walk_for_record,
}
