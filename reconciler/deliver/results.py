"""The results of applying: of each object, and of each cluster in a pass."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.holds import ClusterHold, EndedHold
from reconciler.ledger.inventory import ApplyOutcome, HeldObject
from reconciler.members.exchange import Failure
from reconciler.observe.findings import Finding
from reconciler.plans.answers import UNKNOWN_ANSWER
from reconciler.plans.model import Action, ObjectOutcome, ObservedCluster, Plan, PlannedObject
from render.model import Manifest, ObjectRef

from .holder import LeaseHolder

FAILED_ACTIONS = frozenset({Action.FAILED, Action.CONFLICT, Action.BLOCKED})
"""The actions that count as apply errors."""
FINALIZING = "Finalizing"
"""The reason of an object that was deleted and is still there."""
WAITING = frozenset({"NeedsConfirmation", "Terminating", FINALIZING, "NotEmpty", "Orphan"})
"""The reasons of objects that wait to be deleted: a cluster with one has not converged, but holds its commit."""
UNWRITTEN = "the ApplySet's parent could not be written"
UNDONE = frozenset({"Held", "Unknown"})
"""The reasons of objects that should go and could not be judged: with one of them a cluster has not converged."""


class ObjectResult(ObjectOutcome, frozen=True, kw_only=True):
    """The result of applying one object.

    ``live`` is the object as the server answered, where it did. ``warnings`` are the server's.
    """

    warnings: tuple[str, ...] = ()

    @property
    def is_failure(self) -> bool:
        """True where the object is not as it should be."""
        return self.action in FAILED_ACTIONS

    def __str__(self) -> str:
        text = f"{self.ref}: {self.action}" + (f" ({self.reason})" if self.reason else "")
        text = f"{text}: {self.message}" if self.message else text
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class ClusterResult(Struct, frozen=True, kw_only=True):
    """The result of applying to one cluster.

    ``failure``: why it ended early. ``prune_hold``: why nothing was pruned. ``parent_failure``: why the ApplySet's
    parent could not be written. ``left``: what stays though nothing wants it, and must be remembered. ``is_waiting``:
    the commit stands, and only objects that wait to be deleted - for a confirmation, for their finalizers, to be empty
    - keep the cluster from converging. ``unchanged_besides`` counts the objects of an idle cluster that are as they
    should be and are not among its ``results``.
    """

    cluster: str
    commit: str = ""
    results: tuple[ObjectResult, ...] = ()
    failure: Failure | None = None
    prune_hold: str = ""
    parent_failure: Failure | None = None
    outcome: ApplyOutcome = ApplyOutcome.INTERRUPTED
    left: tuple[HeldObject, ...] = ()
    is_waiting: bool = False
    unchanged_besides: int = 0

    @property
    def recorded_outcome(self) -> ApplyOutcome:
        """The outcome for the inventory: a commit that stands is held, for ``left`` remembers what waits."""
        is_held = self.is_waiting and self.outcome is ApplyOutcome.INCOMPLETE
        return ApplyOutcome.CONVERGED if is_held else self.outcome

    @property
    def reason_for_no_convergence(self) -> str:
        """The reason why the apply was not carried through though no object failed; empty where there is none."""
        return self.prune_hold or (f"{UNWRITTEN}: {self.parent_failure.message}" if self.parent_failure else "")

    @property
    def actions(self) -> Counter[str]:
        """The number of objects by action."""
        actions = Counter(str(result.action) for result in self.results)
        return actions + Counter({str(Action.UNCHANGED): self.unchanged_besides})

    def count(self, action: Action) -> int:
        """Return the number of objects with this action."""
        return self.actions[str(action)]


def _ignore_progress_line(_line: str) -> None:
    return


class ApplySettings(Struct, frozen=True, kw_only=True):
    """The settings of an apply.

    ``dry_run``: only ask the server what it would do. ``rehearse``: ask it first, and stop at a refusal. ``holder`` is
    this pass where it takes a lease; ``lease_seconds``: how long to wait for another pass that has it.
    ``settle_seconds``: how long to wait for CRDs, recreated objects and finalizing ones. ``tell`` is told what is
    waited for.
    """

    dry_run: bool = False
    rehearse: bool = False
    holder: LeaseHolder = field(default_factory=lambda: LeaseHolder(name="argosy"))
    version: str = "0"
    settle_seconds: float = 30.0
    lease_seconds: float = 150.0
    tell: Callable[[str], None] = _ignore_progress_line


def object_result(planned: PlannedObject) -> ObjectResult:
    """Return the result of an object that nothing was sent for."""
    shared: dict[str, Any] = {name: getattr(planned, name) for name in ObjectOutcome.__struct_fields__}
    return ObjectResult(**{**shared, "live": None})


def failed_result(planned: PlannedObject, failure: Failure) -> ObjectResult:
    """Return the result of an object that a request failed for."""
    return replace(
        object_result(planned), action=Action.FAILED, reason=failure.kind, message=failure.message, hint=failure.hint
    )


class ClusterReport(Struct, frozen=True, kw_only=True):
    """The report of one cluster, as far as it got: its observation, its plan and its results.

    ``findings`` are those about workloads that are not well. ``is_repeated``: the cluster was idle and still is, so
    that this is the report of an earlier pass, without an observation or a plan. ``unseen`` is the reason why nobody
    could see how the cluster is, though it may have been applied to. ``hold`` keeps newer commits from it;
    ``ended_hold`` did so, and is over with this apply. ``has_unwell``: some workloads are not as they should be, of
    those that were last seen.
    """

    cluster: str
    observed: ObservedCluster | None = None
    plan: Plan | None = None
    applied: ClusterResult | None = None
    findings: Mapping[ObjectRef, tuple[Finding, ...]] = field(default_factory=dict)
    failure: Failure | None = None
    seconds: float = 0.0
    is_repeated: bool = False
    unseen: str = ""
    hold: ClusterHold | None = None
    ended_hold: EndedHold | None = None
    has_unwell: bool = False

    def with_hold(self, hold: ClusterHold | None, ended: Mapping[str, EndedHold]) -> "ClusterReport":
        """Return the report with the hold on its cluster, or the one among these that is over."""
        return replace(self, hold=hold, ended_hold=ended.get(self.cluster))

    @property
    def state(self) -> str:
        """The end of the apply to the cluster, in one word."""
        if self.failure is not None:
            return str(self.failure.kind)
        return str(self.applied.outcome) if self.applied is not None else "Planned"


def live_objects(report: ClusterReport) -> dict[ObjectRef, Manifest]:
    """Return the wanted objects of a cluster as they were last seen: the server's answer, or what was read before."""
    planned = report.plan.objects if report.plan else ()
    live = {item.ref: item.live for item in planned if item.live is not None}
    wanted = {item.ref for item in planned}
    for result in report.applied.results if report.applied else ():
        if result.live is not None and result.ref in wanted:
            live[result.ref] = result.live
    return live


def answer_digests_to_remember(report: ClusterReport, before: frozenset[str] | None) -> frozenset[str] | None:
    """Return the digests of answers that are to be remembered of a cluster after an apply.

    One that got to its end knows all of them; None where an object was asked about and its answer may not be kept.
    """
    applied = report.applied
    if report.plan is None or applied is None:
        return before
    ids = {result.answer_id for result in applied.results} - {""}
    if UNKNOWN_ANSWER in ids:
        return None
    known = frozenset(ids)
    if applied.outcome is not ApplyOutcome.CONVERGED:
        known |= frozenset(result.applied for result in applied.results) - {""}
    if applied.outcome is ApplyOutcome.INTERRUPTED:
        return known | before if before is not None else None
    return known
