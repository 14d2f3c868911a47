"""``argosy apply``: make clusters hold what a rendered commit says."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.commands.options.allowances import with_removal_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_delivery_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_output
from reconciler.guards.allowances import Allowed
from reconciler.members.options import DeliveryOptions

if TYPE_CHECKING:
    from reconciler.deliver.results import ClusterReport
    from reconciler.repository import Repository


class ApplyOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy apply``; no ``revision`` means the newest rendered commit."""

    revision: str = ""
    dry_run: str = "none"
    allowed: Allowed = field(default_factory=Allowed)
    output: str = "table"
    reason: str = ""
    until: str = ""
    delivery: DeliveryOptions = field(default_factory=DeliveryOptions)


def _refuse_filename_option(ctx: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Tell those who know kubectl apply -f where a file goes."""
    if value is not None:
        hint = "put it into the source and commit it; 'argosy diff' shows what that does"
        raise click.UsageError(f"apply reads rendered commits, and no files: {hint}", ctx)


def _end_of_hold(_ctx: click.Context, _option: click.Parameter, value: str) -> str:
    """Return the time that is meant by a time or by a duration from now, as RFC 3339 text, or that there is none."""
    from reconciler.console.clock import given_or_current_time
    from reconciler.ledger.holds import RELEASED
    from render.notations import seconds_of_duration
    from render.timing import instant_after, instant_text, parse_instant

    if value in {"", RELEASED}:
        return value
    now, seconds = given_or_current_time(), seconds_of_duration(value)
    instant = parse_instant(value) if seconds is None else instant_after(now, seconds)
    if instant is None:
        raise click.BadParameter(
            "write a time, such as 2026-03-01T14:05:00Z, a duration, such as 90m or 8h, or released"
        )
    end = instant_text(instant)
    if end <= instant_text(now):
        raise click.BadParameter(f"{end} is over, so that nothing would be held")
    return end


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 converged; 1 an object failed; 5 no cluster could be used; 6 nobody agreed that orphans go;"
    " 7 some clusters could not be reached.",
)
@click.argument("revision", default="", metavar="[REV]")
@click.option(
    "--dry-run",
    type=click.Choice(["none", "server"]),
    is_flag=False,
    flag_value="server",
    default="none",
    help="server, or nothing behind it: ask each server, and write nothing.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why clusters are held at an older commit.")
@click.option(
    "--until",
    default="",
    metavar="TIME",
    callback=_end_of_hold,
    help="Hold them so long, whatever newer sources render: for 8h, until a time (RFC 3339), or until they are"
    " released  [default: until a newer source renders anything]",
)
@with_removal_option
@click.option(
    "-f",
    "-k",
    "file",
    hidden=True,
    help="A file, which apply does not read.",
    expose_value=False,
    callback=_refuse_filename_option,
)
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", help="Output format.")
@with_delivery_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Make clusters hold what a rendered commit says  [default: the newest].

    Objects are sent by server-side apply, under the fleet's own field manager. An object that is not ours is left alone
    unless its policy's conflictResolution is Overwrite, and in any case if it is another fleet's; an equal one is
    adopted. Only what earlier commits put there is ever deleted. What was done is recorded on the status branch. If
    argosy.yaml lists clusters, the command is for those and for the ones that --cluster names; otherwise every cluster
    is reached by the context named like it.

    What many objects have in common is said once; -v has a line for each.

    With --allow-older the clusters go back to an older commit and are held there: passes give them nothing newer.
    Without --until, the first commit rendered from a newer source ends that, whatever that changes. With --until TIME
    newer sources do not end it, and with --until released nothing does but a person: 'argosy cluster release', or
    another commit applied with --allow-older. With --until the newest commit can be held as well, which freezes
    clusters.
    """
    chosen = ApplyOptions(**options)
    if chosen.dry_run == "server":
        refuse_given_options(["rehearse"], "goes without --dry-run server, which is all it does")
    if not chosen.delivery.allow_older:
        refuse_given_options(["reason", "until"], "goes with --allow-older, which holds clusters at a commit")
    return apply_and_show(log, chosen)


def apply_and_show(log: Log, options: ApplyOptions) -> int:
    """Apply a rendered commit to the members and print the reports; return the exit code."""
    from reconciler.branches.publication import maintain_repository
    from reconciler.deliver.reports import exit_code_of_reports
    from reconciler.passes.logged_apply import log_problems
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        commit, reports = _applied_reports(repository, log, options)
        maintain_repository(repository, log)
    if options.output == "json":
        log_problems(reports, log)
    is_rehearsal = options.dry_run == "server"
    text = _dry_run_text(commit, reports, options) if is_rehearsal else _apply_summary(commit, reports, options)
    print_output(text, options.output)
    return exit_code_of_reports(reports)


def _applied_reports(
    repository: "Repository", log: Log, options: ApplyOptions
) -> "tuple[str, tuple[ClusterReport, ...]]":
    """Apply a rendered commit, and return it with the reports of members."""
    from reconciler.branches.fleet_context import context_and_source_of_commit
    from reconciler.deliver.orphans import orphan_agreement_on_terminal
    from reconciler.guards.limits import check_allowed_subjects
    from reconciler.members.choice import members_for_command
    from reconciler.members.ways import member_reach
    from reconciler.passes.applying import ApplyRun, Delivery
    from reconciler.passes.going_back import check_last_copies_of_pulling_members, hold_wish, update_held_mirrors
    from reconciler.passes.logged_apply import apply_and_log
    from reconciler.passes.observation import observe_and_warn
    from reconciler.passes.record_of_pass import PassRecord

    chosen, removals = options.delivery, options.allowed.removals_by_cluster
    context, desired, commit = context_and_source_of_commit(repository, options.revision)
    context.warn_of_waiting(log)
    check_allowed_subjects(options.allowed, desired, None)
    wish = hold_wish(context, commit, chosen, reason=" ".join(options.reason.split()), until=options.until)
    members = members_for_command(context.fleet, context.members, chosen, log)
    delivery = Delivery(members=members, options=chosen, allowed=removals, dry_run=options.dry_run == "server")
    reach = member_reach(context.fleet, chosen, repository.folder)
    run = ApplyRun(context=context, commit=commit, delivery=delivery, reach=reach, wish=wish)
    if wish.pulling and wish.hold is not None:
        check_last_copies_of_pulling_members(run.held_members(), wish.pulling, removals)
    if not delivery.writes:
        return commit, apply_and_log(run, log)
    observation = observe_and_warn(context, members, reach, log)
    record = PassRecord(observation=observation, desired=desired)
    reports = apply_and_log(replace(run, record=record, agree=orphan_agreement_on_terminal(chosen, log)), log)
    if wish.pulling:
        update_held_mirrors(context, wish, log)
    return commit, reports


def _apply_summary(commit: str, reports: "tuple[ClusterReport, ...]", options: ApplyOptions) -> Iterable[str]:
    """Return a line per cluster, or everything as JSON."""
    from reconciler.deliver.reports import report_text
    from reconciler.outputs.application import application_document
    from reconciler.outputs.document import document_text

    if options.output == "json":
        return (document_text(application_document(commit, reports)),)
    return report_text(reports)


def _dry_run_text(commit: str, reports: "tuple[ClusterReport, ...]", options: ApplyOptions) -> Iterable[str]:
    """Return what the servers would make of every object, field by field."""
    from reconciler.deliver.grouped_problems import hint_lines, problem_groups
    from reconciler.diff.live import live_text
    from reconciler.outputs.document import document_text
    from reconciler.outputs.live_difference import live_difference_document

    if options.output == "json":
        return (document_text(live_difference_document(commit, reports)),)
    hints = (f"{line}\n" for line in hint_lines(problem_groups(reports), is_of_objects=True))
    return (*live_text(reports), *hints)
