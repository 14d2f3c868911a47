"""Schedule all bindings of a pass in one order, so that the outcome does not depend on the order they came in.

CRDs come first (a kind then counts as served wherever its CRD is propagated to), then the order is by schedule
priority and by ObjectRef. Each placement takes its room from the pass' working capacity before the next binding is
scheduled.

Capacity that the source *declares* knows nothing of the replicas this fleet has placed: those of all bindings are
taken from it first, and the room of replicas given up is free at once. *Observed* capacity counts them, except for
replicas placed since the observation (its ``reserved``); room given up is free once that has been observed.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding, Condition
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster
from render.quota.enforcement import FederatedQuota, QuotaLedger
from render.resources import Component
from render.settings.switches import Rescheduling

from .capacity import Shares
from .decisions import (
    SCHEDULED,
    Refusal,
    ScheduledReason,
    SchedulingDecision,
    Trigger,
    decision_of_refusal,
    decision_of_success,
    decision_without_change,
    was_last_decision_refused,
)
from .options import SchedulingOptions
from .restoring import cycle_and_decision_restoring
from .scheduler import Scheduler, SchedulingCycle, is_schedulable

if TYPE_CHECKING:  # scheduling alone imports no explanation
    from .explanation import Explanation

_DECIDED = Condition(type=SCHEDULED, status="True")
Api = tuple[str, str]
"""An apiVersion and a kind."""


class DecidedBinding(NamedTuple):
    """One binding of a pass with its decision and its scheduling cycle (None: another scheduler's, or suspended)."""

    binding: Binding
    cycle: SchedulingCycle | None
    decision: SchedulingDecision

    @property
    def is_refused(self) -> bool:
        """Say whether scheduling it failed: it has no targets, or keeps others than it should have."""
        return self.decision.condition is not None and not self.decision.is_scheduled


class BatchContext(Struct, frozen=True, kw_only=True):
    """The context of a batch: bindings and templates beside those to schedule.

    ``unscheduled`` bindings (released ones) are not scheduled, but keep their targets and so their share of capacity.
    ``apis_by_crd`` are the kinds that templates of this pass define, ``quotas`` the limits of namespaces. ``former``
    are the components that objects have so far, where their templates have others now.
    """

    unscheduled: Sequence[Binding] = ()
    apis_by_crd: Mapping[ObjectRef, Collection[Api]] = field(default_factory=dict)
    quotas: Sequence[FederatedQuota] = ()
    former: Mapping[ObjectRef, tuple[Component, ...]] = field(default_factory=dict)

    def binding_as_decided_so_far(self, binding: Binding) -> Binding:
        """Return a binding with the components that its object has so far."""
        former = self.former.get(binding.ref)
        return replace(binding, components=former) if former else binding


class ScheduledBatch(Struct, frozen=True, kw_only=True):
    """The decisions of a pass, in the order they were taken (refusals last), and the scheduler as they left it."""

    decisions: tuple[SchedulingDecision, ...]
    scheduler: Scheduler

    def reserved_resources_by_cluster(self) -> dict[str, dict[str, str]]:
        """Return the amounts now reserved of each cluster's observed capacity, for the next pass to know."""
        return self.scheduler.state.capacity.reserved_resources_by_cluster()


def schedule_all(
    bindings: Iterable[Binding],
    index: ClusterIndex,
    options: SchedulingOptions | None = None,
    context: BatchContext | None = None,
) -> ScheduledBatch:
    """Decide every binding, in the order the module describes."""
    scheduler = Scheduler(index, options)
    steps = _decisions_one_by_one(scheduler, tuple(bindings), context or BatchContext())
    return ScheduledBatch(decisions=tuple(step.decision for step in steps), scheduler=scheduler)


def explanations_of_decisions(
    bindings: Iterable[Binding],
    index: ClusterIndex,
    options: SchedulingOptions | None = None,
    context: BatchContext | None = None,
    *,
    among: Container[ObjectRef],
) -> "Iterator[Explanation]":
    """Take all decisions of a pass again and explain those about some bindings, in the order they are taken.

    For a binding that needs no scheduling, the attempts are those a request to schedule it would lead to.
    """
    from .explanation import explanation_of

    scheduler = Scheduler(index, options)
    for binding, cycle, decision in _decisions_one_by_one(scheduler, tuple(bindings), context or BatchContext()):
        if cycle is None or binding.ref not in among:
            continue
        if cycle.trigger is Trigger.NONE:
            afresh = _decision_if_rescheduled(scheduler, binding) if binding.is_divided else None
            yield explanation_of(_supposed_cycle(scheduler, binding), decision, scheduler.state, afresh)
        else:
            yield explanation_of(cycle, decision, scheduler.state)


def _supposed_cycle(scheduler: Scheduler, binding: Binding) -> SchedulingCycle:
    """Return the cycle of a binding that needs no scheduling, as if it did."""
    return replace(scheduler.cycle(replace(binding, applied_placement=None)), trigger=Trigger.NONE)


def _decision_if_rescheduled(scheduler: Scheduler, binding: Binding) -> SchedulingDecision:
    """Return the decision about a binding if it were asked to be rescheduled, as a WorkloadRebalancer asks."""
    request = f"{binding.last_scheduled_at}~"  # greater than any time of an earlier one
    asked = replace(binding, reschedule_triggered_at=request, conditions=binding.conditions or (_DECIDED,))
    return scheduler.decision(scheduler.cycle(asked))


def _decisions_one_by_one(
    scheduler: Scheduler, bindings: Sequence[Binding], context: BatchContext
) -> Iterator[DecidedBinding]:
    """Decide one binding after the other; a decision takes its capacity before the next one is asked for.

    A refused binding is tried again after all others, until no round changes anything. Its message then tells the
    capacity left after every other binding, which is also what the next pass will find.
    """
    register_current(scheduler, (*bindings, *context.unscheduled))
    ledger = QuotaLedger(context.quotas, (*map(context.binding_as_decided_so_far, bindings), *context.unscheduled))
    yield from _decisions_beside_others(scheduler, bindings, context, ledger)


def decisions_after_pass(
    scheduler: Scheduler, bindings: Sequence[Binding], context: BatchContext, ledger: QuotaLedger
) -> tuple[SchedulingDecision, ...]:
    """Decide bindings where all others have their places: those of a pass that is over are registered already.

    The scheduler and the ledger go on from there; whoever asks several times hands over copies.
    """
    return tuple(step.decision for step in _decisions_beside_others(scheduler, bindings, context, ledger))


def _decisions_beside_others(
    scheduler: Scheduler, bindings: Sequence[Binding], context: BatchContext, ledger: QuotaLedger
) -> Iterator[DecidedBinding]:
    """Decide one binding after the other, where all that have a place are known already."""
    # To Karmada a cluster serves what it has reported, and it reports a new kind only after the pass.
    apis_by_crd = {} if scheduler.state.options.requires_recorded_apis else context.apis_by_crd
    left = sorted(bindings, key=lambda each: (each.ref not in apis_by_crd, -each.priority, each.ref))
    while left:
        waiting: list[DecidedBinding] = []
        is_moving = False
        for binding in left:
            step = _step_within_quotas(
                ledger, _decided_binding(scheduler, binding), context.binding_as_decided_so_far(binding)
            )
            if step.is_refused:
                waiting.append(step)
            else:
                yield step
                is_moving |= step.cycle is not None and bool(step.cycle.attempts)
            _note_taken_capacity_and_apis(scheduler, step, apis_by_crd.get(binding.ref, ()))
        if not is_moving:
            yield from waiting
            return
        left = [step.binding for step in waiting]


def _decided_binding(scheduler: Scheduler, binding: Binding) -> DecidedBinding:
    if not is_schedulable(binding):
        return DecidedBinding(binding, None, decision_without_change(binding))
    if binding.begun:
        return _decision_beside_begun_runs(scheduler, binding)
    if binding.restored is not None:
        return DecidedBinding(binding, *cycle_and_decision_restoring(scheduler, binding, binding.restored))
    cycle = scheduler.cycle(binding)
    return DecidedBinding(binding, cycle, scheduler.decision(cycle))


def _decision_beside_begun_runs(scheduler: Scheduler, binding: Binding) -> DecidedBinding:
    """Decide on what has not begun of an object that runs to completion; clusters in which it has begun get no more."""
    names, known = {each.name for each in binding.begun}, scheduler.state.index.index_by_name
    stay = tuple(each for each in binding.begun if each.name in known)
    rest = binding.replicas - sum(each.replicas for each in binding.begun)
    if rest <= 0 or not binding.is_divided:
        return DecidedBinding(binding, None, _decision_to_stay(scheduler, replace(binding, targets=stay)))
    others = tuple(each for each in binding.targets if each.name not in names)
    absent = binding.absent_in | names
    cycle = scheduler.cycle(replace(binding, replicas=rest, begun=(), targets=others, absent_in=absent))
    decision = scheduler.decision(cycle)
    targets = (*stay, *decision.targets) if decision.is_scheduled else binding.targets
    return DecidedBinding(binding, cycle, replace(decision, targets=targets))


def _decision_to_stay(scheduler: Scheduler, binding: Binding) -> SchedulingDecision:
    """Return the decision that a binding stays with its targets; what it was refused for is asked for no more."""
    by_source = scheduler.state.options.rescheduling is Rescheduling.SOURCE
    if not (by_source and binding.targets and was_last_decision_refused(binding)):
        return decision_without_change(binding)
    return decision_of_success(binding, Trigger.REFUSAL_OUTDATED, binding.targets, binding.observed_affinity)


def _step_within_quotas(ledger: QuotaLedger, step: DecidedBinding, before: Binding) -> DecidedBinding:
    """Return a step, or its refusal where it would exceed a quota; what is placed is taken from them.

    Components that may not grow stay as they are ``before``, and with them all that clusters have of the object.
    """
    binding, cycle, decision = step
    exceeded = ledger.quota_refusal(before, binding, decision.targets)
    if exceeded:
        refusal = Refusal(ScheduledReason.QUOTA_EXCEEDED, exceeded)
        kept = before.components if before is not binding and binding.targets else ()
        decided = replace(decision_of_refusal(binding, decision.trigger, refusal), kept_components=kept)
        return DecidedBinding(binding, cycle, decided)
    ledger.count_new_targets(before, binding, decision.targets)
    if cycle is not None and decision.condition is None and binding.components and _was_beyond_quota(binding):
        # Nothing asks for a new decision about components, so the refusal of an earlier pass would stay.
        return step._replace(
            decision=decision_of_success(binding, decision.trigger, decision.targets, binding.observed_affinity)
        )
    return step


def _was_beyond_quota(binding: Binding) -> bool:
    return any(each.type == SCHEDULED and each.reason == ScheduledReason.QUOTA_EXCEEDED for each in binding.conditions)


def _note_taken_capacity_and_apis(scheduler: Scheduler, step: DecidedBinding, apis: Collection[Api]) -> None:
    """Let the rest of the pass know the capacity a decision takes, its targets and the kinds it delivers."""
    state, binding = scheduler.state, step.binding
    if state.options.reserves_capacity and step.decision.targets is not binding.targets:
        _move_taken_room(scheduler, binding, step.decision.targets)
    _register_placement(scheduler, binding, step.decision.targets)
    for api in apis:
        clusters = state.targets.indexed_targets(step.decision.targets).clusters
        state.delivered_apis[api] = state.delivered_apis.get(api, 0) | clusters


def register_current(scheduler: Scheduler, bindings: Iterable[Binding]) -> None:
    """Take the room of current targets from declared capacity, and tell workloads of a group about each other."""
    state = scheduler.state
    declared = state.declared
    for binding in bindings:
        if declared and binding.targets and binding.is_workload and state.options.reserves_capacity:
            current = state.targets.indexed_targets(binding.targets)
            shares_now = current.replicas
            # An observation has counted what runs already; only what the source declares knows nothing of it.
            if current.clusters & ~declared:
                shares_now = {position: count for position, count in shares_now.items() if declared >> position & 1}
            take_room(scheduler, binding, shares_now)
        _register_placement(scheduler, binding, binding.targets)


def _register_placement(scheduler: Scheduler, binding: Binding, targets: tuple[TargetCluster, ...]) -> None:
    if binding.affinity_group or binding.anti_affinity_group:
        scheduler.state.workload_groups.note_placed_workload(
            binding, scheduler.state.targets.indexed_targets(targets).clusters
        )


def _move_taken_room(scheduler: Scheduler, binding: Binding, targets: tuple[TargetCluster, ...]) -> None:
    """Take room for the replicas a binding gains, and give back the room of those it loses."""
    # In a cluster that stays the same set of components runs, whatever number of replicas is recorded there.
    are_sets, lists, declared = bool(binding.components), scheduler.state.targets, scheduler.state.declared
    take_room(scheduler, binding, lists.gained_replicas(binding.targets, targets, are_sets=are_sets))
    if binding.targets and declared:
        lost = lists.gained_replicas(targets, binding.targets, are_sets=are_sets)
        given_up = {position: count for position, count in lost.items() if declared >> position & 1}
        take_room(scheduler, binding, given_up, sign=-1)


def take_room(scheduler: Scheduler, binding: Binding, shares: Shares, sign: int = 1) -> None:
    """Take room for replicas, or for one full set of components in each cluster; give it back with a sign of -1."""
    capacity = scheduler.state.capacity
    for component in binding.components:
        capacity.note_placed_replicas(component.requirements, dict.fromkeys(shares, component.replicas), sign)
    if not binding.components and binding.is_workload:
        capacity.note_placed_replicas(binding.requirements, shares, sign)
