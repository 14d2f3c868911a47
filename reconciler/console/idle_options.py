"""The refusal of options that would do nothing: an ignored option leaves a person with a wrong belief."""

from collections.abc import Iterable

import click
from click.core import ParameterSource


def is_option_given(name: str) -> bool:
    """Say whether an option of the running command was given, on the command line or in the environment."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) not in {None, ParameterSource.DEFAULT}


def refuse_given_options(names: Iterable[str], why: str) -> None:
    """Raise a usage error for the first of these options that was given, because here it would do nothing.

    ``why`` goes on after the option, such as "goes with --commit".
    """
    context, wanted = click.get_current_context(silent=True), frozenset(names)
    for option in context.command.params if context else ():
        if option.name in wanted and is_option_given(str(option.name)):
            name = option.opts[-1] if isinstance(option, click.Option) else option.human_readable_name
            raise click.UsageError(f"{name} {why}", context)
