"""The option ``--at`` of commands that show a fleet as it was."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def with_at_option(command: Command) -> Command:
    """Let a command take the instant of the past that it is to tell of; "" is now."""
    return click.option(
        "--at",
        default="",
        metavar="COMMIT|TIME",
        callback=_instant_in_full,
        help="Tell of the past: of a rendered or source commit, or of a time such as 2026-11-20T08:00:00Z, '2h ago' or"
        " 21:18.",
    )(command)


def _instant_in_full(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Return what is asked for, with a time that is typed in short written out, as the page takes it."""
    if not value:
        return value
    import time

    from reconciler.overview.asked_times import time_in_full

    return time_in_full(value, time.time())
