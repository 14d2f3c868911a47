"""Waiting with a bound: a test that waits says for what, and fails with those words when it does not come.

A process that only has to end takes ``timeout=SECONDS``; everything else that waits goes through here.
``tests/test_waiting.py`` finds what does neither.
"""

import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

SECONDS = 120.0
"""Enough for anything in the tests on a busy machine, short enough to wait for a failure."""

Answer = TypeVar("Answer")


def eventually(question: Callable[[], Answer], what: str, *, seconds: float = SECONDS, pause: float = 0.02) -> Answer:
    """Ask again and again, and return the first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := question()):
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(pause)
    return answer


def happened(event: threading.Event, what: str, *, seconds: float = SECONDS) -> None:
    """Wait for another thread to set an event."""
    assert event.wait(seconds), f"not within {seconds:g} s: {what}"


def joined(*threads: threading.Thread, seconds: float = SECONDS) -> None:
    """Wait for threads to end, all of them within the time."""
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    running = [thread.name for thread in threads if thread.is_alive()]
    assert not running, f"not within {seconds:g} s: the end of {', '.join(running)}"


def at_once(work: Callable[[int], object], count: int, *, seconds: float = SECONDS) -> None:
    """Do the work in so many threads at once, each told its number, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    joined(*threads, seconds=seconds)


@contextmanager
def running(command: Sequence[str], *, seconds: float = SECONDS, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """Run a process for as long as the block, which may therefore read from its pipes without a time limit.

    A process that still runs after the time is killed, so that its pipes end, and the block fails.
    """
    overdue = threading.Event()
    with subprocess.Popen(command, text=True, **options) as process:

        def stop() -> None:
            overdue.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()
            if overdue.is_set():
                raise AssertionError(f"not within {seconds:g} s: the end of {shlex.join(command)}")


def raced(commands: Iterable[Sequence[str]], **options: Any) -> list[str]:
    """Start processes that say ``ready`` and read a line; let all go at once; return what each says after that."""
    with ExitStack() as stack:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **options}
        processes = [stack.enter_context(running(command, **pipes)) for command in commands]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        return [process.communicate("go\n", timeout=SECONDS)[0].strip() for process in processes]
