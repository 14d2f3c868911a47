"""``argosy history``: what rendered commits changed of an object, a cluster, a policy or a namespace, and why."""

from typing import Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 something changed; 1 nothing that is here did; 2 no such name; 4 Git."
)
@click.argument("subject", nargs=-1, metavar="[KIND/NAME | cluster/NAME | policy/NAME | namespace/NAME]")
@with_namespace_options("The namespace the object or policy is in.")
@click.option("--rev", default="", metavar="REV", help="A rendered commit to go back from  [default: the newest]")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Show so many changes, the newest; 0 shows all.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show what changed, when, by whom and why.

    Each entry is a rendered commit in which the clusters, the replicas, the policy or the bytes of an object changed,
    with the source commit that it was made from. The reasons are those that passes recorded: scaled, evicted, a cluster
    left, a wave began. Where none is recorded it says so. Of a policy it tells what it claims, loses and places, and
    not the bytes; without a subject it tells of every object. With -v all fields and clusters are listed.
    """
    return history_and_show(log, **options)


def history_and_show(log: Log, *, subject: tuple[str, ...], namespace: str, rev: str, limit: int, output: str) -> int:
    """Print the history of what the words name; return 1 where nothing that is here changed."""
    from reconciler.history.subjects import history_of_subject, rendered_tip_meant, subject_of_words
    from reconciler.history.text import history_text
    from reconciler.outputs.document import document_text
    from reconciler.outputs.history import history_document
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        tip = rendered_tip_meant(repository, rev)
        history = history_of_subject(repository, tip, subject_of_words(repository, tip, subject, namespace), limit)
        if output == "json":
            print_output(document_text(history_document(history)), "json")
        else:
            for text in history_text(history, is_full=log.level >= VERBOSE):
                print_text(text, end="")
    return 0 if history.events else 1
