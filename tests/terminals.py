"""A real pseudo-terminal and what it shows: a command runs in it, and an emulator keeps its screen."""

import fcntl
import os
import struct
import termios
import threading
from collections.abc import Sequence
from contextlib import suppress

import pyte

from tests.prepared import prepared
from tests.waiting import joined

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
