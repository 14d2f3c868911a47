"""Federation v1: its planner, its annotations, and the division of Deployments, ReplicaSets and Jobs.

The sums that it writes into the status of a federated object are not compared: nothing here is made of them.
"""

from typing import Any

from msgspec import to_builtins

from render.federations.decoding import WrongShape
from render.federations.federation_v1.annotations import (
    PREFERENCES,
    allocation_preferences_of,
    annotations_of,
    clusters_chosen_by_autoscaler,
    is_sent_to,
)
from render.federations.federation_v1.scheduling import (
    Scheduled,
    divided_as_federation_v1,
    job_shares,
    selected_clusters,
)
from tests.kubefed import labels_by_name

from . import Case
from .kind_kubefed_rsp import planned


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    got: Any = MODES[given["mode"]](given)
    want = {key: expected[key] for key in got}
    if "error" in got:
        want["error"] = bool(expected["error"])
    return None if got == want else f"{got}, want {want}"


def _plan(given: dict[str, Any]) -> dict[str, Any]:
    result = planned({**given["preferences"], "totalReplicas": given["replicas"]}, given)
    return {"plan": result["plan"], "overflow": result["overflow"]}


def _preferences(given: dict[str, Any]) -> dict[str, Any]:
    try:
        found = allocation_preferences_of(annotations_of(given["object"]), PREFERENCES["Deployment"])
    except WrongShape:
        return {"error": True}
    if found is None:
        return {"error": False, "preferences": None}
    clusters = {
        name: {"minReplicas": each.min_replicas, "maxReplicas": each.max_replicas, "weight": each.weight}
        for name, each in found.clusters.items()
    }
    shown = {"clusters": clusters if found.has_clusters else None, "rebalance": found.is_rebalanced}
    return {"error": False, "preferences": shown}


def _selector(given: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"send": is_sent_to(given["clusterLabels"], given["annotations"]), "error": False}
    except WrongShape:
        return {"error": True}


def _job(given: dict[str, Any]) -> dict[str, Any]:
    names = [each["name"] for each in given["clusters"]]
    return {"clusters": {name: to_builtins(each) for name, each in job_shares(given["object"], names).items()}}


def _workload(given: dict[str, Any]) -> dict[str, Any]:
    labels, members = labels_by_name(given["clusters"]), given.get("members") or {}
    try:
        selected_clusters(given["object"], labels)
    except WrongShape:
        return {"error": True, "stage": "selector"}
    try:
        found = divided_as_federation_v1(given["object"], labels, members)
    except WrongShape:
        return {"error": True, "stage": "schedule"}
    live = {name for name, member in members.items() if member.get("object")}
    return {
        "error": False,
        "selected": sorted(found.selected),
        "unselected": sorted(found.unselected),
        "hpaControlled": clusters_chosen_by_autoscaler(annotations_of(given["object"])) is not None,
        "clusters": {
            name: {"replicas": found.replicas[name], "operation": _operation(name, found, live)}
            for name in found.selected
        },
        "deletedFrom": sorted(live & set(found.unselected)),
    }


def _operation(name: str, found: Scheduled, live: set[str]) -> str:
    if name in live:
        return "update"
    return "none" if name in found.kept else "create"


MODES = {"plan": _plan, "preferences": _preferences, "selector": _selector, "job": _job, "workload": _workload}
