"""A live screen: something that is shown on the whole terminal, again whenever it or the size of that changes.

It stands on the alternate screen of the terminal, so that what was there before is there again afterwards, however this
ends. ``q`` ends it; lines below the last one are reached by the keys that move in a pager.
"""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import IO, Self

from rich.console import Console
from rich.control import Control
from rich.screen import Screen as WholeScreen
from rich.text import Text

from .cleaning import on_one_line, safe_for_terminal
from .styled_text import StyledText
from .terminal import output_screen

Parts = Iterable[str]
_MOVES = {"j": 1, "\x1b[B": 1, "k": -1, "\x1b[A": -1}
_PAGES = {" ": 1, "\x1b[6~": 1, "b": -1, "\x1b[5~": -1}
_ENDS = {"g": 0.0, "\x1b[H": 0.0, "G": 1.0, "\x1b[F": 1.0}
_KEYS = ("\x1b[5~", "\x1b[6~", "\x1b[A", "\x1b[B", "\x1b[H", "\x1b[F")
_FOOT = "reverse"


class LookEndedError(Exception):
    """Somebody ended the live screen by its key."""


class LastNote:
    """A stream for log lines while the whole terminal is taken: the last one is shown at the foot."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Keep a line, in place of the one before."""
        self.text = text.strip() or self.text
        return len(text)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def isatty(self) -> bool:
        """Say that nothing can be written over here."""
        return False


class LiveScreen:
    """The terminal of this process while something is shown on all of it; ``title`` stands at the foot."""

    def __init__(self, title: str, clock: Callable[[], float] = time.time) -> None:
        self.note = LastNote()
        self._title = title
        self._clock = clock
        screen = output_screen()
        self._console = Console(
            file=sys.stdout,
            force_terminal=True,
            color_system="standard" if screen.is_colored else None,
            no_color=not screen.is_colored,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._draw: Callable[[], Parts] = tuple
        self._first_line = 0
        self._looked_at = ""
        self._pressed, self._wake = os.pipe()

    @classmethod
    @contextmanager
    def opened(cls, title: str) -> Iterator[Self]:
        """Take the terminal for as long as the block, and give it back as it was."""
        screen = cls(title)
        with ExitStack() as stack:
            stack.callback(screen._close_pipe)
            stack.enter_context(screen._reading_keys())
            stack.enter_context(screen._hearing_signals())
            stack.enter_context(screen._console.screen(hide_cursor=True))
            yield screen

    def show(self, draw: Callable[[], Parts]) -> None:
        """Show what a function draws, which is called again when the size changes."""
        self._draw = draw
        self.look_again()

    def look_again(self) -> None:
        """Say that this is how things are now, and draw it anew."""
        self._looked_at = time.strftime("%H:%M:%S", time.localtime(self._clock()))
        self._paint()

    def pause(self, seconds: float) -> None:
        """Wait so long, and obey keys and sizes meanwhile; LookEndedError where somebody ends it."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            streams = [self._pressed, *([sys.stdin.fileno()] if sys.stdin.isatty() else [])]
            ready, _, _ = select.select(streams, [], [], left)
            if self._pressed in ready:
                os.read(self._pressed, 4096)
                self._paint()
            if ready and ready[-1] != self._pressed:
                self._obey(os.read(sys.stdin.fileno(), 64).decode(errors="replace"))
        self.look_again()

    def _obey(self, typed: str) -> None:
        while typed:
            key = next((known for known in _KEYS if typed.startswith(known)), typed[0])
            typed = typed[len(key) :]
            if key in {"q", "Q", "\x04"}:
                raise LookEndedError
            self._move(key)
        self._paint()

    def _move(self, key: str) -> None:
        page = max(self._console.height - 2, 1)
        if key in _ENDS:
            self._first_line = 0 if not _ENDS[key] else sys.maxsize
        self._first_line += _MOVES.get(key, 0) + _PAGES.get(key, 0) * page

    def _paint(self) -> None:
        lines = _lines_of_parts(self._draw())
        room = max(self._console.height - 1, 1)
        self._first_line = max(0, min(self._first_line, len(lines) - room))
        shown = lines[self._first_line : self._first_line + room]
        shown += [Text()] * (room - len(shown))
        foot = Text(self._foot(len(lines) - self._first_line - room), style=_FOOT, no_wrap=True, overflow="ellipsis")
        foot.truncate(self._console.width, overflow="ellipsis", pad=True)
        self._console.control(Control.home())
        self._console.print(WholeScreen(Text("\n", no_wrap=True, overflow="ellipsis").join([*shown, foot])), end="")
        self._console.file.flush()

    def _foot(self, below: int) -> str:
        more = f", {below} more lines below (j, k)" if below > 0 else ""
        note = f"; {on_one_line(safe_for_terminal(self.note.text))}" if self.note.text else ""
        return f"{self._title}, as it was at {self._looked_at}{more}; q ends{note}"

    @contextmanager
    def _reading_keys(self) -> Iterator[None]:
        """Have keys handed over as they are pressed, where a person can press any; ^C stays what it is."""
        stream: IO[str] | None = sys.stdin
        if stream is None or not stream.isatty():
            yield
            return
        before = termios.tcgetattr(stream)
        tty.setcbreak(stream, termios.TCSANOW)
        try:
            yield
        finally:
            termios.tcsetattr(stream, termios.TCSADRAIN, before)

    @contextmanager
    def _hearing_signals(self) -> Iterator[None]:
        """Have sizes told while it waits, and give the terminal back as well when the process is asked to end."""

        def wake(_number: int, _frame: FrameType | None) -> None:
            with suppress(BlockingIOError):
                os.write(self._wake, b".")

        def asked_to_end(_number: int, _frame: FrameType | None) -> None:
            raise LookEndedError

        before = [(number, signal.signal(number, handler)) for number, handler in _handlers(wake, asked_to_end)]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def _close_pipe(self) -> None:
        os.close(self._pressed)
        os.close(self._wake)


_Handler = Callable[[int, FrameType | None], None]


def _handlers(wake: _Handler, asked_to_end: _Handler) -> tuple[tuple[signal.Signals, _Handler], ...]:
    sizes = (signal.SIGWINCH, wake), (signal.SIGCONT, wake)
    return (*sizes, (signal.SIGTERM, asked_to_end), (signal.SIGHUP, asked_to_end))


def _lines_of_parts(parts: Parts) -> list[Text]:
    """Return the lines of a text by parts, cleaned, with the styles of those that have some."""
    whole = Text(no_wrap=True, overflow="ellipsis")
    for part in parts:
        text = Text(safe_for_terminal(part))
        if isinstance(part, StyledText) and text.plain == part:
            for start, end, style in part.spans:
                text.stylize(style, start, end)
        whole.append_text(text)
    return list(whole.split("\n", allow_blank=False))
