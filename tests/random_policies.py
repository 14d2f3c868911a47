"""Random documents that decide what clusters get: by names, labels and fields of clusters, wave by wave, and when."""

import random
from typing import Any

from .build import a_cluster, a_cluster_policy, a_deployment, a_policy
from .simulation import DOWN

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
REGIONS = ("eu", "us", "")
SPACES = ("default", "shop", "web")
PARTS = ("0", "1")
"""Values of the label ``a`` of clusters, by which placements, overrides and waves choose them."""


def a_labelled_cluster(name: str, rng: random.Random) -> dict[str, Any]:
    """A cluster with room, in a region or none, with a label and perhaps a taint."""
    made = a_cluster(name, region=rng.choice(REGIONS), labels={"a": rng.choice(PARTS)})
    made["status"] = {"resourceSummary": {"allocatable": {"cpu": str(rng.randrange(3, 8)), "pods": "200"}}}
    if rng.random() < 0.2:
        made["spec"]["taints"] = [{"key": "full", "effect": rng.choice(("NoSchedule", "NoExecute"))}]
    return made


def an_affinity(rng: random.Random) -> dict[str, Any]:
    """Some clusters: by their names, their labels or their regions, or all but some."""
    in_region = {"key": "region", "operator": rng.choice(("In", "NotIn")), "values": [rng.choice(REGIONS[:2])]}
    affinities: tuple[dict[str, Any], ...] = (
        {"clusterNames": rng.sample(["m1", "m2", "m3"], 2)},
        {"labelSelector": {"matchLabels": {"a": rng.choice(PARTS)}}},
        {"labelSelector": {"matchExpressions": [{"key": "a", "operator": rng.choice(("Exists", "DoesNotExist"))}]}},
        {"fieldSelector": {"matchExpressions": [in_region]}},
        {"exclude": [rng.choice(["m1", "m4"])]},
    )
    return rng.choice(affinities)


def a_placement(rng: random.Random) -> dict[str, Any]:
    """A placement that labels, regions and taints of clusters decide."""
    weights = [{"targetCluster": an_affinity(rng), "weight": rng.randrange(1, 4)} for _ in range(2)]
    divided = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    by_region = [{"spreadByField": "region", "minGroups": 1, "maxGroups": rng.randrange(1, 3)}]
    by_region += [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]
    groups = [{"affinityName": name, **an_affinity(rng)} for name in ("first", "second")]
    tolerated = {"key": "full", "operator": "Exists", "tolerationSeconds": 600, "effect": "NoExecute"}
    placements: tuple[dict[str, Any], ...] = (
        {"clusterAffinity": an_affinity(rng)},
        {"clusterAffinity": an_affinity(rng), "clusterTolerations": [tolerated]},
        {
            "clusterAffinity": {},
            "replicaScheduling": {**divided, "weightPreference": {"staticWeightList": weights}},
        },
        {"clusterAffinity": {}, "spreadConstraints": by_region},
        {"clusterAffinities": groups},
    )
    return rng.choice(placements)


def a_policy_of_namespace(rng: random.Random) -> dict[str, Any]:
    """A PropagationPolicy: it comes before cluster-wide ones, and may take over what they claim."""
    space, number = rng.choice(SPACES), rng.randrange(24)
    labels = {"labelSelector": {"matchLabels": {"way": rng.choice(("static", "dynamic", "none", "spread"))}}}
    more: dict[str, Any] = {"suspension": {"dispatching": True}} if rng.random() < 0.1 else {}
    more |= {"preserveResourcesOnDeletion": True} if rng.random() < 0.1 else {}
    if rng.random() < 0.2:
        more["propagateDeps"] = True
        more["failover"] = {"application": {"decisionConditions": {"tolerationSeconds": 60}}}
    selector = {**DEPLOYMENT, **labels} if rng.random() < 0.7 else {**DEPLOYMENT, "name": f"app{number}"}
    if "name" in selector and rng.random() < 0.5:  # only what is named may be taken over
        more["preemption"] = "Always"
    name, placement = f"own{rng.randrange(2)}", a_placement(rng)
    return a_policy(name, namespace=space, selectors=[selector], placement=placement, priority=rng.randrange(3), **more)


def an_override_by_clusters(rng: random.Random) -> dict[str, Any]:
    """An override whose rules choose clusters in every way, of everything, of a kind, or of what has a label."""
    space = rng.choice(("", "", "shop", "web"))
    named = {"labelSelector": {"matchLabels": {rng.choice(("way", "extra")): rng.choice(("e1", "static", "dynamic"))}}}
    selectors: tuple[list[dict[str, Any]], ...] = (
        [DEPLOYMENT],
        [{**DEPLOYMENT, **named}],
        [DEPLOYMENT, {"apiVersion": "v1", "kind": "ConfigMap"}],
        [],
    )
    chosen = rng.choice(selectors)
    overriders = _overriders_of_deployments(rng) if chosen and len(chosen) == 1 else _overriders_of_everything(rng)
    targets = [{"targetCluster": an_affinity(rng)} if rng.random() < 0.9 else {} for _ in range(rng.randrange(1, 3))]
    metadata = {"name": f"by-clusters{rng.randrange(2)}", **({"namespace": space} if space else {})}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy" if space else "ClusterOverridePolicy",
        "metadata": metadata,
        "spec": {
            **({"resourceSelectors": chosen} if chosen else {}),
            "overrideRules": [{**target, "overriders": overriders} for target in targets],
        },
    }


def _overriders_of_everything(rng: random.Random) -> dict[str, Any]:
    kinds: tuple[dict[str, Any], ...] = (
        {"labelsOverrider": [{"operator": "add", "value": {"seen": f"s{rng.randrange(3)}"}}]},
        {"annotationsOverrider": [{"operator": "add", "value": {"note": f"n{rng.randrange(3)}"}}]},
    )
    return rng.choice(kinds)


def _overriders_of_deployments(rng: random.Random) -> dict[str, Any]:
    registry = {"component": "Registry", "operator": rng.choice(("add", "replace")), "value": rng.choice(("r1", "r2"))}
    environment = [{"name": "PLACE", "value": f"p{rng.randrange(3)}"}]
    path = "/spec/template/spec/containers/0/env"
    kinds: tuple[dict[str, Any], ...] = (
        {"imageOverrider": [registry]},
        {"plaintext": [{"path": path, "operator": "add", "value": environment}]},
        {"argsOverrider": [{"containerName": f"app{rng.randrange(24)}", "operator": "add", "value": ["--here"]}]},
        _overriders_of_everything(rng),
    )
    return rng.choice(kinds)


def a_rollout(rng: random.Random) -> dict[str, Any]:
    """A RolloutPolicy of a namespace, or one of all: in waves by a label, with a gate, and with a deadline or none."""
    name = f"rollout{rng.randrange(2)}"
    space = rng.choice(("", "shop", "web"))
    first = {"clusterAffinity": {"labelSelector": {"matchLabels": {"a": rng.choice(PARTS)}}}}
    waves = [{"name": "first", "allowEmpty": True, **first}, {"name": "rest", "rest": True, "allowEmpty": True}]
    if rng.random() < 0.3:
        waves[1]["maxConcurrent"] = 1
    gate = {"healthyFor": rng.choice(("0s", "10m"))} | ({"deadline": "20m"} if rng.random() < 0.3 else {})
    newer = {"onNewChange": rng.choice(("Supersede", "Wait", "Coalesce"))}
    selector = DEPLOYMENT if rng.random() < 0.5 else {**DEPLOYMENT, "name": f"app{rng.randrange(24)}"}
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RolloutPolicy" if space else "ClusterRolloutPolicy",
        "metadata": {"name": name, **({"namespace": space} if space else {})},
        "spec": {
            "resourceSelectors": [selector],
            "waves": waves,
            "gate": gate,
            "maxUnreachable": rng.choice((0, 5)),
            "onFailure": rng.choice(("Pause", "Rollback")),
            **newer,
        },
    }


def a_resilience(rng: random.Random) -> dict[str, Any]:
    """A ClusterResiliencePolicy: workloads have to survive the loss of a cluster or of a region."""
    survive = [{"loss": rng.choice(("cluster", "region")), "minReplicas": rng.choice(("50%", 1))}]
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "ClusterResiliencePolicy",
        "metadata": {"name": "survives"},
        "spec": {"resourceSelectors": [DEPLOYMENT], "survive": survive},
    }


def a_taint_policy(rng: random.Random) -> dict[str, Any]:
    """A ClusterTaintPolicy that taints clusters which are not ready, of all or of two."""
    targets = {"targetClusters": {"clusterNames": ["m1", "m2"]}} if rng.random() < 0.5 else {}
    return {**DOWN, "spec": {**DOWN["spec"], **targets}}


def a_rebalancer(rng: random.Random) -> dict[str, Any]:
    """A WorkloadRebalancer, by which a workload or two are scheduled anew."""
    numbers = rng.sample(range(24), rng.randrange(1, 3))
    workloads = [{**DEPLOYMENT, "name": f"app{number}", "namespace": SPACES[number % 3]} for number in numbers]
    return {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": f"again{rng.randrange(3)}"},
        "spec": {"workloads": workloads},
    }


def other_documents(rng: random.Random) -> list[dict[str, Any]]:
    """An object without a namespace, a workload that customizations count, and the policy that places both."""
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reads"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": rng.sample(["get", "list", "watch"], 2)}],
    }
    workload = a_deployment("sets", replicas=rng.randrange(6), namespace="shop")
    workload["kind"], workload["spec"]["serviceName"] = "StatefulSet", "sets"
    selectors = [{"apiVersion": each["apiVersion"], "kind": each["kind"]} for each in (role, workload)]
    return [
        role,
        workload,
        a_cluster_policy("others", selectors=selectors, placement={"clusterAffinity": an_affinity(rng)}),
    ]


def settings_at_random(rng: random.Random) -> dict[str, Any]:
    """Settings of argosy.yaml besides its guards: a gate, a reserve, and a freeze of two clusters until some time."""
    spec: dict[str, Any] = {"reserveCapacity": rng.random() < 0.5}
    if rng.random() < 0.4:
        spec["featureGates"] = {"Failover": True}
    if rng.random() < 0.2:
        freeze = {"reason": "audit", "clusters": ["m1", "m2"], "until": f"2026-03-02T{rng.randrange(8, 10):02}:30:00Z"}
        spec["rollouts"] = {"freezes": [freeze]}
    return spec
