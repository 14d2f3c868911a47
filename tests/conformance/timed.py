"""Cases that step through time: instants, taints, conditions, targets and tasks as recorded, and back."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from render.binding import AggregatedStatusItem, GracefulEvictionTask
from render.cluster import ClusterCondition, Taint
from render.model import TargetCluster
from render.parsing import parse_binding
from render.parsing.binding_manifests import plain_eviction_task
from render.timing import parse_instant


def instant(text: str) -> datetime:
    found = parse_instant(text)
    assert found is not None, text
    return found


def requeue_seconds(due: datetime | None, now: datetime) -> float:
    """Return the seconds after which a controller of Karmada looks again; 0 asks for no timer."""
    return max((due - now).total_seconds(), 0.0) if due else 0.0


def condition_of(plain: dict[str, Any]) -> ClusterCondition:
    return ClusterCondition(
        type=plain["type"],
        status=plain["status"],
        reason=plain.get("reason") or "",
        message=plain.get("message") or "",
        since=plain.get("lastTransitionTime") or "",
    )


def plain_condition(condition: ClusterCondition) -> dict[str, Any]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": condition.since,
    }


def taints_of(plain: Iterable[dict[str, Any]] | None) -> tuple[Taint, ...]:
    return tuple(
        Taint(
            key=each["key"],
            value=each.get("value") or "",
            effect=each["effect"],
            time_added=each.get("timeAdded") or "",
        )
        for each in plain or ()
    )


def plain_taints(taints: Iterable[Taint]) -> list[dict[str, Any]] | None:
    """Return taints as recorded, where an empty list is null."""
    return [_plain_taint(each) for each in taints] or None


def _plain_taint(taint: Taint) -> dict[str, Any]:
    optional = {"value": taint.value, "timeAdded": taint.time_added}
    return {"key": taint.key, "effect": taint.effect} | {key: value for key, value in optional.items() if value}


def targets_of(plain: Iterable[dict[str, Any]] | None) -> tuple[TargetCluster, ...]:
    return tuple(TargetCluster(each["name"], each.get("replicas") or 0) for each in plain or ())


def plain_targets(targets: Iterable[TargetCluster]) -> list[dict[str, Any]] | None:
    return [{"name": each.name} | ({"replicas": each.replicas} if each.replicas else {}) for each in targets] or None


def tasks_of(plain: Iterable[dict[str, Any]] | None) -> tuple[GracefulEvictionTask, ...]:
    """Return the tasks, read as those of a binding."""
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "name": "any"}
    return parse_binding(
        {"metadata": {}, "spec": {"resource": resource, "gracefulEvictionTasks": plain}}
    ).eviction_tasks


def plain_tasks(tasks: Iterable[GracefulEvictionTask]) -> list[dict[str, Any]] | None:
    return list(map(plain_eviction_task, tasks)) or None


def items_of(plain: Iterable[dict[str, Any]] | None) -> tuple[AggregatedStatusItem, ...]:
    return tuple(
        AggregatedStatusItem(cluster=each["clusterName"], health=each.get("health") or "", status=each.get("status"))
        for each in plain or ()
    )
