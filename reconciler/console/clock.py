"""The clock: the one time that a command takes, at its beginning, and how long ago something was."""

import time
from datetime import UTC, datetime

from render.timing import whole_second

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))


def given_or_current_time(given: datetime | None = None, *, behind: float = 0.0) -> datetime:
    """Return the time that somebody gave, or the time of day; in whole seconds, UTC.

    ``behind`` are the seconds by which the clock here is known to be behind.
    """
    return whole_second(given or datetime.fromtimestamp(time.time() + behind, UTC))


def age_in_words(seconds: int) -> str:
    """Return a time that has passed in its largest whole unit; an hour or a day alone with what is beyond it.

    >>> age_in_words(250), age_in_words(119 * 60), age_in_words(7300), age_in_words(100_000), age_in_words(-3)
    ('4m', '1h59m', '2h', '1d3h', '0s')
    """
    for number, (size, unit) in enumerate(_UNITS):
        count, rest = divmod(seconds, size)
        if count == 1 and size > _UNITS[-1][0]:
            smaller, name = _UNITS[number + 1]
            return f"1{unit}{rest // smaller}{name}" if rest >= smaller else f"1{unit}"
        if count > 0:
            return f"{count}{unit}"
    return f"{max(seconds, 0)}s"
