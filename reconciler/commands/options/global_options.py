"""The options every command takes, before its name or after it, as kubectl's users put them."""

import copy
from typing import Any

import click
from click.core import ParameterSource

from reconciler.console.printing import LogFormat

_GIVEN = "argosy.given"
REPOSITORY = "argosy.repository"
"""The key of the repository in ``click.Context.meta``, for completion, which runs before any command does."""

GLOBAL_HINT = "-C/--repo, -v, -q, --log-format and --no-color may stand here as well: argosy --help."


def _remember_global_option(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Remember an option, and make the log that all of them together describe; the last of two that differ counts."""
    from reconciler.console.log import Log

    given = context.meta.setdefault(_GIVEN, {"repo": ".", "verbose": 0})
    if context.get_parameter_source(str(option.name)) is not ParameterSource.DEFAULT:
        given[option.name] = given["verbose"] + value if option.name == "verbose" else value
    context.meta[REPOSITORY] = given["repo"]
    context.color = False if given.get("no_color") else None
    context.obj = Log.to_stderr(
        level=-1 if given.get("quiet") else given["verbose"],
        log_format=LogFormat(given.get("log_format", "text")),
        repository=given["repo"],
    )


def global_option_params(*, hidden: bool = False) -> list[click.Parameter]:
    """Return the options; ``hidden`` ones are left out of a command's help."""
    common: dict[str, Any] = {"expose_value": False, "callback": _remember_global_option, "hidden": hidden}
    repository_help = "Repository: a folder in it, a bare one, or a URL."
    return [
        click.Option(["-C", "--repo"], default=".", metavar="PATH|URL", help=repository_help, **common),
        click.Option(["-v", "--verbose"], count=True, help="Say more on stderr; twice for timings.", **common),
        click.Option(["-q", "--quiet"], is_flag=True, help="Say nothing on stderr but errors.", **common),
        click.Option(
            ["--log-format"],
            type=click.Choice([each.value for each in LogFormat]),
            default="text",
            help="The format of log lines on stderr.",
            **common,
        ),
        click.Option(["--no-color"], is_flag=True, help="No colours; NO_COLOR does the same.", **common),
    ]


def with_global_options(command: click.Command) -> click.Command:
    """Return a command that takes the global options too, and so do its own commands."""
    taking = copy.copy(command)
    taking.params = [*command.params, *global_option_params(hidden=True)]
    taking.epilog = "\n\n".join(filter(None, (command.epilog, GLOBAL_HINT)))
    if isinstance(taking, click.Group):
        taking.commands = {name: with_global_options(each) for name, each in taking.commands.items()}
    return taking
