"""Documents read as Go's encoding/json reads them into a struct: keys in any case, and a wrong type is an error."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from render.selectors import LabelSelector, Requirement, has_valid_values
from render.syntax import fault_of_label_key, fault_of_label_value

Shape = TypeVar("Shape")


class WrongShape(ValueError):
    """A document is not what the other federation can read; the message names the field."""


def value_of_key_in_any_case(plain: Mapping[str, Any], name: str) -> Any:
    """Return a field whose key may be written in any case; of several the last in order of bytes counts."""
    if name in plain:
        return plain[name]
    found = [key for key in plain if key.lower() == name.lower()]
    return plain[max(found)] if found else None


def decode_object(plain: Any, what: str) -> Mapping[str, Any]:
    """Return an object; nothing for null."""
    found: Mapping[str, Any] = _value_of_type(plain, dict, what, "an object")
    return found


def decode_text(plain: Any, what: str) -> str:
    """Return a text; an empty one for null."""
    found: str = _value_of_type(plain, str, what, "text")
    return found


def decode_integer(plain: Any, what: str) -> int:
    """Return a whole number of 64 bits; 0 for null."""
    if isinstance(plain, bool):
        raise WrongShape(f"{what} is not a whole number")
    found: int = _value_of_type(plain, int, what, "a whole number")
    if not -(1 << 63) <= found < 1 << 63:
        raise WrongShape(f"{what} is a number of more than 64 bits")
    return found


def decode_bool(plain: Any, what: str) -> bool:
    """Return true or false; false for null."""
    found: bool = _value_of_type(plain, bool, what, "true or false")
    return found


def decode_list(plain: Any, what: str, read: Callable[[Any, str], Shape]) -> list[Shape]:
    """Return what each entry of a list reads as; an empty list for null."""
    return [
        read(each, f"{what}[{position}]") for position, each in enumerate(_value_of_type(plain, list, what, "a list"))
    ]


def decode_label_selector(plain: Any, what: str) -> LabelSelector | None:
    """Return a label selector; None for null, WrongShape for one that is of no shape of its kind."""
    if plain is None:
        return None
    fields = decode_object(plain, what)
    labels = decode_object(value_of_key_in_any_case(fields, "matchLabels"), f"{what}.matchLabels")
    return LabelSelector(
        match_labels=tuple(sorted((key, decode_text(value, f"{what}.matchLabels")) for key, value in labels.items())),
        match_expressions=tuple(
            decode_list(
                value_of_key_in_any_case(fields, "matchExpressions"), f"{what}.matchExpressions", decode_requirement
            )
        ),
    )


def checked_selector(selector: LabelSelector, what: str) -> LabelSelector:
    """Return a selector that Kubernetes can evaluate; WrongShape for another."""
    for key, value in selector.match_labels:
        if fault := fault_of_label_key(key) or fault_of_label_value(value):
            raise WrongShape(f"{what}: {fault}")
    for requirement in selector.match_expressions:
        if not has_valid_values(requirement):
            raise WrongShape(f"{what}: the operator {requirement.operator} does not fit its values")
        faults = [fault_of_label_key(requirement.key), *map(fault_of_label_value, requirement.values)]
        if fault := next(filter(None, faults), ""):
            raise WrongShape(f"{what}: {fault}")
    return selector


def decode_requirement(plain: Any, what: str) -> Requirement:
    """Return a requirement ``{key, operator, values}`` as it is written."""
    fields = decode_object(plain, what)
    return Requirement(
        key=decode_text(value_of_key_in_any_case(fields, "key"), f"{what}.key"),
        operator=decode_text(value_of_key_in_any_case(fields, "operator"), f"{what}.operator"),
        values=tuple(decode_list(value_of_key_in_any_case(fields, "values"), f"{what}.values", decode_text)),
    )


def _value_of_type(plain: Any, kind: type, what: str, wanted: str) -> Any:
    if plain is None:
        return kind()
    if not isinstance(plain, kind):
        raise WrongShape(f"{what} is not {wanted}")
    return plain
