"""The life of graceful eviction tasks: what a workload left in a cluster stays until its replacement is healthy.

Task by task, in their order:

1. one without a time gets ``now``, and nothing else is looked at;
2. ``suppressDeletion`` decides where it is set: true keeps it for ever, false ends it;
3. it ends when more than its grace period, or the fleet's, has gone by;
4. it ends when the schedule is up to date and every target reports that it is healthy.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.binding import AggregatedStatusItem, GracefulEvictionTask
from render.timing import has_passed_since, instant_after, instant_text, parse_instant

HEALTHY, UNHEALTHY, UNKNOWN_HEALTH = "Healthy", "Unhealthy", "Unknown"
DEFAULT_GRACE_SECONDS = 600


class TaskPass(Struct, frozen=True, kw_only=True):
    """The tasks that stay, the clusters whose tasks ended, and when the next grace period does (None: none will)."""

    tasks: tuple[GracefulEvictionTask, ...]
    ended: tuple[str, ...]
    due: datetime | None


def tasks_after_one_look(
    tasks: Sequence[GracefulEvictionTask], now: datetime, *, is_replaced: bool, grace: float = DEFAULT_GRACE_SECONDS
) -> TaskPass:
    """Return the tasks after one look at them; ``is_replaced``: the schedule is up to date, and its targets healthy."""
    kept, ended, ends = [], [], []
    for task in tasks:
        created = parse_instant(task.creation_timestamp)
        seconds = grace if task.grace_period_seconds is None else task.grace_period_seconds
        if created is not None and _is_task_finished(task, has_passed_since(now, created, seconds) or is_replaced):
            ended.append(task.from_cluster)
            continue
        kept.append(task if created else replace(task, creation_timestamp=instant_text(now)))
        if task.suppress_deletion is None:
            ends.append(instant_after(created or now, seconds))
    return TaskPass(tasks=tuple(kept), ended=tuple(ended), due=min(ends, default=None))


def _is_task_finished(task: GracefulEvictionTask, is_due: bool) -> bool:
    return is_due if task.suppress_deletion is None else not task.suppress_deletion


def are_all_healthy(targets: Iterable[str], health_by_cluster: Mapping[str, str]) -> bool:
    """Say whether every target reports that it is healthy; without targets they are."""
    return all(health_by_cluster.get(name) == HEALTHY for name in targets)


def reported_health_by_cluster(items: Iterable[AggregatedStatusItem]) -> dict[str, str]:
    """Return the health that each cluster reports; of several items of one cluster the first counts."""
    found: dict[str, str] = {}
    for item in items:
        found.setdefault(item.cluster, item.health)
    return found
