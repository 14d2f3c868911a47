"""Schedule all bindings of a pass in one order, so that the outcome does not depend on the order they came in.

First what defines kinds (a kind then counts as served wherever its CRD goes), then by schedule priority, then by
ObjectRef. Each placement takes its room from the pass' working capacity before the next binding is looked at.

Capacity that the source *declares* knows nothing of what this fleet has placed: all that bindings hold already is
taken from it first, and what they give up is free at once. *Observed* capacity has it in, but for what was placed
since, its ``reserved``; what is given up is free once it was observed to be.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster

from .capacity import Shares
from .decisions import SchedulingDecision, Trigger, unchanged
from .options import SchedulingOptions
from .scheduler import Scheduler, SchedulingCycle, is_schedulable

if TYPE_CHECKING:  # who only schedules explains nothing
    from .explanation import Explanation

Api = tuple[str, str]
"""An apiVersion and a kind."""


class DecidedBinding(NamedTuple):
    """One binding of a pass, its cycle (None: it is not ours to schedule) and its decision."""

    binding: Binding
    cycle: SchedulingCycle | None
    decision: SchedulingDecision

    @property
    def is_refused(self) -> bool:
        """Whether it was looked at and has no place, or not the one it should have."""
        return self.decision.condition is not None and not self.decision.is_scheduled


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """What else a pass has to do with the clusters.

    ``resting`` bindings are not scheduled, but hold what they hold (released ones). ``apis_by_crd`` are the kinds
    that templates of this pass define.
    """

    resting: Sequence[Binding] = ()
    apis_by_crd: Mapping[ObjectRef, Collection[Api]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledBatch:
    """The decisions of a pass, in the order they were taken (refusals last), and the scheduler as they left it."""

    decisions: tuple[SchedulingDecision, ...]
    scheduler: Scheduler

    def reserved(self) -> dict[str, dict[str, str]]:
        """Return what is now reserved of each cluster's observed capacity, for the next pass to know."""
        return self.scheduler.state.capacity.reserved()


def schedule_all(
    bindings: Iterable[Binding],
    index: ClusterIndex,
    options: SchedulingOptions | None = None,
    context: BatchContext | None = None,
) -> ScheduledBatch:
    """Decide every binding, in the pass' own order."""
    scheduler = Scheduler(index, options)
    steps = _steps(scheduler, tuple(bindings), context or BatchContext())
    return ScheduledBatch(decisions=tuple(step.decision for step in steps), scheduler=scheduler)


def explanations(
    bindings: Iterable[Binding],
    index: ClusterIndex,
    options: SchedulingOptions | None = None,
    context: BatchContext | None = None,
    *,
    among: Container[ObjectRef],
) -> "Iterator[Explanation]":
    """Take the pass' decisions and explain those about some bindings, in the order they are taken.

    Where nothing was to be decided, the attempts are those there would be if it were.
    """
    from .explanation import explanation_of

    scheduler = Scheduler(index, options)
    for binding, cycle, decision in _steps(scheduler, tuple(bindings), context or BatchContext()):
        if cycle is None or binding.ref not in among:
            continue
        told = cycle if cycle.trigger is not Trigger.NONE else _supposed(scheduler, binding)
        yield explanation_of(told, decision, scheduler.state)


def _supposed(scheduler: Scheduler, binding: Binding) -> SchedulingCycle:
    """Return the cycle there would be about a binding of which nothing is to be decided."""
    return replace(scheduler.cycle(replace(binding, applied_placement=None)), trigger=Trigger.NONE)


def _steps(scheduler: Scheduler, bindings: Sequence[Binding], context: BatchContext) -> Iterator[DecidedBinding]:
    """Decide one binding after the other; what a decision takes is taken when the next one is asked for.

    What is refused is looked at again after all others, until nothing moves any more: then its message says what is
    left when everybody has been served, which is also what the next pass will find.
    """
    # To Karmada a cluster serves what it has reported, and it reports a new kind only after the pass.
    apis_by_crd = {} if scheduler.state.options.requires_recorded_apis else context.apis_by_crd
    _settle_in(scheduler, (*bindings, *context.resting))
    left = sorted(bindings, key=lambda each: (each.ref not in apis_by_crd, -each.priority, each.ref))
    while left:
        refused: list[DecidedBinding] = []
        is_moving = False
        for binding in left:
            step = _step(scheduler, binding)
            if step.is_refused:
                refused.append(step)
            else:
                yield step
                is_moving |= step.cycle is not None and bool(step.cycle.attempts)
            _follow(scheduler, step, apis_by_crd.get(binding.ref, ()))
        if not is_moving:
            yield from refused
            return
        left = [step.binding for step in refused]


def _step(scheduler: Scheduler, binding: Binding) -> DecidedBinding:
    if not is_schedulable(binding):
        return DecidedBinding(binding, None, unchanged(binding))
    cycle = scheduler.cycle(binding)
    return DecidedBinding(binding, cycle, scheduler.decision(cycle))


def _follow(scheduler: Scheduler, step: DecidedBinding, apis: Collection[Api]) -> None:
    """Let the rest of the pass know what a decision takes, where it goes and what it delivers."""
    state, binding = scheduler.state, step.binding
    if state.options.reserves_capacity and step.decision.targets is not binding.targets:
        _move(scheduler, binding, step.decision.targets)
    _register(scheduler, binding, step.decision.targets)
    for api in apis:
        clusters = state.targets.indexed(step.decision.targets).clusters
        state.delivered_apis[api] = state.delivered_apis.get(api, 0) | clusters


def _settle_in(scheduler: Scheduler, bindings: Iterable[Binding]) -> None:
    """Take from declared capacity what bindings hold, and tell workloads of a group about each other."""
    state = scheduler.state
    declared = state.declared
    for binding in bindings:
        if declared and binding.targets and binding.is_workload and state.options.reserves_capacity:
            current = state.targets.indexed(binding.targets)
            held = current.replicas
            if current.clusters & ~declared:
                held = {position: count for position, count in held.items() if declared >> position & 1}
            _take(scheduler, binding, held)
        _register(scheduler, binding, binding.targets)


def _register(scheduler: Scheduler, binding: Binding, targets: tuple[TargetCluster, ...]) -> None:
    if binding.affinity_group or binding.anti_affinity_group:
        scheduler.state.workload_groups.place(binding, scheduler.state.targets.indexed(targets).clusters)


def _move(scheduler: Scheduler, binding: Binding, targets: tuple[TargetCluster, ...]) -> None:
    """Take room for what a binding gets more than it holds, and give back what it no longer needs."""
    lists = scheduler.state.targets
    held, wanted = lists.indexed(binding.targets).replicas, lists.indexed(targets).replicas
    _take(scheduler, binding, _added(wanted, held))
    declared = scheduler.state.declared
    if held and declared:
        given_up = {position: count for position, count in _added(held, wanted).items() if declared >> position & 1}
        _take(scheduler, binding, given_up, sign=-1)


def _take(scheduler: Scheduler, binding: Binding, shares: Shares, sign: int = 1) -> None:
    """Take room for replicas, or for one full set of components in each cluster; give it back with a sign of -1."""
    capacity = scheduler.state.capacity
    for component in binding.components:
        capacity.take(component.requirements, dict.fromkeys(shares, component.replicas), sign)
    if not binding.components and binding.is_workload:
        capacity.take(binding.requirements, shares, sign)


def _added(wanted: Shares, held: Shares) -> Shares:
    """Return what clusters get more than they hold."""
    if not held:
        return wanted
    more = ((position, replicas - held.get(position, 0)) for position, replicas in wanted.items())
    return {position: count for position, count in more if count > 0 or position not in held}
