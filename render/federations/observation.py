"""The state of members as a planner takes it: replicas that run, and the room that unschedulable pods tell of.

The rule is ``podanalyzer`` and ``clustersReplicaState`` of KubeFed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from .decoding import WrongShape

UNSCHEDULABLE_SECONDS = 60


class Observed(Struct, frozen=True, kw_only=True):
    """The replicas that run by cluster, the room where it is known, and whether to look again soon."""

    current: Mapping[str, int]
    capacity: Mapping[str, int]
    is_unsettled: bool


class Pods(Struct, frozen=True, kw_only=True):
    """Counts over the pods of one workload; ``recent`` ones have been unschedulable for less than a minute."""

    running: int
    unschedulable: int
    recent: int


def counts_of_pods(pods: Sequence[Mapping[str, Any]]) -> Pods:
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


Selects = Callable[[Mapping[str, str]], bool]


def selection_by_match_labels(workload: Mapping[str, Any]) -> Selects:
    """Return what says of the labels of a pod whether it belongs to a workload; WrongShape without ``matchLabels``."""
    selector = workload.get("spec", {}).get("selector", {}).get("matchLabels")
    if not selector:
        raise WrongShape("spec.selector.matchLabels is missing from the workload")
    return lambda labels: bool(selector.items() <= labels.items())


def _number_in_workload(workload: Mapping[str, Any], part: str, field: str) -> int:
    """Return a number of a workload, 0 where it has none; WrongShape for anything else."""
    count = workload.get(part, {}).get(field, 0)
    if type(count) is not int:
        raise WrongShape(f"{part}.{field} of the workload is not a whole number")
    return count


def observed_division(
    members: Mapping[str, Mapping[str, Any]],
    clusters: Sequence[str],
    pods_of: Callable[[Mapping[str, Any]], Selects] = selection_by_match_labels,
) -> Observed:
    """Return what members ``{object, pods}`` tell of their workloads; a cluster without the workload tells nothing.

    ``pods_of`` returns the selection of a workload's pods, or raises WrongShape; it is asked only where replicas are
    not ready and pods have to be counted.
    """
    current: dict[str, int] = {}
    capacity: dict[str, int] = {}
    is_unsettled = False
    for name in clusters:
        member = members.get(name)
        if member is None or not member.get("object"):
            continue
        workload = member["object"]
        replicas, ready = (
            _number_in_workload(workload, "spec", "replicas"),
            _number_in_workload(workload, "status", "readyReplicas"),
        )
        if replicas == ready:
            current[name] = ready
            continue
        is_its_own = pods_of(workload)
        pods = counts_of_pods([pod for pod in member.get("pods") or [] if is_its_own(pod.get("labels") or {})])
        current[name] = pods.running
        is_unsettled = pods.recent > 0
        if pods.unschedulable > 0:
            capacity[name] = replicas - pods.unschedulable
    return Observed(current=current, capacity=capacity, is_unsettled=is_unsettled)
