"""Times and durations as people write them on a command line: ``2026-03-01T14:05:00Z``, ``2h ago``, ``90d``."""

import re
from datetime import datetime, timedelta

from render.timing import FIRST, parse_instant

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"([0-9]{1,6})([smhdw])")
_AGO = " ago"


def parse_duration(text: str) -> timedelta | None:
    """Return a number with a unit as a duration; None where it is none.

    >>> parse_duration("90d"), parse_duration("main")
    (datetime.timedelta(days=90), None)
    """
    found = _DURATION.fullmatch(text)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def instant_of_text(text: str, now: datetime) -> datetime | None:
    """Return the time that RFC 3339 text names, or a duration and the word ago; None where it is neither.

    >>> instant_of_text("2h ago", parse_instant("2026-03-01T14:05:00Z"))
    datetime.datetime(2026, 3, 1, 12, 5, tzinfo=datetime.timezone.utc)
    """
    ago = parse_duration(text.removesuffix(_AGO).rstrip()) if text.endswith(_AGO) else None
    return time_before(now, ago) if ago is not None else parse_instant(text)


def time_before(now: datetime, ago: timedelta) -> datetime:
    """Return the time so long before another one, and no earlier than the first there is."""
    return now - min(ago, now - FIRST)
