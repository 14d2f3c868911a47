"""Moves in a row: a workload that is nowhere healthy does not go in circles.

It leaves the first cluster as its policy says. The next one it leaves after a pause since then: twice as long as an
unhealthy workload is tolerated, two minutes at least, and twice as long each further time, up to an hour. The row ends
when it was healthy somewhere and twice the pause is over.
"""

from datetime import datetime

from render.binding import LastMove
from render.timing import instant_after, parse_instant

from .application import REASON

RECOVERED = "Recovered"
"""The reason of a move back to a cluster where the copy that was left has become healthy again."""
_LEAST = 60
_LONGEST = 3600
_MOST_DOUBLINGS = 10
_OF_WORKLOADS = frozenset({REASON, RECOVERED})


def stays_in_place_until(moved: LastMove | None, seconds: int) -> datetime | None:
    """Return until when a workload stays where it is that tolerates being unhealthy for some seconds; None for no time.

    >>> from render.timing import instant_text
    >>> move = LastMove(at="2026-03-01T09:00:00Z", clusters=("paris",), reason=REASON)
    >>> instant_text(stays_in_place_until(move, 300)), stays_in_place_until(None, 300)
    ('2026-03-01T09:10:00Z', None)
    """
    at = _time_of_last_move(moved)
    return instant_after(at, _seconds_of_pause(moved, seconds)) if at and moved else None


def moves_in_a_row(moved: LastMove | None, seconds: int, healthy_until: datetime | None, now: datetime) -> int:
    """Return how often in a row a workload leaves a cluster, given that it leaves one now.

    ``healthy_until`` is when it was last seen healthy in that cluster (None: never).
    """
    at = _time_of_last_move(moved)
    if at is None or moved is None:
        return 1
    was_well = healthy_until is not None and healthy_until > at
    return 1 if was_well and now >= instant_after(at, 2 * _seconds_of_pause(moved, seconds)) else moved.times + 1


def _time_of_last_move(moved: LastMove | None) -> datetime | None:
    return parse_instant(moved.at) if moved is not None and moved.reason in _OF_WORKLOADS else None


def _seconds_of_pause(moved: LastMove, seconds: int) -> int:
    doubled: int = max(seconds, _LEAST) * 2 ** min(moved.times, _MOST_DOUBLINGS)
    return min(doubled, max(_LONGEST, seconds))
