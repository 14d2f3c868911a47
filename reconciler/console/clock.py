"""The clock: the one time that a command takes, at its beginning."""

import time
from datetime import UTC, datetime

from render.timing import whole_second


def given_or_current_time(given: datetime | None = None, *, behind: float = 0.0) -> datetime:
    """Return the time that somebody gave, or the time of day; in whole seconds, UTC.

    ``behind`` are the seconds by which the clock here is known to be behind.
    """
    return whole_second(given or datetime.fromtimestamp(time.time() + behind, UTC))
