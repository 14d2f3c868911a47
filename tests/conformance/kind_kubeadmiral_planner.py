"""The planner of KubeAdmiral."""

from render.federations.kubeadmiral.planner import AdmiralWorkload, replica_plan
from render.federations.kubefed.preferences import preferences_by_cluster

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    division = AdmiralWorkload(
        replicas=given["totalReplicas"],
        key=given["key"],
        current=given.get("current") or {},
        estimated=given.get("estimatedCapacity") or {},
        limited=given.get("limitedCapacity") or {},
        avoids_moves=given.get("avoidDisruption", False),
        keeps_unschedulable=given.get("keepUnschedulableReplicas", False),
    )
    result = replica_plan(division, preferences_by_cluster(given["clusterPreferences"]), given["clusters"])
    got = {"error": None, "plan": dict(result.replicas), "overflow": dict(result.overflow)}
    return None if got == expected else f"{got}, want {expected}"
