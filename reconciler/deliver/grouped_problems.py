"""Problems of members in groups: what is not as committed for one reason, with all objects and clusters it is said of.

A failure of a whole cluster, an object that failed or is kept, and a field that somebody else decides are told alike,
in order of importance, and each hint once. Programs and ``-v`` are told of each by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from render.expressions import lazy_expression
from render.model import ObjectRef
from render.words import first_few

from .deviations import HANGING, cluster_deviations, deviations_of_fields_joined, hint_about_foreign_fields
from .results import UNWRITTEN, ClusterReport

UNHEALTHY = "unhealthy"
"""The action of an object that is applied, and not as it should be all the same."""
_BY_IMPORTANCE = ("failed", "conflict", "blocked", UNHEALTHY, "kept", HANGING)
_MOST_APART = 2
"""So many objects that have a reason in common are told one by one."""
_NUMBER = lazy_expression(r"\d+")
_MOST_HINTS = 3
"""So many hints are told of one reason, where they differ by what they name."""


class MemberProblem(NamedTuple):
    """One thing that is not as committed in a cluster; ``ref`` is empty where it is about the cluster itself."""

    cluster: str
    ref: str
    action: str
    reason: str
    message: str
    hint: str = ""
    since: str = ""

    @property
    def message_without_names(self) -> str:
        """The message without the names of the cluster and the object, which stand in the middle of its words."""
        message, name = self.message.replace(repr(self.cluster), ""), self.ref.rpartition("/")[2].rpartition(" ")[2]
        return message.replace(self.ref, "").replace(f'"{name}"', "") if name else message

    @property
    def message_without_numbers(self) -> str:
        """The message without those names, and with no number, so that ``0 of 3`` is alike to ``0 of 2``."""
        return _NUMBER.sub("#", self.message_without_names)


class MemberProblemGroup(NamedTuple):
    """The problems that are told together, with the hints that nothing before them has."""

    problems: tuple[MemberProblem, ...]
    hints: tuple[str, ...] = ()

    @property
    def objects(self) -> str:
        """The objects in a few words; empty where the clusters themselves are the matter."""
        refs = list(dict.fromkeys(each.ref for each in self.problems))
        return first_few(refs, 1)

    @property
    def clusters(self) -> str:
        """The clusters in a few words."""
        return first_few(list(dict.fromkeys(each.cluster for each in self.problems)))

    @property
    def first(self) -> MemberProblem:
        """The problem whose words stand for all."""
        return self.problems[0]

    @property
    def since(self) -> str:
        """The time since when the first of them is so."""
        return min((each.since for each in self.problems if each.since), default="")

    @property
    def message(self) -> str:
        """The message of all, or that of the first, and which one that is."""
        first = self.first
        if len({each.message_without_names for each in self.problems}) == 1:
            return first.message
        is_of_one_object = len({each.ref for each in self.problems}) == 1
        return f"{first.message} ({first.cluster if is_of_one_object else first.ref}; other numbers elsewhere)"


def problem_groups(reports: Iterable[ClusterReport]) -> tuple[MemberProblemGroup, ...]:
    """Return the groups of an apply's problems, the most important first; one or two alike stand for themselves."""
    return groups_of_problems(chain.from_iterable(map(_problems_of_cluster, reports)))


def groups_of_problems(
    problems: Iterable[MemberProblem],
    wording: Callable[[MemberProblem], str] = attrgetter("message_without_names"),
) -> tuple[MemberProblemGroup, ...]:
    """Return problems in groups, the most important first; ``wording`` is equal where messages are alike."""
    problems_by_reason: dict[tuple[str, str, str], list[MemberProblem]] = {}
    for each in problems:
        problems_by_reason.setdefault((each.action, each.reason, wording(each)), []).append(each)
    groups, shown_hints = [], set[str]()
    for listed in sorted(problems_by_reason.values(), key=_place_by_importance):
        parts = [[each] for each in listed] if len(listed) <= _MOST_APART else [listed]
        for part in parts:
            hints = tuple(
                hint for hint in dict.fromkeys(each.hint for each in part) if hint and hint not in shown_hints
            )
            shown_hints.update(hints)
            groups.append(MemberProblemGroup(tuple(part), hints))
    return tuple(groups)


def problem_lines(reports: Iterable[ClusterReport]) -> tuple[str, ...]:
    """Return a line for each group of problems, with its hints."""
    return tuple(
        f"{each.clusters}: {_subject_of_group(each)}{each.first.reason}"
        f"{')' if each.objects else ''}: {each.first.message}"
        + "".join(f"\n  hint: {hint}" for hint in _few_hints(each.hints))
        for each in problem_groups(reports)
    )


def hint_lines(groups: Iterable[MemberProblemGroup], *, is_of_objects: bool = False) -> Iterator[str]:
    """Yield a line for each hint that stands below what lists the problems, with the reason it is for.

    ``is_of_objects``: what lists them has the hints of clusters already.
    """
    for each in groups if not is_of_objects else (group for group in groups if group.objects):
        yield from (f"hint for {each.first.reason}: {hint}" for hint in _few_hints(each.hints))


def _subject_of_group(group: MemberProblemGroup) -> str:
    return f"{group.objects}: {group.first.action} (" if group.objects else ""


def _few_hints(hints: Sequence[str]) -> list[str]:
    more = len(hints) - _MOST_HINTS
    return [*hints[:_MOST_HINTS], *([f"{more} more like it, which -v lists"] if more > 0 else [])]


def _problems_of_cluster(report: ClusterReport) -> Iterator[MemberProblem]:
    """Yield what stopped a cluster, and what is not as committed in it."""
    name, applied, failure = report.cluster, report.applied, report.failure
    if failure is not None:
        yield MemberProblem(name, "", "failed", str(failure.kind), failure.message, failure.hint)
    if applied is not None and applied.parent_failure is not None:
        parent = applied.parent_failure
        yield MemberProblem(name, "", "failed", str(parent.kind), f"{UNWRITTEN}: {parent.message}", parent.hint)
    deviations = cluster_deviations(report)
    if (
        applied is not None
        and applied.prune_hold
        and not any(applied.prune_hold in each.message for each in deviations)
    ):
        yield MemberProblem(name, "", "kept", "Held", f"nothing is pruned: {applied.prune_hold}")
    hints = _hints_by_object_and_reason(report)
    for each in deviations_of_fields_joined(deviations):
        # The hint of an object is not about one of its fields.
        hint = hint_about_foreign_fields(each) if each.field else hints[each.ref, each.reason]
        yield MemberProblem(name, str(each.ref), str(each.action), each.reason, each.message, hint)


def _hints_by_object_and_reason(report: ClusterReport) -> dict[tuple[ObjectRef, str], str]:
    if report.applied is not None:
        return {(each.ref, each.reason): each.hint for each in report.applied.results}
    planned = (*report.plan.objects, *report.plan.deletions) if report.plan is not None else ()
    return {(each.ref, each.reason): each.hint for each in planned}


def _place_by_importance(problems: Sequence[MemberProblem]) -> tuple[int, bool, int]:
    """Return the place of a group: what failed stands before what is kept, clusters before objects, many before few."""
    first = problems[0]
    place = _BY_IMPORTANCE.index(first.action) if first.action in _BY_IMPORTANCE else len(_BY_IMPORTANCE)
    return place, bool(first.ref), -len(problems)
