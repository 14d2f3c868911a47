"""Two whole fleets for three members: a shop of many small services, and one of everything that policies can do."""

import base64
from collections.abc import Iterator
from typing import Any

from tests.build import a_cluster, a_cluster_policy, a_config_map, a_deployment, a_policy, on_clusters, weighted

MEMBERS = ("member1", "member2", "member3")
SERVICES = ("ads", "cart", "catalog", "checkout", "currency", "mail", "pay", "shelf", "ship", "web")
SHOP, SAMPLES = "fleet-shop", "fleet-samples"
GROUP = "samples.example.com"


def members() -> dict[str, Any]:
    regions = {"member1": "eu", "member2": "eu", "member3": "us"}
    return {f"clusters/{name}.yaml": a_cluster(name, region=region) for name, region in regions.items()}


def shop() -> dict[str, Any]:
    """Ten services in all members, the web's replicas divided, a registry and a banner of its own per region."""
    kinds = [
        ("v1", "Service"),
        ("v1", "ServiceAccount"),
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("apps/v1", "Deployment"),
    ]
    every = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    divided = on_clusters(*MEMBERS, replicaScheduling=weighted(member1=2, member2=1, member3=1))
    return {
        **members(),
        "shop/namespace.yaml": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SHOP}},
        **{f"shop/{name}.yaml": list(_service(name)) for name in SERVICES},
        "shop/session.yaml": _secret("session", SHOP),
        "policies/all.yaml": a_policy("all", namespace=SHOP, selectors=every, placement=on_clusters(*MEMBERS)),
        "policies/web.yaml": a_policy("web", namespace=SHOP, selectors=[web], priority=5, placement=divided),
        "policies/regions.yaml": _registry_of_the_region(),
    }


def _service(name: str) -> Iterator[dict[str, Any]]:
    workload = a_deployment(
        name, namespace=SHOP, replicas=8 if name == "web" else 1, image=f"registry.example.com/{name}:1"
    )
    workload["spec"]["template"]["spec"]["serviceAccountName"] = name
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": SHOP}}
    yield workload
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": SHOP},
        "spec": {"selector": {"app": name}, "ports": [{"name": "grpc", "port": 7000, "targetPort": 7000}]},
    }
    yield a_config_map(name, namespace=SHOP, LEVEL="info", NAME=name)


def _secret(name: str, namespace: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "data": {"key": base64.b64encode(b"no secret at all").decode()},
    }


def _registry_of_the_region() -> dict[str, Any]:
    image = {"component": "Registry", "operator": "replace", "value": "registry.us.example.com"}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "regions", "namespace": SHOP},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "overrideRules": [
                {
                    "targetCluster": {
                        "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["us"]}]}
                    },
                    "overriders": {"imageOverrider": [image]},
                }
            ],
        },
    }


def samples() -> dict[str, Any]:
    """A CRD and its objects, jobs, dependencies, a cluster-wide override, replicas by weight and everywhere."""
    return {
        **members(),
        "crd.yaml": _crd(),
        "bells.yaml": [_bell(name) for name in ("noon", "midnight")],
        "batch.yaml": [_job(), _cron_job()],
        "web.yaml": [_web_with_settings(), a_config_map("settings", namespace=SAMPLES, color="green")],
        "agent.yaml": _daemon_set(),
        "rights.yaml": _rights(),
        "policies.yaml": list(_policies()),
        "label.yaml": _label_everywhere(),
    }


def _crd() -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"rings": {"type": "integer"}}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"bells.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Bell", "plural": "bells", "singular": "bell", "listKind": "BellList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def _bell(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SAMPLES}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Bell", "metadata": metadata, "spec": {"rings": 12}}


def _pod(name: str, policy: str = "Never") -> dict[str, Any]:
    return {"spec": {"restartPolicy": policy, "containers": [{"name": name, "image": "registry.example.com/tool:1"}]}}


def _job() -> dict[str, Any]:
    metadata = {"name": "import", "namespace": SAMPLES}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": _pod("import")}}


def _cron_job() -> dict[str, Any]:
    spec = {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": _pod("clean")}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "clean", "namespace": SAMPLES},
        "spec": spec,
    }


def _web_with_settings() -> dict[str, Any]:
    web = a_deployment("web", namespace=SAMPLES, replicas=6)
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "settings", "configMap": {"name": "settings"}}]
    return web


def _daemon_set() -> dict[str, Any]:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, **_pod("agent", "Always")}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": SAMPLES},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def _rights() -> dict[str, Any]:
    rules = [{"apiGroups": [GROUP], "resources": ["bells"], "verbs": ["get", "list"]}]
    metadata = {"name": "fleet-samples-bells"}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _policies() -> Iterator[dict[str, Any]]:
    kinds = [("batch/v1", "Job"), ("batch/v1", "CronJob"), (f"{GROUP}/v1", "Bell")]
    yield a_policy(
        "some",
        namespace=SAMPLES,
        selectors=[{"apiVersion": version, "kind": kind} for version, kind in kinds],
        placement=on_clusters("member1", "member3"),
    )
    yield a_policy(
        "web",
        namespace=SAMPLES,
        selectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        propagateDeps=True,
        placement=on_clusters("member1", "member2", replicaScheduling=weighted(member1=2, member2=1)),
    )
    yield a_policy(
        "agents", namespace=SAMPLES, selectors=[{"apiVersion": "apps/v1", "kind": "DaemonSet"}], placement={}
    )
    yield a_cluster_policy(
        "samples-of-clusters",
        selectors=[
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"},
        ],
        placement=on_clusters(*MEMBERS),
    )


def _label_everywhere() -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "label"},
        "spec": {
            "overrideRules": [{"overriders": {"labelsOverrider": [{"operator": "add", "value": {"fleet": "samples"}}]}}]
        },
    }
