"""Try one affinity group: filter the clusters, choose among them, assign replicas."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from render.bits import Mask, indexes_of_mask
from render.settings.switches import Rescheduling

from .decisions import Refusal, ScheduledReason, Trigger
from .filtering import FilterResult, refusal_of_no_fitting_cluster
from .replicas import Division, Shares
from .rules import AffinityGroup, Strategy, strategy_for_binding
from .spread import ClusterSelection, Extension, clusters_addable_to_current, select_clusters
from .state import PassState, Task

LOCALITY_SCORE = 100
NO_CLUSTERS = Refusal(ScheduledReason.SCHEDULER_ERROR, "no clusters available to schedule")


class Attempt(Struct, frozen=True, kw_only=True):
    """The attempt to schedule a binding with one affinity group.

    ``selection`` holds the candidates of spread constraints and ``division`` the replicas to divide, where the attempt
    got that far; ``selected`` are the chosen clusters. ``outcome`` are the shares, or the refusal.
    """

    group: AffinityGroup
    filters: FilterResult
    selection: ClusterSelection | None = None
    selected: Sequence[int] = ()
    division: Division | None = None
    outcome: Shares | Refusal


def attempt_with_group(
    state: PassState, task: Task, group: AffinityGroup, filters: FilterResult, trigger: Trigger
) -> Attempt:
    """Run a binding through selection and assignment with one affinity group, given what its filters let pass."""
    if not filters.feasible:
        refusal = refusal_of_no_fitting_cluster(filters, state.index)
        return Attempt(group=group, filters=filters, outcome=refusal)
    strategy = strategy_for_binding(task.binding, task.rules)
    selection, selected = _select_clusters(state, task, group, filters.feasible, trigger)
    if isinstance(selected, Refusal):
        refusal = selected.refusal_during_step("failed to select clusters")
        return Attempt(group=group, filters=filters, selection=selection, outcome=refusal)
    if not selected:
        refusal = NO_CLUSTERS.refusal_during_step("failed to assign replicas")
        return Attempt(group=group, filters=filters, selection=selection, outcome=refusal)
    tiers = _overflow_tiers_of_task(task, group)
    needs_room = bool(tiers) or strategy in {Strategy.DYNAMIC_WEIGHT, Strategy.AGGREGATED}
    division = Division(
        replicas=task.binding.replicas,
        strategy=strategy,
        selected=selected,
        capacity=room_of_each_cluster(state, task) if needs_room else (),
        current=task.current.replicas,
        is_fresh=task.binding.is_reschedule_requested,
        is_descending=task.is_descending,
        weights=task.rules.weights,
        tiers=tiers,
        is_whole=task.binding.is_whole and strategy not in {Strategy.DUPLICATED, Strategy.UNDIVIDED},
    )
    outcome = state.shares(division)
    if isinstance(outcome, Refusal):
        outcome = outcome.refusal_during_step("failed to assign replicas")
    return Attempt(
        group=group, filters=filters, selection=selection, selected=selected, division=division, outcome=outcome
    )


def room_of_each_cluster(state: PassState, task: Task) -> Sequence[int]:
    """Return how many replicas (or full sets of components) each cluster may get besides those it has already.

    A cluster that the descheduler just took some from gets none, and neither does one that nobody knows to be well when
    something is moved.
    """
    room, avoided = _free_room_of_each_cluster(state, task), task.binding.avoided | task.binding.unproven
    if not avoided:
        return room
    full = state.index.clusters_named(avoided)
    return [0 if full >> position & 1 else count for position, count in enumerate(room)]


def _free_room_of_each_cluster(state: PassState, task: Task) -> Sequence[int]:
    """Return how many replicas (or full sets of components) fit each cluster besides those it has already."""
    binding = task.binding
    if binding.components and is_set_in_one_cluster(task):
        return state.capacity.component_sets(binding.components)
    if binding.replicas == 0 and not binding.components:
        return state.unlimited
    return state.capacity.replicas(binding.requirements)


def is_set_in_one_cluster(task: Task) -> bool:
    """Say whether all components go to one cluster together: a spread constraint asks for exactly one cluster."""
    return bool(task.binding.components) and task.rules.placement.asks_for_one_cluster


def replicas_of_current_targets(state: PassState, task: Task) -> Mapping[int, int]:
    """Return what the current targets count as room for: their replicas, or the one set of components they run."""
    if not is_set_in_one_cluster(task):
        return task.current.replicas
    return dict.fromkeys(task.current.replicas, 1 if state.options.counts_current_sets else 0)


def _select_clusters(
    state: PassState, task: Task, group: AffinityGroup, feasible: Mask, trigger: Trigger
) -> tuple[ClusterSelection | None, Sequence[int] | Refusal]:
    spread = task.rules.spread
    if spread is None:
        return None, _all_feasible_clusters(state, task, group, feasible)
    if state.options.rescheduling is Rescheduling.SOURCE and trigger is Trigger.DUPLICATED_OR_NON_WORKLOAD:
        extension = clusters_addable_to_current(task.current.clusters, feasible, spread, state.index)
        if extension is not None:
            return None, [*task.current.replicas, *_best_clusters_to_add(state, task, group, extension)]
    available = _room_with_current_replicas(state, task)
    is_duplicated = task.rules.strategy is Strategy.DUPLICATED
    selection = ClusterSelection(
        candidates=_ordered_clusters(task, group, feasible, available),
        available=available,
        scores=dict.fromkeys(task.current.replicas, LOCALITY_SCORE),
        replicas=task.binding.replicas,
        is_duplicated=is_duplicated,
        # A set of components that goes to one cluster as a whole needs room once; one that does not needs none.
        needed=None if is_duplicated else 1 if is_set_in_one_cluster(task) else task.binding.replicas,
    )
    return selection, select_clusters(selection, spread, state.index)


def _best_clusters_to_add(state: PassState, task: Task, group: AffinityGroup, extension: Extension) -> list[int]:
    """Return the best clusters to add to the current targets; without room for one more no estimate is made."""
    if not extension.most or not extension.pool:
        return []
    return _ordered_clusters(task, group, extension.pool, _room_with_current_replicas(state, task))[: extension.most]


def _all_feasible_clusters(state: PassState, task: Task, group: AffinityGroup, feasible: Mask) -> Sequence[int]:
    """Return all feasible clusters, in Karmada's order where the outcome or its order depends on it."""
    options, strategy = state.options, strategy_for_binding(task.binding, task.rules)
    is_sorted_later = strategy in {Strategy.STATIC_WEIGHT, Strategy.DYNAMIC_WEIGHT}
    is_listed = strategy in {Strategy.DUPLICATED, Strategy.UNDIVIDED} or options.propagates_empty_workloads
    if (is_sorted_later or is_listed) and (options.lists_by_name or not is_listed):
        return state.index.indexes_in_mask(feasible)
    return _ordered_clusters(task, group, feasible, _room_with_current_replicas(state, task))


def _room_with_current_replicas(state: PassState, task: Task) -> Sequence[int]:
    """Return the room of each cluster, counting the replicas the binding has there already as room."""
    room, targets_now = room_of_each_cluster(state, task), replicas_of_current_targets(state, task)
    if not any(targets_now.values()):
        return room
    available = list(room)
    for position, replicas in targets_now.items():
        available[position] += replicas
    return available


def _ordered_clusters(task: Task, group: AffinityGroup, feasible: Mask, available: Sequence[int]) -> list[int]:
    tiers = [mask for _, mask in group.tiers()] if task.rules.is_grouped else [-1]
    return clusters_best_first(feasible, tiers=tiers, targets_now=task.current.clusters, available=available)


def _overflow_tiers_of_task(task: Task, group: AffinityGroup) -> Sequence[Mask]:
    if not task.rules.is_grouped or group.overflow is None:
        return ()
    return [mask for _, mask in group.tiers()]


def clusters_best_first(
    feasible: Mask, *, tiers: Iterable[Mask], targets_now: Mask, available: Sequence[int]
) -> list[int]:
    """Return feasible clusters best first.

    ``available`` counts replicas the binding has already as room, as Karmada does. A current target scores
    ``LOCALITY_SCORE``, any other cluster 0.
    """
    result: list[int] = []
    for tier in tiers:
        for part in (feasible & tier & targets_now, feasible & tier & ~targets_now):
            # A stable sort of ascending names keeps them ascending where equally much is available.
            result += sorted(indexes_of_mask(part), key=available.__getitem__, reverse=True)
    return result
