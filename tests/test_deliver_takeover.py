"""Objects that people made with the real kubectl, adopted: no value changes, and later edits in Git arrive."""

import json
from typing import Any, NamedTuple

import pytest

from reconciler.members.exchange import JSON_PATCH

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .clusters import Member

pytestmark = pytest.mark.cluster
CREATE = ("create",)
APPLY = ("apply",)
APPLY_THERE = ("apply", "--server-side")
RBAC = "apis/rbac.authorization.k8s.io/v1"


def kubectl(cluster: Cluster, manifest: Any, *words: str) -> None:
    assert isinstance(cluster.server, Member)
    cluster.server.kubectl("-n", cluster.space, *words, "-f", "-", stdin=json.dumps(manifest))


def a_service(cluster: Cluster, **ports: int) -> dict[str, Any]:
    listed = [{"name": name, "port": port} for name, port in ports.items()]
    metadata = {"name": "web", "namespace": cluster.space}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": listed}}


def a_role(cluster: Cluster, **rule: Any) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], **rule}]
    metadata = {"name": "reader", "namespace": cluster.space}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}


def content(live: Any) -> Any:
    """All of an object but what tells who wrote it, and when."""
    metadata = {name: live["metadata"].get(name) or {} for name in ("labels", "annotations")}
    marks = ("applyset.kubernetes.io/part-of", "kubectl.kubernetes.io/last-applied-configuration")
    kept = {name: {key: value for key, value in item.items() if key not in marks} for name, item in metadata.items()}
    return {**kept, **{name: value for name, value in live.items() if name not in {"metadata", "status"}}}


def managers(live: Any) -> list[str]:
    return [entry["manager"] for entry in live["metadata"]["managedFields"] if not entry.get("subresource")]


def test_a_role_that_is_narrower_than_the_wanted_one_is_another_one(real_cluster: Cluster) -> None:
    """Adopted, it would give its holders every Secret."""
    kubectl(real_cluster, a_role(real_cluster, resourceNames=["only-this"]), *CREATE)
    before = real_cluster.read("roles", "reader", RBAC)
    (result,) = real_cluster.apply(a_role(real_cluster)).results
    assert (result.action, result.reason) == ("conflict", "NotOurs")
    assert [change.path for change in result.changes] == [".rules"]
    assert real_cluster.read("roles", "reader", RBAC) == before


class Made(NamedTuple):
    why: str
    words: tuple[str, ...]


WAYS = [
    Made("kubectl create", CREATE),
    Made("kubectl apply", APPLY),
    Made("kubectl apply --server-side", APPLY_THERE),
]


@pytest.mark.parametrize("made", WAYS, ids=lambda made: made.why)
class TestTakeover:
    def test_a_changed_port_arrives(self, made: Made, real_cluster: Cluster) -> None:
        kubectl(real_cluster, a_service(real_cluster, http=80, https=443), *made.words)
        before = real_cluster.read("services", "web")
        assert outcomes(real_cluster.apply(a_service(real_cluster, http=80, https=443))) == {
            "Service web": "adopted Equal"
        }
        adopted = real_cluster.read("services", "web")
        assert content(adopted) == content(before)
        assert managers(adopted) == [real_cluster.applyset.manager]
        assert outcomes(real_cluster.apply(a_service(real_cluster, http=81))) == {"Service web": "configured Changed"}
        (port,) = real_cluster.read("services", "web")["spec"]["ports"]
        assert (port["name"], port["port"]) == ("http", 81)

    def test_a_removed_key_goes(self, made: Made, real_cluster: Cluster) -> None:
        both = a_config_map("settings", namespace=real_cluster.space, a="1", b="2")
        kubectl(real_cluster, both, *made.words)
        assert outcomes(real_cluster.apply(both)) == {"ConfigMap settings": "adopted Equal"}
        live = real_cluster.read("configmaps", "settings")
        assert "annotations" not in live["metadata"]
        one = a_config_map("settings", namespace=real_cluster.space, a="1")
        assert outcomes(real_cluster.apply(one)) == {"ConfigMap settings": "configured Changed"}
        assert real_cluster.read("configmaps", "settings")["data"] == {"a": "1"}

    def test_what_the_manifest_lacks_is_left_alone_unless_it_is_a_default(
        self, made: Made, real_cluster: Cluster
    ) -> None:
        web = a_deployment("web", namespace=real_cluster.space)
        spelt_out = {**web, "spec": {**web["spec"], "revisionHistoryLimit": 10, "strategy": {"type": "RollingUpdate"}}}
        kubectl(real_cluster, spelt_out, *made.words)
        assert outcomes(real_cluster.apply(web)) == {"Deployment.apps web": "adopted Equal"}
        other = a_deployment("other", namespace=real_cluster.space)
        kubectl(real_cluster, {**other, "spec": {**other["spec"], "minReadySeconds": 7}}, *made.words)
        (result,) = [each for each in real_cluster.apply(other).results if each.ref.name == "other"]
        assert (result.action, result.reason) == ("conflict", "NotOurs")
        assert [(change.path, change.live, change.want) for change in result.changes] == [
            (".spec.minReadySeconds", "7", "")
        ]

    def test_it_is_all_there_when_the_pass_after_is_a_no_op(self, made: Made, real_cluster: Cluster) -> None:
        web = a_deployment("web", namespace=real_cluster.space)
        kubectl(real_cluster, web, *made.words)
        assert outcomes(real_cluster.apply(web)) == {"Deployment.apps web": "adopted Equal"}
        after = real_cluster.client()
        assert outcomes(real_cluster.apply(web, client=after)) == {"Deployment.apps web": "unchanged UpToDate"}
        assert after.writes == []


def test_replicas_that_were_scaled_stay_as_they_are(real_cluster: Cluster) -> None:
    web = a_deployment("web", namespace=real_cluster.space, replicas=2)
    kubectl(real_cluster, web, *CREATE)
    assert isinstance(real_cluster.server, Member)
    real_cluster.server.kubectl("-n", real_cluster.space, "scale", "deployment/web", "--replicas=5")
    unsized = a_deployment("web", namespace=real_cluster.space, replicas=None)
    for said in ("adopted Equal", "unchanged UpToDate"):
        assert outcomes(real_cluster.apply(unsized)) == {"Deployment.apps web": said}
        assert real_cluster.read("deployments", "web", "apis/apps/v1")["spec"]["replicas"] == 5


def test_replicas_of_an_autoscaler_are_not_taken_with_the_rest(real_cluster: Cluster) -> None:
    """An autoscaler that has not scaled yet finds them with kubectl, whose they are."""
    web = a_deployment("web", namespace=real_cluster.space, replicas=2)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": real_cluster.space},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3},
    }
    kubectl(real_cluster, scaler, *CREATE)
    kubectl(real_cluster, web, *CREATE)
    unsized = a_deployment("web", namespace=real_cluster.space, replicas=None)
    assert outcomes(real_cluster.apply(unsized)) == {"Deployment.apps web": "adopted Equal"}
    live = real_cluster.read("deployments", "web", "apis/apps/v1")
    left = [entry["fieldsV1"] for entry in live["metadata"]["managedFields"] if entry["manager"] == "kubectl-create"]
    assert (live["spec"]["replicas"], left) == (2, [{"f:spec": {"f:replicas": {}}}])


def test_what_was_there_before_owners_were_recorded_is_taken_over(real_cluster: Cluster) -> None:
    kubectl(real_cluster, a_service(real_cluster, http=80, https=443), *CREATE)
    forgotten = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    path = real_cluster.path("services", "web")
    assert real_cluster.server.request("PATCH", path, forgotten, content_type=JSON_PATCH)[0] == 200
    assert "managedFields" not in real_cluster.read("services", "web")["metadata"]
    adopted = real_cluster.apply(a_service(real_cluster, http=80, https=443))
    assert outcomes(adopted) == {"Service web": "adopted Equal"}
    assert outcomes(real_cluster.apply(a_service(real_cluster, http=81))) == {"Service web": "configured Changed"}
    assert [port["port"] for port in real_cluster.read("services", "web")["spec"]["ports"]] == [81]


def test_a_namespace_keeps_what_only_kubectl_gave_it(real_cluster: Cluster) -> None:
    """Many share a Namespace, and one that no template describes asks for nothing."""
    assert isinstance(real_cluster.server, Member)
    name = f"{real_cluster.space}-shared"
    kubectl(real_cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, *APPLY)
    real_cluster.server.kubectl("label", "namespace", name, "team=storefront", "stage=prod")
    metadata = {"name": name, "labels": {"stage": "prod"}}
    wanted: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    assert outcomes(real_cluster.apply(wanted)) == {f"Namespace {name}": "adopted Equal"}
    live = real_cluster.server.read(f"/api/v1/namespaces/{name}")
    assert {key: live["metadata"]["labels"][key] for key in ("team", "stage")} == {
        "team": "storefront",
        "stage": "prod",
    }
    without_stage = {**wanted, "metadata": {"name": name}}
    real_cluster.apply(without_stage)
    labels = real_cluster.server.read(f"/api/v1/namespaces/{name}")["metadata"]["labels"]
    assert (labels.get("team"), labels.get("stage")) == ("storefront", None)
    real_cluster.server.request("DELETE", f"/api/v1/namespaces/{name}")
