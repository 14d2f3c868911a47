"""The life of graceful eviction tasks."""

from typing import Any

from render.failover.tasks import are_all_healthy, reported_health_by_cluster, tasks_after_one_look

from . import Case
from .timed import instant, items_of, plain_tasks, requeue_seconds, tasks_of


def check(case: Case) -> str | None:
    given = case["input"]
    spec, status = given["binding"]["spec"], given["binding"].get("status") or {}
    state: dict[str, Any] = {
        "aggregatedStatus": status.get("aggregatedStatus"),
        "schedulerObservedGeneration": status.get("schedulerObservedGeneration", 0),
        "generation": given["binding"]["metadata"].get("generation", 0),
        "gracefulEvictionTasks": spec.get("gracefulEvictionTasks"),
    }
    names = [each["name"] for each in spec.get("clusters") or ()]
    for step, want in zip(given["steps"], case["expected"]["steps"], strict=True):
        state |= {key: value for key, value in step.items() if key in state}
        is_observed = state["schedulerObservedGeneration"] == state["generation"]
        is_replaced = is_observed and are_all_healthy(
            names, reported_health_by_cluster(items_of(state["aggregatedStatus"]))
        )
        tasks, now = tasks_of(state["gracefulEvictionTasks"]), instant(step["now"])
        done = tasks_after_one_look(tasks, now, is_replaced=is_replaced, grace=given["gracefulEvictionTimeoutSeconds"])
        state["gracefulEvictionTasks"] = plain_tasks(done.tasks)
        is_stamped = any(not task.creation_timestamp for task in tasks)
        wait = requeue_seconds(done.due, now)
        got = {"error": None, "evicted": list(done.ended), "tasks": state["gracefulEvictionTasks"]}
        got["requeueAfterSeconds"] = (
            want["requeueAfterSeconds"] if abs(wait - want["requeueAfterSeconds"]) <= is_stamped + 1e-6 else wait
        )
        if got != {**want, "evicted": want["evicted"] or []}:
            return f"at {step['now']}: {got}, want {want}"
    return None
