"""The options that accept what a source changes of settings that are in other hands."""

from collections.abc import Callable
from typing import Any

import click

from .checked_words import checked_file

_accepted_option = click.option(
    "--accepted-settings",
    default="",
    metavar="FILE",
    callback=checked_file,
    help="A file outside of the repository, with a Fleet, Sources and webhooks: what it has, too, is accepted.",
)


def with_settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--accept-settings`` and ``--accepted-settings`` to a command."""
    return with_accept_settings_option(with_accepted_settings_option(command))


def with_accept_settings_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--accept-settings`` to a command."""
    return click.option(
        "--accept-settings",
        is_flag=True,
        help="Accept changed settings that reach outside of the repository or weaken a guard.",
    )(command)


def with_accepted_settings_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--accepted-settings`` to a command."""
    return _accepted_option(command)
