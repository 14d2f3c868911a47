"""Clusters that keep a copy while they are left, and the labels of preserved state in the new one."""

from render.failover.eviction import directly_purged, existing_clusters, injected_labels

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
    injected = injected_labels(list(merged), tasks) if has_gate else {}
    got = {
        "existingClusters": sorted(existing_clusters(targets, required, tasks)),
        "directlyPurgedClusters": sorted(directly_purged(tasks)),
        "workLabels": {name: {**labels, **injected} for name in merged},
    }
    return None if got == want else f"{got}, want {want}"
