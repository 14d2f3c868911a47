"""The place that output goes to: how wide it is, and whether it has colours and marks.

Output in a pipe is plain, whatever the environment says of terminals, so that a program reads the same everywhere;
``CLICOLOR_FORCE`` alone asks for colours there. On a terminal, ``NO_COLOR``, ``--no-color``, ``CLICOLOR=0`` and a
terminal without abilities (``TERM=dumb``) take the colours away. The marks stay without colours, because they differ
by their shapes; a terminal without abilities has none, and one without Unicode has ASCII marks.
"""

import os
import sys
from collections.abc import Mapping
from typing import TextIO

import click
from msgspec import Struct

_WITHOUT_ABILITIES = frozenset({"dumb", "unknown"})
_OFF = frozenset({"", "0"})


class Screen(Struct, frozen=True, kw_only=True):
    """The abilities of the place that output goes to; a width or height of 0 is none, so that nothing has to fit.

    ``can_redraw``: a line can be written over.
    """

    width: int = 0
    height: int = 0
    is_terminal: bool = False
    can_redraw: bool = False
    is_colored: bool = False
    has_marks: bool = False
    has_unicode: bool = True


def screen_of(stream: TextIO, *, environment: Mapping[str, str] | None = None) -> Screen:
    """Return what a stream has, by its terminal and the environment."""
    given = os.environ if environment is None else environment
    is_able = stream.isatty() and given.get("TERM") not in _WITHOUT_ABILITIES
    is_forced = given.get("CLICOLOR_FORCE", "") not in _OFF
    is_refused = bool(given.get("NO_COLOR")) or _is_color_switched_off()
    is_colored = not is_refused and (is_forced or (is_able and given.get("CLICOLOR") != "0"))
    width, height = _size_of_terminal(stream, given) if stream.isatty() else (0, 0)
    return Screen(
        width=width or (_number(given.get("COLUMNS", "")) if is_forced and not stream.isatty() else 0),
        height=height,
        is_terminal=stream.isatty(),
        can_redraw=is_able,
        is_colored=is_colored,
        has_marks=is_able or (is_forced and not is_refused),
        has_unicode=(getattr(stream, "encoding", "") or "").lower().replace("-", "") == "utf8",
    )


def output_screen() -> Screen:
    """Return what the output of this command has."""
    return screen_of(sys.stdout)


def screen_width() -> int:
    """Return the columns of the terminal that output goes to; 0 where it goes elsewhere, and nothing has to fit."""
    return output_screen().width


def is_terminal() -> bool:
    """Say whether output goes to a terminal, where a person reads it."""
    return sys.stdout.isatty()


def _is_color_switched_off() -> bool:
    """Say whether the running command was given ``--no-color``."""
    context = click.get_current_context(silent=True)
    return context is not None and context.color is False


def _size_of_terminal(stream: TextIO, environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the columns and lines of a terminal; of one that does not tell, what the environment says."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 0, 0
    return size.columns or _number(environment.get("COLUMNS", "")), size.lines or _number(environment.get("LINES", ""))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
