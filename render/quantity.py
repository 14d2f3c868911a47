"""Kubernetes quantities: exact amounts, and the one canonical notation of each.

``500m`` is 1/2, ``64Mi`` is 67108864. Amounts are integers where they can be and fractions otherwise, never floats, so
that sums are exact. As in Kubernetes nothing is finer than a billionth (finer amounts round away from zero) and
nothing is larger than 2**63-1.
"""

import re
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from .expressions import lazy_expression

Amount = int | Fraction
"""An exact amount; a fraction only when it is not whole."""

LARGEST = 2**63 - 1
NANO = 10**9
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
SUFFIX_BY_EXPONENT = {exponent: suffix for suffix, exponent in DECIMAL.items()}
NOTATION = lazy_expression(
    r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i)|[eE]([+-]?[0-9]{1,3})|([numkMGTPE]?))", re.ASCII
)


class QuantityFormat(StrEnum):
    """The three notations: ``500m``, ``64Mi``, ``5e3``."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


_LONGEST = 128
"""The characters of a quantity; Kubernetes keeps 18 digits at most, and Python reads no number of 4,301."""


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Amount:
    """Return the exact amount of a quantity; a ValueError names a text that is none.

    >>> parse_quantity("64Mi"), parse_quantity("500m"), parse_quantity("1e3")
    (67108864, Fraction(1, 2), 1000)
    """
    match = NOTATION.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or not (match[2] or match[3]):
        raise ValueError(f"{text[:64]!r} is not a quantity such as '500m', '2' or '64Mi'")
    sign, whole, decimals, binary, exponent, suffix = match.groups()
    amount: Amount = int(whole or "0")
    if decimals:
        amount += Fraction(int(decimals), 10 ** len(decimals))
    if binary:
        amount *= 1 << BINARY[binary]
    elif power := int(exponent) if exponent else DECIMAL[suffix]:
        amount *= 10**power if power > 0 else Fraction(1, 10**-power)
    amount = _within_quantity_bounds(amount)
    return -amount if sign == "-" else amount


def quantity_format(text: str) -> QuantityFormat:
    """Return the notation a quantity is written in, which its sums keep.

    >>> quantity_format("64Mi"), quantity_format("1e3"), quantity_format("1E")
    (<QuantityFormat.BINARY_SI: 'BinarySI'>, <QuantityFormat.DECIMAL_EXPONENT: 'DecimalExponent'>, \
<QuantityFormat.DECIMAL_SI: 'DecimalSI'>)
    """
    if text.endswith("i"):
        return QuantityFormat.BINARY_SI
    last = text[-1:]
    is_exponent = last.isdigit() and ("e" in text or "E" in text)
    return QuantityFormat.DECIMAL_EXPONENT if is_exponent else QuantityFormat.DECIMAL_SI


def format_quantity(amount: Amount, notation: QuantityFormat = QuantityFormat.DECIMAL_SI) -> str:
    """Return the canonical text: a whole number with the largest suffix that keeps it whole.

    Binary notation falls back to decimal below 1024, and rounds fractions up, as Kubernetes does.

    >>> format_quantity(2000), format_quantity(Fraction(1, 2)), format_quantity(2**29, QuantityFormat.BINARY_SI)
    ('2k', '500m', '512Mi')
    """
    if notation is QuantityFormat.BINARY_SI and not -1024 < amount < 1024:
        return _text_with_binary_suffix(amount_rounded_up(amount))
    number, exponent = _decimal_mantissa_and_exponent(amount)
    if notation is QuantityFormat.DECIMAL_EXPONENT:
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{SUFFIX_BY_EXPONENT[exponent]}"


def canonical_quantity(text: str) -> str:
    """Return a quantity as Kubernetes prints it, in the notation it was written in.

    >>> canonical_quantity("0.5"), canonical_quantity("1024Mi"), canonical_quantity("1000k")
    ('500m', '1Gi', '1M')
    """
    return format_quantity(parse_quantity(text), quantity_format(text))


def amount_rounded_up(amount: Amount) -> int:
    """Return the nearest whole number away from zero (Kubernetes' Value)."""
    return amount if isinstance(amount, int) else _rounded_away_from_zero(amount)


def milli_value_of_amount(amount: Amount) -> int:
    """Return the amount in thousandths, rounded away from zero (Kubernetes' MilliValue)."""
    return amount_rounded_up(amount * 1000)


def _within_quantity_bounds(amount: Amount) -> Amount:
    """Round a positive amount up to billionths and cap it; a whole fraction becomes an integer."""
    if isinstance(amount, Fraction):
        billionths = _rounded_away_from_zero(amount * NANO)
        amount = billionths // NANO if billionths % NANO == 0 else Fraction(billionths, NANO)
    return min(amount, LARGEST)


def _rounded_away_from_zero(amount: Amount) -> int:
    return -(-amount // 1) if amount > 0 else amount // 1


def _decimal_mantissa_and_exponent(amount: Amount) -> tuple[int, int]:
    """Split an amount into a whole number and the largest power of 1000 it needs."""
    number, exponent = _rounded_away_from_zero(amount * NANO), -9
    if number == 0:
        return 0, 0
    while number % 1000 == 0 and exponent < DECIMAL["E"]:
        number, exponent = number // 1000, exponent + 3
    return number, exponent


def _text_with_binary_suffix(number: int) -> str:
    suffix = ""
    for candidate in BINARY:
        if number % 1024:
            break
        number, suffix = number // 1024, candidate
    return f"{number}{suffix}"
