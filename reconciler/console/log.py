"""Log lines on stderr, and progress on a terminal only; stdout is left to data."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self, TextIO

from msgspec import Struct

from .cleaning import json_safe_for_terminal, safe_for_terminal, without_passwords
from .printing import LogFormat
from .progress import ProgressLine
from .terminal import screen_of

ERRORS_ONLY, NORMAL, VERBOSE, TIMINGS = -1, 0, 1, 2
_STYLES = {"warning": "yellow", "error": "red"}
"""The kinds of lines that name themselves, each with its style."""


class Log(Struct, frozen=True, kw_only=True, dict=True):
    """The stream and format of a run's log lines, and the repository the command line named.

    ``fleet`` stands before each line of a process that has several fleets. ``on_step`` is told of each step that was
    timed, of its seconds, and whether it went well.
    """

    stream: TextIO
    level: int = NORMAL
    format: LogFormat = LogFormat.TEXT
    color: bool = False
    is_terminal: bool = False
    repository: str = "."
    fleet: str = ""
    on_step: Callable[[str, float, bool], None] | None = None

    @classmethod
    def to_stderr(cls, *, level: int, log_format: LogFormat, repository: str) -> Self:
        """Return a log on stderr; the terminal and the environment say whether it has colours."""
        screen = screen_of(sys.stderr)
        return cls(
            stream=sys.stderr,
            level=level,
            format=log_format,
            color=screen.is_colored,
            is_terminal=screen.can_redraw and log_format is LogFormat.TEXT and level >= NORMAL,
            repository=repository,
        )

    @property
    def tells_each(self) -> bool:
        """True where each of many things has its line, for a program or ``-v`` asks for that."""
        return self.level >= VERBOSE or self.format is LogFormat.JSON

    @cached_property
    def line(self) -> ProgressLine:
        """The line that says what is under way, where a terminal shows one."""
        return ProgressLine(self.stream, is_shown=self.is_terminal)

    def info(self, event: str, **values: Any) -> None:
        """Write that something changed."""
        self._write_log_line("info", event, values, NORMAL)

    def warning(self, event: str, **values: Any) -> None:
        """Write something the user should look at."""
        self._write_log_line("warning", event, values, NORMAL)

    def warn_always(self, *events: str) -> None:
        """Write lines the user must look at: ``-q`` shows these, too."""
        for event in events:
            self._write_log_line("warning", event, {}, ERRORS_ONLY)

    def warn_of(self, lines: Iterable[object]) -> None:
        """Write something about many things: what is alike is one line, unless ``-v`` or a program asks for each."""
        from .grouping import lines_grouped_by_wording

        texts = map(str, lines)
        for line in texts if self.tells_each else lines_grouped_by_wording(texts):
            self.warning(line)

    def error(self, event: str, **values: Any) -> None:
        """Write what keeps something from being done; ``-q`` shows this, too."""
        self._write_log_line("error", event, values, ERRORS_ONLY)

    def detail(self, event: str, **values: Any) -> None:
        """Write something that only ``-v`` asks for."""
        self._write_log_line("debug", event, values, VERBOSE)

    @contextmanager
    def timed(self, step: str, of: str = "") -> Iterator[None]:
        """Write with ``-vv`` how long a step took, in milliseconds; show it and what it is of on a terminal."""
        shown = self.line.begin(f"{step} {of}".rstrip())
        begun, went_well = time.monotonic(), False
        try:
            yield
            went_well = True
        finally:
            self.line.end(shown)
            seconds = time.monotonic() - begun
            if self.on_step is not None:
                self.on_step(step, seconds, went_well)
            self._write_log_line("debug", step, {"ms": round(seconds * 1000)}, TIMINGS)

    def progress(self, text: str) -> None:
        """Show one line that the next one replaces; nothing where stderr is no terminal."""
        self.line.show(text)

    @contextmanager
    def counted(self, step: str, total: int) -> Iterator[Callable[[str], None]]:
        """Show how many of so many are done of a step; what is yielded counts one, and takes what is under way."""
        shown = self.line.begin(step, total)
        try:
            yield lambda busy_with: self.line.advance(shown, busy_with)
        finally:
            self.line.end(shown)

    def transfer(self, stage: str, done: int, total: int) -> None:
        """Show how far a fetch or push is."""
        self.progress(f"{stage}: {done} of {total}" if total else f"{stage}: {done}")

    def _write_log_line(self, severity: str, event: str, values: dict[str, Any], level: int) -> None:
        if self.level < level:
            return
        if self.format is LogFormat.JSON:
            named = {"fleet": self.fleet} if self.fleet else {}
            line = json.dumps({"level": severity, **named, "event": event, **values}, ensure_ascii=False, default=str)
            line = json_safe_for_terminal(without_passwords(line))
        else:
            line = self._text_of_log_line(severity, event, values)
        with self.line.lock:
            self.line.clear()
            self.stream.write(line + "\n")
            self.stream.flush()

    def _text_of_log_line(self, severity: str, event: str, values: dict[str, Any]) -> str:
        words = [
            safe_for_terminal(event),
            *(f"{key}={safe_for_terminal(_quoted_where_ambiguous(value))}" for key, value in values.items()),
        ]
        if severity in _STYLES:
            words.insert(0, self._styled(f"{severity}:", _STYLES[severity]))
        if self.fleet:
            words.insert(0, f"{safe_for_terminal(self.fleet)}:")
        return " ".join(words)

    def _styled(self, word: str, style: str) -> str:
        if not self.color:
            return word
        from .painting import in_style

        return in_style(word, style)


def _quoted_where_ambiguous(value: Any) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c in text for c in ' "\n\t=') else text
