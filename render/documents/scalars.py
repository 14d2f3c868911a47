"""The meaning of a plain (unquoted) scalar to kubectl: its value, and its text as a key.

The rules are those of sigs.k8s.io/yaml: YAML 1.1 words for booleans and null, Go's notation for numbers. A number
that does not fit int64 becomes a float, because every value passes through JSON on its way to Kubernetes.
"""

import math
import re
import struct
from decimal import Decimal
from typing import Any

from render.expressions import lazy_expression

_TRUE = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_NULL = ("", "~", "null", "Null", "NULL")
_INFINITY = (".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
    **dict.fromkeys(_NULL),
    **dict.fromkeys(_INFINITY, math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_FIRST_OF_WORD_OR_NUMBER = frozenset("+-.0123456789yYnNtTfFoO~")
_FIRST_OF_NUMBER = frozenset("+-0123456789")

_INTEGER = lazy_expression(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))", re.ASCII)
_BINARY_WITH_INNER_SIGN = lazy_expression(r"0b([-+][01]+)", re.ASCII)
_FLOAT = lazy_expression(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_FLOAT_AFTER_POINT = lazy_expression(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?", re.ASCII)

_MOST_DIGITS = 20
"""The decimal digits of the largest uint64."""
INT64_MIN, INT64_MAX, UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1


class UnusableScalar(ValueError):
    """A scalar that has no place in JSON: infinity, not-a-number, a key that is null."""


def kubectl_value_of_plain_scalar(text: str) -> Any:
    """Return the value kubectl gives a plain scalar.

    >>> [kubectl_value_of_plain_scalar(text) for text in ("on", "0777", "08", "1_000", "1e3", "1:30", "2024-01-01")]
    [True, 511, 8, 1000, 1000, '1:30', '2024-01-01']
    """
    return json_value(resolved_scalar(text))


def kubectl_key_of_plain_scalar(text: str) -> str:
    """Return the key kubectl makes of a plain scalar: numbers and booleans are written out.

    >>> kubectl_key_of_plain_scalar("on"), kubectl_key_of_plain_scalar("0x1F"), kubectl_key_of_plain_scalar("1e6")
    ('true', '31', '1e+06')
    """
    return json_key(resolved_scalar(text))


def resolved_scalar(text: str) -> Any:
    """Return a plain scalar as go-yaml resolves it, before it becomes JSON: integers up to uint64 are exact."""
    if text and text[0] not in _FIRST_OF_WORD_OR_NUMBER:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        return _float_or_text(text.replace("_", ""), text) if _FLOAT_AFTER_POINT.fullmatch(text) else text
    return _number_or_text_of_scalar(text) if text[0] in _FIRST_OF_NUMBER else text


def _number_or_text_of_scalar(text: str) -> Any:
    digits = text.replace("_", "")
    match = _INTEGER.fullmatch(digits)
    number = _integer_of_match(match) if match else None
    if number is not None:
        return number
    if _FLOAT.fullmatch(digits):
        return _float_or_text(digits, text)
    # Go reads what follows "0b" as a signed binary number: 0b-11 is -3.
    match = _BINARY_WITH_INNER_SIGN.fullmatch(digits)
    number = int(match[1], 2) if match else None
    return number if number is not None and INT64_MIN <= number <= INT64_MAX else text


def _integer_of_match(match: re.Match[str]) -> int | None:
    """Return the integer, or None where neither int64 nor (without a sign) uint64 holds it."""
    sign, *digits = match.groups()
    if len(digits[-1] or "") > _MOST_DIGITS:
        return None
    number = next(int(text, base) for text, base in zip(digits, (16, 8, 2, 10), strict=True) if text)
    number = -number if sign == "-" else number
    return number if INT64_MIN <= number <= (INT64_MAX if sign else UINT64_MAX) else None


def _float_or_text(digits: str, text: str) -> float | str:
    number = float(digits)
    return text if math.isinf(number) else number


def json_value(value: Any) -> Any:
    """Return a resolved scalar as it leaves JSON: a number is an int where its digits fit int64, else a float."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UnusableScalar("infinity and not-a-number cannot be stored in Kubernetes")
        # Go's JSON writes 1e21 and above with an exponent, which is no integer to Kubernetes.
        number = int(Decimal(repr(value))) if value.is_integer() and abs(value) < 1e21 else None
        return number if number is not None and INT64_MIN <= number <= INT64_MAX else value
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        return float(value)
    return value


def json_key(value: Any) -> str:
    """Return a resolved scalar as the key of a JSON object."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _key_of_float(value)
    if value is None or not INT64_MIN <= value <= INT64_MAX:
        raise UnusableScalar("a key that is null" if value is None else "a key that is a number beyond int64")
    return str(value)


def _key_of_float(value: float) -> str:
    """Return Go's shortest text of the nearest float32: sigs.k8s.io/yaml writes float keys that way.

    >>> _key_of_float(0.1), _key_of_float(1234567.0), _key_of_float(1e-5)
    ('0.1', '1.234567e+06', '1e-05')
    """
    try:
        narrow = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        narrow = math.copysign(math.inf, value)
    if not math.isfinite(narrow):
        return ".nan" if math.isnan(narrow) else (".inf" if narrow > 0 else "-.inf")
    texts = (f"{narrow:.{digits}e}" for digits in range(9))
    shortest = next(text for text in texts if struct.pack("f", float(text)) == struct.pack("f", narrow))
    exponent = int(shortest.partition("e")[2])
    if -4 <= exponent < 6:
        digits = len(shortest.partition("e")[0].lstrip("-").replace(".", "")) - 1
        return f"{narrow:.{max(digits - exponent, 0)}f}"
    return shortest


class PlainValues(dict[str, Any]):
    """Plain scalars already resolved, by their text; long and surplus ones are resolved each time."""

    size, longest = 1 << 16, 128

    def __missing__(self, text: str) -> Any:
        value = kubectl_value_of_plain_scalar(text)
        if len(self) < self.size and len(text) <= self.longest:
            self[text] = value
        return value


class PlainKeys(dict[str, str]):
    """Plain keys already resolved, by their text."""

    size, longest = 1 << 16, 128

    def __missing__(self, text: str) -> str:
        key = kubectl_key_of_plain_scalar(text)
        if len(self) < self.size and len(text) <= self.longest:
            self[text] = key
        return key
