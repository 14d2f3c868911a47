"""Several calls at once, in threads that never keep the process alive.

A thread stuck in something without a time limit (a name lookup) is left behind, not waited for at exit.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

Outcome = TypeVar("Outcome")
Item = TypeVar("Item")


class _Done(NamedTuple):
    number: int
    value: object
    error: BaseException | None


def in_parallel(call: Callable[[Item], Outcome], items: Iterable[Item], *, limit: int) -> list[Outcome]:
    """Return what a call makes of each item, in their order, at most ``limit`` at once; the first error is raised."""
    work = list(items)
    if len(work) <= 1 or limit <= 1:
        return [call(item) for item in work]
    outcomes: dict[int, Outcome] = dict(as_they_finish(call, work, limit=limit))
    return [outcomes[number] for number in range(len(work))]


def as_they_finish(
    call: Callable[[Item], Outcome], items: Iterable[Item], *, limit: int
) -> Iterator[tuple[int, Outcome]]:
    """Yield the number and outcome of each item as soon as it is there."""
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
            try:
                done.put(_Done(number, call(work[number]), None))
            except BaseException as error:  # noqa: BLE001 - raised again where the outcome is awaited
                done.put(_Done(number, None, error))

    for _ in range(min(limit, len(work))):
        threading.Thread(target=serve, daemon=True).start()
    for _ in work:
        finished = done.get()
        if finished.error is not None:
            raise finished.error
        yield finished.number, finished.value  # type: ignore[misc]  # what went in with this number
