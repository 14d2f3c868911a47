"""Calls made in parallel, in threads that never keep the process alive, some with a limit of time for each call.

A thread stuck in something without a time limit (a name lookup) is left behind, not waited for at exit.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeVar

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


class _Done(NamedTuple):
    number: int
    value: object
    error: BaseException | None


def _outcome(number: int, call: Callable[[_Item], object], item: _Item) -> _Done:
    try:
        return _Done(number, call(item), None)
    except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
        return _Done(number, None, error)


def in_parallel(call: Callable[[_Item], _Result], items: Iterable[_Item], *, limit: int) -> list[_Result]:
    """Return the results of a call for each item, in order, at most ``limit`` at once; the first error is raised."""
    work = list(items)
    if len(work) <= 1 or limit <= 1:
        return [call(item) for item in work]
    results: dict[int, _Result] = dict(as_they_finish(call, work, limit=limit))
    return [results[number] for number in range(len(work))]


def as_they_finish(
    call: Callable[[_Item], _Result], items: Iterable[_Item], *, limit: int
) -> Iterator[tuple[int, _Result]]:
    """Yield the number and the result of each item as soon as it is there."""
    work = list(items)
    done: SimpleQueue[_Done] = SimpleQueue()
    numbers = iter(range(len(work)))
    lock = threading.Lock()

    def serve() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            done.put(_outcome(number, call, work[number]))

    for _ in range(min(limit, len(work))):
        threading.Thread(target=serve, daemon=True).start()
    for _ in work:
        finished = done.get()
        if finished.error is not None:
            raise finished.error
        yield finished.number, finished.value  # type: ignore[misc]  # what went in with this number


def results_in_time(
    call: Callable[[_Item], _Result], items: Iterable[_Item], *, limit: int, seconds: float
) -> list[_Result | None]:
    """Return the results of a call for each item, in order, None where a call took longer than ``seconds``.

    A call that takes longer is left behind in its thread, and another begins in its place.
    """
    work = list(items)
    done: SimpleQueue[_Done] = SimpleQueue()
    results: list[_Result | None] = [None] * len(work)
    waiting, ends = iter(range(len(work))), dict[int, float]()

    def serve(number: int) -> None:
        done.put(_outcome(number, call, work[number]))

    while True:
        while len(ends) < limit and (number := next(waiting, None)) is not None:
            ends[number] = time.monotonic() + seconds
            threading.Thread(target=serve, args=(number,), daemon=True).start()
        if not ends:
            return results
        try:
            finished = done.get(timeout=max(0.0, min(ends.values()) - time.monotonic()))
        except Empty:
            now = time.monotonic()
            ends = {number: end for number, end in ends.items() if end > now}
            continue
        if finished.error is not None:
            raise finished.error
        if ends.pop(finished.number, None) is not None:
            results[finished.number] = finished.value  # type: ignore[assignment]  # what went in with this number
