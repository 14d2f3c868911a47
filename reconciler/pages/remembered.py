"""Documents that were made before, by the commits and the question: the oldest are forgotten first.

What depends on the time of day is made again after a while. Whoever asks meanwhile gets the former answer, so that
nobody waits for what was answered a minute ago.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Generic, TypeVar

from msgspec import Struct

Value = TypeVar("Value")


class _KnownValue(Struct, Generic[Value]):
    value: Value
    expires: float
    is_renewed: bool = False


class Remembered(Generic[Value]):
    """Values by key, at most so many; each is made by one thread at a time."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _KnownValue[Value]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._renewals = ThreadPoolExecutor(1, thread_name_prefix="pages-renew")

    def value_for(self, key: Hashable, make: Callable[[], Value], seconds: float = inf) -> Value:
        """Return the value of a key, made where it is not known.

        One that is older than so many ``seconds``, and than twenty times what it takes to make, is made again.
        """
        found = self._known_entry(key)
        if found is None:
            return self._make_once(key, make, seconds)
        if found.expires < self._clock() and not found.is_renewed:
            found.is_renewed = True
            self._renewals.submit(self._make_and_keep, key, make, seconds)
        return found.value

    def keys(self) -> tuple[Hashable, ...]:
        """Return the keys of the values that are known."""
        with self._lock:
            return tuple(self._entries)

    def forget(self, is_forgotten: Callable[[Hashable], bool]) -> None:
        """Forget the values of some keys."""
        with self._lock:
            for key in tuple(filter(is_forgotten, self._entries)):
                del self._entries[key]

    def close(self) -> None:
        """Renew nothing any more."""
        self._renewals.shutdown(wait=False, cancel_futures=True)

    def _known_entry(self, key: Hashable) -> _KnownValue[Value] | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def _make_once(self, key: Hashable, make: Callable[[], Value], seconds: float) -> Value:
        with self._lock:
            turn = self._making.setdefault(key, threading.Lock())
        try:
            with turn:
                found = self._known_entry(key)
                return found.value if found is not None else self._make_and_keep(key, make, seconds)
        finally:
            with self._lock:
                self._making.pop(key, None)

    def _make_and_keep(self, key: Hashable, make: Callable[[], Value], seconds: float) -> Value:
        began = self._clock()
        value = make()
        ended = self._clock()
        with self._lock:
            self._entries[key] = _KnownValue(value, ended + max(seconds, 20 * (ended - began)))
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        return value
