"""Cluster health: probes and heartbeats filtered into the Ready condition, and the taints that follow from it."""

from typing import Any

from render.cluster import ClusterCondition, Taint
from render.failover.health import (
    READY,
    HealthThresholds,
    Probed,
    condition_of_single_probe,
    ready_condition_after_probe,
    taints_with_those_of_ready,
)

from . import Case
from .heartbeats import GracePeriods, Heartbeat, SelfReport, ready_by_heartbeat
from .timed import condition_of, instant, plain_condition, plain_taints, taints_of


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    runs = _Pushed(given) if given["mode"] == "push" else _Pulled(given)
    for step, want in zip(given["steps"], expected["steps"], strict=True):
        runs.take(step)
        runs.taints = taints_with_those_of_ready(
            runs.taints, runs.ready.status if runs.ready else None, instant(step["now"])
        )
        got = {
            "error": None,
            "ready": plain_condition(runs.ready) if runs.ready else None,
            "taints": plain_taints(runs.taints),
        }
        if got != want:
            return f"at {step['now']}: {got}, want {want}"
    return None


class _Cluster:
    """A cluster whose health is followed step by step."""

    def __init__(self, given: dict[str, Any]) -> None:
        cluster, flags = given["cluster"], given["flags"]
        self.ready: ClusterCondition | None = _ready(cluster["status"].get("conditions"))
        self.taints: tuple[Taint, ...] = taints_of(cluster["spec"].get("taints"))
        self.thresholds = HealthThresholds(
            failure=flags.get("clusterFailureThresholdSeconds", 30),
            success=flags.get("clusterSuccessThresholdSeconds", 30),
        )
        self.grace = GracePeriods(
            heartbeat=flags.get("clusterMonitorGracePeriodSeconds", 40),
            startup=flags.get("clusterStartupGracePeriodSeconds", 60),
        )

    def take(self, step: dict[str, Any]) -> None:
        raise NotImplementedError


class _Pushed(_Cluster):
    """A cluster that is probed."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given)
        self.probed: Probed | None = None

    def take(self, step: dict[str, Any]) -> None:
        found = condition_of_single_probe(is_online=step["online"], is_healthy=step["healthy"])
        known = None if step.get("restart") else self.probed
        timed = ready_condition_after_probe(found, self.ready, known, instant(step["now"]), self.thresholds)
        self.ready, self.probed = timed.answer


class _Pulled(_Cluster):
    """A cluster that reports by itself."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given)
        self.created = instant(given["cluster"]["metadata"]["creationTimestamp"])
        self.is_probed = given["cluster"]["spec"].get("syncMode") == "Push"
        self.renewed = ""
        self.heartbeat: Heartbeat | None = None

    def take(self, step: dict[str, Any]) -> None:
        if "postedConditions" in step:
            self.ready = _ready(step["postedConditions"])
        if self.is_probed:  # the monitor leaves such clusters to their probes
            return
        self.renewed = step.get("leaseRenewTime", self.renewed)
        renewed = instant(self.renewed) if self.renewed else None
        report = SelfReport(created=self.created, condition=self.ready, renewed=renewed)
        timed = ready_by_heartbeat(report, self.heartbeat, instant(step["now"]), self.grace)
        self.ready, self.heartbeat = timed.answer


def _ready(conditions: list[dict[str, Any]] | None) -> ClusterCondition | None:
    return next((condition_of(each) for each in conditions or () if each["type"] == READY), None)
