"""``argosy bisect``: the rendered commit since which something is so of an object."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text

if TYPE_CHECKING:
    from reconciler.history.bisecting import Condition

_CONDITIONS = ("unplaced", "on_cluster", "replicas", "value")


class BisectOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy bisect``; one of the conditions is given."""

    subject: tuple[str, ...]
    namespace: str = ""
    rev: str = ""
    unplaced: bool = False
    on_cluster: str = ""
    replicas: str = ""
    value: str = ""
    cluster: str = ""
    output: str = "text"


@click.command(cls=DocumentedCommand, epilog="Exit codes: 0 it is so; 1 it is not so now; 2 no such object; 4 Git.")
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME")
@with_namespace_options("The namespace the object is in.")
@click.option("--unplaced", is_flag=True, help="Since when it is in no cluster.")
@click.option("--on", "on_cluster", default="", metavar="CLUSTER", help="Since when it is in this cluster.")
@click.option("--replicas", default="", metavar="CLUSTER=N", help="Since when it has so many replicas there.")
@click.option("--value", default="", metavar="PATH=VALUE", help="Since when a field has a value, in --cluster.")
@click.option("--cluster", default="", metavar="NAME", help="The cluster in which --value is looked at.")
@click.option("--rev", default="", metavar="REV", help="A rendered commit to go back from  [default: the newest]")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Find the rendered commit since which something is so of an object.

    The condition is one of --unplaced, --on, --replicas and --value. If it is not so now, the answer is the commit that
    ended it. Only commits that changed the object are looked at, so that nothing has to be tried in between. VALUE is
    read as YAML: 3 is a number, true a truth value.
    """
    chosen = BisectOptions(**options)
    condition, words = _condition_of_options(chosen)
    return bisect_and_show(log, chosen, condition, words)


def _condition_of_options(options: BisectOptions) -> "tuple[Condition, str]":
    """Return the condition that is asked for, and its words; a usage error unless it is exactly one."""
    given = [name for name in _CONDITIONS if getattr(options, name)]
    if len(given) != 1:
        raise click.UsageError("name one condition: --unplaced, --on, --replicas or --value")
    if bool(options.cluster) != bool(options.value):
        raise click.UsageError("--value PATH=VALUE and --cluster NAME go together")
    if options.unplaced:
        return lambda state: state.is_unplaced, "it is in no cluster"
    if options.on_cluster:
        name = options.on_cluster
        return lambda state: name in state.files and name in state.members, f"it is in {name}"
    return _condition_on_replicas(options.replicas) if options.replicas else _condition_on_value(options)


def _condition_on_replicas(text: str) -> "tuple[Condition, str]":
    cluster, equals, number = text.partition("=")
    if not equals or not cluster or not (number.isascii() and number.isdigit() and len(number) < 10):
        raise click.BadParameter("is no CLUSTER=N", param_hint="--replicas")
    wanted = int(number)
    return (
        lambda state: (state.binding.placed_replicas.get(cluster, 0) if state.binding else 0) == wanted,
        f"it has {wanted} replicas in {cluster}",
    )


def _condition_on_value(options: BisectOptions) -> "tuple[Condition, str]":
    from render.documents import DocumentErrors, parse_documents

    path, equals, text = options.value.partition("=")
    if not equals or not path:
        raise click.BadParameter("is no PATH=VALUE", param_hint="--value")
    try:
        (document,) = parse_documents(f"value: {text}\n".encode())
    except (DocumentErrors, ValueError) as error:
        raise click.BadParameter("its VALUE cannot be read as YAML", param_hint="--value") from error
    wanted = document.value["value"]
    return lambda state: state.value(path, options.cluster) == wanted, f"{path} is {text} in {options.cluster}"


def bisect_and_show(log: Log, options: BisectOptions, condition: "Condition", words: str) -> int:
    """Print since when a condition is so; return 1 where it is not so."""
    from reconciler.history.bisecting import last_turn_of_condition
    from reconciler.history.subjects import (
        ref_of_rendered_object,
        refuse_unknown_cluster_of_history,
        rendered_tip_meant,
    )
    from reconciler.history.text import turn_text
    from reconciler.outputs.bisection import bisection_document
    from reconciler.outputs.document import document_text
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        tip = rendered_tip_meant(repository, options.rev)
        ref = ref_of_rendered_object(repository, tip, options.subject, options.namespace)
        for name in filter(None, (options.on_cluster, options.replicas.partition("=")[0], options.cluster)):
            refuse_unknown_cluster_of_history(repository, tip, name)
        turn = last_turn_of_condition(repository, tip, ref, condition)
    if options.output == "json":
        print_output(document_text(bisection_document(turn)), "json")
    else:
        for text in turn_text(turn, words, is_full=log.level >= VERBOSE):
            print_text(text, end="")
    return 0 if turn.holds else 1
