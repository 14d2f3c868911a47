"""The budget of a source's builds: what all of them together may take, beside what bounds each.

A source may ask for any number of builds, and each may take its whole minute. So all that a load of a source runs
shares one budget of time, a smaller one for what fails, and one of memory: as many run at once as have room. What a
build made is remembered, so that the next load goes on where this one had to stop; and so is a failure, which is not
paid for again while its inputs stay as they are.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from render.expressions import lazy_expression

from .sandbox import Run, RunLimits

_NO_TIME = "no time is left for it: the builds of this source have used up what all of them may take"
_AGAIN_AFTER = 3600.0
"""Seconds after which something is tried again that failed: the machine may have been busy, or short of something."""
_OF_THE_MACHINE = lazy_expression(
    r"no space left|cannot allocate memory|out of memory|too many open files|temporarily unavailable|input/output error"
    r"|permission denied|read-only file system",
    re.IGNORECASE,
)
"""Words of complaints for which the inputs are not to blame."""
_SECRET = b"ecret"
_FAILED = 1


class BuildBudget:
    """The seconds and bytes of memory that all builds of one load may take, and the seconds for those that fail.

    ``files`` are those that all of them read, each counted as often as a build reads it.
    """

    def __init__(
        self, *, seconds: float = 1800.0, failing: float = 120.0, memory: int = 8 << 30, files: int = 1_000_000
    ) -> None:
        self._seconds, self._failing, self._memory, self._files = seconds, failing, memory, files
        self._used = 0
        self._turn = threading.Condition()

    def run(self, limits: RunLimits, start: Callable[[RunLimits], Run]) -> Run:
        """Start a run as soon as there is memory for it, with the time that is left."""
        with self._wait_for_memory(limits.memory):
            left = min(self._seconds, self._failing)
            if left <= 0:
                return Run(complaint=_NO_TIME, is_bounded=True)
            begun = time.monotonic()
            run = start(replace(limits, seconds=min(limits.seconds, left)))
            took = time.monotonic() - begun
            with self._turn:
                self._seconds -= took
                self._failing -= took if run.complaint else 0
        if run.is_over_limit and left < limits.seconds and took >= left:
            return Run(complaint=_NO_TIME, is_bounded=True)
        return run

    def takes_files(self, count: int) -> bool:
        """Count files that a build reads, and say whether those of all builds are no more than they may be."""
        self._files -= count
        return self._files >= 0

    @contextmanager
    def _wait_for_memory(self, memory: int) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not self._used or self._used + memory <= self._memory)
            self._used += memory
        try:
            yield
        finally:
            with self._turn:
                self._used -= memory
                self._turn.notify_all()


class KnownFailure(Struct, frozen=True, kw_only=True):
    """A failure that is remembered: what was said of it, and whether a limit was met, and not the files to blame."""

    complaint: str
    hint: str = ""
    is_bounded: bool = False

    @classmethod
    def of(cls, stored: Any) -> "KnownFailure | None":
        """Return the failure that a stored value is; None for what is none, or may be tried again."""
        if stored[0][0] != _FAILED:
            return None
        complaint, hint, is_bounded, until = stored[0][1]
        return None if until < time.time() else cls(complaint=complaint, hint=hint, is_bounded=is_bounded)


def is_stored_failure(stored: Any) -> bool:
    """Say whether a stored value is a failure, which may be tried again by now."""
    return bool(stored[0][0] == _FAILED)


def failure_to_store(failure: KnownFailure, inputs: Mapping[str, bytes], *, is_over_limit: bool) -> Any:
    """Return a failure as it is remembered; None for one that is not.

    What a tool says may quote what it read, so it is not written down where some of that may be secret. A failure is
    tried again after an hour, and what this machine could not do is never remembered.
    """
    if (failure.is_bounded and not is_over_limit) or _OF_THE_MACHINE.search(failure.complaint):
        return None
    if not failure.is_bounded and any(_SECRET in content for content in inputs.values()):
        return None
    return ((_FAILED, (failure.complaint, failure.hint, failure.is_bounded, time.time() + _AGAIN_AFTER)),)
