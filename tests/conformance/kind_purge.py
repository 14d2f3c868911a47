"""Clusters that keep a copy while they are left, and the labels of preserved state in the new one."""

from render.failover.eviction import clusters_purged_directly, clusters_with_a_copy, labels_injected_into_only_target

from . import Case
from .timed import targets_of, tasks_of


def check(case: Case) -> str | None:
    given, want = case["input"], case["expected"]
    spec = given["spec"]
    targets, tasks = targets_of(spec.get("clusters")), tasks_of(spec.get("gracefulEvictionTasks"))
    required = [targets_of(each.get("clusters")) for each in spec.get("requiredBy") or ()]
    merged = dict.fromkeys(target.name for each in (targets, *required) for target in each)
    labels = given["templateLabels"] or {}
    has_gate = given["gates"]["StatefulFailoverInjection"]
    injected = labels_injected_into_only_target(list(merged), tasks) if has_gate else {}
    got = {
        "existingClusters": sorted(clusters_with_a_copy(targets, required, tasks)),
        "directlyPurgedClusters": sorted(clusters_purged_directly(tasks)),
        "workLabels": {name: {**labels, **injected} for name in merged},
    }
    return None if got == want else f"{got}, want {want}"
