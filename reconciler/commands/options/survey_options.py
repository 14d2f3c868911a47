"""The options that lists, the matrix and the search have in common: which state, which part."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

STATES = ("Unwell", "Unknown", "Waiting", "Progressing", "Well")
"""The states that objects and clusters are in."""

Command = TypeVar("Command", bound=Callable[..., Any])


def with_page_options(limit: int) -> Callable[[Command], Command]:
    """Add ``--limit`` and ``--offset``; ``limit`` is how many are shown without it (0: all)."""

    def command_with_page_options(command: Command) -> Command:
        offset = click.option(
            "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out so many, the first."
        )
        most = click.option(
            "--limit",
            type=click.IntRange(min=0),
            default=limit,
            show_default=True,
            metavar="N",
            help="Show so many at most; 0 shows all.",
        )
        return most(offset(command))

    return command_with_page_options
