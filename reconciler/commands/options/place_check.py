"""The look at the place that a command is run in, before it does anything: one for all commands."""

import copy
from collections.abc import Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from render.errors import ConfigError, GitError

if TYPE_CHECKING:  # a list of commands is shown without it
    from reconciler.console.log import Log

_REVISIONS = ("rev", "revision")
"""The options and arguments that name the commit to look at."""

WITHOUT_SOURCE: Mapping[str, str] = {
    "help": "It reads no repository.",
    "completion": "It reads no repository.",
    "schema": "It reads no repository.",
    "run": "It is for several repositories, each of which its passes look at.",
    "agent": "It has a repository of its own, with the branches of one cluster alone.",
}
"""The commands that are for no source of one repository, and why."""

BEGINNING: Mapping[str, str] = {
    "init": "It writes the first files of a fleet.",
    "cluster join": "It may write the first file of a fleet.",
    "import": "It may write the first files of a fleet.",
    "interpret": "It tries files that are named, for which no fleet has to be there.",
}
"""The commands that need no fleet yet, and why."""


def with_place_check(command: click.Command, name: str) -> click.Command:
    """Return a command that looks first whether there is a fleet, and whether a source is checked out.

    In a group, each of its commands does. An address is no place where anything is checked out.
    """
    if name in WITHOUT_SOURCE:
        return command
    checking = copy.copy(command)
    if isinstance(checking, click.Group):
        checking.commands = {each: with_place_check(one, f"{name} {each}") for each, one in checking.commands.items()}
        return checking
    callback = command.callback
    assert callback is not None

    @wraps(callback)
    def checked_callback(*arguments: Any, **options: Any) -> Any:
        log: Log = click.get_current_context().obj
        _check_place(log, name, is_source_named=any(options.get(each) for each in _REVISIONS))
        return callback(*arguments, **options)

    checking.callback = checked_callback
    return checking


def _check_place(log: "Log", name: str, *, is_source_named: bool) -> None:
    """Raise the error of a place that a command cannot be run in; whoever opens the repository says if it is none.

    A command that is told which revision to look at needs no other source; it is only told where it stands.
    """
    from reconciler.branches.place import check_fleet_is_there, check_source_is_checked_out
    from reconciler.repository import is_address, open_repository

    if is_address(log.repository):
        return
    try:
        opened = open_repository(log.repository)
    except GitError:
        return
    with opened as repository:
        try:
            check_source_is_checked_out(repository)
        except ConfigError as error:
            if not is_source_named:
                raise
            log.warning(str(error))
        if name not in BEGINNING and not is_source_named:
            check_fleet_is_there(repository)
