"""Whole stories: health, taints, evictions and application failover of one binding over many passes."""

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from render.binding import Binding
from render.cluster import ClusterCondition, Taint
from render.cluster_index import ClusterIndex
from render.failover.eviction import Leaving
from render.failover.health import READY, taints_with_those_of_ready
from render.failover.taint_eviction import TaintedBinding
from render.failover.taint_policies import taints_after_policies
from render.failover.workload import (
    FailoverRules,
    WorkloadHealth,
    pass_of_failover_by_policy,
    pass_of_taint_eviction,
    tasks_that_stay,
)
from render.parsing import parse_binding, parse_cluster, parse_cluster_taint_policy

from . import Case
from .timed import instant, items_of, plain_taints, plain_targets, plain_tasks, targets_of


def check(case: Case) -> str | None:
    story = _Story(case["input"])
    for step, want in zip(case["input"]["steps"], case["expected"]["steps"], strict=True):
        got = story.passed(step)
        timers = {name: instant(text) for name, text in want["timers"].items()}
        if got != {**want, "timers": timers}:
            return f"at {step['now']}: {got}, want {want}"
    return None


class _Story:
    """One binding and its clusters, from pass to pass."""

    def __init__(self, given: dict[str, Any]) -> None:
        manifest = given["binding"]
        self.binding: Binding = parse_binding(manifest)
        self.state = Leaving(self.binding.targets, self.binding.eviction_tasks)
        self.generation = manifest["metadata"]["generation"]
        self.observed = manifest["status"]["schedulerObservedGeneration"]
        index = ClusterIndex(parse_cluster(each) for each in given["clusters"])
        self.names = [each["metadata"]["name"] for each in given["clusters"]]
        self.taints: dict[str, tuple[Taint, ...]] = {each.name: each.taints for each in index.clusters}
        self.policies = [parse_cluster_taint_policy(each) for each in given["clusterTaintPolicies"]]
        flags = given["flags"]
        self.is_evicting = flags["enableNoExecuteTaintEviction"]
        self.rules = FailoverRules(grace_seconds=flags["gracefulEvictionTimeoutSeconds"])
        self.timers: dict[str, datetime] = {}

    def passed(self, step: dict[str, Any]) -> dict[str, Any]:
        now = instant(step["now"])
        reported = [each for each in step["aggregatedStatus"] or () if each["clusterName"] in self.state.target_names]
        for name in self.names:
            self._taint(name, step["ready"][name], now)
        got: dict[str, Any] = {"taints": {name: plain_taints(self.taints[name]) for name in self.names}}
        self._end_tasks(reported, now)
        got["afterGraceful"] = self._plain()
        for name in self.names if self.is_evicting else ():
            tainted = TaintedBinding(state=self.state, failover=self.binding.failover, purge_mode="Gracefully")
            self._become(pass_of_taint_eviction(tainted, self.binding, {name: self.taints[name]}, now).state)
        got["afterTaintEviction"] = self._plain()
        health = WorkloadHealth(reported=items_of(reported), unhealthy_since=self.timers)
        failed = pass_of_failover_by_policy(self.state, self.binding, health, now, self.rules)
        self.timers = dict(failed.timers)
        self._become(failed.state)
        got["afterApplicationFailover"] = self._plain()
        if "scheduler" in step:
            self._become(replace(self.state, targets=targets_of(step["scheduler"]["clusters"])))
            self.observed = self.generation
        if any(not task.creation_timestamp for task in self.state.tasks):
            self._end_tasks(reported, now)
        return got | {"end": self._plain(), "timers": self.timers}

    def _taint(self, name: str, ready: str, now: datetime) -> None:
        taints = taints_with_those_of_ready(self.taints[name], ready, now)
        conditions = [ClusterCondition(type=READY, status=ready)]
        self.taints[name] = taints_after_policies(taints, conditions, self.policies, now)

    def _end_tasks(self, reported: list[dict[str, Any]], now: datetime) -> None:
        health = WorkloadHealth(reported=items_of(reported), is_observed=self.observed == self.generation)
        if self.state.tasks:
            self._become(replace(self.state, tasks=tasks_that_stay(self.state, health, now, self.rules).tasks))

    def _become(self, state: Leaving) -> None:
        self.generation += state != self.state
        self.state = state

    def _plain(self) -> dict[str, Any]:
        return {
            "clusters": plain_targets(self.state.targets),
            "generation": self.generation,
            "gracefulEvictionTasks": plain_tasks(self.state.tasks),
        }
