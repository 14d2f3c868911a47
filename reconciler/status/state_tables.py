"""Tables of what is not as it should be: for three objects or more that have a reason in common, one row that counts.

What is not applied stands before what is unhealthy, and what failed before what is kept. ``-v`` has a row for each.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from operator import attrgetter

from reconciler.console.tables import text_table
from reconciler.deliver.deviations import deviations_of_fields_joined, hint_about_foreign_fields
from reconciler.deliver.grouped_problems import (
    UNHEALTHY,
    MemberProblem,
    MemberProblemGroup,
    groups_of_problems,
    hint_lines,
)
from reconciler.ledger.cluster import Deviation
from reconciler.record.cluster_files import ObjectReason
from reconciler.record.recorded_status import RecordedStatus

NAMES_EACH = "argosy status -v names each\n"


def table_of_unwell_objects(unwell: Iterable[ObjectReason], *, tells_each: bool) -> Iterator[str]:
    """Yield the table of objects that are not well; nothing where there are none."""
    problems = [
        MemberProblem(
            cluster=each.cluster,
            ref=each.object,
            action=UNHEALTHY if each.is_applied else "failed",
            reason=each.reason,
            message=each.message,
            since=each.since,
        )
        for each in unwell
    ]
    groups = _groups_or_each(problems, "message_without_numbers", tells_each=tells_each)
    rows = [(each.objects, each.clusters, each.first.reason, each.since, each.message) for each in groups]
    yield from _table_with_note(("NOT WELL", "CLUSTER", "REASON", "SINCE", "MESSAGE"), rows, groups)


def table_of_deviations(deviations: Iterable[tuple[str, Deviation]], *, tells_each: bool) -> Iterator[str]:
    """Yield the table of what passes kept, left hanging or yielded; the cluster is left out where it is one ("")."""
    by_cluster: dict[str, list[Deviation]] = {}
    for name, each in deviations:
        by_cluster.setdefault(name, []).append(each)
    problems = [
        MemberProblem(name, str(each.ref), each.action, each.reason, each.message, hint_about_foreign_fields(each))
        for name, found in by_cluster.items()
        for each in (found if tells_each else deviations_of_fields_joined(found))
    ]
    groups = _groups_or_each(problems, "message_without_names", tells_each=tells_each)
    has_clusters = any(each.cluster for each in problems)
    rows = [(each.objects, *([each.clusters] if has_clusters else []), *each.first[2:5]) for each in groups]
    header = ("NOT AS COMMITTED", *(["CLUSTER"] if has_clusters else []), "ACTION", "REASON", "MESSAGE")
    yield from _table_with_note(header, rows, groups)
    yield from (f"{line}\n" for line in hint_lines(groups))


def table_of_bindings(rows: Iterable[tuple[str, str, str]], *, tells_each: bool) -> Iterator[str]:
    """Yield the table of bindings with their states and messages; nothing where there are none."""
    problems = [MemberProblem("", ref, "", state, message) for ref, state, message in rows]
    groups = _groups_or_each(problems, "message_without_names", tells_each=tells_each)
    lines = [(each.objects, each.first.reason, each.message) for each in groups]
    yield from _table_with_note(("BINDING", "REASON", "MESSAGE"), lines, groups)


def deviations_of_members(recorded: RecordedStatus, members: Container[str]) -> list[tuple[str, Deviation]]:
    """Return everything that the last pass over a member kept, left hanging or yielded, with the member's name."""
    return [
        (name, each)
        for name, record in sorted(recorded.clusters().items())
        if name in members
        for each in record.deviations
    ]


def _groups_or_each(
    problems: Iterable[MemberProblem], wording: str, *, tells_each: bool
) -> tuple[MemberProblemGroup, ...]:
    if tells_each:
        return tuple(MemberProblemGroup((each,)) for each in problems)
    return groups_of_problems(problems, attrgetter(wording))


def _table_with_note(
    header: Iterable[str], rows: Sequence[tuple[str, ...]], groups: Iterable[MemberProblemGroup]
) -> Iterator[str]:
    if rows:
        yield "\n"
        yield text_table(tuple(header), rows)
        yield NAMES_EACH if any(len(each.problems) > 1 for each in groups) else ""
