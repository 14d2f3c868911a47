"""Leaving that is under way: it follows an edit of its policy, and ends where the copy that is left is healthy again.

Karmada's tasks keep what they began with, and end by their replacement or by time alone. Only tasks of the rules of
failover are looked at, never what somebody else wrote into a binding.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding, GracefulEvictionTask, LastMove
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.model import Manifest, TargetCluster
from render.placement import Placement, ReplicaSchedulingType
from render.timing import instant_text
from render.words import first_few

from .application import REASON as FAILURE
from .eviction import DIRECTLY, GRACEFULLY, NEVER, Leaving
from .moves import RECOVERED
from .taint_eviction import REASON as TAINT
from .tasks import HEALTHY, UNKNOWN_HEALTH

_Targets = tuple[TargetCluster, ...]

SETTLING = 60
"""The seconds for which a copy has to be healthy before it may go although it was to stay for ever."""


class Comeback(Struct, frozen=True):
    """Targets and tasks after copies came back that are healthy again, and the ``clusters`` of these copies."""

    state: Leaving
    clusters: tuple[str, ...] = ()


def task_by_current_policy(task: GracefulEvictionTask, failover: Manifest, purge_mode: str) -> GracefulEvictionTask:
    """Return a task as the policy asks for it by now; ``purge_mode`` is the fleet's for what taints evict.

    A policy that does not ask for failover any more leaves gracefully what is under way.
    """
    if task.reason == TAINT:
        own = failover.get("cluster")
        mode = purge_mode if own is None else own.get("purgeMode") or GRACEFULLY
        return replace(task, purge_mode=mode)
    if task.reason != FAILURE:
        return task
    application = failover.get("application")
    if application is None:
        return replace(task, purge_mode=GRACEFULLY, suppress_deletion=None, grace_period_seconds=None)
    mode = application.get("purgeMode") or ""
    return replace(
        task,
        purge_mode=mode,
        suppress_deletion=True if mode == NEVER else None,
        grace_period_seconds=application.get("gracePeriodSeconds") if mode == GRACEFULLY else None,
    )


def purges_what_it_kept(before: GracefulEvictionTask, after: GracefulEvictionTask) -> bool:
    """Say whether a task takes away at once what it kept before."""
    return after.purge_mode == DIRECTLY != before.purge_mode


def state_after_copies_came_back(
    state: Leaving, binding: Binding, health: Mapping[str, str], steady: Collection[str]
) -> Comeback:
    """Return targets and tasks without the tasks of failed copies that are healthy again.

    Such a copy is a target again with the replicas that it had, which targets give that are not healthy yet. Where
    every target runs all replicas, it is one beside them, or in place of one that is not healthy yet where only so many
    clusters may be targets. With affinity groups it is only where no target of the group in use is healthy. A target of
    which nobody knows whether it is healthy gives nothing. Where nobody needs the copy any more it may go, also one
    that was to stay for ever, once it has been ``steady`` in being healthy.
    """
    is_grouped = bool(binding.placement and binding.placement.cluster_affinities)
    back: list[str] = []
    for task in state.tasks:
        if task.reason != FAILURE or health.get(task.from_cluster) != HEALTHY:
            continue
        targets = None
        if not is_grouped:
            targets = _way_of_giving_back_a_target(binding, len(state.targets))(state.targets, task, health)
        elif all(_is_target_not_healthy(name, health) for name in state.target_names):
            targets = (
                _targets_with_former_one((), task, health)
                if _runs_whole_in_every_target(binding)
                else _targets_after_exchange_of_replicas(state.targets, task, health)
            )
        if targets is not None:
            others = tuple(each for each in state.tasks if each.from_cluster != task.from_cluster)
            state = Leaving(tuple(sorted(targets)), others)
            back.append(task.from_cluster)
        elif task.suppress_deletion and task.from_cluster in steady:
            ending = replace(task, suppress_deletion=None)
            state = Leaving(state.targets, tuple(ending if each is task else each for each in state.tasks))
    return Comeback(state, tuple(back))


def _way_of_giving_back_a_target(
    binding: Binding, count: int
) -> Callable[[_Targets, GracefulEvictionTask, Mapping[str, str]], _Targets | None]:
    """Return how targets of a binding, which are so many, make place for a copy that is healthy again."""
    if not _runs_whole_in_every_target(binding):
        return _targets_after_exchange_of_replicas
    constraints = binding.placement.spread_constraints if binding.placement else ()
    most = next((each.max_groups for each in constraints if each.spread_by_field == "cluster"), 0)
    return _targets_with_unhealthy_replaced if 0 < most <= count else _targets_with_former_one


def _is_target_not_healthy(name: str, health: Mapping[str, str]) -> bool:
    """Say whether a target is not healthy yet; nobody knows that of one whose health is unknown."""
    return health.get(name) not in {HEALTHY, UNKNOWN_HEALTH}


def _targets_with_former_one(targets: _Targets, task: GracefulEvictionTask, _health: Mapping[str, str]) -> _Targets:
    return (*targets, TargetCluster(task.from_cluster, task.replicas or 0))


def _targets_with_unhealthy_replaced(
    targets: _Targets, task: GracefulEvictionTask, health: Mapping[str, str]
) -> _Targets | None:
    """Return targets with the cluster of a task in place of one that is not healthy yet; None: each is."""
    giving = next((target for target in targets if _is_target_not_healthy(target.name, health)), None)
    return (
        _targets_with_former_one(tuple(each for each in targets if each is not giving), task, health)
        if giving
        else None
    )


def _targets_after_exchange_of_replicas(
    targets: _Targets, task: GracefulEvictionTask, health: Mapping[str, str]
) -> _Targets | None:
    """Return targets of which those that are not healthy gave their replicas to the cluster of a task; None: none."""
    wanted, after = task.replicas or 0, list[TargetCluster]()
    for target in targets:
        given = min(target.replicas, wanted) if _is_target_not_healthy(target.name, health) else 0
        wanted -= given
        if target.replicas > given or not given:
            after.append(TargetCluster(target.name, target.replicas - given))
    taken = (task.replicas or 0) - wanted
    return (*after, TargetCluster(task.from_cluster, taken)) if taken else None


def _runs_whole_in_every_target(binding: Binding) -> bool:
    """Say whether every target runs all replicas of an object, or all of its components."""
    is_whole = not binding.is_workload or bool(binding.components)
    return is_whole or binding.placement is None or _is_duplicated(binding.placement)


def _is_duplicated(placement: Placement) -> bool:
    scheduling = placement.replica_scheduling
    return scheduling is None or scheduling.type is ReplicaSchedulingType.DUPLICATED


def is_copied_everywhere(placement: Placement) -> bool:
    """Say whether a placement has all replicas run in every cluster that it selects, so that no other can take over."""
    return _is_duplicated(placement) and not placement.cluster_affinities and not placement.spread_constraints


def binding_with_comeback(
    binding: Binding, back: Sequence[str], left: Sequence[str], clusters: Sequence[Cluster], now: datetime
) -> Binding:
    """Return a binding with the record that it came back, and with the affinity group that it came back to."""
    message = f"it is healthy again in {first_few(back)}"
    times = binding.moved.times if binding.moved is not None else 1
    moved = LastMove(at=instant_text(now), clusters=tuple(left), reason=RECOVERED, message=message, times=times)
    index, groups = ClusterIndex(clusters), binding.placement.cluster_affinities if binding.placement else ()
    mask = index.clusters_named(back)
    group = next((each.name for each in groups if index.clusters_matching_affinity(each.affinity) & mask == mask), None)
    return replace(binding, moved=moved, observed_affinity=group or binding.observed_affinity)
