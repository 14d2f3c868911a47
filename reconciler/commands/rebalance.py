"""``argosy rebalance``: workloads scheduled afresh once, as a change of the source."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import Log
from reconciler.console.printing import print_text

if TYPE_CHECKING:
    from reconciler.repository import Repository
    from render.model import ObjectRef


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 done; 2 no such object; 3 refused, nothing was changed; 4 Git failed.",
)
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME...")
@with_namespace_options("The namespace the objects are in.")
@click.option("--commit", is_flag=True, help="Commit the file that was written, and nothing else.")
@click.pass_obj
def command(log: Log, /, *, subject: tuple[str, ...], namespace: str, commit: bool) -> int:
    """Have workloads scheduled afresh once, wherever they are.

    A workload stays where it was placed while its clusters may keep it, so one that moved away from a full or broken
    cluster does not come back by itself. This writes rebalancers/rebalance-N.yaml, a WorkloadRebalancer that names the
    workloads, and shows what moves by it, as argosy diff does, or why nothing does. The next pass carries it out. Each
    rebalancer is answered once by each workload, and may be deleted then.
    """
    from reconciler.edit.cluster_files import opened_source
    from reconciler.edit.rebalancing import refs_named_by_words, write_rebalancer

    with opened_source(log) as source:
        refs = refs_named_by_words(source, subject, namespace)
        show_moves = partial(_show_rescheduled_objects, log, source.repository, refs)
        path = write_rebalancer(source, refs, log, commit=commit, show_moves=show_moves)
    print_text(f"{path} {'committed' if commit else 'written'}")
    return 0


def _show_rescheduled_objects(log: Log, repository: "Repository", refs: Sequence["ObjectRef"]) -> None:
    """Show what moves, or say of each object why nothing of it does."""
    from reconciler.explain.replay import replay_of_revision
    from reconciler.explain.stays import reasons_objects_stay

    from .diff import DiffOptions, diff_and_show

    if diff_and_show(log, DiffOptions()):
        return
    for reason in reasons_objects_stay(refs, replay_of_revision(repository, log, revision="", worktree=True).outcome):
        print_text(reason)
