"""Fleets made by chance, of which clusters may be lost: all ways to place objects, in clusters of every kind."""

import random
from typing import Any

from .build import a_cluster, a_cluster_policy, a_config_map, a_deployment
from .test_failover import DOWN, a_fleet

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
WAYS = ("copied", "static", "dynamic", "aggregated", "spread", "regions", "groups", "overflow", "apart", "together")


def random_files(rng: random.Random) -> dict[str, Any]:
    """The files of a fleet: up to nine clusters, some full, some tainted, and two dozen objects placed in every way."""
    names = [f"m{number}" for number in range(rng.randrange(3, 10))]
    settings: dict[str, Any] = {"featureGates": {"Failover": rng.random() < 0.5, "WorkloadAffinity": True}}
    if rng.random() < 0.2:
        settings["rescheduling"] = "Karmada"
    files: dict[str, Any] = {"argosy": a_fleet(**settings), **({"down": DOWN} if rng.random() < 0.5 else {})}
    files |= {name: random_cluster(name, rng) for name in names}
    files |= {f"policy-{way}": random_policy(way, names, rng) for way in WAYS}
    files |= {f"app{number}": random_workload(number, rng) for number in range(rng.randrange(6, 25))}
    files |= {f"settings{number}": a_config_map(f"settings{number}", x="y") for number in range(3)}
    held = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings0"}]
    files["maps"] = a_cluster_policy("maps", selectors=held, placement={"clusterAffinity": {"clusterNames": names[:2]}})
    if rng.random() < 0.4:
        files["quota"] = {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "FederatedResourceQuota",
            "metadata": {"name": "limit", "namespace": "default"},
            "spec": {"overall": {"cpu": str(rng.randrange(4, 20))}},
        }
    return files


def random_cluster(name: str, rng: random.Random) -> dict[str, Any]:
    """A cluster in some region and zones, whose room may be declared."""
    made = a_cluster(name, region=rng.choice(("eu", "us", "")), labels={"tier": rng.choice("ab")})
    made["spec"]["zones"] = rng.sample(["z1", "z2", "z3"], rng.randrange(3))
    made["spec"]["provider"] = rng.choice(("here", "there"))
    if rng.random() < 0.15:
        effect = rng.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
        made["spec"]["taints"] = [{"key": "maintained", "effect": effect}]
    if rng.random() < 0.6:
        room = {"cpu": str(rng.randrange(1, 12)), "pods": str(rng.randrange(5, 60))}
        made["status"] = {"resourceSummary": {"allocatable": room}}
    return made


def random_policy(way: str, names: list[str], rng: random.Random) -> dict[str, Any]:
    """A policy that places what is labelled with a way."""
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": rng.randrange(1, 4)} for name in names]
    static = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights},
    }
    half = rng.sample(names, (len(names) + 1) // 2)
    groups = [
        {"affinityName": "first", "clusterNames": half[:1]},
        {"affinityName": "then", "clusterNames": [name for name in names if name not in half[:1]]},
    ]
    tiers = [
        {
            "affinityName": "own",
            "clusterNames": half,
            "overflowAffinities": [{"affinityName": "more", "clusterNames": names}],
        }
    ]
    regions = [
        {"spreadByField": "region", "minGroups": 1, "maxGroups": 2},
        {"spreadByField": "cluster", "minGroups": 2, "maxGroups": 3},
    ]
    kept = {"affinity": {"groupByLabelKey": "group"}} if way == "together" else {}
    kept |= {"antiAffinity": {"groupByLabelKey": "group"}} if way == "apart" else {}
    placements: dict[str, dict[str, Any]] = {
        "copied": {"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "a"}}}},
        "static": {"clusterAffinity": {}, "replicaScheduling": static},
        "dynamic": {"clusterAffinity": {}, "replicaScheduling": DYNAMIC},
        "aggregated": {"clusterAffinity": {}, "replicaScheduling": AGGREGATED},
        "spread": {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]},
        "regions": {"spreadConstraints": regions, "replicaScheduling": DYNAMIC},
        "groups": {"clusterAffinities": groups, "replicaScheduling": rng.choice((DYNAMIC, static))},
        "overflow": {"clusterAffinities": tiers, "replicaScheduling": DYNAMIC},
        "apart": {"workloadAffinity": kept, "replicaScheduling": AGGREGATED},
        "together": {"workloadAffinity": kept, "replicaScheduling": AGGREGATED},
    }
    selectors = [
        {**each, "labelSelector": {"matchLabels": {"way": way}}}
        for each in (DEPLOYMENT, {**DEPLOYMENT, "kind": "StatefulSet"})
    ]
    failover: dict[str, Any] = {"failover": {"cluster": {}}} if rng.random() < 0.5 else {}
    return a_cluster_policy(
        way, selectors=selectors, placement=placements[way], propagateDeps=rng.random() < 0.4, **failover
    )


def random_workload(number: int, rng: random.Random) -> dict[str, Any]:
    """A Deployment or a StatefulSet that is held in some way and may need a config map."""
    made = a_deployment(f"app{number}", replicas=rng.randrange(7))
    made["kind"] = rng.choice(("Deployment", "Deployment", "StatefulSet"))
    made["metadata"]["labels"] = {"way": rng.choice((*WAYS, "dynamic", "none")), "group": rng.choice("xyz")}
    pod = made["spec"]["template"]
    pod["metadata"] = {**pod.get("metadata", {}), "labels": {**pod["metadata"]["labels"], "group": rng.choice("xyz")}}
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": rng.choice(("250m", "500m", "2"))}}
    if rng.random() < 0.5:
        pod["spec"]["volumes"] = [{"name": "v", "configMap": {"name": f"settings{rng.randrange(3)}"}}]
    return made
