"""Amounts of money and of carbon as people and programs read them: what is shown is rounded, never what is summed."""

from fractions import Fraction

_CENTS = 2


def exact_decimal(amount: Fraction) -> str:
    """Return an amount with all its digits; one that has no end (it is divided) with eighteen after the point.

    >>> exact_decimal(Fraction(3, 8)), exact_decimal(Fraction(-20)), exact_decimal(Fraction(1, 3))
    ('0.375', '-20', '0.333333333333333333')
    """
    places = _decimal_places(amount.denominator)
    return _decimal_text(amount, 18 if places is None else places).rstrip("0").rstrip(".") or "0"


def _decimal_places(denominator: int) -> int | None:
    """Return how many digits after the point a fraction needs; None where they have no end."""
    counts = []
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator, count = denominator // prime, count + 1
        counts.append(count)
    return max(counts) if denominator == 1 else None


def _decimal_text(amount: Fraction, places: int) -> str:
    """Return an amount rounded to so many digits after the point, of a tie to the even one."""
    scaled = round(amount * 10**places)
    digits = str(abs(scaled)).rjust(places + 1, "0")
    whole, rest = digits[: len(digits) - places], digits[len(digits) - places :]
    return f"{'-' if scaled < 0 else ''}{whole}.{rest}" if places else f"{'-' if scaled < 0 else ''}{whole}."


def shown_amount(amount: Fraction, *, is_signed: bool = False) -> str:
    """Return an amount in hundredths; one that is nearly nothing with its first digit, so that it is not shown as 0.

    >>> shown_amount(Fraction(1234567, 1000)), shown_amount(Fraction(1, 1000)), shown_amount(Fraction(0))
    ('1234.57', '0.001', '0.00')
    >>> shown_amount(Fraction(3), is_signed=True), shown_amount(Fraction(-1, 3), is_signed=True)
    ('+3.00', '-0.33')
    """
    places = _CENTS
    while amount and abs(amount) * 10**places < 1:
        places += 1
    sign = "+" if is_signed and amount > 0 else ""
    return f"{sign}{_decimal_text(amount, places)}"
