"""The time for which members that are slow are waited for, as a function of the times of all visits.

Nobody who answers waits for somebody who does not, and a member that answers late by chance is not left out:

* One that has not answered at all is waited for until a second after it was asked, or for twice as long as the slowest
  of the others took to their first answer.
* One that has answered and is not done is waited for as long, or for twice as long as the slowest of the others took
  to the end.
* One that failed the last time is waited for a quarter of a second, or for as long as the slowest of the others took:
  no longer than these take anyway.

As long as nobody else is done there is nobody to be held up, and all are waited for.
"""

import math
from collections.abc import Iterable

from msgspec import Struct

LEAST_SECONDS = 1.0
_LEAST_AFTER_FAILURE = 0.25
_TIMES = 2.0


class VisitTimes(Struct, frozen=True, kw_only=True):
    """The times of a visit to a member: when it began, when the member was first heard, and when it ended.

    ``is_answered``: it ended, and the member answered everything. ``failed_before``: the last visit to it failed.
    """

    began: float
    heard: float | None = None
    ended: float | None = None
    is_answered: bool = False
    failed_before: bool = False


def time_to_stop_waiting(visits: Iterable[VisitTimes], least: float = LEAST_SECONDS) -> float:
    """Return the time until which visits that have not ended are waited for, endless where no member has answered.

    ``least`` is for how many seconds an ordinary member is waited for in any case.

    >>> done = VisitTimes(began=0.0, heard=0.1, ended=0.7, is_answered=True)
    >>> time_to_stop_waiting([done, VisitTimes(began=0.0)])
    1.0
    >>> time_to_stop_waiting([done, VisitTimes(began=0.0, heard=0.6)])
    1.4
    """
    known = tuple(visits)
    to_end = [each.ended - each.began for each in known if each.is_answered and each.ended is not None]
    to_first = [each.heard - each.began for each in known if each.is_answered and each.heard is not None]
    if not to_end:
        return math.inf
    slowest = max(to_first, default=0.0), max(to_end)
    ends = (each.began + _seconds_to_wait_for(each, least, *slowest) for each in known if each.ended is None)
    return max(ends, default=-math.inf)


def _seconds_to_wait_for(visit: VisitTimes, least: float, to_first: float, to_end: float) -> float:
    if visit.failed_before:
        return max(_LEAST_AFTER_FAILURE, to_end)
    return max(least, _TIMES * (to_first if visit.heard is None else to_end))
