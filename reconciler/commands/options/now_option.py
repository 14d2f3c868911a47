"""``--now``: the time that rules of time are asked for, instead of the time of day."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def with_now_option(command: Command) -> Command:
    """Add ``--now``."""
    option = click.option(
        "--now",
        metavar="TIME",
        callback=instant_of_option,
        help="The time to answer for, as 2026-03-01T14:05:00Z  [default: the time of day]",
    )
    return option(command)


def instant_of_option(_context: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    """Return the time that an option names; a usage error where it is none."""
    from render.timing import parse_instant

    if value is None:
        return None
    found = parse_instant(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no time; write it as 2026-03-01T14:05:00Z")
    return found
