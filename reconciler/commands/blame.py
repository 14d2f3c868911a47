"""``argosy blame``: the commits and rules that an object's replicas and fields come from, cluster by cluster."""

from typing import Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text


@click.command(cls=DocumentedCommand, epilog="Exit codes: 0 shown; 2 no such object; 4 Git.")
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME")
@with_namespace_options("The namespace the object is in.")
@click.option("--rev", default="", metavar="REV", help="A rendered commit to look at  [default: the newest]")
@click.option("--cluster", default="", metavar="NAME", help="Only what it has in this cluster.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show which commit each replica count and each field comes from.

    For every cluster it tells the rendered commit that gave the object its replicas there, the source commit that it
    was made from, its author, and the recorded reason. For every field it tells the newest commit that made it what it
    is, and the rule that sets it now: the template, or the last override that wrote it. A path stands for all below it
    that comes from the same commit and rule. With -v all clusters are listed.
    """
    return blame_and_show(log, **options)


def blame_and_show(log: Log, *, subject: tuple[str, ...], namespace: str, rev: str, cluster: str, output: str) -> int:
    """Print where an object's replicas and fields come from."""
    from reconciler.history.blame import blame_of_object
    from reconciler.history.subjects import ref_of_rendered_object, rendered_tip_meant
    from reconciler.history.text import blame_text
    from reconciler.outputs.blame import blame_document
    from reconciler.outputs.document import document_text
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        tip = rendered_tip_meant(repository, rev)
        ref = ref_of_rendered_object(repository, tip, subject, namespace)
        blame = blame_of_object(repository, tip, ref, log, cluster=cluster)
        if output == "json":
            print_output(document_text(blame_document(blame)), "json")
        else:
            for text in blame_text(blame, is_full=log.level >= VERBOSE):
                print_text(text, end="")
    return 0
