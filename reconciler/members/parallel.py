"""Calls made in parallel, in threads that never keep the process alive.

A thread stuck in something without a time limit (a name lookup) is left behind, not waited for at exit.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
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
