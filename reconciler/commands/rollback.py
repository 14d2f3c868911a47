"""``argosy rollback``: the former source and the former split of replicas, as one change of the source."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.edit_options import print_next_steps, print_outcome_of_edit, with_outcome_options
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text
from render.expressions import lazy_expression

if TYPE_CHECKING:
    from datetime import datetime

    from reconciler.branches.rendered_history import RenderedSource
    from reconciler.edit.cluster_files import MemberSource
    from reconciler.edit.rollback import RollbackPlan, RollbackSubject
    from reconciler.preview.rollback_targets import CommitOfTime
    from reconciler.preview.rollbacks import RollbackOutcome, WrittenRollback

_LIKE_A_TIME = lazy_expression(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T")
"""A tag may be called like a day, and hardly like a time of day."""
_SHORTEST_ID = 4
"""The fewest digits by which git finds a commit; ``1234d`` may be the beginning of one."""
_HINT = "let their policies select a cluster that takes them, or pass --allow-unplaced"


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 done, or shown; 2 no such object or commit; 3 refused, nothing was changed; 4 Git failed;"
    " 6 refused, for objects would end in no cluster.",
)
@click.argument("subject", nargs=-1, metavar="[KIND/NAME...]")
@with_namespace_options("The namespace of the objects; without objects, everything in it.")
@click.option("--cluster", default="", metavar="NAME", help="What one cluster had: its Cluster, and its shares.")
@click.option(
    "--to",
    "revision",
    default="",
    metavar="COMMIT|TIME",
    help="A rendered or a source commit, or what stood at a time, such as '2h ago' or 2026-03-01T14:05:00Z"
    "  [default: before the newest change of the source that is about it]",
)
@click.option("--write", is_flag=True, help="Write the files; without it they are only shown.")
@click.option("--commit", is_flag=True, help="Write and commit the files, and nothing else.")
@click.option("--branch", default="", metavar="NAME", help="Commit on a new branch instead, for a pull request.")
@with_outcome_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Put the source and the split of replicas back as they were.

    A revert restores files alone: what is divided by free room is divided anew. This restores the documents, and adds a
    RollbackRequest by which the next pass restores the split, of everything or of what is named. It shows what changes
    and changes nothing itself, until --write, --commit or --branch. What does not come back is named: shares of
    clusters that left, policies that others share, what a server lets nobody undo. Clusters, requests and controls stay
    as they are.
    """
    return show_and_roll_back(log, _RollbackOptions(**options))


class _RollbackOptions(Struct, frozen=True, kw_only=True):
    """The options of a rollback."""

    subject: tuple[str, ...]
    namespace: str
    cluster: str
    revision: str
    write: bool
    commit: bool
    branch: str
    output: str
    is_unplaced_allowed: bool


def show_and_roll_back(log: Log, chosen: _RollbackOptions) -> int:
    """Show what a rollback does, write it where that is asked for, and name the commands to run next."""
    from reconciler.edit.cluster_files import opened_source
    from reconciler.outputs.document import document_text
    from reconciler.outputs.rollback import rollback_document

    _refuse_options_that_contradict(chosen)
    with opened_source(log) as source:
        plan, of_time = _plan_meant(source, chosen)
        outcome, written = _write_rollback(log, source, plan, chosen)
        subject = source.repository.commit_info(plan.target.source).subject
    if chosen.output == "json":
        print_output(document_text(rollback_document(plan, outcome, written, of_time)), "json")
        return 0
    if of_time is not None:
        print_text(of_time.words)
    _print_rollback(log, plan, outcome, subject)
    if written is not None:
        print_next_steps(written.steps, is_refused=bool(outcome and outcome.edit.difference.refused))
    elif outcome is not None and outcome.is_idle:
        print_text("nothing changes by it, so that nothing is written")
    else:
        print_text(
            "nothing is written yet: --commit commits it, --branch on a new branch, --write only writes the files"
        )
    return 0


def _refuse_options_that_contradict(chosen: _RollbackOptions) -> None:
    if chosen.cluster and (chosen.subject or chosen.namespace):
        raise click.UsageError("--cluster is about all that one cluster had: leave objects and -n out")
    if chosen.branch and (chosen.write or chosen.commit):
        raise click.UsageError(
            "--branch commits, and leaves the files here as they are: leave --write and --commit out"
        )


def _write_rollback(
    log: Log, source: "MemberSource", plan: "RollbackPlan", chosen: _RollbackOptions
) -> "tuple[RollbackOutcome | None, WrittenRollback | None]":
    """Return what comes of a rollback, and what was written of it; None where nothing was."""
    from reconciler.edit.cluster_files import write_change
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.preview.rollbacks import (
        WrittenRollback,
        outcome_of_rollback,
        refuse_uncommitted_files,
        rollback_on_new_branch,
    )
    from reconciler.preview.source_edits import refuse_unplaced

    outcome = outcome_of_rollback(source, plan, log)
    if not chosen.is_unplaced_allowed:
        refuse_unplaced(outcome.edit if outcome else None, _HINT)
    if not (chosen.write or chosen.commit or chosen.branch) or (outcome is not None and outcome.is_idle):
        return outcome, None
    if chosen.branch:
        return outcome, rollback_on_new_branch(source, plan, chosen.branch, log)
    refuse_uncommitted_files(source, plan)
    commit = write_change(source, plan.change, log, commit=chosen.commit)
    return outcome, WrittenRollback(commit=commit, steps=tuple(steps_to_deliver(source, plan.change)))


def _print_rollback(log: Log, plan: "RollbackPlan", outcome: "RollbackOutcome | None", subject: str) -> None:
    from reconciler.preview.rollback_text import lines_on_plan, sections_on_rollback, verdict_on_rollback

    for line in lines_on_plan(plan, subject):
        print_text(line)
    print_outcome_of_edit(log, outcome.edit if outcome else None)
    for line in sections_on_rollback(plan, outcome, is_full=log.level >= VERBOSE):
        print_text(line)
    if outcome is not None:
        print_text(f"\n{verdict_on_rollback(plan, outcome)}")


def _plan_meant(source: "MemberSource", chosen: _RollbackOptions) -> "tuple[RollbackPlan, CommitOfTime | None]":
    """Return the plan of the rollback that options ask for, and what stood at the time that they name."""
    from reconciler.branches.rendered_history import rendered_commit_meant
    from reconciler.edit.rollback import plan_of_rollback
    from reconciler.preview.rollback_targets import (
        commit_of_time,
        newest_rendered_commit,
        plan_without_commit,
        refuse_branch,
        subject_meant,
    )

    if chosen.branch:
        refuse_branch(source, chosen.branch)
    tip = newest_rendered_commit(source)
    subject: RollbackSubject = subject_meant(source, tip, chosen.subject, chosen.namespace, chosen.cluster)
    if not chosen.revision:
        return plan_without_commit(source, tip, subject), None
    instant = _instant_of_revision(chosen.revision)
    if instant is None:
        target: RenderedSource = rendered_commit_meant(source.repository, tip, chosen.revision)
        return plan_of_rollback(source, target, subject), None
    of_time = commit_of_time(source, tip, instant)
    return plan_of_rollback(source, of_time.target, subject), of_time


def _instant_of_revision(revision: str) -> "datetime | None":
    """Return the time that ``--to`` names; None where it names a commit."""
    from reconciler.console.clock import given_or_current_time
    from reconciler.console.instants import instant_of_text
    from render.timing import parse_duration

    now = given_or_current_time()
    found = instant_of_text(revision, now)
    if found is not None and found > now:
        raise click.BadParameter(f"{revision!r} is still to come", param_hint="--to")
    if found is None and _LIKE_A_TIME.match(revision):
        raise click.BadParameter(f"{revision!r} is no time; write it as 2026-03-01T14:05:00Z", param_hint="--to")
    if found is None and revision.endswith(" ago"):
        raise click.BadParameter(f"{revision!r} is no time; write it as '30m ago' or '2d ago'", param_hint="--to")
    if found is None and parse_duration(revision) and (len(revision) < _SHORTEST_ID or not revision.endswith("d")):
        raise click.BadParameter(f"{revision!r} is no commit; as a time it is '{revision} ago'", param_hint="--to")
    return found
