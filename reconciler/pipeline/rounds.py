"""The rounds in which a pass schedules: until nothing leaves a cluster that no other cluster takes.

1. failover and the descheduler take from clusters what is not well there, and all is scheduled;
2. what they took and no other cluster takes is given back (``failover``, ``descheduling``);
3. so is a last copy that a taint, a label or a region of a cluster takes away (``render.scheduling.last_copies``);
4. what runs to completion and has begun keeps its division (``runs``);
5. with that, everything is decided again, until a round gives nothing back.

An edit of a template or its policy gives nothing back: somebody asked for that. Nor does a drain that allows it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from render.binding import Binding, GracefulEvictionTask
from render.cluster import Cluster, loses_last_copies
from render.failover.tasks import are_all_healthy, reported_health_by_cluster
from render.failover.workload import tasks_with_creation_times
from render.model import ObjectRef
from render.scheduling.last_copies import targets_kept_from_emptying
from render.settings.fleet import Fleet
from render.timing import Flip, instant_after

from .descheduling import Descheduling, deschedule_bindings, descheduling_with_places
from .eviction_notes import with_blocked_note, without_note
from .failover import (
    FailedOver,
    FailoverInputs,
    bindings_after_failover,
    blocked_evictions,
)
from .runs import RunsOfPass
from .schedules import Schedule
from .sight import sight_of
from .taints import TaintedClusters

_Clusters = Mapping[ObjectRef, tuple[str, ...]]


def schedule_in_rounds(
    runs: RunsOfPass,
    tainted: TaintedClusters,
    fleet: Fleet,
    inputs: FailoverInputs,
    schedule: Callable[[Sequence[Binding]], Schedule],
) -> tuple[FailedOver, Descheduling, Schedule]:
    """Take from clusters what is evicted or descheduled, and schedule the rest, but for what no other cluster takes."""
    blocked: dict[ObjectRef, tuple[str, ...]] = {}
    staying: dict[ObjectRef, tuple[str, ...]] = {}
    held = frozenset[ObjectRef]()
    sight = sight_of(tainted.clusters, fleet, inputs.health)
    while True:
        bindings, over = runs.bindings, runs.runs_that_are_over(held)
        failing = bindings_after_failover(
            [each for each in bindings if each.ref not in over], tainted, fleet, inputs, blocked
        )
        ended = map(without_note, (each for each in bindings if each.ref in over))
        begun = runs.with_targets_of_begun_runs((*failing.bindings, *ended), held)
        failing = replace(failing, bindings=tuple(_bindings_with_last_copies(begun, staying)))
        lowered = deschedule_bindings(
            failing.bindings, {*failing.left, *blocked, *staying, *held}, fleet, inputs, sight
        )
        lowered, found = descheduling_with_places(lowered, fleet, schedule)
        evicted = _without_allowed(blocked_evictions(failing, found, fleet), tainted.clusters)
        emptied = _last_copies_to_keep(found, fleet)
        moved = runs.begun_runs_that_would_move(found) - held
        if not evicted and not emptied and not moved:
            break
        held |= moved
        blocked |= evicted
        staying |= {ref: clusters for ref, clusters in emptied.items() if ref not in evicted}
    done = _with_task_ends(failing, found.bindings, fleet, inputs)
    if fleet.feature_gates.failover:
        done = _with_arrivals_at_taints(done, found.bindings, tainted.clusters, inputs.now)
    decided = (
        replace(each, staying=frozenset(), begun=()) if each.staying or each.begun else each for each in found.bindings
    )
    return done, lowered, replace(found, bindings=tuple(_bindings_with_task_times(decided, inputs.now)))


def _last_copies_to_keep(schedule: Schedule, fleet: Fleet) -> _Clusters:
    """Return what a pass would leave in no cluster, because of what its clusters have become, with these clusters."""
    if not fleet.failover.guard.keeps_last_copy:
        return {}
    state = schedule.scheduler.state
    found = (
        (binding.ref, targets_kept_from_emptying(state, binding, schedule.decisions[binding.ref]))
        for binding in schedule.undecided
        if not binding.staying
    )
    return {ref: clusters for ref, clusters in found if clusters}


def _without_allowed(blocked: _Clusters, clusters: Iterable[Cluster]) -> _Clusters:
    """Return what no other cluster takes, without the clusters that are drained of that as well."""
    losing = {cluster.name for cluster in clusters if loses_last_copies(cluster)}
    if not losing:
        return blocked
    kept = {ref: tuple(name for name in names if name not in losing) for ref, names in blocked.items()}
    return {ref: names for ref, names in kept.items() if names}


def _bindings_with_last_copies(bindings: Iterable[Binding], staying: _Clusters) -> Iterator[Binding]:
    """Yield bindings with the targets that they keep for want of others, and the note about these."""
    for binding in bindings:
        clusters = staying.get(binding.ref, ())
        yield with_blocked_note(replace(binding, staying=frozenset(clusters)), clusters, ()) if clusters else binding


def _with_task_ends(done: FailedOver, bindings: Iterable[Binding], fleet: Fleet, inputs: FailoverInputs) -> FailedOver:
    """Return a round with the waits for the ends of tasks that begin in it, given the bindings as they are scheduled.

    A task does not end in the pass that makes it; where healthy copies stand elsewhere already, the next one ends it.
    """
    waits, now = dict(done.waits), inputs.now
    for binding in bindings if now and done.left else ():
        begun = [task for task in binding.eviction_tasks if not task.creation_timestamp]
        reported = reported_health_by_cluster(inputs.health.of(binding.ref).reported)
        is_replaced = are_all_healthy((target.name for target in binding.targets), reported)
        ends = [_end_of_task(task, is_replaced, fleet, now) for task in begun if now and task.suppress_deletion is None]
        if ends:
            names = ", ".join(task.from_cluster for task in begun)
            flip = Flip(min(ends), f"{binding.ref.name} ends in {names}")
            waits[binding.ref] = min(flip, waits.get(binding.ref, flip))
    return replace(done, waits=waits)


def _with_arrivals_at_taints(
    done: FailedOver, bindings: Iterable[Binding], clusters: Iterable[Cluster], now: datetime | None
) -> FailedOver:
    """Return a round with waits for what it brings to clusters with evicting taints, which the next one judges."""
    tainted = {each.name for each in clusters if any(taint.effect == "NoExecute" for taint in each.taints)}
    if now is None or not tainted:
        return done
    before = {each.ref: {target.name for target in each.targets} for each in done.bindings}
    waits = dict(done.waits)
    for binding in bindings:
        names = tainted.intersection(each.name for each in binding.targets).difference(before.get(binding.ref, ()))
        if names:
            flip = Flip(instant_after(now, 1), f"{binding.ref.name} may leave {', '.join(sorted(names))}")
            waits[binding.ref] = min(flip, waits.get(binding.ref, flip))
    return replace(done, waits=waits)


def _end_of_task(task: GracefulEvictionTask, is_replaced: bool, fleet: Fleet, now: datetime) -> datetime:
    seconds = fleet.failover.grace_seconds if task.grace_period_seconds is None else task.grace_period_seconds
    return instant_after(now, 1 if is_replaced else seconds + 1)


def _bindings_with_task_times(bindings: Iterable[Binding], now: datetime | None) -> Iterator[Binding]:
    """Yield bindings whose tasks of this pass have its time, without what only this pass went by."""
    plain = (replace(each, unproven=frozenset()) if each.unproven else each for each in bindings)
    for binding in plain:
        if now is None or all(task.creation_timestamp for task in binding.eviction_tasks):
            yield binding
        else:
            yield replace(binding, eviction_tasks=tasks_with_creation_times(binding.eviction_tasks, now))
