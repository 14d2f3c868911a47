"""Times of the status branch as ages: how long ago something was recorded, in one number as kubectl prints it."""

from datetime import UTC, datetime

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))


def age(since: str, now: float) -> str:
    """Return how long ago an RFC 3339 time was, ``now`` in seconds; empty for what is no time.

    >>> age("2027-01-15T08:00:00Z", 1_800_000_000 + 250), age("", 0)
    ('4m', '')
    """
    try:
        seconds = int(now - datetime.fromisoformat(since).timestamp())
    except ValueError:
        return ""
    return next((f"{seconds // size}{unit}" for size, unit in _UNITS if seconds >= size), f"{max(seconds, 0)}s")


def time_text(seconds: float) -> str:
    """Return a time as RFC 3339, to the second, as files of the status branch have it.

    >>> time_text(1_800_000_000)
    '2027-01-15T08:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
