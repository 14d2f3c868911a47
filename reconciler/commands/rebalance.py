"""``argosy rebalance``: workloads scheduled afresh once, as a change of the source."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from reconciler.commands.options.edit_options import print_edit_document, print_next_steps, with_outcome_options
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_text

if TYPE_CHECKING:
    from reconciler.preview.source_edits import EditOutcome
    from render.model import ObjectRef


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 done; 2 no such object; 3 refused, nothing was changed; 4 Git failed;"
    " 6 refused, for objects would end in no cluster.",
)
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME...")
@with_namespace_options("The namespace the objects are in.")
@click.option("--commit", is_flag=True, help="Commit the file that was written, and nothing else.")
@with_outcome_options
@click.pass_obj
def command(
    log: Log, /, *, subject: tuple[str, ...], namespace: str, commit: bool, output: str, is_unplaced_allowed: bool
) -> int:
    """Have workloads scheduled afresh once, wherever they are.

    A workload stays where it was placed while its clusters may keep it, so one that moved away from a full or broken
    cluster does not come back by itself. This writes rebalancers/rebalance-N.yaml, a WorkloadRebalancer that names the
    workloads, and shows what moves by it, as argosy diff does. The next pass carries it out. Where nothing moves it
    says why, and writes no file. Each rebalancer is answered once by each workload, and may be deleted then.
    """
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.edit.rebalancing import rebalancer_for_objects, refs_named_by_words
    from reconciler.preview.source_edits import outcome_of_edit, refuse_unplaced

    with opened_source(log) as source:
        refs = refs_named_by_words(source, subject, namespace)
        path, change = rebalancer_for_objects(source, refs)
        outcome = outcome_of_edit(source, change.contents, log)
        if not is_unplaced_allowed:
            refuse_unplaced(outcome, "let their policies select a cluster that takes them, or pass --allow-unplaced")
        is_idle = outcome is not None and outcome.difference.is_empty
        if is_idle:
            change = replace(change, contents={})
        commit_id = "" if is_idle else write_change(source, change, log, commit=commit)
        steps = () if is_idle else tuple(steps_to_deliver(source, change))
    if output == "json":
        print_edit_document(change, commit_id, outcome, steps)
        return 0
    _print_rescheduled_objects(log, outcome, refs)
    if is_idle:
        print_text("nothing moves, by what is recorded of the clusters, so that no rebalancer was written")
        return 0
    print_text(f"{path} {'committed' if commit else 'written'}")
    print_next_steps(steps, is_refused=bool(outcome and outcome.difference.refused))
    return 0


def _print_rescheduled_objects(log: Log, outcome: "EditOutcome | None", refs: Sequence["ObjectRef"]) -> None:
    """Print what moves, or say of each object why nothing of it does."""
    from reconciler.diff.text import difference_text
    from reconciler.explain.stays import reasons_objects_stay

    if outcome is None:
        log.warning("what this changes in clusters is not known, for nothing is committed here yet")
        return
    for text in difference_text(outcome.difference, is_full=log.level >= VERBOSE):
        print_text(text, end="")
    for reason in reasons_objects_stay(refs, outcome.comparison.head) if outcome.difference.is_empty else ():
        print_text(reason)
