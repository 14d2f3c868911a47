"""NoExecute taints: when a binding leaves a cluster, and by which task."""

from datetime import datetime
from typing import Any

from render.failover.eviction import Leaving, PreservationError
from render.failover.taint_eviction import (
    TaintedBinding,
    no_execute_taints,
    state_after_taint_eviction,
    time_of_taint_eviction,
)
from render.parsing import parse_binding

from . import Case
from .timed import instant, items_of, plain_targets, plain_tasks, requeue_seconds, taints_of

RETRY_SECONDS = 10


def check(case: Case) -> str | None:
    given = case["input"]
    workload = Evictable(given)
    taints: dict[str, Any] = {}
    for step, want in zip(given["steps"], case["expected"]["steps"], strict=True):
        taints |= {each["name"]: each["taints"] for each in step["clusters"]}
        names = [each["name"] for each in step["clusters"]]
        now = instant(step["now"])
        reconciled = [workload.reconciled(name, taints[name], now) for name in names]
        recorded = [{**each, "error": bool(each["error"])} for each in want["reconciled"]]
        got = {"clusters": plain_targets(workload.state.targets), "tasks": plain_tasks(workload.state.tasks)}
        if (got, reconciled) != ({"clusters": want["clusters"], "tasks": want["gracefulEvictionTasks"]}, recorded):
            return f"at {step['now']}: {got} {reconciled}, want {want}"
    return None


class Evictable:
    """A binding that leaves clusters step by step."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.binding = parse_binding(given["binding"])
        self.state = Leaving(self.binding.targets, self.binding.eviction_tasks)
        self.reported = items_of((given["binding"].get("status") or {}).get("aggregatedStatus"))
        self.is_enabled = given["flags"]["enableNoExecuteTaintEviction"]
        self.purge_mode = given["flags"].get("noExecuteTaintEvictionPurgeMode") or "Gracefully"
        self.has_state = (given.get("gates") or {}).get("StatefulFailoverInjection", False)

    def reconciled(self, name: str, plain: Any, now: datetime) -> dict[str, Any]:
        taints = no_execute_taints(taints_of(plain)) if self.is_enabled else ()
        got: dict[str, Any] = {"cluster": name, "error": False, "queue": "none"}
        got["requeueAfterSeconds"] = RETRY_SECONDS if taints else 0
        if not taints or name not in self.state.target_names:
            return got
        placement = self.binding.applied_placement
        at = None if placement is None else time_of_taint_eviction(taints, placement.cluster_tolerations)
        if placement is None or (at is not None and at <= now):
            return got | {"queue": "now", "error": placement is None or not self._left(name)}
        return got if at is None else got | {"queue": "after", "afterSeconds": requeue_seconds(at, now)}

    def _left(self, name: str) -> bool:
        tainted = TaintedBinding(
            state=self.state,
            failover=self.binding.failover,
            reported=self.reported,
            purge_mode=self.purge_mode,
            is_state_preserved=self.has_state,
        )
        try:
            self.state = state_after_taint_eviction(tainted, name)
        except PreservationError:
            return False
        return True
