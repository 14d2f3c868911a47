"""``argosy reconcile``: one pass - fetch, render, guard, commit, push."""

from typing import cast

import click

from reconciler.console.idle_options import is_given
from reconciler.console.log import Log
from reconciler.publish.checkpoint import read_note, standing_now
from reconciler.publish.uncommitted import warn_of_uncommitted
from reconciler.reconcile.options import ReconcileOptions
from reconciler.repository import Repository

from .options.member_options import split, with_delivery_options


def answered_quietly(log: Log, repository: Repository, options: ReconcileOptions) -> int | None:
    """Answer without a pass when nothing is new since the last one; None when there is something to do."""
    if options.rev or options.output != "text" or any(map(is_given, options.delivery)):
        return None
    note = read_note(repository)
    if note is None or standing_now(repository, note) != note.standing:
        return None
    if note.source_ref == "HEAD":
        warn_of_uncommitted(repository, log)
    for line in (*note.warnings, *note.problems):
        log.warning(line)
    click.echo(f"unchanged: {note.branch} {str(note.standing.rendered)[:12]} holds source {note.standing.source[:12]}")
    return 1 if note.problems else 0


@click.command(epilog="Safe to run twice, at once, and from cron: the branch moves by compare-and-swap.")
@click.option("--rev", default="", metavar="REV", help="Source to render  [default: the remote's branch, else HEAD]")
@click.option("--bootstrap", is_flag=True, help="Allow the first run: there is no rendered branch yet.")
@click.option("--accept-rewind", is_flag=True, help="Accept a source that does not follow the one rendered before.")
@click.option(
    "--allow-removal",
    "allowed",
    multiple=True,
    metavar="CLUSTER=COUNT",
    help="Let so many objects leave a cluster (* for each).",
)
@click.option(
    "--allow-movement",
    "allowed_moves",
    multiple=True,
    metavar="OBJECT=COUNT",
    help="Let so many replicas of a workload move (* for the fleet and each).",
)
@click.option("--dry-run", is_flag=True, help="Do everything but commit and apply.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@with_delivery_options
@click.pass_obj
def command(log: Log, /, **options: object) -> int:
    """Run one pass: fetch, render, guard, commit and push; apply to the clusters the fleet says how to reach.

    Those are the ones that clusters in argosy.yaml lists ('*': all others), the one of --in-cluster, or all with
    kubeconfigs in argosy.yaml, --kubeconfig or --kubeconfigs. Where nothing is said, no cluster is asked.

    A pass that changes nothing writes nothing. A pass that would remove too much at once, or move more replicas than
    argosy.yaml allows, commits nothing and exits with 6; a source trailer 'Argosy-Allow-Removal: <cluster|*> <count>'
    or 'Argosy-Allow-Movement: <object|*> <count>', or the option of that name, lets it go on.
    """
    from reconciler.reconcile.options import ReconcileOptions
    from reconciler.repository import open_repository

    delivery, options = split(options)
    allowed = cast("tuple[str, ...]", options.pop("allowed"))
    moves = cast("tuple[str, ...]", options.pop("allowed_moves"))
    chosen = ReconcileOptions(allowed=allowed, allowed_moves=moves, delivery=delivery, **options)  # type: ignore[arg-type]  # click checked them
    with open_repository(log.repository, progress=log.transfer) as repository:
        answered = answered_quietly(log, repository, chosen)
        if answered is not None:
            return answered
        from reconciler.reconcile.reconciling import reconcile_and_show

        return reconcile_and_show(log, repository, chosen)
