"""Texts of a format: quantities, times, encoded bytes."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import date

from render.expressions import lazy_expression
from render.quantity import parse_quantity

_TIME = lazy_expression(
    r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_DATE = lazy_expression(r"\d{4}-\d\d-\d\d", re.ASCII)


def is_quantity(text: str) -> bool:
    """Say whether a text is an amount such as ``500m``."""
    try:
        parse_quantity(text.strip())
    except ValueError:
        return False
    return True


def is_time(text: str) -> bool:
    """Say whether a text is a time of RFC 3339.

    >>> is_time("2026-01-02T03:04:05Z"), is_time("2026-01-02")
    (True, False)
    """
    match = _TIME.fullmatch(text)
    return match is not None and is_date(match[1])


def is_date(text: str) -> bool:
    """Say whether a text is a day of the calendar."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_base64(text: str) -> bool:
    r"""Say whether a text is base64 as Go reads it, which skips line breaks.

    >>> is_base64("AAEC\n"), is_base64("a b")
    (True, False)
    """
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


TEXT_FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "date-time": (is_time, "must be a time of RFC 3339, such as '2026-01-02T03:04:05Z'"),
    "date": (is_date, "must be a date such as '2026-01-02'"),
    "byte": (is_base64, "must be base64"),
}
"""The formats of texts that are checked, and the message for a text of another form."""
