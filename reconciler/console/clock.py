"""The clock: the one time that a command takes, at its beginning."""

import time
from datetime import UTC, datetime

from render.timing import whole_second


def time_of_pass(given: datetime | None = None) -> datetime:
    """Return the time that somebody gave, or the time of day; in whole seconds, UTC."""
    return whole_second(given or datetime.fromtimestamp(time.time(), UTC))
