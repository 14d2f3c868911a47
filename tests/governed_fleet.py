"""A fleet with a policy of each kind that neither places nor overrides, and changes that wait by some of them."""

from pathlib import Path
from typing import Any

from .build import a_deployment
from .memory_fleet import MemoryFleet
from .paged import a_shown_fleet

_OURS, _KARMADA = "argosy.dev/v1alpha1", "policy.karmada.io/v1alpha1"


def _object(api: str, kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


_DEPLOYMENTS = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
_WEB = [{**_DEPLOYMENTS[0], "name": "web"}]
_OF_EUROPE = {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}
_WAVES = [
    {"name": "canary", "clusterAffinity": {"clusterNames": ["paris"]}, "approval": True},
    {"name": "eu", "clusterAffinity": _OF_EUROPE, "maxConcurrent": 1, "allowEmpty": True},
]
_CONDITION = {"conditionType": "Ready", "statusValues": ["True"]}
_EXPECTED = {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web", "clusters": ["berlin"]}
_CALENDAR = {
    "freezes": [{"until": "2030-01-02T00:00:00Z", "reason": "the holidays", "namespaces": ["jobs"]}],
    "windows": [{"days": ["Mon"], "from": "09:00", "to": "17:00", "kinds": ["ConfigMap"]}],
}

FILES = {
    "rollout.yaml": _object(
        _OURS,
        "RolloutPolicy",
        "web",
        {"resourceSelectors": _WEB, "waves": _WAVES, "gate": {"healthyFor": "10m", "deadline": "1h"}},
        "shop",
    ),
    "rollouts.yaml": _object(
        _OURS,
        "ClusterRolloutPolicy",
        "all",
        {
            "resourceSelectors": _DEPLOYMENTS,
            "waves": [{"name": "one", "clusterAffinity": {"clusterNames": ["berlin", "paris"]}, "size": 1}],
        },
    ),
    "resilience.yaml": _object(
        _OURS,
        "ClusterResiliencePolicy",
        "regions",
        {"resourceSelectors": _DEPLOYMENTS, "survive": [{"loss": "region", "minReplicas": "50%"}]},
    ),
    "taint.yaml": _object(
        _KARMADA,
        "ClusterTaintPolicy",
        "down",
        {
            "targetClusters": {"clusterNames": ["oregon", "paris"]},
            "addOnConditions": [{**_CONDITION, "operator": "NotIn"}],
            "removeOnConditions": [{**_CONDITION, "operator": "In"}],
            "taints": [{"key": "down", "effect": "NoExecute"}],
        },
    ),
    "quota.yaml": _object(_KARMADA, "FederatedResourceQuota", "shop", {"overall": {"cpu": "100"}}, "shop"),
    "test.yaml": _object(
        _OURS, "PolicyTest", "without-paris", {"given": {"withoutClusters": ["paris"]}, "expect": [_EXPECTED]}
    ),
    "argosy.yaml": _object(_OURS, "Fleet", "default", {"rollouts": _CALENDAR}),
}


def a_governed_fleet(path: Path) -> MemoryFleet:
    """The fleet of ``a_shown_fleet`` under these policies, with a new web, which waits for an approval, and batch."""
    fleet = a_shown_fleet(path)
    fleet.repository.commit(FILES, "Govern what changes")
    fleet.run(60)
    web = a_deployment("web", replicas=12, namespace="shop", image="web:2")
    batch = a_deployment("batch", replicas=3, namespace="jobs", image="batch:2")
    fleet.repository.commit({"web.yaml": web, "batch.yaml": batch}, "Bring web and batch up to date")
    fleet.run(60)
    fleet.run(60)
    return fleet
