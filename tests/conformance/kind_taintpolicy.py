"""ClusterTaintPolicies: the taints of one cluster as its conditions change."""

from render.cluster_index import ClusterIndex
from render.failover.taint_policies import taints_after_policies
from render.parsing import parse_cluster, parse_cluster_taint_policy

from . import Case
from .timed import condition_of, instant, plain_taints, taints_of


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    member = parse_cluster(given["cluster"])
    index = ClusterIndex([member])
    policies = [parse_cluster_taint_policy(each) for each in given["clusterTaintPolicies"]]
    policies = [each for each in policies if each.targets is None or index.clusters_matching_affinity(each.targets)]
    conditions, taints = given["cluster"]["status"].get("conditions"), member.taints
    for step, want in zip(given["steps"], expected["steps"], strict=True):
        conditions = step.get("conditions", conditions)
        taints = taints_of(step["taints"]) if "taints" in step else taints
        before = taints
        taints = taints_after_policies(before, map(condition_of, conditions or ()), policies, instant(step["now"]))
        got = {"changed": taints != before, "error": None, "taints": plain_taints(taints)}
        if got != want:
            return f"at {step['now']}: {got}, want {want}"
    return None
