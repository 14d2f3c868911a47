"""Times and durations as people write them on a command line: ``2026-03-01T14:05:00Z``, ``2h ago``, ``90d``."""

from datetime import datetime, timedelta

from render.timing import FIRST, parse_duration, parse_instant

_AGO = " ago"


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
