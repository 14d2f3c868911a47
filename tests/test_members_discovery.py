"""Discovery, aggregated and group by group, and groups that cannot be asked."""

from typing import Any

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Failure, FailureKind, Request
from render.model import ObjectRef

from .fakes import FakeCluster

VERBS = frozenset({"get", "list", "patch"})
DEPLOYMENT = Resource(
    group="apps", version="v1", kind="Deployment", plural="deployments", is_namespaced=True, verbs=VERBS
)
NODE = Resource(group="", version="v1", kind="Node", plural="nodes", is_namespaced=False, verbs=VERBS)


class Scripted(FakeCluster):
    """A cluster that answers discovery from a table of paths."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__()
        self.answers = answers
        self.requests.clear()

    def request(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        answers = getattr(self, "answers", {})
        path = path.partition("?")[0]
        if path in answers:
            return 200, answers[path]
        return super().request(method, path, body, **more) if not answers else (503, {"message": "busy"})


def an_entry(resource: Resource) -> dict[str, Any]:
    scope = "Namespaced" if resource.is_namespaced else "Cluster"
    kind = {"group": resource.group, "version": "", "kind": resource.kind}
    return {"resource": resource.plural, "responseKind": kind, "scope": scope, "verbs": sorted(resource.verbs)}


def a_group(name: str, *versions: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "versions": list(versions)}


def aggregated(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": list(groups)}


def an_old_entry(resource: Resource) -> dict[str, Any]:
    return {
        "name": resource.plural,
        "kind": resource.kind,
        "namespaced": resource.is_namespaced,
        "verbs": sorted(resource.verbs),
    }


def test_two_questions_are_enough_where_discovery_is_aggregated() -> None:
    status = {"resource": "deployments/status", "responseKind": None}
    cluster = Scripted(
        {
            "/api": aggregated(a_group("", {"version": "v1", "resources": [an_entry(NODE)]})),
            "/apis": aggregated(a_group("apps", {"version": "v1", "resources": [an_entry(DEPLOYMENT), status]})),
        }
    )
    found = discover_served_kinds(cluster)
    assert isinstance(found, Discovery)
    assert dict(found.resources) == {("v1", "Node"): NODE, ("apps/v1", "Deployment"): DEPLOYMENT}
    assert set(found.resources) == {("v1", "Node"), ("apps/v1", "Deployment")}
    assert [request.path for request in cluster.requests] == ["/api", "/apis"]


def test_a_stale_group_is_unavailable_and_the_others_are_not() -> None:
    cluster = Scripted(
        {
            "/api": aggregated(),
            "/apis": aggregated(
                a_group("metrics.k8s.io", {"version": "v1", "freshness": "Stale"}),
                a_group("apps", {"version": "v1", "freshness": "Current", "resources": [an_entry(DEPLOYMENT)]}),
            ),
        }
    )
    found = discover_served_kinds(cluster)
    assert isinstance(found, Discovery)
    assert found.unavailable == {"metrics.k8s.io"}
    assert found.preferred_resource("apps", "Deployment") == DEPLOYMENT


def test_an_older_server_is_asked_group_by_group_and_one_that_fails_costs_itself() -> None:
    versions = [{"groupVersion": "apps/v1beta1"}, {"groupVersion": "apps/v1"}]
    groups = [
        {"name": "apps", "versions": versions, "preferredVersion": {"groupVersion": "apps/v1"}},
        {"name": "metrics.k8s.io", "versions": [{"groupVersion": "metrics.k8s.io/v1"}]},
    ]
    cluster = Scripted(
        {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "groups": groups},
            "/api/v1": {"resources": [an_old_entry(NODE), {"name": "nodes/status", "kind": "Node", "verbs": []}]},
            "/apis/apps/v1": {"resources": [an_old_entry(DEPLOYMENT)]},
            "/apis/apps/v1beta1": {"resources": [an_old_entry(DEPLOYMENT)]},
        }
    )
    found = discover_served_kinds(cluster)
    assert isinstance(found, Discovery)
    assert found.unavailable == {"metrics.k8s.io"}
    assert found.versions("apps", "Deployment") == ("apps/v1", "apps/v1beta1")
    assert found.preferred_resource("apps", "Deployment") == DEPLOYMENT
    assert found.resource("v1", "Node") == NODE


def test_a_cluster_that_does_not_answer_at_all_is_a_failure() -> None:
    cluster = FakeCluster()
    gone = Failure(kind=FailureKind.UNREACHABLE, message="it is gone")
    cluster.faults.append(lambda _request: gone)
    assert discover_served_kinds(cluster) == gone


def test_of_two_resources_of_a_kind_the_one_that_can_be_applied_counts() -> None:
    review = Resource(group="apps", version="v1", kind="Deployment", plural="reviews", is_namespaced=True)
    cluster = Scripted(
        {
            "/api": aggregated(),
            "/apis": aggregated(
                a_group(
                    "apps", {"version": "v1", "resources": [an_entry(review), an_entry(DEPLOYMENT), an_entry(review)]}
                )
            ),
        }
    )
    found = discover_served_kinds(cluster)
    assert isinstance(found, Discovery)
    assert found.resource("apps/v1", "Deployment") == DEPLOYMENT


def test_names_are_escaped_in_paths() -> None:
    role = Resource(group="rbac.authorization.k8s.io", version="v1", kind="Role", plural="roles", is_namespaced=True)
    ref = ObjectRef(role.group, role.kind, "shop", "system:a/b")
    assert role.path(ref) == "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/system%3Aa%2Fb"


def test_a_request_says_both_forms_it_reads() -> None:
    cluster = FakeCluster()
    discover_served_kinds(cluster)
    asked: Request = cluster.requests[0]
    assert asked.accept.split(",")[0] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert asked.accept.split(",")[-1] == "application/json"


def test_kinds_with_the_scale_subresource_are_told_apart_by_old_and_new_servers() -> None:
    scale = {"subresource": "scale", "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}
    entry = {**an_entry(DEPLOYMENT), "subresources": [scale]}
    aggregate = Scripted(
        {
            "/api": aggregated(a_group("", {"version": "v1", "resources": [an_entry(NODE)]})),
            "/apis": aggregated(a_group("apps", {"version": "v1", "resources": [entry]})),
        }
    )
    old = [an_old_entry(DEPLOYMENT), {**an_old_entry(DEPLOYMENT), "name": "deployments/scale", "kind": "Scale"}]
    one_by_one = Scripted(
        {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1"}]}]},
            "/api/v1": {"resources": [an_old_entry(NODE)]},
            "/apis/apps/v1": {"resources": old},
        }
    )
    for cluster in (aggregate, one_by_one):
        found = discover_served_kinds(cluster)
        assert isinstance(found, Discovery)
        assert {kind: each.is_scaled for (_, kind), each in found.resources.items()} == {
            "Node": False,
            "Deployment": True,
        }
