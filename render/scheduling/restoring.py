"""Restore the split that an object had before: the targets of an earlier decision, as far as they are allowed now.

1. Clusters that the source has no more, or that a filter rejects, are left out. A cluster that has the object now may
   keep it as any current target may. How much room there is does not matter: the split is asked for as it was.
2. Divided replicas stand exactly as they stood. Those of clusters that are left out stay in, or go to, clusters that
   had none then, so that every other one has what it had; only where no such cluster takes them do these get more.
3. Where the object asks for other replicas than then, or its policy divides by other weights, the split is what the
   division starts from, as if it were the present one.
4. Copies, and objects without replicas, go where their policy sends them; where it chooses, the former ones stay.
5. Where only the share of one cluster is to stand again, the others divide what is left.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from render.binding import Binding
from render.bits import Mask
from render.former_split import FormerSplit
from render.model import TargetCluster
from render.placement import SpreadConstraint, SpreadField

from .decisions import SchedulingDecision, Trigger, decision_of_success
from .filtering import filter_clusters
from .rules import PlacementRules, Strategy, strategy_for_binding
from .scheduler import Scheduler, SchedulingCycle, affinity_groups_to_try
from .targets import TargetList

Decided = tuple[SchedulingCycle, SchedulingDecision]
"""The run of the scheduler that a decision is from, and the decision."""

_ANY = SpreadConstraint()


def cycle_and_decision_restoring(scheduler: Scheduler, binding: Binding, split: FormerSplit) -> Decided:
    """Return the decision by which a split stands again; where it cannot, the one that is due without it."""
    now = binding_looking_back(binding, split)
    names = names_allowed_again(scheduler, now)
    wanted = tuple(each for each in split.restored_targets if each.name in names)
    if wanted or (split.cluster and not split.restored_targets):
        rules = scheduler.state.task(now).rules
        strategy = strategy_for_binding(now, rules)
        is_copied = strategy in {Strategy.DUPLICATED, Strategy.UNDIVIDED} or bool(now.components)
        restore = _restored_copies if is_copied else _restored_shares
        found = restore(scheduler, now, wanted, split)
        if found is not None:
            cycle, decision = found
            success = decision_of_success(
                binding, Trigger.RESCHEDULE_TRIGGERED, decision.targets, decision.observed_affinity
            )
            return cycle, replace(success, has_components=decision.has_components)
    others = tuple(name for name in binding.reschedule_requests if name != split.request)
    return _cycle_and_decision(scheduler, replace(binding, restored=None, reschedule_requests=others))


def binding_looking_back(binding: Binding, split: FormerSplit) -> Binding:
    """Return a binding that nothing asks to reschedule, by the affinity group that a split was made with."""
    group = binding.observed_affinity if split.cluster else split.observed_affinity
    return replace(binding, restored=None, reschedule_requests=(), reschedule_triggered_at="", observed_affinity=group)


def names_allowed_again(scheduler: Scheduler, binding: Binding) -> frozenset[str]:
    """Return the names of the clusters that a binding may be in, by its affinity group in use and all filters."""
    task, index = scheduler.state.task(binding), scheduler.state.index
    feasible = filter_clusters(scheduler.state, task, affinity_groups_to_try(task)[0]).feasible
    return frozenset(name for number, name in enumerate(index.names) if feasible >> number & 1)


def _cycle_and_decision(scheduler: Scheduler, binding: Binding) -> Decided:
    cycle = scheduler.cycle(binding)
    return cycle, scheduler.decision(cycle)


def _restored_copies(scheduler: Scheduler, now: Binding, wanted: TargetList, split: FormerSplit) -> Decided | None:
    """Return where copies go if they had been in the former clusters until now; the policy alone chooses for one."""
    if split.cluster:
        return None
    strategy = strategy_for_binding(now, scheduler.state.task(now).rules)
    if strategy is Strategy.DUPLICATED and not now.components:
        wanted = tuple(TargetCluster(each.name, now.replicas) for each in wanted)
    cycle, decision = _cycle_and_decision(scheduler, replace(now, targets=wanted))
    return (cycle, decision) if decision.is_scheduled or decision.condition is None else None


def _restored_shares(scheduler: Scheduler, now: Binding, wanted: TargetList, split: FormerSplit) -> Decided | None:
    """Return the division in which clusters have what they had; None where that cannot be."""
    if split.cluster:
        return _restored_share_of_cluster(scheduler, now, wanted, split.cluster)
    is_same_demand = split.replicas == now.replicas and _are_weights_unchanged(now, split)
    if is_same_demand:
        names = _names_of(wanted)
        others = tuple(each for each in now.targets if each.name not in names)
        exact = _division_beside_fixed(scheduler, now, wanted, others=others, absent=names)
        if exact is not None:
            return exact
    scaled = replace(now, targets=wanted, applied_placement=None)
    if not is_same_demand:
        return _decided_unless_refused(scheduler, scaled)
    elsewhere = frozenset(scheduler.state.index.names) - _names_of(wanted)
    for each in (replace(scaled, absent_in=now.absent_in | elsewhere), scaled):
        found = _decided_unless_refused(scheduler, each)
        if found is not None and not _does_any_lose(wanted, found[1].targets):
            return found
    return None


def _decided_unless_refused(scheduler: Scheduler, binding: Binding) -> Decided | None:
    cycle, decision = _cycle_and_decision(scheduler, binding)
    return (cycle, decision) if decision.is_scheduled else None


def _does_any_lose(wanted: TargetList, targets: TargetList) -> bool:
    """Say whether a cluster gets less than is wanted for it, as spread constraints may choose others instead."""
    counts = {each.name: each.replicas for each in targets}
    return any(counts.get(each.name, 0) < each.replicas for each in wanted)


def _restored_share_of_cluster(scheduler: Scheduler, now: Binding, wanted: TargetList, name: str) -> Decided | None:
    fixed = tuple(TargetCluster(each.name, min(each.replicas, now.replicas)) for each in wanted)
    others = tuple(each for each in now.targets if each.name != name)
    return _division_beside_fixed(scheduler, now, fixed, others=others, absent=(name,))


def _division_beside_fixed(
    scheduler: Scheduler, now: Binding, fixed: TargetList, *, others: TargetList, absent: Iterable[str]
) -> Decided | None:
    """Return the decision in which some clusters have fixed shares, and ``others`` divide what is left, if they can."""
    rest = now.replicas - sum(each.replicas for each in fixed)
    if rest < 0:
        return None
    inner = replace(now, replicas=rest, targets=others, absent_in=now.absent_in | frozenset(absent))
    cycle = scheduler.cycle(inner)
    group = affinity_groups_to_try(cycle.task)[0]
    targets, affinity = (*fixed, *others), group.name if cycle.task.rules.is_grouped else ""
    if not rest:
        targets = fixed
    elif rest != sum(each.replicas for each in others) or not _names_of(others) <= names_allowed_again(
        scheduler, inner
    ):
        found = scheduler.decision(cycle)
        if not found.is_scheduled:
            return None
        targets, affinity = (*fixed, *found.targets), found.observed_affinity
    if not targets or _are_too_many(scheduler, targets, cycle.task.rules):
        return None
    return cycle, decision_of_success(now, Trigger.RESCHEDULE_TRIGGERED, targets, affinity)


def _names_of(targets: TargetList) -> frozenset[str]:
    return frozenset(each.name for each in targets)


def _are_weights_unchanged(now: Binding, split: FormerSplit) -> bool:
    """Say whether static weights, if there are any, are those by which a split was made."""
    scheduling, former = now.placement and now.placement.replica_scheduling, split.placement
    return former is None or scheduling == former.replica_scheduling or not _has_static_weights(now)


def _has_static_weights(now: Binding) -> bool:
    scheduling = now.placement.replica_scheduling if now.placement else None
    weights = scheduling.weight_preference if scheduling else None
    return weights is None or not weights.dynamic_weight


def _are_too_many(scheduler: Scheduler, targets: TargetList, rules: PlacementRules) -> bool:
    """Say whether clusters are more, or in more regions, than spread constraints allow."""
    if rules.spread is None:
        return False
    index, mask = scheduler.state.index, scheduler.state.index.clusters_named(each.name for each in targets)
    regions = _regions_of(mask, index.clusters_by_spread_value(SpreadField.REGION).values())
    region = rules.spread.get(SpreadField.REGION)
    most = rules.spread.get(SpreadField.CLUSTER, _ANY).max_groups
    if region is not None:
        return regions > region.max_groups or mask.bit_count() > max(most, regions)
    return mask.bit_count() > most


def _regions_of(mask: Mask, regions: Iterable[Mask]) -> int:
    return sum(1 for region in regions if region & mask)
