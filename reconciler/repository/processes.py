"""Work that processes take shares of: each is forked, begins with all that this one has read, and hands back bytes.

Results come in the order of the items, whoever made them, so that nothing that is made of them tells how many processes
there were. A process holds one result at a time, and waits until it is taken. One that the system ended is an error,
and the others are ended with it; where one failed by itself, its item is done again here, for the reason to be seen.
"""

import os
import signal
import struct
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import BinaryIO, TypeVar

from render.errors import ReconcileError

MOST_PROCESSES = 8
"""So many processes share work where nobody says otherwise; more would wait for the one that takes their results."""

_SIZE = struct.Struct(">Q")
_Item = TypeVar("_Item")


def usable_processors() -> int:
    """Return the number of processes that share work where nobody says how many; 1 where none can be forked."""
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


def results_in_order(
    work: Callable[[_Item], bytes], items: Sequence[_Item], processes: int
) -> Generator[bytes, None, None]:
    """Yield the result of each item, made by so many processes; by this one where it may not fork, or needs not.

    A process that has threads is not forked: what another thread holds at that moment would stay locked.
    """
    count = min(processes, len(items))
    if count < 2 or _has_threads():
        yield from map(work, items)
        return
    workers: list[_Worker] = []
    try:
        for number in range(count):
            workers.append(_forked_worker(work, items[number::count], workers))
        for number, item in enumerate(items):
            result = workers[number % count].next_result()
            yield work(item) if result is None else result
    finally:
        for each in workers:
            each.end()


def _has_threads() -> bool:
    return threading.active_count() > 1


class _Worker:
    """A forked process, and the pipe that its results come through."""

    def __init__(self, process: int, pipe: BinaryIO) -> None:
        self.process, self.pipe = process, pipe
        self._is_over = False

    def next_result(self) -> bytes | None:
        """Return what it made next; None where it failed by itself, an error where the system ended it."""
        length = self._read(_SIZE.size)
        result = None if length is None else self._read(*_SIZE.unpack(length))
        if result is None and not self._is_over:
            self._is_over = True
            if os.WIFSIGNALED(os.waitpid(self.process, 0)[1]):
                raise ReconcileError(
                    "a process that this one shares work with was ended",
                    hint="look whether the system ended it for want of memory; --jobs 1 shares no work",
                )
        return result

    def _read(self, size: int) -> bytes | None:
        content = b"" if self._is_over else self.pipe.read(size)
        return content if len(content) == size and not self._is_over else None

    def end(self) -> None:
        """End the process if it has not ended."""
        self.pipe.close()
        if not self._is_over:
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)


def _forked_worker(work: Callable[[_Item], bytes], items: Sequence[_Item], others: Sequence[_Worker]) -> _Worker:
    """Fork a process that hands back the results of some items; ``others`` were forked before."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return _Worker(process, os.fdopen(reading, "rb"))
    status = 1
    try:
        for each in others:
            os.close(each.pipe.fileno())
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            for item in items:
                result = work(item)
                pipe.write(_SIZE.pack(len(result)))
                pipe.write(result)
                pipe.flush()
        status = 0
    finally:
        # Nothing that the other process has begun, such as files and what is still to be printed, is ended here.
        os._exit(status)
