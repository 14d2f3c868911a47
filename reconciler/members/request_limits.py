"""The limits of requests to one cluster: how many may be under way at once, and how much time they are worth.

A server that complains of too much to do gets half as many at once, and slowly more again. A server that answers
questions may still never answer writes, as when its storage takes none any more. Each write would cost its whole time,
one after the other, until all of the cluster's is over. So after the first one that hung the others get little time,
and after as many as may be under way at once there are no more.
"""

import threading
from collections.abc import Callable

from .exchange import Failure, FailureKind, Request

_CALMER_SECONDS = 30.0
_LONG_SECONDS = 20.0
"""After so long there is no other attempt at a request: whatever hangs for so long hangs again."""
_SHORT_SECONDS = 5.0
_ALMOST = 0.9
_UNANSWERED = frozenset({FailureKind.UNREACHABLE})


class RequestLimit:
    """The number of requests under way, each of them in a ``with`` block.

    It is halved by each complaint, and one more after every half minute of calm.
    """

    def __init__(self, most: int, *, clock: Callable[[], float]) -> None:
        self._most = most
        self.current = most
        self._clock = clock
        self._under_way = 0
        self._changed_at = clock()
        self._free = threading.Condition()

    def __enter__(self) -> None:
        """Wait for a place among the requests under way, and keep it."""
        with self._free:
            while self._under_way >= self.current:
                self._free.wait()
            self._under_way += 1

    def __exit__(self, *_: object) -> None:
        with self._free:
            self._under_way -= 1
            if self.current < self._most and self._clock() - self._changed_at >= _CALMER_SECONDS:
                self.current, self._changed_at = self.current + 1, self._clock()
            self._free.notify_all()

    def slow_down(self) -> None:
        """Halve the limit; at least one request may always be under way."""
        with self._free:
            self.current, self._changed_at = max(1, self.current // 2), self._clock()


class Hangs:
    """The writes to one cluster that have hung since the last one that was answered; more than ``most`` are enough."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0

    @property
    def are_enough(self) -> bool:
        """True where nothing more is to be written."""
        return self._count > self._most

    def seconds_for(self, request: Request) -> float:
        """Return the time that an attempt at a request may take."""
        is_doubtful = request.method != "GET" and self._count > 0
        return min(request.timeout, _SHORT_SECONDS) if is_doubtful else request.timeout

    def note_outcome(self, request: Request, outcome: object, seconds: float, allowed: float) -> bool:
        """Note how an attempt ended after some seconds, and return whether it hung."""
        failure = outcome if isinstance(outcome, Failure) else None
        is_unanswered = failure is not None and failure.kind in _UNANSWERED
        has_hung = is_unanswered and seconds >= _ALMOST * allowed
        if request.method != "GET":
            # Threads count at the same time; one more or less is of no account.
            self._count = self._count + 1 if has_hung else self._count if is_unanswered else 0
        return request.is_of_objects and failure is not None and (has_hung or seconds >= _LONG_SECONDS)
