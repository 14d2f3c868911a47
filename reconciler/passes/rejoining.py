"""A member whose cluster was built anew, taken in again: shown as a pass would find it, then pinned to its new UID.

A cluster is the one whose kube-system namespace has the recorded UID; any other is refused, for it may be somebody
else's. Only a person knows that it is the member's new one, and says so by its UID.
"""

import time
from collections.abc import Callable, Iterator

from msgspec import Struct

from reconciler.branches.status_branch import Files, read_inventories
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.inventory import Inventory
from reconciler.plans.model import Action, PlannedObject
from reconciler.record.recorded_status import read_recorded
from render.errors import ClusterError, GuardRefused
from render.words import counted_noun

from .applying import ApplyRun

_PREVIEWED = {
    Action.CREATED: "to create",
    Action.ADOPTED: "to adopt",
    Action.CONFIGURED: "to change",
    Action.UNCHANGED: "as wanted",
    Action.CONFLICT: "in conflict",
    Action.BLOCKED: "blocked",
    Action.KEPT: "left alone",
    Action.PRUNE: "to delete",
    Action.HAND_OFF: "to hand off",
}


class Rejoining(Struct, frozen=True, kw_only=True):
    """A member before it is taken in again: its recorded UID, the one it has, and the plan for it as a new cluster."""

    cluster: str
    recorded: str
    report: ClusterReport

    @property
    def uid(self) -> str:
        """The UID that the cluster has."""
        return self.report.plan.uid if self.report.plan is not None else ""

    @property
    def is_needed(self) -> bool:
        """True where another cluster is recorded than the one that answers."""
        return bool(self.recorded) and self.recorded != self.uid

    def foreseen_objects(self) -> Iterator[tuple[PlannedObject, str]]:
        """Yield each object of the plan, with what the next apply does with it in words."""
        plan = self.report.plan
        for item in (*plan.objects, *plan.deletions) if plan is not None else ():
            yield item, _PREVIEWED[item.action]


def observe_rejoining(run: ApplyRun, name: str) -> Rejoining:
    """Observe a member as if nothing were known of its cluster; ClusterError when that cannot be done."""
    status = run.context.status
    known = read_inventories(status, status.tip()).get(name, Inventory(cluster=name))
    anew = {name: Inventory(cluster=name, hold=known.hold)}
    report = next(iter(run.plan_members(anew)), None)
    if report is None:
        raise ClusterError(f"{name} pulls for itself", hint="its agent takes it in again")
    if report.failure is not None:
        raise ClusterError(f"{name}: {report.failure.message}", hint=report.failure.hint)
    return Rejoining(cluster=name, recorded=known.uid, report=report)


def lines_of_rejoining(found: Rejoining) -> tuple[str, ...]:
    """Return a line for each object that is not as wanted, and how many there are of each sort."""
    plan = found.report.plan
    items = (*plan.objects, *plan.deletions) if plan is not None else ()
    lines = [
        f"  {item.ref}: {_PREVIEWED[item.action]}"
        + (f" ({item.reason})" if item.reason else "")
        + (f": {item.message}" if item.message else "")
        for item in items
        if item.action is not Action.UNCHANGED
    ]
    counts = {words: sum(item.action is action for item in items) for action, words in _PREVIEWED.items()}
    summary = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
    return (*lines, f"{counted_noun(len(items), 'object')}: {summary}" if items else "no objects are rendered for it")


def accept_rejoining(run: ApplyRun, found: Rejoining, uid: str, clock: Callable[[], float] = time.time) -> None:
    """Record the cluster that answers as the member's, with nothing in it; GuardRefused if its UID is another.

    How runs over the cluster before it ended is forgotten: it says nothing of this one.
    """
    if uid != found.uid:
        raise GuardRefused(
            f"the UID of {found.cluster}'s kube-system namespace is {found.uid}, not {uid}; nothing was recorded",
            hint="see which cluster the context leads to; argosy cluster rejoin without --accept-uid shows it",
        )

    def made(tip: str | None) -> Files:
        known = read_inventories(run.context.status, tip).get(found.cluster, Inventory(cluster=found.cluster))
        inventory = Inventory(cluster=found.cluster, uid=uid, hold=known.hold)
        files: dict[str, bytes | None] = {Inventory.at(found.cluster): inventory.content()}
        record = read_recorded(run.context.status, tip).clusters().get(found.cluster)
        if record is not None:
            files[ClusterRecord.at(found.cluster)] = ClusterRecord(state=record.state.without_looks()).content()
        return files

    run.context.status.commit(made, f"Rejoin {found.cluster}", time=int(clock()))
