"""Leaving that is under way, as its policy asks for it by now, and the record of what leaves or comes back."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding, GracefulEvictionTask, LastMove
from render.cluster import Taint
from render.failover.application import REASON as FAILURE
from render.failover.application import toleration_seconds
from render.failover.eviction import Leaving
from render.failover.moves import moves_in_a_row
from render.failover.recovery import (
    SETTLING,
    Comeback,
    purges_what_it_kept,
    state_after_copies_came_back,
    task_by_current_policy,
)
from render.failover.tasks import HEALTHY, reported_health_by_cluster
from render.failover.workload import WorkloadHealth
from render.settings.failover import FailoverSettings
from render.timing import Flip, instant_after, instant_text
from render.words import first_few


class UnderWay(Struct, frozen=True, kw_only=True):
    """Targets and tasks as their policy asks for them by now.

    ``purged`` are the clusters whose copy goes at once because of that, ``flips`` when what was to stay may go.
    """

    state: Leaving
    purged: tuple[str, ...] = ()
    flips: tuple[Flip, ...] = ()


def under_way_by_current_policy(
    binding: Binding, state: Leaving, health: WorkloadHealth, settings: FailoverSettings, now: datetime
) -> UnderWay:
    """Return what is under way for a binding, where tasks follow their policy.

    A copy that is to go at once stays as it was asked for before, while no healthy one is known elsewhere.
    """
    if not state.tasks or not settings.guard.follows_policies:
        return UnderWay(state=state)
    word_by_cluster = reported_health_by_cluster(health.reported)
    is_needed = settings.guard.keeps_last_copy and HEALTHY not in map(word_by_cluster.get, state.target_names)
    tasks, purged = [], []
    for task in state.tasks:
        asked = task_by_current_policy(task, binding.failover or {}, settings.purge_mode)
        if purges_what_it_kept(task, asked):
            asked = task if is_needed else asked
            purged += [] if is_needed else [task.from_cluster]
        tasks.append(asked)
    flips = [
        Flip(instant_after(since, SETTLING), f"{binding.ref.name} ends in {task.from_cluster}")
        for task in tasks
        if task.suppress_deletion and (since := health.healthy_since.get(task.from_cluster))
    ]
    due = tuple(flip for flip in flips if flip.at > now)
    return UnderWay(state=replace(state, tasks=tuple(tasks)), purged=tuple(purged), flips=due)


def comeback_of(
    state: Leaving, binding: Binding, health: WorkloadHealth, settings: FailoverSettings, now: datetime
) -> Comeback:
    """Return targets and tasks without what has become healthy again where it was left, if tasks end by that."""
    if not state.tasks or not settings.guard.follows_policies:
        return Comeback(state)
    steady = {name for name, since in health.healthy_since.items() if instant_after(since, SETTLING) <= now}
    return state_after_copies_came_back(state, binding, reported_health_by_cluster(health.reported), steady)


def last_move_of_binding(
    binding: Binding,
    tasks: Sequence[GracefulEvictionTask],
    health: WorkloadHealth,
    taints: Mapping[str, Sequence[Taint]],
    now: datetime,
) -> LastMove:
    """Return the record of a binding's move out of the clusters of the tasks that begin with it."""
    clusters = tuple(task.from_cluster for task in tasks)
    reason = next((task.reason for task in tasks), "")
    if reason != FAILURE:
        untolerated = sorted({str(taint) for name in clusters for taint in taints.get(name, ())})
        message = f"it tolerates {', '.join(untolerated)} no longer" if untolerated else ""
        return LastMove(at=instant_text(now), clusters=clusters, reason=reason, message=message)
    seconds = toleration_seconds((binding.failover or {})["application"])
    since = [instant_text(health.unhealthy_since[name]) for name in clusters if name in health.unhealthy_since]
    well = max((time for name in clusters if (time := health.healthy_until.get(name))), default=None)
    message = f"it was not healthy since {min(since)}, for longer than {seconds} s" if since else ""
    times = moves_in_a_row(binding.moved, seconds, well, now)
    return LastMove(at=instant_text(now), clusters=clusters, reason=reason, message=message, times=times)


def moving_words(binding: Binding) -> str:
    """Return when an object was last evicted from clusters, and why; nothing where it never did."""
    moved = binding.moved
    if moved is None:
        return ""
    times = f", {moved.times} times in a row" if moved.times > 1 else ""
    message = f": {moved.message}" if moved.message else ""
    return f"It was evicted from {first_few(moved.clusters)} at {moved.at}{times} ({moved.reason}){message}"
