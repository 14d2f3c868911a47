"""Values of Go as its templates print and judge them: numbers, lists and maps in the forms of its ``fmt``."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from .syntax import TemplateError

NO_VALUE = "<no value>"
LONGEST_TEXT = 1 << 20
_LEAST_EXPONENT, _MOST_EXPONENT = -4, 6


class Budget(Struct):
    """The work that all templates of one object may take together; TemplateError where it is used up."""

    left: int = 1_000_000

    def spend(self, value: Any) -> None:
        """Take one step, and as many as a value has parts."""
        stack = [value]
        while stack:
            part = stack.pop()
            self.left -= 1 + (len(part) // 256 if isinstance(part, str) else 0)
            if self.left < 0:
                raise TemplateError("its templates take too many steps")
            if isinstance(part, Mapping):
                stack += (*part, *part.values())
            elif isinstance(part, list | tuple):
                stack += part


class Missing:
    """The value of a key that a map does not have."""

    def __repr__(self) -> str:
        """Return what a template prints of it."""
        return NO_VALUE


MISSING = Missing()


def printed_value(value: Any) -> str:
    """Return a value as a template prints it.

    >>> (
    ...     printed_value(1000000.0),
    ...     printed_value(1.5),
    ...     printed_value(3),
    ...     printed_value([1.0, "a"]),
    ...     printed_value({"b": True}),
    ...     printed_value(None),
    ... )
    ('1e+06', '1.5', '3', '[1 a]', 'map[b:true]', '<no value>')
    """
    if value is None or isinstance(value, Missing):
        return NO_VALUE
    return value if isinstance(value, str) else _printed_inner_value(value)


def _printed_inner_value(value: Any) -> str:
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{_printed_inner_value(value[key])}' for key in sorted(value, key=str))}]"
    if isinstance(value, list | tuple):
        return f"[{' '.join(map(_printed_inner_value, value))}]"
    return str(value)


def number_text(number: float) -> str:
    """Return a number as Go writes one of 64 bits: with an exponent from a million on.

    >>> number_text(8080.0), number_text(1234567.0), number_text(0.00001), number_text(-0.5)
    ('8080', '1.234567e+06', '1e-05', '-0.5')
    """
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) + int(exponent) - 1
    if number and not _LEAST_EXPONENT <= power < _MOST_EXPONENT:
        mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
        return f"{'-' * sign}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return str(int(number)) if number.is_integer() else f"{Decimal(repr(number)):f}"


def is_true_in_template(value: Any) -> bool:
    """Say whether a value counts as true: it is there, and no zero and nothing empty."""
    return not isinstance(value, Missing) and bool(value)


def go_value(value: Any) -> Any:
    """Return a value as Go has it after it was read from JSON, where every number is one of 64 bits."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): go_value(each) for key, each in value.items()}
    return [go_value(each) for each in value] if isinstance(value, Sequence) else str(value)


def plain_value(value: Any) -> Any:
    """Return a value of a template as YAML has it: whole numbers without a point."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    return None if isinstance(value, Missing) else value


def checked_text(value: Any) -> str:
    """Return a value that has to be a text."""
    if not isinstance(value, str):
        raise TemplateError("a function was given something else than a text")
    return value
