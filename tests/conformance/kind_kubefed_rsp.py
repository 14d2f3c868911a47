"""Replica scheduling preferences of KubeFed: the planner alone, and what its controller writes."""

from copy import deepcopy
from typing import Any

from render.federations.kubefed.placement import RegisteredClusters
from render.federations.kubefed.preferences import PreferenceInputs, division_of_preference, preferences_by_cluster
from render.federations.planner import PlannedWorkload, replica_plan_of_workload
from tests.kubefed import labels_by_name

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    if given["mode"] == "plan":
        got = planned(given["spec"], given)
        want = {"plan": expected["plan"], "overflow": expected["overflow"], "result": expected["result"]}
        return None if got == want else f"{got}, want {want}"
    return _reconciled(given, expected)


def _reconciled(given: dict[str, Any], expected: dict[str, Any]) -> str | None:
    inputs = PreferenceInputs(
        preference=given["rsp"],
        federated=given["federatedObject"],
        federated_namespace=given["federatedNamespace"],
        federation=RegisteredClusters(
            labels_by_cluster=labels_by_name(each for each in given["clusters"] if each.get("ready")),
            is_limited=given.get("limitedScope", False),
        ),
        members=given.get("members") or {},
    )
    result = division_of_preference(inputs, kind=given["typeConfig"])
    got: dict[str, Any] = {"status": result.status, "updated": result.federated is not None}
    if "result" in expected:
        got["result"] = result.replicas
    if result.federated is not None:
        rest = deepcopy(result.federated)
        got["overrides"] = rest["spec"].pop("overrides")
        got["placementClusters"] = [each["name"] for each in rest["spec"]["placement"].pop("clusters")]
        got["rest"] = rest
    want = {key: value for key, value in expected.items() if key != "errors"}
    return None if got == want else f"{got}, want {want}"


def planned(spec: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    workload = PlannedWorkload(
        replicas=spec.get("totalReplicas", 0),
        key=given["key"],
        current=given["current"],
        capacity=given["capacity"],
        is_rebalanced=spec.get("rebalance", False),
    )
    result = replica_plan_of_workload(workload, preferences_by_cluster(spec.get("clusters")), given["clusters"])
    totals = result.total_replicas_by_cluster | {
        name: 0 for name in given["current"] if name not in result.total_replicas_by_cluster
    }
    return {"plan": dict(result.replicas), "overflow": dict(result.overflow), "result": totals}
