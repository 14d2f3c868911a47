"""Values that are one piece to a server: what Git takes out of one leaves the cluster, in every place there is."""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from .applying import QUICK, Cluster, outcomes
from .clusters import Member
from .waiting import eventually

pytestmark = pytest.mark.cluster

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Place(NamedTuple):
    """A place in a kind's objects that is one piece: an object, the field in it, and the field after Git's edit.

    ``removed`` leads to what the edit takes out, from the field on.
    """

    why: str
    version: str
    kind: str
    plural: str
    content: dict[str, Any]
    removed: tuple[Any, ...]

    @property
    def api(self) -> str:
        return f"apis/{self.version}" if "/" in self.version else f"api/{self.version}"


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "web", "image": "nginx"}]
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers, **spec}}


def deployment(**spec: Any) -> dict[str, Any]:
    return {"spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": pod(**spec)}}


TWO = {"app": "web", "version": "1"}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
METRIC = {
    "type": "External",
    "external": {
        "metric": {"name": "queue", "selector": {"matchLabels": TWO}},
        "target": {"type": "AverageValue", "averageValue": "30"},
    },
}
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": TWO},
}
RULES = [
    {"name": "group", "rules": [{"alert": "Down", "expr": "up == 0", "for": "5m", "labels": {"severity": "page"}}]}
]
PLACES = [
    Place(
        "a Service's selector",
        "v1",
        "Service",
        "services",
        {"spec": {"selector": TWO, "ports": [{"port": 80}]}},
        ("spec", "selector", "version"),
    ),
    Place(
        "a NetworkPolicy's selector",
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "networkpolicies",
        {"spec": {"podSelector": {"matchLabels": TWO}, "policyTypes": ["Ingress"]}},
        ("spec", "podSelector", "matchLabels", "version"),
    ),
    Place(
        "a NetworkPolicy's ports",
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "networkpolicies",
        {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80, "endPort": 90}]}]}},
        ("spec", "ingress", 0, "ports", 0, "endPort"),
    ),
    Place(
        "the names in a Role's rule",
        "rbac.authorization.k8s.io/v1",
        "Role",
        "roles",
        {"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["only-this"]}]},
        ("rules", 0, "resourceNames"),
    ),
    Place(
        "the host of an Ingress's rule",
        "networking.k8s.io/v1",
        "Ingress",
        "ingresses",
        {
            "spec": {
                "rules": [
                    {
                        "host": "shop.example.com",
                        "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]},
                    }
                ]
            }
        },
        ("spec", "rules", 0, "host"),
    ),
    Place(
        "the selector of an autoscaler's metric",
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        {"spec": {"scaleTargetRef": TARGET, "maxReplicas": 3, "metrics": [METRIC]}},
        ("spec", "metrics", 0, "external", "metric", "selector", "matchLabels", "version"),
    ),
    Place(
        "a PodDisruptionBudget's selector",
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        {"spec": {"minAvailable": 1, "selector": {"matchLabels": TWO}}},
        ("spec", "selector", "matchLabels", "version"),
    ),
    Place(
        "the node selector of pods",
        "apps/v1",
        "Deployment",
        "deployments",
        deployment(nodeSelector={"disk": "ssd", "zone": "a"}),
        ("spec", "template", "spec", "nodeSelector", "zone"),
    ),
    Place(
        "the selector of a spread",
        "apps/v1",
        "Deployment",
        "deployments",
        deployment(topologySpreadConstraints=[SPREAD]),
        ("spec", "template", "spec", "topologySpreadConstraints", 0, "labelSelector", "matchLabels", "version"),
    ),
    Place(
        "an item of a custom resource's list",
        "{group}/v1",
        "Rule",
        "rules",
        {"spec": {"groups": RULES}},
        ("spec", "groups", 0, "rules", 0, "for"),
    ),
]


def definition(group: str, **properties: Any) -> dict[str, Any]:
    """Return a definition of Rules whose list items have a default that the server fills in."""
    rule = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    rule |= {"properties": {"keep": {"type": "string", "default": "yes"}}}
    rules = {"type": "array", "items": rule}
    one_group = {"type": "object", "properties": {"name": {"type": "string"}, "rules": rules}}
    spec = {"type": "object", "properties": {"groups": {"type": "array", "items": one_group}, **properties}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"rules.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Rule", "plural": "rules", "singular": "rule", "listKind": "RuleList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def without(value: Any, path: tuple[Any, ...]) -> Any:
    copied = copy.deepcopy(value)
    target = copied
    for step in path[:-1]:
        target = target[step]
    del target[path[-1]]
    return copied


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step] if isinstance(step, int) else value.get(step)
    return value


@pytest.fixture
def group(real_cluster: Cluster) -> Iterator[str]:
    """The group of a kind of the test's own."""
    name = f"{real_cluster.space}.example.com"
    assert real_cluster.server.request("POST", CRDS, definition(name))[0] == 201
    path = f"/apis/{name}/v1/rules"
    eventually(lambda: real_cluster.server.request("GET", path)[0] == 200, f"an answer for {path}")
    yield name
    real_cluster.server.request("DELETE", f"{CRDS}/rules.{name}")


def as_kubectl_makes_it(cluster: Cluster, place: Place, *manifests: dict[str, Any]) -> Any:
    """Return what kubectl makes of manifests that are applied one after the other, beside ours."""
    assert isinstance(cluster.server, Member)
    live = None
    for manifest in manifests:
        twin = {**manifest, "metadata": {**manifest["metadata"], "name": "twin"}}
        live = cluster.apply_as("kubectl", place.plural, twin, place.api)
    return content(live)


def content(live: Any) -> Any:
    names = {"apiVersion", "kind", "metadata", "status"}
    found = {key: value for key, value in live.items() if key not in names}
    for allocated in ("clusterIP", "clusterIPs"):
        (found.get("spec") or {}).pop(allocated, None)
    return found


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.why)
def test_what_git_takes_out_of_one_piece_leaves_the_cluster(place: Place, real_cluster: Cluster, group: str) -> None:
    place = place._replace(version=place.version.format(group=group))
    metadata = {"name": "x", "namespace": real_cluster.space}
    before = {"apiVersion": place.version, "kind": place.kind, "metadata": metadata, **place.content}
    after = without(before, place.removed)
    real_cluster.apply(before)
    rest = real_cluster.client()
    real_cluster.apply(before, client=rest)
    assert rest.writes == []
    dry = real_cluster.apply(after, how=QUICK_DRY)
    assert [each.action for each in dry.results] == ["configured"]
    first = real_cluster.apply(after)
    live = real_cluster.read(place.plural, "x", place.api)
    assert at(live, place.removed) is None
    assert content(live) == as_kubectl_makes_it(real_cluster, place, before, after)
    assert [str(each.action) for each in first.results] == ["configured"]
    client = real_cluster.client()
    assert set(outcomes(real_cluster.apply(after, client=client)).values()) == {"unchanged UpToDate"}
    assert client.writes == []


QUICK_DRY = type(QUICK)(dry_run=True, settle_seconds=10.0)


def test_what_somebody_adds_to_one_piece_is_drift_and_said_so_by_a_dry_run(real_cluster: Cluster) -> None:
    wanted = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "x", "namespace": real_cluster.space},
        "spec": {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"]},
    }
    api = "apis/networking.k8s.io/v1"
    real_cluster.apply(wanted)
    patch = {"spec": {"podSelector": {"matchLabels": {"version": "1"}}}}
    real_cluster.edit("networkpolicies", "x", patch, api=api)
    name = "NetworkPolicy.networking.k8s.io x"
    assert outcomes(real_cluster.apply(wanted, how=QUICK_DRY)) == {name: "configured Drifted"}
    client = real_cluster.client()
    (result,) = real_cluster.apply(wanted, client=client).results
    assert (result.action, result.reason) == ("configured", "Drifted")
    assert [change.manager for change in result.changes] == ["kubectl-edit"]
    assert [each for each in client.writes if "networkpolicies" in each] == [
        f"PATCH {real_cluster.path('networkpolicies', 'x', api)}"
    ]
    live = real_cluster.read("networkpolicies", "x", api)
    assert live["spec"]["podSelector"] == {"matchLabels": {"app": "web"}}


def test_a_property_that_git_takes_out_of_a_definition_leaves_the_cluster(real_cluster: Cluster, group: str) -> None:
    """All versions of a definition are one piece, and their schemas with them."""
    before = definition(group, size={"type": "integer"}, color={"type": "string"})
    before["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = ["size"]
    after = copy.deepcopy(before)
    spec = after["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["color"], spec["required"]
    path = f"{CRDS}/rules.{group}"
    real_cluster.server.request("DELETE", path)
    eventually(lambda: real_cluster.server.request("GET", path)[0] == 404, "the definition is gone")
    real_cluster.apply(before)
    client = real_cluster.client()
    real_cluster.apply(before, client=client)
    assert client.writes == []
    applied = real_cluster.apply(after)
    assert [str(each.action) for each in applied.results] == ["configured"]
    live = real_cluster.server.read(path)
    found = live["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert ("required" in found, sorted(found["properties"])) == (False, ["groups", "size"])


def test_what_a_server_adds_to_a_new_object_alone_leaves_with_the_second_apply(real_cluster: Cluster) -> None:
    """Admission taints a new Node, whose taints are one piece; applied once more it has those of its manifest alone."""
    assert isinstance(real_cluster.server, Member)
    # The controllers take the same taint away a moment later, and add another one after a minute.
    with real_cluster.server.stopped_program("kube-controller-manager"):
        leaves_with_the_second_apply(real_cluster)


def leaves_with_the_second_apply(real_cluster: Cluster) -> None:
    path, wanted = f"/api/v1/nodes/{real_cluster.space}", [{"key": "a", "value": "1", "effect": "NoSchedule"}]
    metadata = {"name": real_cluster.space}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": wanted}}
    real_cluster.apply(node)
    added = real_cluster.server.read(path)["spec"]["taints"]
    assert [each["key"] for each in added] == ["a", "node.kubernetes.io/not-ready"]
    assert [str(each.action) for each in real_cluster.apply(node).results] == ["configured"]
    assert real_cluster.server.read(path)["spec"]["taints"] == wanted
    client = real_cluster.client()
    assert set(outcomes(real_cluster.apply(node, client=client)).values()) == {"unchanged UpToDate"}
    assert client.writes == []
    real_cluster.server.request("DELETE", path)
