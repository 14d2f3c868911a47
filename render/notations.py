"""Durations, times of the day, decimal numbers and addresses as people write them in options and files."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .expressions import lazy_expression

_DURATION = lazy_expression(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_PORTS, _LONGEST_PORT = 65536, 9
_DECIMAL = lazy_expression(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?", re.ASCII)
_CURRENCY = lazy_expression(r"[A-Z]{3}", re.ASCII)
_DIGITS_OF_NUMBER = 15
"""The digits that a number keeps which is read as a float."""
_TIME_OF_DAY = lazy_expression(r"([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
"""The days of the week, as windows name them."""


def seconds_of_duration(text: str) -> float | None:
    """Return the seconds of a duration; None for what is none.

    >>> (
    ...     seconds_of_duration("90s"),
    ...     seconds_of_duration("5m"),
    ...     seconds_of_duration("300"),
    ...     seconds_of_duration("5 minutes"),
    ... )
    (90.0, 300.0, 300.0, None)
    """
    matched = _DURATION.fullmatch(text)
    return float(matched[1]) * _SECONDS[matched[2]] if matched else None


def minutes_of_time(text: str) -> int | None:
    """Return the minutes of the day at a time such as ``09:30``; None for what is none.

    >>> minutes_of_time("09:30"), minutes_of_time("24:00"), minutes_of_time("9")
    (570, None, None)
    """
    found = _TIME_OF_DAY.fullmatch(text)
    return None if found is None else int(found[1]) * 60 + int(found[2])


def is_currency(text: str) -> bool:
    """Say whether a text is the three letters of a currency, such as EUR."""
    return _CURRENCY.fullmatch(text) is not None


def decimal_number(value: Any) -> Fraction | None:
    """Return the exact value of a decimal number that is not negative, written as a text or a number; None for others.

    >>> decimal_number("0.031"), decimal_number(2), decimal_number(0.25), decimal_number("-1"), decimal_number("1e3")
    (Fraction(31, 1000), Fraction(2, 1), Fraction(1, 4), None, None)
    """
    if type(value) is float:
        written = Decimal(repr(value))
        # What was written with more digits is another number by now.
        value = f"{written:f}" if len(written.as_tuple().digits) <= _DIGITS_OF_NUMBER else None
    matched = _DECIMAL.fullmatch(str(value)) if type(value) in {int, str} else None
    return None if matched is None else Fraction(matched[0])


def host_and_port_of_address(text: str) -> tuple[str, int] | None:
    """Return the host (127.0.0.1 where none is named) and the port of an address; None for what is none.

    >>> host_and_port_of_address("8080"), host_and_port_of_address("[::]:8080"), host_and_port_of_address("localhost")
    (('127.0.0.1', 8080), ('::', 8080), None)
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) < _LONGEST_PORT and int(port) < _PORTS):
        return None
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)
