"""Times of the past as people type them into the page: ``2h ago``, ``21:18``, ``2026-11-20 08:00``."""

from datetime import UTC, datetime, timedelta

from reconciler.console.instants import time_before
from render.expressions import lazy_expression
from render.timing import instant_text

FORMS = "a time such as 2h ago, 21:18 or 2026-11-20 08:00 (UTC), a commit, or a branch"
"""The forms of what may be asked for, in words."""
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = lazy_expression(r"([0-9]{1,6}) ?(s|m|h|d|w|sec|min|(?:second|minute|hour|day|week)s?) ago")
_CLOCK = lazy_expression(r"(?:([0-9]{4}-[0-9]{2}-[0-9]{2})[ T])?([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)Z?")
_DATE = lazy_expression(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def time_in_full(text: str, seconds: float) -> str:
    """Return a time that is typed in short as RFC 3339 has it, ``seconds`` being now; any other text as it is.

    A time of the day is the last one that is over, and a date alone is its beginning.

    >>> now = datetime(2026, 3, 1, 14, 5, tzinfo=UTC).timestamp()
    >>> time_in_full("2h ago", now), time_in_full("1 hour ago", now), time_in_full("21:18", now)
    ('2026-03-01T12:05:00Z', '2026-03-01T13:05:00Z', '2026-02-28T21:18:00Z')
    >>> time_in_full("2026-02-01 08:00", now), time_in_full("2026-02-01", now), time_in_full("main", now)
    ('2026-02-01T08:00:00Z', '2026-02-01T00:00:00Z', 'main')
    """
    now = datetime.fromtimestamp(int(seconds), UTC)
    if ago := _AGO.fullmatch(text.casefold()):
        return instant_text(time_before(now, timedelta(**{_UNITS[ago[2][0]]: int(ago[1])})))
    if _DATE.fullmatch(text):
        text = f"{text} 00:00"
    clock = _CLOCK.fullmatch(text)
    try:
        found = datetime.fromisoformat(f"{clock[1] or now.date()}T{clock[2]}+00:00") if clock else None
    except ValueError:  # there is no such day or hour
        return text
    if found is None or clock is None:
        return text
    return instant_text(found if clock[1] or found <= now else found - timedelta(days=1))
