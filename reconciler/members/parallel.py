"""Calls made in parallel, in threads that never keep the process alive.

A thread stuck in something without a time limit (a name lookup) is left behind, not waited for at exit.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

WRITES_A_THREAD = 2
"""The writes that a further connection to a member is worth opening for, which costs as much as ten small reads."""
_READS_A_THREAD = 8
"""The reads that a further connection is worth opening for: its handshake is two ways there and back, and more work."""
_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


def results_in_parallel(
    call: Callable[[_Item], _Result], items: Iterable[_Item], *, limit: int, each: int = 1
) -> list[_Result]:
    """Return the results of a call for each item, in order, at most ``limit`` at once; the first error is raised.

    A thread is there for at least ``each`` items, as far as there are so many.
    """
    work = list(items)
    threads = min(limit, -(-len(work) // each))
    if threads <= 1:
        return [call(item) for item in work]
    results: dict[int, _Result] = {}
    # Taking the next number is one step for the interpreter, which no other thread comes in between.
    numbers = iter(range(len(work)))

    def call_for_remaining_items() -> None:
        for number in numbers:
            results[number] = call(work[number])

    for error in _run_in_threads([call_for_remaining_items] * threads):
        if error is not None:
            raise error
    return [results[number] for number in range(len(work))]


def reads_in_parallel(call: Callable[[_Item], _Result], items: Iterable[_Item], *, limit: int) -> list[_Result]:
    """Return the results of reading something of a member, in order; few reads are not worth a further connection."""
    return results_in_parallel(call, items, limit=limit, each=_READS_A_THREAD)


def _run_in_threads(calls: Sequence[Callable[[], None]]) -> Iterator[BaseException | None]:
    """Carry out calls, each in a thread; yield the error of each as it ends, None without one.

    Nothing is said before, for whoever waits is woken by everything it is told.
    """
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def run_call(call: Callable[[], None]) -> None:
        error: BaseException | None = None
        try:
            call()
        except BaseException as raised:  # noqa: BLE001 - raised again where the results are awaited
            error = raised
        ended.put(error)

    for call in calls:
        threading.Thread(target=run_call, args=(call,), daemon=True).start()
    for _ in calls:
        yield ended.get()
