"""``--jobs``: the processes that share the work of a pass that makes much."""

from collections.abc import Callable
from typing import Any

import click

MOST_JOBS = 64


def with_jobs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--jobs``."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, MOST_JOBS),
        callback=_given_number,
        metavar="NUMBER",
        help="Let so many processes parse files and store objects, where more than 1 MiB and 16 MiB are new; the commit"
        " is the same  [default: one a processor, at most 8]",
    )(command)


def _given_number(_context: click.Context, _option: click.Parameter, value: int | None) -> int:
    return value or 0
