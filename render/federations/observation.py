"""The state of members as a planner takes it: replicas that run, and the room that unschedulable pods tell of.

The rule is ``podanalyzer`` and ``clustersReplicaState`` of KubeFed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .decoding import WrongShape

UNSCHEDULABLE_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The replicas that run by cluster, the room where it is known, and whether to look again soon."""

    current: Mapping[str, int]
    capacity: Mapping[str, int]
    is_unsettled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """Counts over the pods of one workload; ``recent`` ones have been unschedulable for less than a minute."""

    running: int = 0
    unschedulable: int = 0
    recent: int = 0


def counted_pods(pods: Sequence[Mapping[str, Any]]) -> Pods:
    """Count pods ``{phase, conditions}``: one that is Running counts if it has a Ready condition, of any status."""
    running = unschedulable = recent = 0
    for pod in pods:
        conditions = pod.get("conditions") or []
        if pod.get("phase") == "Running":
            running += any(condition.get("type") == "Ready" for condition in conditions)
            continue
        for condition in conditions:
            if (condition.get("type"), condition.get("status"), condition.get("reason")) == (
                "PodScheduled",
                "False",
                "Unschedulable",
            ):
                if condition.get("ageSeconds", 0) > UNSCHEDULABLE_SECONDS:
                    unschedulable += 1
                else:
                    recent += 1
    return Pods(running=running, unschedulable=unschedulable, recent=recent)


def observed(members: Mapping[str, Mapping[str, Any]], clusters: Sequence[str]) -> Observed:
    """Return what members ``{object, pods}`` tell of their workloads; a cluster without the workload tells nothing.

    WrongShape for a workload without ``spec.selector.matchLabels`` whose pods would have to be counted.
    """
    current: dict[str, int] = {}
    capacity: dict[str, int] = {}
    is_unsettled = False
    for name in clusters:
        member = members.get(name)
        if member is None or not member.get("object"):
            continue
        workload = member["object"]
        replicas = workload.get("spec", {}).get("replicas", 0)
        ready = workload.get("status", {}).get("readyReplicas", 0)
        if replicas == ready:
            current[name] = ready
            continue
        selector = workload.get("spec", {}).get("selector", {}).get("matchLabels")
        if not selector:
            raise WrongShape("spec.selector.matchLabels is missing from the workload")
        pods = counted_pods(
            [pod for pod in member.get("pods") or [] if selector.items() <= (pod.get("labels") or {}).items()]
        )
        current[name] = pods.running
        is_unsettled = pods.recent > 0
        if pods.unschedulable > 0:
            capacity[name] = replicas - pods.unschedulable
    return Observed(current=current, capacity=capacity, is_unsettled=is_unsettled)
