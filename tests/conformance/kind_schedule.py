"""Whole scheduling runs: trigger, every attempt with every failing filter, targets, condition and what is recorded."""

import json
from typing import Any

from msgspec.structs import replace

from render.binding import Binding
from render.bits import indexes_of_mask
from render.cluster_index import ClusterIndex
from render.parsing import SharedPlacements, parse_binding, parse_cluster
from render.placement import Placement
from render.scheduling.attempts import Attempt, room_of_each_cluster
from render.scheduling.decisions import Refusal
from render.scheduling.filtering import rejections_by_filter
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler, SchedulingCycle

from . import Case

ERROR_TYPES = {"NoClusterFit": "FitError", "Unschedulable": "UnschedulableError", "SchedulerError": "Error"}


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    options = replace(
        SchedulingOptions.karmada(), propagates_empty_workloads=bool(given.get("enableEmptyWorkloadPropagation"))
    )
    scheduler = Scheduler(ClusterIndex(map(parse_cluster, given["clusters"])), options)
    bound = parse_binding(given["binding"])
    cycle = scheduler.cycle(bound)
    decision = scheduler.decision(cycle)
    got = {
        "trigger": cycle.trigger.value,
        "available": _available(scheduler, bound),
        "attempts": [_attempt(each, scheduler) for each in cycle.attempts],
        "order": [target.name for target in decision.targets],
        "clusters": {target.name: target.replicas for target in decision.targets},
        "observedAffinityName": decision.observed_affinity,
        "condition": decision.condition and (decision.condition.status, decision.condition.reason),
        "message": decision.condition and decision.condition.message,
        "appliedPlacement": decision.applied_placement,
        "error": _error(cycle),
    }
    want = _wanted(expected, bound)
    different = [name for name in got if want[name] is not ... and got[name] != want[name]]
    return "; ".join(f"{name} {got[name]}, want {want[name]}" for name in different) or None


def _available(scheduler: Scheduler, bound: Binding) -> dict[str, int]:
    room = room_of_each_cluster(scheduler.state, scheduler.state.task(bound))
    return dict(zip(scheduler.state.index.names, room, strict=True))


def _attempt(attempt: Attempt, scheduler: Scheduler) -> dict[str, Any]:
    index = scheduler.state.index
    filtered: dict[str, list[tuple[str, str]]] = {}
    for each in rejections_by_filter(attempt.filters, index):
        for position in indexes_of_mask(each.clusters):
            filtered.setdefault(index.names[position], []).append((each.plugin, each.reason))
    refusal = attempt.outcome if isinstance(attempt.outcome, Refusal) else None
    return {
        "affinity": attempt.group.name,
        "feasible": [index.names[position] for position in indexes_of_mask(attempt.filters.feasible)],
        "filtered": {name: sorted(reasons) for name, reasons in filtered.items()},
        "errorType": refusal and ERROR_TYPES[refusal.reason],
    }


def _error(cycle: SchedulingCycle) -> str | None:
    """Karmada retries what failed otherwise than by no cluster fitting."""
    failed = cycle.success is None and cycle.refusal is not None
    if not failed or cycle.refusal is None or cycle.refusal.reason == "NoClusterFit":
        return None
    return ERROR_TYPES[cycle.refusal.reason]


def _applied(text: str, bound: Binding) -> Placement | None:
    """A text that cannot be read stays; it counts as the placement of now."""
    try:
        return SharedPlacements().of(json.loads(text)) if text else None
    except ValueError:
        return bound.placement


def _wanted(expected: dict[str, Any], bound: Binding) -> dict[str, Any]:
    condition = expected["condition"]
    is_random = "filter-order-random" in expected.get("flags", ())
    return {
        "trigger": expected["trigger"],
        "available": expected["available"],
        "attempts": [_wanted_attempt(each) for each in expected["attempts"]],
        "order": expected["order"] if expected["order"] is not None else ...,
        "clusters": {each["name"]: each["replicas"] for each in expected["clusters"]},
        "observedAffinityName": expected["observedAffinityName"],
        "condition": condition and (condition["status"], condition["reason"]),
        # Which of a cluster's reasons Karmada names is random; the reasons themselves are compared above.
        "message": ...
        if is_random and condition and condition["message"] is None
        else condition and condition["message"],
        "appliedPlacement": _applied(expected["appliedPlacement"], bound),
        "error": expected["errorType"],
    }


def _wanted_attempt(expected: dict[str, Any]) -> dict[str, Any]:
    return {
        "affinity": expected["affinity"],
        "feasible": sorted(expected["feasible"] or ()),
        "filtered": {
            name: sorted((each["plugin"], each["reason"]) for each in reasons)
            for name, reasons in (expected["filtered"] or {}).items()
        },
        "errorType": expected["errorType"],
    }
