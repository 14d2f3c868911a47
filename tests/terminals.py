"""A real pseudo-terminal and what it shows: a command runs in it, and an emulator keeps its screen."""

import fcntl
import os
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyte

from tests.prepared import ROOT, prepared
from tests.waiting import SECONDS, eventually, joined, running

BARE = ("COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM")
"""The variables about terminals that the environment of these tests may have, and a command in one has not."""


def environment_of_terminal(**variables: str) -> dict[str, str]:
    """Return an environment as in a terminal with colours, with these variables as well."""
    own = {name: text for name, text in os.environ.items() if name not in BARE}
    return {**own, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **variables}


def written_to_terminal(arguments: Sequence[str], *, width: int, height: int = 24, **variables: str) -> str:
    """Run a command to its end in a terminal of that size, and return the characters that it writes there."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    with os.fdopen(follower, "w") as terminal:
        code, _, errors = prepared().ended(arguments, environment=environment_of_terminal(**variables), stdout=terminal)
        assert (code in {0, 1}, errors) == (True, "")
        read = threading.Thread(target=lambda: texts.append(_read_to_end(leader)))
        texts: list[str] = []
        read.start()
    joined(read)
    return texts[0].replace("\r\n", "\n")


def _read_to_end(leader: int) -> str:
    found = b""
    with suppress(OSError), os.fdopen(leader, "rb", buffering=0) as reader:  # the end of a terminal is an error
        while part := reader.read(1 << 16):
            found += part
    return found.decode()


def shown_lines(written: str, width: int, height: int = 200) -> list[str]:
    """Return the lines that an emulated terminal shows of what was written, without blanks at their ends."""
    screen = pyte.Screen(width, height)
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display[: screen.cursor.y]]


class LiveTerminal:
    """A terminal in which a command runs as people run it: it has the keys, the sizes and ^C of that terminal."""

    def __init__(self, leader: int, process: "subprocess.Popen[str]", size: tuple[int, int]) -> None:
        self.process = process
        self.written = ""
        self._leader = leader
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    @contextmanager
    def running(cls, arguments: Sequence[str], size: tuple[int, int], **variables: str) -> Iterator["LiveTerminal"]:
        """Run a command for as long as the block, in a terminal of so many columns and lines."""
        leader, follower = os.openpty()
        _set_size(follower, size)

        def take_terminal() -> None:
            fcntl.ioctl(follower, termios.TIOCSCTTY, 0)

        command = [sys.executable, "-m", "reconciler", *arguments]
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
        environment = environment_of_terminal(**variables)
        begin: dict[str, Any] = {"start_new_session": True, "preexec_fn": take_terminal, "cwd": ROOT}
        with running(command, env=environment, **streams, **begin) as process:
            os.close(follower)
            terminal = cls(leader, process, size)
            yield terminal
            process.kill()
            joined(terminal._reader)

    def _read(self) -> None:
        with suppress(OSError), os.fdopen(self._leader, "rb", buffering=0, closefd=False) as reader:
            while part := reader.read(1 << 16):
                with self._lock:
                    self.written += part.decode(errors="replace")
                    self._stream.feed(part)

    def lines(self) -> list[str]:
        """Return the lines that it shows now."""
        with self._lock:
            return [line.rstrip() for line in self._screen.display]

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._leader, keys.encode())

    def resize(self, size: tuple[int, int]) -> None:
        """Give it another size, as a person does who pulls at the window."""
        with self._lock:
            self._screen.resize(lines=size[1], columns=size[0])
        _set_size(self._leader, size)

    def settings(self) -> list[Any]:
        """Return the settings of the terminal, which a program may change and has to leave as they were."""
        return termios.tcgetattr(self._leader)

    def until(self, word: str) -> list[str]:
        """Wait until it shows a word, and return its lines."""
        eventually(lambda: any(word in line for line in self.lines()), f"{word!r} in {self.lines()}")
        return self.lines()

    def code(self) -> int:
        """Wait for the end of the command, and of what it wrote, and return its exit code."""
        code = self.process.wait(timeout=SECONDS)
        joined(self._reader)
        return code


def _set_size(handle: int, size: tuple[int, int]) -> None:
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
