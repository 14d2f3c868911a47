"""Application failover: timers, tasks and targets as a workload's health changes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from render.failover.application import (
    CLUSTER_SCOPED_PRODUCER,
    PRODUCER,
    FailingWorkload,
    FailoverGates,
    pass_of_application_failover,
)
from render.failover.eviction import Leaving

from . import Case
from .timed import instant, items_of, plain_targets, plain_tasks, targets_of, tasks_of


def check(case: Case) -> str | None:
    given = case["input"]
    workload = FollowedWorkload(given)
    for step, want in zip(given["steps"], case["expected"]["steps"], strict=True):
        workload.spec |= step.get("spec") or {}
        if "aggregatedStatus" in step:
            workload.reported = step["aggregatedStatus"]
        got = workload.looked_at(instant(step["now"]))
        error, recorded = got.pop("error"), want["error"]
        timers = {name: instant(text) for name, text in want["timers"].items()}
        if (bool(error), got) != (bool(recorded), {**_without_error(want), "timers": timers}):
            return f"at {step['now']}: {got} {error}, want {want}"
    return None


def _without_error(want: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in want.items() if key != "error"}


@dataclass
class FollowedWorkload:
    """A binding whose health is followed step by step."""

    given: dict[str, Any]
    timers: dict[str, datetime] = field(default_factory=dict)
    reported: list[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.spec = dict(self.given["binding"]["spec"])
        self.is_namespaced = self.given["binding"]["kind"] == "ResourceBinding"
        self.gates = FailoverGates(
            graceful_eviction=self.given["gates"]["GracefulEviction"],
            stateful_failover_injection=self.given["gates"]["StatefulFailoverInjection"],
        )

    def looked_at(self, now: datetime) -> dict[str, Any]:
        application = (self.spec.get("failover") or {}).get("application")
        follows = self.spec.get("propagateDeps") or not self.is_namespaced
        error, wait = "", 0
        if application is None or not self.reported or not follows or not self.given.get("healthInterpreter", True):
            self.timers = {}
        else:
            state = Leaving(targets_of(self.spec.get("clusters")), tasks_of(self.spec.get("gracefulEvictionTasks")))
            producer = PRODUCER if self.is_namespaced else CLUSTER_SCOPED_PRODUCER
            workload = FailingWorkload(
                state=state, reported=items_of(self.reported), application=application, producer=producer
            )
            done = pass_of_application_failover(workload, self.timers, now, self.gates)
            self.timers, error, wait = dict(done.timers), done.error, done.wait
            self.spec["clusters"] = plain_targets(done.state.targets)
            self.spec["gracefulEvictionTasks"] = plain_tasks(done.state.tasks)
        return {
            "clusters": self.spec.get("clusters") or None,
            "gracefulEvictionTasks": self.spec.get("gracefulEvictionTasks") or None,
            "timers": self.timers,
            "requeueAfterSeconds": wait,
            "error": error,
        }
