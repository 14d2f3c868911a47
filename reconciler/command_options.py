"""Options that several commands share, and the refusal of those that would do nothing."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
from click.core import ParameterSource

Command = TypeVar("Command", bound=Callable[..., Any])

_NAMESPACE = "argosy.namespace"


def with_namespace_options(whose: str) -> Callable[[Command], Command]:
    """Add ``-n`` and, for kubectl's users, ``-A``, which is what leaving ``-n`` out means."""

    def decorated(command: Command) -> Command:
        everywhere = click.option(
            "-A",
            "--all-namespaces",
            is_flag=True,
            expose_value=False,
            callback=_one_of_two,
            help="Any namespace, as without -n.",
        )
        one = click.option("-n", "--namespace", default="", callback=_one_of_two, metavar="NAME", help=whose)
        return one(everywhere(command))

    return decorated


def _one_of_two(context: click.Context, option: click.Parameter, value: Any) -> Any:
    seen = context.meta.setdefault(_NAMESPACE, set())
    if value:
        seen.add(option.name)
    if len(seen) > 1:
        raise click.UsageError("-A means every namespace and -n one: choose one", context)
    return value


def parsed_subject(words: Sequence[str]) -> str:
    """Read what a question is about: ``KIND/NAME``, which alone takes ``-n``, ``cluster/NAME`` or the fleet ("")."""
    from reconciler.explanation.inquiry_subjects import is_cluster_noun
    from reconciler.kind_names import parsed_words

    noun, name = parsed_words(words) if words else ("", "")
    if not noun or is_cluster_noun(noun):
        refuse_options(["namespace"], "goes with an object: KIND/NAME")
    return f"{noun}/{name}" if noun else ""


def is_given(name: str) -> bool:
    """Whether an option of the running command was given, on the command line or in the environment."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) not in {None, ParameterSource.DEFAULT}


def refuse_options(names: Iterable[str], why: str) -> None:
    """Raise a usage error for the first of these options that was given, because here it would do nothing.

    ``why`` goes on after the option, such as "goes with --commit".
    """
    context, wanted = click.get_current_context(silent=True), frozenset(names)
    for option in context.command.params if context else ():
        if option.name in wanted and is_given(str(option.name)):
            name = option.opts[-1] if isinstance(option, click.Option) else option.human_readable_name
            raise click.UsageError(f"{name} {why}", context)
