"""The subject of a question - an object, a cluster or the fleet - and the namespace it is in."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from reconciler.console.idle_options import refuse_given_options

_NAMESPACE = "argosy.namespace"


Command = TypeVar("Command", bound=Callable[..., Any])


def with_namespace_options(whose: str) -> Callable[[Command], Command]:
    """Add ``-n`` and, for kubectl's users, ``-A``, which is what leaving ``-n`` out means."""

    def command_with_namespace_options(command: Command) -> Command:
        everywhere = click.option(
            "-A",
            "--all-namespaces",
            is_flag=True,
            expose_value=False,
            callback=_refuse_both_namespace_options,
            help="Any namespace, as without -n.",
        )
        one = click.option(
            "-n", "--namespace", default="", callback=_refuse_both_namespace_options, metavar="NAME", help=whose
        )
        return one(everywhere(command))

    return command_with_namespace_options


def _refuse_both_namespace_options(context: click.Context, option: click.Parameter, value: Any) -> Any:
    given = context.meta.setdefault(_NAMESPACE, set())
    if value:
        given.add(option.name)
    if len(given) > 1:
        raise click.UsageError("-A means every namespace and -n one: choose one", context)
    return value


def parse_subject_words(words: Sequence[str]) -> str:
    """Read the subject of a question: ``KIND/NAME``, which alone takes ``-n``, ``cluster/NAME`` or the fleet ("")."""
    from reconciler.names.kinds import parse_kind_and_name
    from reconciler.names.subjects import is_cluster_noun

    noun, name = parse_kind_and_name(words) if words else ("", "")
    if not noun or is_cluster_noun(noun):
        refuse_given_options(["namespace"], "goes with an object: KIND/NAME")
    return f"{noun}/{name}" if noun else ""
