"""An apply with its log: a few lines at its end, or a line for each object as it happens for programs and ``-v``.

What failed is in the table that follows; ``log_problems`` says it where no table does.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.deliver.deviations import unconfirmed_removals, unused_managers
from reconciler.deliver.grouped_problems import problem_lines
from reconciler.deliver.reports import change_lines, hold_lines, report_lines
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.holds import lines_of_ended_holds

from .apply_progress import ApplyProgress
from .applying import ApplyRun
from .record_of_pass import PassRecord


def apply_and_log(run: "ApplyRun", log: Log) -> tuple[ClusterReport, ...]:
    """Carry out a run, saying what changed; return the outcome of each member, by name."""
    is_lost = run.commits is None and run.context.status.tip() is None
    progress = ApplyProgress(log, [each.name for each in run.delivery.members], run.reach.clock)

    def tell(report: ClusterReport) -> None:
        for line in report_lines(report) if log.tells_each else ():
            log.info(line)
        if report.failure and report.failure.trace:
            log.detail(f"{report.cluster}: {report.failure.message}\n{report.failure.trace}")
        progress.add(report)

    reports = replace(run, say=log.info, on_waiting=progress.tell).reports(tell)
    log.progress("")
    log.warn_always(*lines_of_ended_holds({each.cluster: each.ended_hold for each in reports if each.ended_hold}))
    if run.delivery.writes and not log.tells_each:
        for line in (*change_lines(reports), *hold_lines(reports)):
            log.info(line)
    for line in (
        *unconfirmed_removals(run.delivery.options.confirmed, reports),
        # An agent is told once for all of its passes.
        *unused_managers(run.delivery.options.migrate_from if run.commits is None else (), reports),
        *_lines_of_unobserved(run.record, reports),
        *(_lines_of_lost_holds(run, reports) if is_lost else ()),
    ):
        log.warning(line)
    blind = run.record.observation.reasons_for_unseen_members if run.record is not None else {}
    return tuple(replace(each, unseen=blind.get(each.cluster, "")) for each in reports) if blind else reports


def log_problems(reports: Iterable[ClusterReport], log: Log) -> None:
    """Say what is not as committed after an apply, where it was not said as it happened."""
    if not log.tells_each:
        for line in problem_lines(reports):
            log.info(line)


def _lines_of_unobserved(record: PassRecord | None, reports: Iterable[ClusterReport]) -> Iterator[str]:
    """Yield a line for each member that was applied to and not observed: nobody knows how it is."""
    failures = record.observation.failures if record is not None else {}
    for report in reports:
        if report.failure is None and report.cluster in failures:
            yield f"{report.cluster} could not be observed, so that it does not count: {failures[report.cluster]}"


def _lines_of_lost_holds(run: ApplyRun, reports: Iterable[ClusterReport]) -> Iterator[str]:
    """Yield a line where members were applied to before, and the status branch that says so is gone."""
    plans = [report.plan for report in reports if report.plan is not None and report.plan.recorded.commit]
    if plans:
        branch, sets_holds = run.context.status.branch, run.wish.hold is not None and run.delivery.writes
        others = "other cluster" if sets_holds else "cluster"
        yield f"the status branch {branch!r} was lost, and with it what was held: no {others} is held any more"
