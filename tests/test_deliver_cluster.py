"""One cluster, applied: what is created, what costs nothing, what is blocked - in memory and on a real API server."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.results import ApplySettings
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.plans.model import Action, DesiredObject
from render.model import ObjectRef

from .applying import QUICK, Cluster, Send, outcomes, straight
from .build import a_config_map, a_deployment
from .fakes import FakeCluster


def a_crd(group: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def test_a_first_apply_creates_and_a_second_writes_nothing(cluster: Cluster) -> None:
    manifests = (a_deployment("web", namespace=cluster.space), a_config_map("settings", namespace=cluster.space, a="1"))
    first = cluster.apply(*manifests)
    second_client = cluster.client()
    second = cluster.apply(*manifests, client=second_client)
    assert outcomes(first) == {"ConfigMap settings": "created Missing", "Deployment.apps web": "created Missing"}
    assert outcomes(second) == {"ConfigMap settings": "unchanged UpToDate", "Deployment.apps web": "unchanged UpToDate"}
    assert [first.outcome, second.outcome] == [ApplyOutcome.CONVERGED, ApplyOutcome.CONVERGED]
    assert second_client.writes == []
    assert second_client.pinned == cluster.server.read("/api/v1/namespaces/kube-system")["metadata"]["uid"]


def test_the_parent_names_what_the_set_contains(cluster: Cluster) -> None:
    cluster.apply(a_deployment("web", namespace=cluster.space))
    parent = cluster.read("configmaps", cluster.applyset.name)
    assert parent["metadata"]["labels"] == {"applyset.kubernetes.io/id": cluster.applyset.id}
    assert parent["metadata"]["annotations"] == {
        "applyset.kubernetes.io/tooling": "argosy/1.0.0",
        "applyset.kubernetes.io/contains-group-kinds": "Deployment.apps",
        "argosy.dev/rendered": "c0ffee",
    }
    web = cluster.read("deployments", "web", "apis/apps/v1")
    assert web["metadata"]["labels"]["applyset.kubernetes.io/part-of"] == cluster.applyset.id


def test_a_namespace_and_what_is_in_it_come_in_one_pass(cluster: Cluster) -> None:
    name = f"{cluster.space}-new"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    settings = a_config_map("settings", namespace=name, a="1")
    first = cluster.apply(settings, namespace)
    at_once = ApplySettings(settle_seconds=0.0)
    inventory = cluster.inventory(settings, namespace)
    last = cluster.apply(inventory=inventory, confirm_all=True, allowed_removals=9, how=at_once)
    assert outcomes(first) == {f"Namespace {name}": "created Missing", "ConfigMap settings": "created Missing"}
    assert [(result.ref.name, result.action) for result in last.results] == [
        ("settings", Action.DELETED),
        (name, Action.DELETED),
    ]


class Late(NamedTuple):
    why: str
    refusals: int
    pauses: list[float]
    want: str


LATE = [
    Late("a moment", 2, [0.1, 0.2], "created Missing"),
    Late("for ever", 99, [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0, 2.0], "failed NamespaceMissing"),
]


@pytest.mark.parametrize("case", LATE, ids=lambda case: case.why)
def test_a_server_that_learns_late_of_a_new_namespace_is_asked_again_less_and_less_often(
    case: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, pauses = FakeCluster(), list[float]()

    def wait(seconds: float) -> bool:
        pauses.append(seconds)
        return True

    monkeypatch.setattr(server, "wait", wait)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    late = Failure(kind=FailureKind.NAMESPACE_MISSING, message='namespaces "new" not found', status=404)
    refusals = [late] * case.refusals
    server.faults.append(
        lambda request: refusals.pop() if request.path.endswith("/new/configmaps/settings") and refusals else None
    )
    applied = Cluster(server=server, space="default").apply(a_config_map("settings", namespace="new"), namespace)
    assert outcomes(applied) == {"Namespace new": "created Missing", "ConfigMap settings": case.want}
    assert pauses == case.pauses


def test_a_kind_is_as_well_as_the_last_look_at_it_says(cluster: Cluster) -> None:
    """A first pass waited until it was established, and then told the status branch of the answer from before."""

    def unestablished(request: Request, send: Send) -> Answer | Failure:
        answer = send(request)
        if isinstance(answer, Answer) and request.method == "PATCH" and "customresourcedefinitions" in request.path:
            return replace(answer, body={**answer.body, "status": {}})
        return answer

    client = cluster.client()
    client.wire = unestablished
    crd = a_crd(f"{cluster.space}-late.example.com")
    (result,) = cluster.apply(crd, client=client).results
    cluster.apply(inventory=cluster.inventory(crd), confirm_all=True, allowed_removals=9)
    assert result.live is not None
    conditions = {each["type"]: each["status"] for each in (result.live["status"] or {}).get("conditions") or ()}
    assert conditions.get("Established") == "True"


def test_a_kind_and_its_objects_come_in_one_pass(cluster: Cluster) -> None:
    crd = a_crd(f"{cluster.space}.example.com")
    widget = {
        "apiVersion": f"{cluster.space}.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one", "namespace": cluster.space},
        "spec": {"size": 3},
    }
    kinds = [f"CustomResourceDefinition.apiextensions.k8s.io {crd['metadata']['name']}"]
    kinds.append(f"Widget.{cluster.space}.example.com one")
    try:
        assert outcomes(cluster.apply(widget, crd)) == dict.fromkeys(kinds, "created Missing")
        assert outcomes(cluster.apply(widget, crd)) == dict.fromkeys(kinds, "unchanged UpToDate")
    finally:
        last = cluster.apply(inventory=cluster.inventory(widget, crd), confirm_all=True, allowed_removals=9)
    assert outcomes(last) == dict.fromkeys(kinds, "deleted NotWanted")


def test_a_kind_that_is_not_served_blocks_its_objects_alone(cluster: Cluster) -> None:
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one", "namespace": cluster.space},
    }
    applied = cluster.apply(widget, a_config_map("settings", namespace=cluster.space))
    assert outcomes(applied) == {
        "ConfigMap settings": "created Missing",
        "Widget.example.com one": "blocked KindNotServed",
    }
    assert str(applied.results[1]) == (
        f"Widget.example.com {cluster.space}/one: blocked (KindNotServed): "
        "the cluster does not serve Widget in example.com/v1\n"
        "  hint: deliver its CustomResourceDefinition to this cluster as well"
    )


def test_an_outdated_version_is_answered_with_the_one_served(cluster: Cluster) -> None:
    old = {**a_deployment("web", namespace=cluster.space), "apiVersion": "apps/v1beta2"}
    applied = cluster.apply(old)
    assert (applied.results[0].reason, applied.results[0].hint) == ("KindNotServed", "write apps/v1")


def test_a_namespace_that_is_not_there_is_told_with_what_to_do(cluster: Cluster) -> None:
    applied = cluster.apply(a_config_map("settings", namespace=f"{cluster.space}-not-there"))
    assert (applied.results[0].action, applied.results[0].reason) == (Action.FAILED, FailureKind.NAMESPACE_MISSING)
    assert applied.results[0].hint == "add the Namespace to the fleet, or create it in the cluster"


def test_a_failed_object_leaves_the_others_applied(cluster: Cluster) -> None:
    bad = {**a_config_map("bad", namespace=f"{cluster.space}-not-there")}
    applied = cluster.apply(bad, a_config_map("good", namespace=cluster.space, a="1"))
    assert outcomes(applied) == {"ConfigMap bad": "failed NamespaceMissing", "ConfigMap good": "created Missing"}
    assert applied.outcome is ApplyOutcome.INCOMPLETE


def test_two_manifests_of_one_object_are_both_refused(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space)
    applied = cluster.apply(settings, {**settings, "data": {"a": "2"}})
    assert [result.reason for result in applied.results] == ["Duplicate", "Duplicate"]
    assert cluster.read("configmaps", "settings") is None


def test_a_member_of_another_set_is_refused(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space)
    settings["metadata"]["labels"] = {"applyset.kubernetes.io/part-of": "applyset-other-v1"}
    assert outcomes(cluster.apply(settings)) == {"ConfigMap settings": "blocked OtherApplySet"}


def test_what_is_suspended_is_left_as_it_is(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space, a="1")
    cluster.apply(settings)
    newer = {**settings, "data": {"a": "2"}}
    suspended = DesiredObject(ref=ObjectRef.of(newer), manifest=newer, is_suspended=True)
    client = cluster.client()
    applied = cluster.apply(suspended, client=client)
    assert outcomes(applied) == {"ConfigMap settings": "kept SuspendDispatching"}
    assert client.writes == []


def test_a_field_dropped_from_the_manifest_is_removed(cluster: Cluster) -> None:
    cluster.apply(a_config_map("settings", namespace=cluster.space, a="1", b="2"))
    applied = cluster.apply(a_config_map("settings", namespace=cluster.space, a="1"))
    assert outcomes(applied) == {"ConfigMap settings": "configured Changed"}
    assert [(change.path, change.change) for change in applied.results[0].changes] == [(".data.b", "Dropped")]
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1"}


def test_string_data_is_sent_as_data_and_a_dropped_key_goes(cluster: Cluster) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "login", "namespace": cluster.space},
        "type": "Opaque",
        "data": {"user": "YWRh\n"},
        "stringData": {"password": "hunter2"},
    }
    cluster.apply(secret)
    assert cluster.read("secrets", "login")["data"] == {"user": "YWRh", "password": "aHVudGVyMg=="}
    assert outcomes(cluster.apply(secret)) == {"Secret login": "unchanged UpToDate"}
    cluster.apply({**secret, "stringData": {}})
    assert cluster.read("secrets", "login")["data"] == {"user": "YWRh"}


def test_a_dry_run_says_what_would_happen_and_writes_nothing(cluster: Cluster) -> None:
    cluster.apply(a_config_map("settings", namespace=cluster.space, a="1"))
    before = cluster.read("configmaps", "settings")
    manifests = (a_config_map("settings", namespace=cluster.space, a="2"), a_deployment("web", namespace=cluster.space))
    applied = cluster.apply(*manifests, how=ApplySettings(dry_run=True))
    assert outcomes(applied) == {"ConfigMap settings": "configured Changed", "Deployment.apps web": "created Missing"}
    assert applied.outcome is ApplyOutcome.INTERRUPTED
    assert cluster.read("configmaps", "settings") == before
    assert cluster.read("deployments", "web", "apis/apps/v1") is None


def test_a_rehearsal_that_is_refused_leaves_everything_as_it_was(cluster: Cluster) -> None:
    manifests = (
        a_config_map("good", namespace=cluster.space),
        a_config_map("bad", namespace=f"{cluster.space}-not-there"),
    )
    applied = cluster.apply(*manifests, how=ApplySettings(rehearse=True))
    assert applied.failure
    assert applied.failure.message == "the rehearsal was refused; nothing was written"
    assert cluster.read("configmaps", "good") is None


def test_another_cluster_behind_the_context_is_refused(cluster: Cluster) -> None:
    client = cluster.client()
    inventory = Inventory(cluster="member1", uid="the-uid-of-another-cluster")
    applied = cluster.apply(a_config_map("settings", namespace=cluster.space), inventory=inventory, client=client)
    assert applied.failure
    assert applied.failure.kind is FailureKind.WRONG_CLUSTER
    found = cluster.server.read("/api/v1/namespaces/kube-system")["metadata"]["uid"]
    assert applied.failure.hint == (
        "correct the context; if the cluster was built anew, take it in again:"
        f" argosy cluster rejoin member1 --accept-uid {found}"
    )
    assert client.writes == []


def test_an_older_commit_is_refused_until_it_is_said(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space)
    refused = cluster.apply(settings, is_older=True)
    assert refused.failure
    assert str(refused.failure.kind) == "OlderCommit"
    assert str(refused.failure) == (
        "c0ffee is older than what 'member1' holds\n"
        "  hint: going back is allowed when it is said: revert in the source, or pass --allow-older"
    )
    assert outcomes(cluster.apply(settings, is_older=True, allow_older=True)) == {
        "ConfigMap settings": "created Missing"
    }


class TestImmutable:
    @staticmethod
    def frozen(cluster: Cluster, value: str, **annotations: str) -> dict[str, Any]:
        manifest = {**a_config_map("frozen", namespace=cluster.space, a=value), "immutable": True}
        manifest["metadata"]["annotations"] = {"example.com/why": "a test", **annotations}
        return manifest

    def test_a_change_is_reported(self, cluster: Cluster) -> None:
        cluster.apply(self.frozen(cluster, "1"))
        applied = cluster.apply(self.frozen(cluster, "2"))
        assert outcomes(applied) == {"ConfigMap frozen": "failed Immutable"}
        assert cluster.read("configmaps", "frozen")["data"] == {"a": "1"}

    def test_it_is_recreated_where_its_manifest_allows_it(self, cluster: Cluster) -> None:
        allowed = {"argosy.dev/recreate": "True"}
        cluster.apply(self.frozen(cluster, "1", **allowed))
        applied = cluster.apply(self.frozen(cluster, "2", **allowed))
        assert outcomes(applied) == {"ConfigMap frozen": "created Recreated"}
        assert cluster.read("configmaps", "frozen")["data"] == {"a": "2"}

    def test_another_one_that_took_its_place_is_not_deleted(self, cluster: Cluster) -> None:
        allowed = {"argosy.dev/recreate": "true"}
        cluster.apply(self.frozen(cluster, "1", **allowed))
        client = cluster.client()

        def replacing(request: Request, send: Send) -> Any:
            if request.method == "DELETE":
                client.wire = straight
                cluster.server.request("DELETE", cluster.path("configmaps", "frozen"))
                cluster.create("configmaps", self.frozen(cluster, "theirs"))
            return send(request)

        client.wire = replacing
        applied = cluster.apply(self.frozen(cluster, "2", **allowed), client=client)
        assert outcomes(applied) == {"ConfigMap frozen": "failed Conflict"}
        assert cluster.read("configmaps", "frozen")["data"] == {"a": "theirs"}


@pytest.mark.parametrize("moment", ["before the first write", "between two stages"])
def test_a_cluster_exchanged_in_between_is_not_written_to(moment: str, cluster: Cluster) -> None:
    """The identity is asked for before every stage that writes."""
    client = cluster.client()
    _, plan = cluster.plan(
        [a_config_map("settings", namespace=cluster.space), a_deployment("web", namespace=cluster.space)]
    )
    asked = 0

    def exchanged(request: Request, send: Send) -> Any:
        nonlocal asked
        answer: Any = send(request)
        if request.path == "/api/v1/namespaces/kube-system":
            asked += 1
            if asked == (1 if moment.startswith("before") else 2):
                answer.body["metadata"]["uid"] = "another"
        return answer

    client.wire = exchanged
    applied = apply_plan(client, plan, QUICK)
    written = [path for path in client.writes if "argosy" not in path]
    if moment.startswith("before"):
        assert applied.failure
        assert written == []
    else:
        assert outcomes(applied) == {
            "ConfigMap settings": "created Missing",
            "Deployment.apps web": "blocked WrongCluster",
        }
