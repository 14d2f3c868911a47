"""The memory of webhooks: deliveries that were seen, and how many each source may send; both bounded in size."""

import threading
from collections import OrderedDict

from msgspec import Struct

_MOST_SEEN, _SEEN_SECONDS = 10_000, 24 * 3600.0
_MOST_SOURCES = 4_096


class SeenDeliveries:
    """The ids of deliveries of the last day, the oldest forgotten first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, float] = OrderedDict()

    def is_new(self, id_: str, now: float) -> bool:
        """Return whether a delivery was not seen before, and remember it."""
        with self._lock:
            while self._seen and next(iter(self._seen.values())) < now - _SEEN_SECONDS:
                self._seen.popitem(last=False)
            if id_ in self._seen:
                return False
            self._seen[id_] = now
            if len(self._seen) > _MOST_SEEN:
                self._seen.popitem(last=False)
            return True


class _Allowance(Struct):
    left: float
    at: float
    is_known: bool = False


class SourceLimits:
    """The requests that each source may send: ``burst`` at once, and ``rate`` a second after that."""

    def __init__(self, *, rate: float = 10.0, burst: float = 100.0) -> None:
        self._rate, self._burst = rate, burst
        self._lock = threading.Lock()
        self._sources: OrderedDict[str, _Allowance] = OrderedDict()

    def is_allowed(self, source: str, now: float) -> bool:
        """Count a request of a source, and return whether it is within what that may send."""
        with self._lock:
            known = self._sources.pop(source, None) or _Allowance(self._burst, now)
            known.left, known.at = min(self._burst, known.left + (now - known.at) * self._rate), now
            self._sources[source] = known
            if len(self._sources) > _MOST_SOURCES:
                self._sources.popitem(last=False)
            if known.left < 1:
                return False
            known.left -= 1
            return True

    def is_known(self, source: str) -> bool:
        """Return whether a signed webhook came from a source not long ago."""
        with self._lock:
            found = self._sources.get(source)
            return found is not None and found.is_known

    def know(self, source: str) -> None:
        """Remember that a signed webhook came from a source."""
        with self._lock:
            if source in self._sources:
                self._sources[source].is_known = True
