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
        help="Tell of the past: of a rendered or source commit, or of a time such as 2026-11-20T08:00:00Z.",
    )(command)
