"""The line of a terminal that says what is under way: it is written over, and gone when that is done.

Steps stand in one another, such as the rendering of one of many commits. The line is about the outermost one that is
counted, how far it is by number and for how long it has gone on, and names what is under way in it.
"""

import threading
import time
from collections.abc import Callable
from typing import TextIO

from .cleaning import on_one_line, safe_for_terminal
from .terminal import screen_of

_SECONDS_BETWEEN_LOOKS = 0.25
_LEAST_SECONDS_BETWEEN_LINES = 0.1
_SECONDS_WITHOUT_TIME = 1.0
_BAR, _WIDTH_WITH_BAR, _USUAL_WIDTH = 20, 60, 80
_CLEARED = "\r\x1b[2K"


class Step:
    """A step that is under way: what it does, how much of how much is done, and with what it is busy."""

    def __init__(self, what: str, total: int, begun: float) -> None:
        self.what = what
        self.total = total
        self.begun = begun
        self.done = 0
        self.busy_with = ""


def line_of_steps(steps: list[Step], now: float, width: int, *, has_unicode: bool = True) -> str:
    """Return the line about steps that stand in one another, in so many columns.

    >>> step = Step("lose clusters", 8, 0.0)
    >>> step.done, step.busy_with = 2, "paris"
    >>> line_of_steps([step, Step("render", 0, 0.0)], 3.0, 50)
    'lose clusters: 2 of 8, 3 s: render'
    """
    outer, inner = next((step for step in steps if step.total), steps[0]), steps[-1]
    seconds = now - outer.begun
    numbers = [f"{outer.done} of {outer.total}"] if outer.total else []
    numbers += [f"{seconds:.0f} s"] if seconds >= _SECONDS_WITHOUT_TIME else []
    bar = f" {_bar(outer, has_unicode=has_unicode)}" if outer.total and width >= _WIDTH_WITH_BAR else ""
    busy_with = inner.busy_with or (inner.what if inner is not outer else outer.busy_with)
    said = ", ".join(numbers)
    return f"{outer.what}{f': {said}' if said else ''}{bar}{f': {busy_with}' if busy_with and said else ''}"


def _bar(step: Step, *, has_unicode: bool) -> str:
    full, empty = ("\u2501", "\u2500") if has_unicode else ("=", "-")
    filled = min(step.done * _BAR // step.total, _BAR)
    return full * filled + empty * (_BAR - filled)


class ProgressLine:
    """The line itself, which one thread writes at a time; nothing is written where it is not on a terminal."""

    def __init__(self, stream: TextIO, *, is_shown: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.lock = threading.RLock()
        self._stream = stream
        self._is_shown = is_shown
        self._clock = clock
        self._steps: list[Step] = []
        self._written_at = 0.0
        self._is_written = False
        self._ticker: threading.Thread | None = None

    def begin(self, what: str, total: int = 0) -> Step:
        """Begin a step."""
        step = Step(what, total, self._clock())
        if self._is_shown:
            with self.lock:
                self._steps.append(step)
                self._write_steps()
                self._start_ticking()
        return step

    def advance(self, step: Step, busy_with: str = "") -> None:
        """Count one more as done, and say with what the step is busy now."""
        step.done += 1
        step.busy_with = busy_with
        if self._is_shown and self._clock() - self._written_at >= _LEAST_SECONDS_BETWEEN_LINES:
            with self.lock:
                self._write_steps()

    def end(self, step: Step) -> None:
        """End a step; the line is gone with the last one."""
        if self._is_shown:
            with self.lock:
                self._steps = [each for each in self._steps if each is not step]
                if self._steps:
                    self._write_steps()
                else:
                    self.clear()

    def show(self, text: str) -> None:
        """Show a text that the next one replaces; an empty one takes the line away."""
        if self._is_shown:
            screen = screen_of(self._stream)
            room = (screen.width or _USUAL_WIDTH) - 1
            line = on_one_line(safe_for_terminal(text))
            ellipsis = "\u2026" if screen.has_unicode else "."
            with self.lock:
                self._stream.write(_CLEARED + (line if len(line) <= room else f"{line[: room - 1]}{ellipsis}"))
                self._stream.flush()
                self._is_written = bool(line)
                self._written_at = self._clock()

    def clear(self) -> None:
        """Take the line away, if there is one."""
        if self._is_written:
            self.show("")

    def _write_steps(self) -> None:
        if self._steps:
            screen = screen_of(self._stream)
            width = screen.width or _USUAL_WIDTH
            self.show(line_of_steps(self._steps, self._clock(), width, has_unicode=screen.has_unicode))

    def _start_ticking(self) -> None:
        if self._ticker is None:
            self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._ticker.start()

    def _tick(self) -> None:
        """Write the line again and again, so that its time passes, until no step is under way."""
        while True:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            with self.lock:
                if not self._steps:
                    self._ticker = None
                    return
                if self._clock() - self._written_at >= _SECONDS_BETWEEN_LOOKS:
                    self._write_steps()
