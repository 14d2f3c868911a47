"""The changes that applying a rendered commit would make to live objects, field by field, with secrets masked.

``argosy diff --live`` compares what is there with what is wanted; ``argosy apply --dry-run server`` asks each server
what it would make of it. Both are printed alike.
"""

from collections.abc import Iterable, Iterator, Sequence

from reconciler.deliver.results import UNDONE, WAITING, ClusterReport
from reconciler.plans.model import (
    SUSPENDED_AND_DIFFERENT,
    SUSPENDED_AND_MISSING,
    Action,
    ObjectOutcome,
)
from reconciler.plans.ownership import DifferenceKind
from render.words import counted_noun

_SIGNS = {
    Action.CREATED: "+",
    Action.CONFIGURED: "~",
    Action.ADOPTED: "~",
    Action.PRUNE: "-",
    Action.HAND_OFF: "-",
}
_UNCHANGED = frozenset({Action.UNCHANGED, Action.KEPT})


def is_unwanted(change: ObjectOutcome) -> bool:
    """Say whether an object is not as wanted, and that is not because another manager has it, or it is kept."""
    return change.action not in _UNCHANGED or change.reason in WAITING | UNDONE or bool(change.foreign)


def live_changes(report: ClusterReport, *, is_full: bool = False) -> tuple[ObjectOutcome, ...]:
    """Return everything in a cluster that is not as wanted, or is left so; if asked for, also what is expected."""
    items: tuple[ObjectOutcome, ...] = ()
    if report.applied is not None:
        items = report.applied.results
    elif report.plan is not None and not report.plan.refusal:
        items = (*report.plan.objects, *report.plan.deletions)
    return tuple(
        each
        for each in items
        if each.action is not Action.UNCHANGED or each.yielded or each.foreign or (is_full and each.expected)
    )


def live_text(reports: Iterable[ClusterReport], *, is_full: bool = False) -> Iterator[str]:
    """Yield a paragraph for every cluster: its objects that differ, with their fields; if asked for, with all.

    Fields that rules of retention leave to the cluster are no difference.
    """
    for report in reports:
        changes = live_changes(report, is_full=is_full)
        if report.failure is not None:
            hint = f"\n  hint: {report.failure.hint}" if report.failure.hint else ""
            yield f"{report.cluster}: not known: {report.failure.message}{hint}\n"
            continue
        yield f"{report.cluster}: {_counted_differences(changes)}{_held_words(report)}\n"
        for change in changes:
            yield from change_lines(change)
            for field in change.expected if is_full else ():
                path = field.path.removeprefix(".")
                yield f"      {path}: {field.live}: set by {field.manager}, as a rule of retention provides for\n"


def _held_words(report: ClusterReport) -> str:
    """Return what a cluster is held at; where that is what was compared, it says so."""
    hold, plan = report.hold, report.plan
    if hold is None:
        return ""
    compared = "compared with that: " if plan is not None and plan.commit == hold.commit else ""
    return f" ({compared}it is {hold})"


def _counted_differences(changes: Sequence[ObjectOutcome]) -> str:
    """Return how many objects differ, and how many of those that are kept are missing or differ."""
    number = sum(map(is_unwanted, changes))
    words = "equal" if not number else counted_noun(number, "object differs", "objects differ")
    kept = [
        f"{counted_noun(count, 'kept object is', 'kept objects are')} {state}"
        for state, message in (("missing", SUSPENDED_AND_MISSING), ("different", SUSPENDED_AND_DIFFERENT))
        if (count := sum(each.message == message for each in changes))
    ]
    return f"{words}{' but for this: ' if not number else ', and '}{', '.join(kept)}" if kept else words


def change_lines(change: ObjectOutcome) -> Iterator[str]:
    """Yield the lines of one object, and of its fields."""
    sign = " " if change.action is Action.UNCHANGED else _SIGNS.get(change.action, "!")
    message = f": {change.message}" if change.message else ""
    yield f"  {sign} {change.ref} {change.action} ({change.reason}){message}\n"
    for field in change.changes:
        owner = f"  ({' '.join(filter(None, (field.manager, field.time)))})" if field.manager else ""
        yield f"      {field.path.removeprefix('.')}: {field.live or 'nothing'} -> {field.want or 'nothing'}{owner}\n"
    for field in change.yielded:
        left = f"left to {field.manager or 'the cluster'}"
        why = "rewritten by the cluster" if field.change == DifferenceKind.REWRITTEN else left
        yield f"      {field.path.removeprefix('.')}: {field.live}, not {field.want}: {why}\n"
    for field in change.foreign:
        yield f"      {field.path.removeprefix('.')}: {field.live}: added by {field.manager}, left as it is\n"
