"""The changes that applying a rendered commit would make to live objects, field by field, with secrets masked.

``argosy diff --live`` compares what is there with what is wanted; ``argosy apply --dry-run server`` asks each server
what it would make of it. Both are printed alike.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reconciler.deliver.results import UNDONE, WAITING, ClusterReport, ObjectResult
from reconciler.plans.model import Action, FieldChange, PlannedObject
from reconciler.plans.ownership import DifferenceKind
from render.model import ObjectRef
from render.words import counted

_SIGNS = {
    Action.CREATED: "+",
    Action.CONFIGURED: "~",
    Action.ADOPTED: "~",
    Action.PRUNE: "-",
    Action.HAND_OFF: "-",
}
_UNCHANGED = frozenset({Action.UNCHANGED, Action.KEPT})


class LiveChange(Struct, frozen=True, kw_only=True):
    """A change that would be made to one object, the reason, and the fields that differ, masked where secret.

    ``yielded`` are left to other managers, ``foreign`` were added by people: applying changes neither.
    """

    ref: ObjectRef
    action: Action
    reason: str
    message: str = ""
    fields: tuple[FieldChange, ...] = ()
    yielded: tuple[FieldChange, ...] = ()
    foreign: tuple[FieldChange, ...] = ()

    @property
    def is_difference(self) -> bool:
        """False where what differs is left to another manager or kept, as agreed."""
        return self.action not in _UNCHANGED or self.reason in WAITING | UNDONE or bool(self.foreign)


def live_changes(report: ClusterReport) -> tuple[LiveChange, ...]:
    """Return everything in a cluster that is not as wanted."""
    items: tuple[ObjectResult | PlannedObject, ...] = ()
    if report.applied is not None:
        items = report.applied.results
    elif report.plan is not None and not report.plan.refusal:
        items = (*report.plan.objects, *report.plan.deletions)
    return tuple(
        LiveChange(
            ref=item.ref,
            action=item.action,
            reason=item.reason,
            message=item.message,
            fields=item.changes,
            yielded=item.yielded,
            foreign=item.foreign,
        )
        for item in items
        if item.action is not Action.UNCHANGED or item.yielded or item.foreign
    )


def live_text(reports: Iterable[ClusterReport]) -> Iterator[str]:
    """Yield a paragraph for every cluster: its objects that differ, with their fields."""
    for report in reports:
        changes = live_changes(report)
        if report.failure is not None:
            hint = f"\n  hint: {report.failure.hint}" if report.failure.hint else ""
            yield f"{report.cluster}: not known: {report.failure.message}{hint}\n"
            continue
        yield f"{report.cluster}: {_number_of_differences(sum(1 for change in changes if change.is_difference))}\n"
        for change in changes:
            yield from change_lines(change)


def _number_of_differences(number: int) -> str:
    return "equal" if not number else counted(number, "object differs", "objects differ")


def change_lines(change: LiveChange) -> Iterator[str]:
    """Yield the lines of one object, and of its fields."""
    sign = " " if change.action is Action.UNCHANGED else _SIGNS.get(change.action, "!")
    message = f": {change.message}" if change.message else ""
    yield f"  {sign} {change.ref} {change.action} ({change.reason}){message}\n"
    for field in change.fields:
        owner = f"  ({' '.join(filter(None, (field.manager, field.time)))})" if field.manager else ""
        yield f"      {field.path.removeprefix('.')}: {field.live or 'nothing'} -> {field.want or 'nothing'}{owner}\n"
    for field in change.yielded:
        left = f"left to {field.manager or 'the cluster'}"
        why = "rewritten by the cluster" if field.change == DifferenceKind.REWRITTEN else left
        yield f"      {field.path.removeprefix('.')}: {field.live}, not {field.want}: {why}\n"
    for field in change.foreign:
        yield f"      {field.path.removeprefix('.')}: {field.live}: added by {field.manager}, left as it is\n"
