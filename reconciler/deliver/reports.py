"""The reports of an apply for people and programs: lines of what changed, a table, and the exit code."""

from collections import Counter
from collections.abc import Iterable, Iterator

from reconciler.console.text import text_table
from reconciler.ledger.holds import release_hint
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import UNREACHABLE
from reconciler.plans.model import Action
from render.errors import ClusterError
from render.words import first_few

from .deviations import HANGING, cluster_deviations
from .results import UNWRITTEN, ClusterReport

_HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "KEPT", "FAILED", "STATE")
_BY_IMPORTANCE = ("failed", "conflict", "blocked", "kept", HANGING)
_MOST_APART = 2
"""So many objects that have a reason in common have a row each."""
_DEVIATIONS = ("OBJECT", "CLUSTER", "ACTION", "REASON", "MESSAGE")


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
        lines.append(f"{name} is {report.hold}\n  hint: {release_hint(name)}")
    return lines


def report_table(reports: Iterable[ClusterReport]) -> str:
    """Return a line for each cluster: how many objects were written, deleted, kept or failed, and how it ended.

    A second table has what is not as the commit says, with the reason, what failed first: for three objects or more
    that have it in common, one line that counts them.
    """
    listed = tuple(reports)
    rows = list(_rows_of_deviations(listed))
    counts = text_table(_HEADER, [_row_of_report(report) for report in listed])
    return f"{counts}\n{text_table(_DEVIATIONS, rows)}" if rows else counts


def _rows_of_deviations(reports: Iterable[ClusterReport]) -> Iterator[tuple[str, ...]]:
    """Yield rows by importance; what fails for one reason in many objects or clusters is one row."""
    groups: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for report in reports:
        for each in cluster_deviations(report):
            said = (str(each.action), each.reason, each.message)
            groups.setdefault(said, []).append((str(each.ref), report.cluster))
    for said, places in sorted(groups.items(), key=lambda group: _place_by_importance(group[0][0], len(group[1]))):
        if len(places) <= _MOST_APART:
            yield from ((ref, cluster, *said) for ref, cluster in places)
            continue
        refs, clusters = (list(dict.fromkeys(names)) for names in zip(*places, strict=True))
        yield first_few(refs, 1), first_few(clusters), *said


def _place_by_importance(action: str, count: int) -> tuple[int, int]:
    """Return the place of a group among others: what failed stands before what is kept, and many before few."""
    return _BY_IMPORTANCE.index(action) if action in _BY_IMPORTANCE else len(_BY_IMPORTANCE), -count


def _row_of_report(report: ClusterReport) -> tuple[str, ...]:
    counts = action_counts(report)
    written = counts["created"] + counts["configured"] + counts["adopted"]
    failed = counts["failed"] + counts["conflict"] + counts["blocked"]
    hanging = sum(1 for each in cluster_deviations(report) if each.action == HANGING)
    deleted = counts["deleted"] + counts["handedOff"] - hanging
    numbers = (counts["unchanged"], written, deleted, counts["kept"] + hanging, failed)
    is_held = report.hold is not None and report.failure is None
    return (report.cluster, *map(str, numbers), f"{report.state}, held" if is_held else report.state)


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
