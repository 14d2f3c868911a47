"""Callbacks of options whose words can be judged by themselves, before anything else is done."""

from pathlib import Path

import click

from render.expressions import lazy_expression

_OBJECT_NAME = lazy_expression(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_GO_DURATION = lazy_expression(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")


def checked_object_name(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a name that an object of Kubernetes can have: nothing is ever found by another one."""
    if value and not _OBJECT_NAME.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no name: write lower case letters, digits, - and .")
    return value


def checked_file(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take the path of a file that is there."""
    if value and not Path(value).is_file():
        raise click.BadParameter(f"there is no file {value!r}")
    return value


def checked_duration_of_flux(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a duration as Flux reads it."""
    if not _GO_DURATION.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no duration: write one such as 30s, 5m or 1h30m")
    return value


def checked_schedule(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a schedule of cron, as a CronJob has it."""
    if value:
        from render.cron.schedules import parse_schedule

        try:
            parse_schedule(value)
        except ValueError as error:
            raise click.BadParameter(f"{value!r} is no schedule: {error}") from error
    return value
