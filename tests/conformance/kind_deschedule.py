"""The descheduler: which bindings it looks at, and what it takes from their clusters."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.model import TargetCluster
from render.parsing import parse_binding
from render.rescheduling.descheduling import is_deschedulable, targets_after_descheduling, targets_not_fully_ready

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    bound = parse_binding(given["binding"])
    selected = is_deschedulable(bound)
    if selected != expected["selected"]:
        return f"selected {selected}, not {expected['selected']}"
    targets, message = bound.targets, None
    try:
        if selected:
            ready = _ready_replicas((given["binding"].get("status") or {}).get("aggregatedStatus") or ())
            unschedulable = _unschedulable(given["estimators"] or (), targets_not_fully_ready(targets, ready))
            if result := targets_after_descheduling(targets, ready=ready, unschedulable=unschedulable):
                targets, message = result.targets, result.message
    except TypeError as error:
        return None if "panic" in expected else f"failed: {error}"
    if "panic" in expected:
        return f"{targets}, but Karmada fails"
    wanted = tuple(TargetCluster(each["name"], each.get("replicas") or 0) for each in expected["clusters"] or ())
    if targets != wanted:
        return f"{targets}, not {wanted}"
    return None if message == expected["message"] else f"{message}, not {expected['message']}"


def _ready_replicas(items: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the ready replicas that clusters report; a TypeError names one whose report is no number."""
    ready: dict[str, int] = {}
    for item in items:
        status = item.get("status")
        if not isinstance(status, Mapping) or "readyReplicas" not in status:
            continue
        count = status["readyReplicas"]
        if isinstance(count, bool) or not isinstance(count, int | float):
            raise TypeError(f"{item['clusterName']}: readyReplicas is no number")
        ready[item["clusterName"]] = int(count)
    return ready


def _unschedulable(estimators: Iterable[Mapping[str, Any]], clusters: Iterable[TargetCluster]) -> dict[str, int]:
    """Return the smallest answer for each cluster; an estimator that fails has none."""
    answers = [each["answers"] or {} for each in estimators if not each["error"]]
    counts = {
        target.name: [answer[target.name] for answer in answers if answer.get(target.name, -1) >= 0]
        for target in clusters
    }
    return {name: min(found) for name, found in counts.items() if found}
