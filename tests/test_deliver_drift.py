"""Changes by others: set right, left to their owner, or a conflict - in memory and on a real API server."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from reconciler.deliver.deviations import cluster_deviations
from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import Cause, Failure, FailureKind, Request
from reconciler.plans.model import DesiredObject
from render.model import ObjectRef
from render.policy import ConflictResolution
from render.settings.field_rules import FieldRule, FieldRuling

from .applying import Cluster, Send, outcomes, straight
from .build import a_config_map, a_deployment
from .fakes import MERGE_PATCH
from .test_deliver_former_versions import a_definition, a_gadget, api, group_of
from .waiting import eventually

APPS = "apis/apps/v1"


def web(cluster: Cluster, **changes: Any) -> dict[str, Any]:
    return a_deployment("web", namespace=cluster.space, **changes)


def scaled(cluster: Cluster, replicas: int, manager: str) -> None:
    """Scale as an autoscaler or a person does; a real server records the subresource, in memory it is an edit."""
    if cluster.is_real:
        path = f"{cluster.path('deployments', 'web', APPS)}/scale?fieldManager={manager}"
        body = {"spec": {"replicas": replicas}}
        status, answer = cluster.server.request("PATCH", path, body, content_type=MERGE_PATCH)
        assert status == 200, answer
    else:
        cluster.edit("deployments", "web", {"spec": {"replicas": replicas}}, api=APPS, manager=manager)


class Drift(NamedTuple):
    why: str
    change: Callable[[Cluster], object]
    path: str
    manager: str


def patched(patch: dict[str, Any]) -> Callable[[Cluster], object]:
    return lambda cluster: cluster.edit("deployments", "web", patch, api=APPS)


IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:9"}]}}}}
LABEL = {"metadata": {"labels": {"app": "x"}}}
NO_LABEL = {"metadata": {"labels": {"app": None}}}
DRIFTS = [
    Drift("a value", patched(IMAGE), '.spec.template.spec.containers[name="web"].image', "kubectl-edit"),
    Drift(
        "a label with another value",
        patched({"metadata": {"labels": {"app": "x"}}}),
        ".metadata.labels.app",
        "kubectl-edit",
    ),
    Drift("a label taken off", patched({"metadata": {"labels": {"app": None}}}), ".metadata.labels.app", ""),
    Drift("a scale by hand", lambda cluster: scaled(cluster, 7, "kubectl"), ".spec.replicas", "kubectl"),
]


@pytest.mark.parametrize("case", DRIFTS, ids=lambda case: case.why)
def test_what_a_person_changed_is_told_and_set_right(case: Drift, cluster: Cluster) -> None:
    manifest = web(cluster)
    cluster.apply(manifest)
    case.change(cluster)
    applied = cluster.apply(manifest, inventory=cluster.inventory(manifest, converged="c0ffee"))
    assert outcomes(applied) == {"Deployment.apps web": "configured Drifted"}
    assert [(change.path, change.manager) for change in applied.results[0].changes] == [(case.path, case.manager)]
    assert outcomes(cluster.apply(manifest)) == {"Deployment.apps web": "unchanged UpToDate"}
    live = cluster.read("deployments", "web", APPS)
    assert live["metadata"]["labels"]["app"] == "web"
    assert live["spec"]["replicas"] == 2
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.29"


def test_a_deleted_object_is_created_again(cluster: Cluster) -> None:
    cluster.apply(web(cluster))
    cluster.server.request("DELETE", cluster.path("deployments", "web", APPS))
    assert outcomes(cluster.apply(web(cluster))) == {"Deployment.apps web": "created Missing"}


def test_our_label_taken_off_is_put_back(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space, a="1")
    cluster.apply(settings)
    cluster.edit("configmaps", "settings", {"metadata": {"labels": None}})
    assert outcomes(cluster.apply(settings)) == {"ConfigMap settings": "configured Changed"}
    assert outcomes(cluster.apply(settings)) == {"ConfigMap settings": "unchanged UpToDate"}


class TestForeignFields:
    def test_they_are_told_and_cost_nothing(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        cluster.apply(settings)
        cluster.edit("configmaps", "settings", {"data": {"added": "by hand"}})
        client = cluster.client()
        applied = cluster.apply(settings, client=client)
        assert outcomes(applied) == {"ConfigMap settings": "unchanged UpToDate"}
        told = [(change.path, change.change, change.manager) for change in applied.results[0].foreign]
        assert told == [(".data.added", "Foreign", "kubectl-edit")]
        assert client.writes == []

    def test_replicas_that_a_manifest_hands_over_are_no_addition_and_stay(self, cluster: Cluster) -> None:
        """Kubectl owns those of a workload that it applied before an autoscaler came."""
        web = a_deployment("web", namespace=cluster.space, replicas=None)
        cluster.apply(web)
        cluster.edit("deployments", "web", {"spec": {"replicas": 3, "paused": True}}, api="apis/apps/v1")
        for is_removed, told in ((False, [".spec.paused"]), (True, []), (False, [])):
            (result,) = cluster.apply(web, remove_foreign=is_removed).results
            assert [change.path for change in result.foreign] == told
            live = cluster.read("deployments", "web", "apis/apps/v1")
            assert (live["spec"]["replicas"], live["spec"].get("paused", False)) == (3, bool(told))

    def test_replicas_of_anything_else_are_a_field_like_others(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        widget = {**settings, "metadata": {**settings["metadata"], "name": "size"}}
        cluster.apply(widget)
        cluster.edit("configmaps", "size", {"data": {"replicas": "3"}})
        (result,) = cluster.apply(widget).results
        assert [change.path for change in result.foreign] == [".data.replicas"]

    def test_they_go_where_that_is_wished(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        cluster.apply(settings)
        cluster.edit("configmaps", "settings", {"data": {"added": "by hand"}})
        applied = cluster.apply(settings, remove_foreign=True)
        assert outcomes(applied) == {"ConfigMap settings": "configured Changed"}
        assert cluster.read("configmaps", "settings")["data"] == {"a": "1"}
        assert outcomes(cluster.apply(settings, remove_foreign=True)) == {"ConfigMap settings": "unchanged UpToDate"}


class TestConflicts:
    @staticmethod
    def contested(cluster: Cluster, manager: str) -> dict[str, Any]:
        """Settings whose value another manager has taken since we applied them."""
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        cluster.apply(settings)
        cluster.edit("configmaps", "settings", {"data": {"a": "theirs"}}, manager=manager)
        return settings

    def test_another_deployer_is_a_conflict_and_keeps_its_value(self, cluster: Cluster) -> None:
        settings = self.contested(cluster, "helm")
        applied = cluster.apply(settings)
        assert str(applied.results[0]) == (
            f"ConfigMap {cluster.space}/settings: conflict (FieldManagerConflict): field manager 'helm' owns .data.a\n"
            "  hint: drop that manager's change, or set conflictResolution: Overwrite in its policy,"
            " or take all of its fields over: argosy apply --migrate-from helm"
        )
        assert cluster.read("configmaps", "settings")["data"] == {"a": "theirs"}

    def test_overwrite_takes_it_back(self, cluster: Cluster) -> None:
        settings = self.contested(cluster, "helm")
        wanted = DesiredObject(
            ref=ObjectRef.of(settings), manifest=settings, conflict_resolution=ConflictResolution.OVERWRITE
        )
        applied = cluster.apply(wanted)
        assert outcomes(applied) == {"ConfigMap settings": "configured Drifted"}
        assert cluster.read("configmaps", "settings")["data"] == {"a": "1"}

    def test_what_git_changes_is_no_drift_though_another_owns_it_as_well(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1", b="1")
        cluster.apply(settings)
        cluster.apply_as("kubectl", "configmaps", a_config_map("settings", namespace=cluster.space, a="1"))
        newer, changed = {**settings, "data": {"a": "2", "b": "1"}}, frozenset({ObjectRef.of(settings)})
        (result,) = cluster.apply(newer, changed=changed).results
        assert (result.action, result.reason) == ("configured", "Changed")
        assert [(change.path, change.manager) for change in result.changes] == [(".data.a", "kubectl")]
        assert cluster.read("configmaps", "settings")["data"] == newer["data"]
        cluster.edit("configmaps", "settings", {"data": {"a": "by hand"}})
        assert outcomes(cluster.apply(newer, changed=changed)) == {"ConfigMap settings": "configured Drifted"}

    def test_what_git_takes_out_and_another_deployer_still_states_has_a_line(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1", b="1")
        cluster.apply(settings)
        cluster.apply_as("helm", "configmaps", a_config_map("settings", namespace=cluster.space, b="1"))
        newer = {**settings, "data": {"a": "1"}}
        (first,) = cluster.apply(newer, changed=frozenset({ObjectRef.of(settings)})).results
        applied = cluster.apply(newer)
        (rest,) = applied.results
        told = [(str(each.change), each.path, each.manager) for each in rest.foreign]
        assert (str(first.action), str(rest.action), told) == (
            "configured",
            "unchanged",
            [("Foreign", ".data.b", "helm")],
        )
        report = ClusterReport(cluster="member1", applied=applied)
        assert [each.message for each in cluster_deviations(report)] == [
            "field manager 'helm' states .data.b, which the manifest does not"
        ]
        assert cluster.read("configmaps", "settings")["data"] == {"a": "1", "b": "1"}
        cluster.edit("configmaps", "settings", {"data": {"c": "1"}}, manager="helm")
        # It is not for --remove-foreign to take the fields of another deployer: it would only put them back.
        assert outcomes(cluster.apply(newer, remove_foreign=True)) == {"ConfigMap settings": "unchanged UpToDate"}

    def test_another_fleet_keeps_its_value_in_any_case_and_the_hint_offers_nothing_else(self, cluster: Cluster) -> None:
        settings = self.contested(cluster, "argosy-edge-0123456789ab")
        wanted = DesiredObject(
            ref=ObjectRef.of(settings), manifest=settings, conflict_resolution=ConflictResolution.OVERWRITE
        )
        (result,) = cluster.apply(wanted).results
        assert str(result) == (
            f"ConfigMap {cluster.space}/settings: conflict (FieldManagerConflict):"
            " field manager 'argosy-edge-0123456789ab' owns .data.a\n"
            "  hint: let one fleet decide the field: take it out of the template of the other"
        )
        assert cluster.read("configmaps", "settings")["data"] == {"a": "theirs"}

    def test_a_controller_keeps_a_field_that_a_rule_leaves_to_it(self, cluster: Cluster) -> None:
        settings = self.contested(cluster, "clock-controller")
        rule = FieldRule(rule=FieldRuling.YIELD, path=".data", manager="clock-*")
        client = cluster.client()
        applied = cluster.apply(settings, client=client, field_rules=(rule,))
        assert outcomes(applied) == {"ConfigMap settings": "unchanged UpToDate"}
        assert [change.path for change in applied.results[0].yielded] == [".data.a"]
        assert client.writes == []

    def test_items_that_another_manager_added_to_a_list_are_no_conflict(self, cluster: Cluster) -> None:
        """As an injector does, or a controller that marks a container: the server merges such lists by their keys."""
        cluster.apply(web(cluster))
        added = {"env": [{"name": "CHECKSUM", "value": "1"}], "name": "web"}
        spec = {"containers": [added], "initContainers": [{"name": "init", "image": "init:1"}]}
        body = {"spec": {"template": {"spec": spec}}}
        cluster.apply_as("injector", "deployments", {**web(cluster), **body}, APPS)
        newer = web(cluster)
        template = newer["spec"]["template"]["spec"]
        template["containers"][0]["env"] = [{"name": "LEVEL", "value": "info"}]
        template["initContainers"] = [{"name": "migrate", "image": "migrate:1"}]
        assert outcomes(cluster.apply(newer)) == {"Deployment.apps web": "configured Changed"}
        assert outcomes(cluster.apply(newer)) == {"Deployment.apps web": "unchanged UpToDate"}
        live = cluster.read("deployments", "web", APPS)["spec"]["template"]["spec"]
        assert {each["name"] for each in live["containers"][0]["env"]} == {"CHECKSUM", "LEVEL"}
        assert {each["name"] for each in live["initContainers"]} == {"init", "migrate"}

    def test_an_item_that_another_manager_added_is_a_conflict_where_it_is_wanted_otherwise(
        self, cluster: Cluster
    ) -> None:
        cluster.apply(web(cluster))
        spec = {"containers": [{"name": "web", "env": [{"name": "LEVEL", "value": "debug"}]}]}
        cluster.apply_as("injector", "deployments", {**web(cluster), "spec": {"template": {"spec": spec}}}, APPS)
        newer = web(cluster)
        environment = [{"name": "LEVEL", "value": "info"}, {"name": "OTHER", "value": "1"}]
        newer["spec"]["template"]["spec"]["containers"][0]["env"] = environment
        (result,) = cluster.apply(newer).results
        assert (result.reason, result.message) == (
            "FieldManagerConflict",
            'field manager \'injector\' owns .spec.template.spec.containers[name="web"].env[name="LEVEL"].value',
        )

    def test_a_conflict_that_comes_up_while_applying_is_met_by_the_same_rules(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        cluster.apply(settings)
        newer = {**settings, "data": {"a": "2"}}
        client = cluster.client()
        is_first = True

        def meddled(request: Request, send: Send) -> Any:
            nonlocal is_first
            if request.method == "PATCH" and request.path.endswith("settings") and is_first:
                is_first = False
                cluster.edit("configmaps", "settings", {"data": {"a": "theirs"}}, manager="helm")
            return send(request)

        client.wire = meddled
        assert outcomes(cluster.apply(newer, client=client)) == {"ConfigMap settings": "conflict FieldManagerConflict"}
        assert cluster.read("configmaps", "settings")["data"] == {"a": "theirs"}

    def test_a_conflict_that_only_the_server_sees_is_told_like_any_other(self, cluster: Cluster) -> None:
        """Managed fields do not show everything that a server knows of a schema."""
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        cluster.apply(settings)
        client = cluster.client()

        def refused(request: Request, send: Send) -> Any:
            if request.method == "PATCH" and request.path.endswith("settings"):
                cause = Cause(reason="FieldManagerConflict", field=".data.a", manager="helm")
                return Failure(kind=FailureKind.CONFLICT, message="helm has .data.a", status=409, causes=(cause,))
            return send(request)

        client.wire = refused
        applied = cluster.apply({**settings, "data": {"a": "2"}}, client=client)
        (result,) = applied.results
        assert str(result) == (
            f"ConfigMap {cluster.space}/settings: conflict (FieldManagerConflict): helm has .data.a\n"
            "  hint: drop that manager's change, or set conflictResolution: Overwrite in its policy,"
            " or take all of its fields over: argosy apply --migrate-from helm"
        )

    def test_a_field_that_is_yielded_because_only_the_server_sees_its_owner_is_told(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, **{"a.conf": "1", "b": "1"})
        cluster.apply(settings)
        client = cluster.client()

        def refused(request: Request, send: Send) -> Any:
            body: Any = request.body
            if request.method == "PATCH" and request.path.endswith("settings") and "a.conf" in body["data"]:
                cause = Cause(reason="FieldManagerConflict", field=".data.a.conf", manager="clock")
                return Failure(kind=FailureKind.CONFLICT, message="clock has it", status=409, causes=(cause,))
            return send(request)

        client.wire = refused
        rule = FieldRule(rule=FieldRuling.YIELD, path=".data.a.conf")
        newer = {**settings, "data": {"a.conf": "2", "b": "2"}}
        (result,) = cluster.apply(newer, client=client, field_rules=(rule,)).results
        assert (result.action, cluster.read("configmaps", "settings")["data"]["b"]) == ("configured", "2")
        (left,) = result.yielded
        assert (left.path, left.live, left.want, left.manager) == (".data.a.conf", "1", "2", "clock")


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
KEDA: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "scaledobjects.keda.sh"},
    "spec": {
        "group": "keda.sh",
        "scope": "Namespaced",
        "names": {
            "kind": "ScaledObject",
            "plural": "scaledobjects",
            "singular": "scaledobject",
            "listKind": "ScaledObjectList",
        },
        "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": OPEN}}],
    },
}
Autoscaler = dict[str, Any]


@pytest.fixture(params=["HorizontalPodAutoscaler", "ScaledObject"])
def autoscaler(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Autoscaler]:
    """Kubernetes' own autoscaler for the Deployment ``web``, or KEDA's, whose kind is installed as long as it takes."""
    metadata = {"name": "web", "namespace": cluster.space}
    if request.param == "HorizontalPodAutoscaler":
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        spec: dict[str, Any] = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9}
        yield {"apiVersion": "autoscaling/v2", "kind": request.param, "metadata": metadata, "spec": spec}
        return
    assert cluster.server.request("POST", CRDS, KEDA)[0] == 201
    wait_for(cluster, "/apis/keda.sh/v1alpha1/scaledobjects", 200)
    spec = {"scaleTargetRef": {"name": "web"}, "minReplicaCount": 0, "triggers": [{"type": "cron", "metadata": {}}]}
    yield {"apiVersion": "keda.sh/v1alpha1", "kind": request.param, "metadata": metadata, "spec": spec}
    cluster.server.request("DELETE", f"{CRDS}/scaledobjects.keda.sh")
    wait_for(cluster, f"{CRDS}/scaledobjects.keda.sh", 404)


def wait_for(cluster: Cluster, path: str, status: int) -> None:
    eventually(lambda: cluster.server.request("GET", path)[0] == status, f"{status} for {path}")


class TestReplicas:
    @pytest.mark.parametrize("manager", ["kube-controller-manager", "keda"])
    def test_an_autoscaler_keeps_what_it_set(self, cluster: Cluster, autoscaler: Autoscaler, manager: str) -> None:
        manifests = (web(cluster), autoscaler)
        cluster.apply(*manifests)
        for replicas in (5, 0):
            scaled(cluster, replicas, manager)
            for _ in range(2):
                client = cluster.client()
                assert set(outcomes(cluster.apply(*manifests, client=client)).values()) == {"unchanged UpToDate"}
                assert client.writes == []
            assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == replicas

    def test_handing_replicas_over_never_resets_them(self, cluster: Cluster, autoscaler: Autoscaler) -> None:
        """Leaving out replicas that we alone own would make them 1."""
        cluster.apply(web(cluster, replicas=4))
        newer = web(cluster, replicas=4, image="nginx:1.30")
        cluster.apply(newer, autoscaler)
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 4
        scaled(cluster, 6, "kube-controller-manager")
        cluster.apply(web(cluster, replicas=4, image="nginx:1.31"), autoscaler)
        live = cluster.read("deployments", "web", APPS)
        assert live["spec"]["replicas"] == 6
        assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.31"

    def test_a_manifest_that_stops_naming_them_never_resets_them(
        self, cluster: Cluster, autoscaler: Autoscaler
    ) -> None:
        """As people do who bring an autoscaler: the number leaves the template in the same commit."""
        cluster.apply(web(cluster, replicas=4))
        nameless = web(cluster)
        del nameless["spec"]["replicas"]
        cluster.apply(nameless, autoscaler)
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 4
        client = cluster.client()
        assert set(outcomes(cluster.apply(nameless, autoscaler, client=client)).values()) == {"unchanged UpToDate"}
        assert client.writes == []
        scaled(cluster, 6, "keda")
        assert set(outcomes(cluster.apply(nameless, autoscaler)).values()) == {"unchanged UpToDate"}
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 6

    def test_a_manifest_that_stops_naming_them_before_anything_scales_never_resets_them(self, cluster: Cluster) -> None:
        """The autoscaler may come with a later commit, or by hand."""
        cluster.apply(web(cluster, replicas=4))
        nameless = web(cluster, image="nginx:1.30")
        del nameless["spec"]["replicas"]
        assert outcomes(cluster.apply(nameless)) == {"Deployment.apps web": "configured Changed"}
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 4
        assert outcomes(cluster.apply(nameless)) == {"Deployment.apps web": "unchanged UpToDate"}
        scaled(cluster, 6, "kubectl")
        for _ in range(2):
            assert outcomes(cluster.apply(nameless)) == {"Deployment.apps web": "unchanged UpToDate"}
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 6
        cluster.apply(web(cluster, replicas=2))
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 2

    def test_an_autoscaler_nobody_delivers_counts_as_well(self, cluster: Cluster, autoscaler: Autoscaler) -> None:
        plural = "scaledobjects" if autoscaler["kind"] == "ScaledObject" else "horizontalpodautoscalers"
        cluster.create(plural, autoscaler, api=f"apis/{autoscaler['apiVersion']}")
        cluster.apply(web(cluster, replicas=4))
        scaled(cluster, 6, "kubectl")
        assert outcomes(cluster.apply(web(cluster, replicas=4))) == {"Deployment.apps web": "unchanged UpToDate"}
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 6

    @pytest.mark.cluster
    def test_a_number_that_an_autoscaler_left_behind_is_set_right_once_it_is_gone(self, real_cluster: Cluster) -> None:
        """Nothing decides about them any more; unless a cluster does not say which autoscalers it has."""
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        scaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": real_cluster.space},
            "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9},
        }
        both = (web(real_cluster, replicas=4), scaler)
        real_cluster.apply(*both)
        scaled(real_cluster, 7, "kube-controller-manager")
        assert real_cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 7
        inventory = real_cluster.inventory(*both)
        client = real_cluster.client()

        def silent(request: Request, send: Send) -> Any:
            if request.path.endswith("/horizontalpodautoscalers"):
                return Failure(kind=FailureKind.FORBIDDEN, message="no", status=403)
            return send(request)

        first = real_cluster.apply(web(real_cluster, replicas=4), inventory=inventory)
        assert [each.path for each in first.results[0].yielded] == [".spec.replicas"]
        assert outcomes(first)["HorizontalPodAutoscaler.autoscaling web"] == "deleted NotWanted"
        client.wire = silent
        assert [each.path for each in real_cluster.apply(both[0], client=client).results[0].yielded] == [
            ".spec.replicas"
        ]
        assert outcomes(real_cluster.apply(both[0])) == {"Deployment.apps web": "configured Drifted"}
        assert real_cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 4

    def test_a_label_asks_for_the_same_without_an_autoscaler(self, cluster: Cluster) -> None:
        manifest = web(cluster)
        manifest["metadata"]["labels"] = {"app": "web", "resourcetemplate.karmada.io/retain-replicas": "true"}
        cluster.apply(manifest)
        scaled(cluster, 5, "kubectl")
        assert outcomes(cluster.apply(manifest)) == {"Deployment.apps web": "unchanged UpToDate"}
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 5

    def test_without_an_autoscaler_the_scheduled_number_is_restored(self, cluster: Cluster) -> None:
        cluster.apply(web(cluster, replicas=4))
        scaled(cluster, 1, "kubectl")
        cluster.apply(web(cluster, replicas=4))
        assert cluster.read("deployments", "web", APPS)["spec"]["replicas"] == 4

    @pytest.mark.cluster
    def test_a_custom_resource_may_have_them_anywhere(self, real_cluster: Cluster) -> None:
        """Its definition says which field an autoscaler sets."""
        server, kind = real_cluster.server, f"s{real_cluster.space}"
        assert server.request("POST", CRDS, sized(kind))[0] == 201
        wait_for(real_cluster, f"/apis/{kind}.example.com/v1/sets", 200)
        wanted = {
            "apiVersion": f"{kind}.example.com/v1",
            "kind": "Set",
            "metadata": {"name": "web", "namespace": real_cluster.space},
            "spec": {"size": 2, "color": "red"},
        }
        try:
            real_cluster.apply(wanted)
            path = real_cluster.path("sets", "web", f"apis/{kind}.example.com/v1")
            scale = f"{path}/scale?fieldManager=kube-controller-manager"
            assert server.request("PATCH", scale, {"spec": {"replicas": 7}}, content_type=MERGE_PATCH)[0] == 200
            (result,) = real_cluster.apply({**wanted, "spec": {"size": 3, "color": "red"}}).results
            assert (result.action, result.reason) == ("unchanged", "UpToDate")
            (left,) = result.yielded
            assert (left.path, left.live, left.want, left.manager) == (
                ".spec.size",
                "7",
                "3",
                "kube-controller-manager",
            )
        finally:
            server.request("DELETE", f"{CRDS}/sets.{kind}.example.com")


def sized(kind: str) -> dict[str, Any]:
    """Return a definition whose objects are scaled by ``spec.size``."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": OPEN}}
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"sets.{kind}.example.com"},
        "spec": {
            "group": f"{kind}.example.com",
            "scope": "Namespaced",
            "names": {"kind": "Set", "plural": "sets", "singular": "set", "listKind": "SetList"},
            "versions": [{**version, "subresources": {"status": {}, "scale": scale}}],
        },
    }


def test_overwriting_one_field_never_overwrites_another_that_was_taken_meanwhile(cluster: Cluster) -> None:
    """An object is forced in the version on which that was decided."""
    settings = a_config_map("settings", namespace=cluster.space, a="1", b="1")
    cluster.apply(settings)
    cluster.edit("configmaps", "settings", {"data": {"a": "by hand"}})
    client = cluster.client()

    def meddling(request: Request, send: Send) -> Any:
        if request.method == "PATCH" and request.path.endswith("settings"):
            client.wire = straight
            cluster.edit("configmaps", "settings", {"data": {"b": "theirs"}}, manager="helm")
        return send(request)

    client.wire = meddling
    assert outcomes(cluster.apply(settings, client=client)) == {"ConfigMap settings": "conflict FieldManagerConflict"}
    assert cluster.read("configmaps", "settings")["data"] == {"a": "by hand", "b": "theirs"}


def test_an_object_deleted_while_it_is_applied_is_created(cluster: Cluster) -> None:
    cluster.apply(a_config_map("settings", namespace=cluster.space, a="1"))
    client = cluster.client()

    def deleting(request: Request, send: Send) -> Any:
        if request.method == "PATCH" and request.path.endswith("settings"):
            client.wire = straight
            cluster.server.request("DELETE", cluster.path("configmaps", "settings"))
        return send(request)

    client.wire = deleting
    newer = a_config_map("settings", namespace=cluster.space, a="2")
    assert outcomes(cluster.apply(newer, client=client)) == {"ConfigMap settings": "created Missing"}


def test_what_git_takes_out_of_an_ignored_field_stays(cluster: Cluster) -> None:
    """It was set when the object was created, and is nobody's to change from Git afterwards."""
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["only-this"]}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": cluster.space},
        "rules": [rule],
    }
    ignoring = (FieldRule(rule=FieldRuling.IGNORE, path=".rules"),)
    cluster.apply(role, field_rules=ignoring)
    less = {**role, "rules": [{key: value for key, value in rule.items() if key != "resourceNames"}]}
    cluster.apply(less, field_rules=ignoring)
    api = "apis/rbac.authorization.k8s.io/v1"
    assert cluster.read("roles", "reader", api)["rules"] == [rule]
    cluster.apply(less)
    assert cluster.read("roles", "reader", api)["rules"] == less["rules"]


@pytest.mark.cluster
def test_a_pull_secret_that_somebody_added_stays_whatever_git_takes_out(real_cluster: Cluster) -> None:
    """Both were sent in another order than the cluster has them in, and that was a conflict for ever."""
    cluster = real_cluster

    def account(*secrets: str) -> dict[str, Any]:
        metadata = {"name": "web", "namespace": cluster.space}
        named = [{"name": name} for name in secrets]
        return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, "imagePullSecrets": named}

    cluster.apply(account("a", "b"))
    given = account("a", "b", "added")["imagePullSecrets"]
    cluster.edit("serviceaccounts", "web", {"imagePullSecrets": given}, manager="registry")
    cluster.apply(account("a", "b"))
    for _ in range(2):
        (result,) = cluster.apply(account("b")).results
        assert f"{result.action} {result.reason}" == "unchanged UpToDate"
        assert [(each.path, each.manager) for each in result.yielded] == [(".imagePullSecrets", "registry")]
    assert cluster.read("serviceaccounts", "web")["imagePullSecrets"] == given


@pytest.mark.cluster
@pytest.mark.parametrize("is_scaled", [True, False])
def test_replicas_of_a_custom_resource_leave_with_the_manifest_where_nothing_can_scale_it(
    is_scaled: bool, real_cluster: Cluster
) -> None:
    """They stayed for ever, and the object was unchanged."""
    cluster = real_cluster
    definition = a_definition(cluster, "v1")
    (version,) = definition["spec"]["versions"]
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["replicas"] = {"type": "integer"}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version["subresources"] = {"scale": scale} if is_scaled else {}
    assert cluster.server.request("POST", CRDS, definition)[0] == 201
    gadget = a_gadget(cluster, "v1", a="1")
    path = cluster.path("gadgets", api=api(cluster, "v1"))
    eventually(lambda: cluster.server.request("GET", path)[0] == 200, "the kind is served")
    cluster.apply({**gadget, "spec": {"a": "1", "replicas": 3}})
    told = outcomes(cluster.apply(gadget))
    spec = cluster.read("gadgets", "g", api(cluster, "v1"))["spec"]
    cluster.server.request("DELETE", f"{CRDS}/gadgets.{group_of(cluster)}")
    word, left = ("unchanged UpToDate", {"replicas": 3}) if is_scaled else ("configured Changed", {})
    assert told == {f"Gadget.{group_of(cluster)} g": word}
    assert spec == {"a": "1", **left}


@pytest.mark.cluster
@pytest.mark.parametrize("stated", [{"rules": []}, {}], ids=["rules: []", "no rules"])
def test_the_rules_of_an_aggregated_role_are_gathered_by_the_cluster(
    stated: dict[str, Any], real_cluster: Cluster
) -> None:
    """Kubernetes' own examples state that there are none; once a controller had filled them in, that was a conflict."""
    cluster = real_cluster

    def role(team: str) -> dict[str, Any]:
        aggregated = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"team": team}}]}}
        kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
        return {**kind, "metadata": {"name": cluster.space}, **aggregated, **stated}

    path = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{cluster.space}"
    cluster.apply(role("shop"))
    gathered = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    by = f"{path}?fieldManager=clusterrole-aggregation-controller"
    assert cluster.server.request("PATCH", by, {"rules": gathered}, content_type=MERGE_PATCH)[0] == 200
    told = []
    for team in ("shop", "web", "web"):
        (result,) = cluster.apply(role(team)).results
        told.append((f"{result.action} {result.reason}", result.yielded))
        assert cluster.server.read(path)["rules"] == gathered
    live = cluster.server.read(path)["aggregationRule"]
    cluster.server.request("DELETE", path)
    assert told == [("unchanged UpToDate", ()), ("configured Changed", ()), ("unchanged UpToDate", ())]
    assert live == role("web")["aggregationRule"]
