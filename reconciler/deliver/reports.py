"""The reports of an apply for people and programs: lines of what changed, a table, and the exit code."""

from collections import Counter
from collections.abc import Iterable, Iterator

from reconciler.ledger.holds import ClusterHold, release_hint
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import UNREACHABLE
from reconciler.plans.model import Action
from render.errors import ClusterError
from render.words import counted_noun, first_few

from .deviations import HANGING, cluster_deviations
from .grouped_problems import hint_lines, problem_groups
from .report_rows import ReportRows
from .results import FINALIZING, UNWRITTEN, ClusterReport

_KEPT = 3
"""The place of the first number of a row that says something is not as committed."""
_CHANGES = {
    Action.CREATED: "created",
    Action.CONFIGURED: "configured",
    Action.ADOPTED: "adopted",
    Action.DELETED: "deleted",
    Action.HANDED_OFF: "let go",
}
"""The words for what changed as wanted, in the order in which they are counted."""
_MOST_NAMED = 5
"""So many objects that changed, and clusters in which all went well, are told one by one."""


def report_lines(report: ClusterReport) -> list[str]:
    """Return a line for everything that changed, was kept or failed in a cluster, and for what stopped it."""
    name = report.cluster
    lines = []
    if report.applied is not None:
        lines = [f"{name}: {result}" for result in report.applied.results if result.action is not Action.UNCHANGED]
    elif report.plan is not None and not report.plan.refusal:
        items = [*report.plan.objects, *report.plan.deletions]
        lines = [
            f"{name}: {item.ref}: {item.action}" + (f" ({item.reason})" if item.reason else "")
            for item in items
            if item.action is not Action.UNCHANGED
        ]
    lines += [
        f"{name}: {each.ref}: {each.message} ({each.reason})" for each in cluster_deviations(report) if each.field
    ]
    if report.applied is not None and report.applied.prune_hold:
        lines.append(f"{name}: nothing is pruned: {report.applied.prune_hold}")
    if report.applied is not None and report.applied.parent_failure is not None:
        lines.append(f"{name}: {UNWRITTEN}: {report.applied.parent_failure}")
    if report.failure is not None:
        hint = f"\n  hint: {report.failure.hint}" if report.failure.hint else ""
        lines.append(f"{name}: {report.failure.kind}: {report.failure.message}{hint}")
    elif report.hold is not None:
        lines.append(f"{name} is {report.hold}\n  hint: {release_hint(report.hold, name)}")
    return lines


def change_lines(reports: Iterable[ClusterReport]) -> list[str]:
    """Return a line for each object that was written or removed as wanted; of many, one line that counts them."""
    changes = [
        (report.cluster, result)
        for report in reports
        for result in (report.applied.results if report.applied is not None else ())
        if result.action in _CHANGES and result.reason != FINALIZING
    ]
    if len(changes) <= _MOST_NAMED:
        return [f"{cluster}: {result}" for cluster, result in changes]
    counts = Counter(result.action for _, result in changes)
    clusters = counted_noun(len({cluster for cluster, _ in changes}), "cluster")
    said = ", ".join(f"{counts[action]} {word}" for action, word in _CHANGES.items() if counts[action])
    return [f"applied {len(changes)} objects to {clusters}: {said}"]


def hold_lines(reports: Iterable[ClusterReport]) -> Iterator[str]:
    """Yield a line for each hold that kept a commit from clusters that were applied to."""
    held: dict[ClusterHold, list[str]] = {}
    for report in reports:
        if report.hold is not None and report.failure is None and report.applied is not None:
            held.setdefault(report.hold, []).append(report.cluster)
    for hold, clusters in held.items():
        verb = "is" if len(clusters) == 1 else "are"
        yield f"{first_few(clusters)} {verb} {hold}\n  hint: {release_hint(hold, *clusters)}"


def report_rows(reports: Iterable[ClusterReport]) -> ReportRows:
    """Return the rows of the tables of an apply."""
    listed = tuple(reports)
    groups = problem_groups(listed)
    return ReportRows(
        clusters=tuple(_rows_of_clusters(listed)),
        problems=tuple((each.objects or "-", each.clusters, *each.first[2:5]) for each in groups),
        hints=tuple(hint_lines(groups)) if groups else (),
    )


def report_text(reports: Iterable[ClusterReport]) -> Iterator[str]:
    """Yield the tables of an apply and the hints."""
    return report_rows(reports).text()


def _rows_of_clusters(reports: Iterable[ClusterReport]) -> list[tuple[str, ...]]:
    """Return the rows of clusters, with one for all that went well where these are many."""
    rows = [(report, _numbers_of_report(report)) for report in reports]
    well = [(report, numbers) for report, numbers in rows if _is_as_committed(report, numbers)]
    if len(well) <= _MOST_NAMED:
        return [_row_of_report(report, numbers) for report, numbers in rows]
    summed = map(sum, zip(*(numbers for _, numbers in well), strict=True))
    names = first_few([report.cluster for report, _ in well])
    others = [_row_of_report(report, numbers) for report, numbers in rows if not _is_as_committed(report, numbers)]
    return [*others, (names, *map(str, summed), well[0][0].state)]


def _is_as_committed(report: ClusterReport, numbers: tuple[int, ...]) -> bool:
    """Say whether nothing in a cluster failed, is kept or is held back, and whether somebody could see how it is."""
    is_converged = report.applied is not None and report.applied.outcome is ApplyOutcome.CONVERGED
    return is_converged and not (
        report.failure or report.hold or report.ended_hold or report.unseen or any(numbers[_KEPT:])
    )


def _numbers_of_report(report: ClusterReport) -> tuple[int, ...]:
    """Return the numbers of objects in a cluster's row."""
    counts = action_counts(report)
    written = counts["created"] + counts["configured"] + counts["adopted"]
    failed = counts["failed"] + counts["conflict"] + counts["blocked"]
    hanging = sum(1 for each in cluster_deviations(report) if each.action == HANGING)
    deleted = counts["deleted"] + counts["handedOff"] - hanging
    return counts["unchanged"], written, deleted, counts["kept"] + hanging, failed


def _row_of_report(report: ClusterReport, numbers: tuple[int, ...]) -> tuple[str, ...]:
    return (report.cluster, *map(str, numbers), _state_with_hold(report))


def _state_with_hold(report: ClusterReport) -> str:
    if report.ended_hold is not None:
        return f"{report.state}, no longer held"
    return f"{report.state}, held" if report.hold is not None and report.failure is None else report.state


def action_counts(report: ClusterReport) -> Counter[str]:
    """Count a cluster's objects by their action, done or planned."""
    if report.applied is not None:
        return report.applied.actions
    if report.plan is not None:
        return Counter(str(item.action) for item in (*report.plan.objects, *report.plan.deletions))
    return Counter()


def exit_code_of_reports(reports: Iterable[ClusterReport]) -> int:
    """Return 0 when all converged, 1 when an object failed, 7 when all that could be reached converged.

    ClusterError when there was something to reach and nothing could be.
    """
    visited = tuple(reports)
    unreachable = [report for report in visited if report.failure is not None and report.failure.kind in UNREACHABLE]
    if visited and len(unreachable) == len(visited):
        raise ClusterError("no cluster could be used", hint=_hint_shared_by_failures(unreachable))
    reached = [report for report in visited if report not in unreachable]
    if any(not _is_converged(report) for report in reached):
        return 1
    return 7 if unreachable else 0


def _hint_shared_by_failures(reports: Iterable[ClusterReport]) -> str:
    """Return what to do where nothing could be reached: what helps every cluster, if one thing does."""
    hints = {report.failure.hint for report in reports if report.failure is not None}
    return hints.pop() if len(hints) == 1 and hints != {""} else "the lines above say what each answered"


def _is_converged(report: ClusterReport) -> bool:
    if report.failure is not None:
        return False
    return report.applied is None or report.applied.outcome is ApplyOutcome.CONVERGED
