"""Kinds that cannot be read block themselves alone, and what repairs them is applied before they are tried again.

The kinds are custom ones on real API servers, whose conversion webhook nobody answers.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.check.members import MemberAsking, MemberQuestion, member_checks
from reconciler.deliver.fleet import ClusterJob, FleetOptions, apply_fleet
from reconciler.deliver.results import ApplySettings, ClusterReport, ClusterResult
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.visits import MemberReach
from reconciler.plans.model import ClusterDesired
from render.model import ObjectRef

from .applying import QUICK, Cluster, Recorder, Send, desired_objects, outcomes
from .build import a_config_map
from .waiting import eventually

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BROKEN = {
    "strategy": "Webhook",
    "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"}},
}
NONE = {"strategy": "None"}


def group_of(cluster: Cluster) -> str:
    return f"{cluster.space}.example.com"


def a_definition(cluster: Cluster, conversion: Any, stored: str = "v2") -> dict[str, Any]:
    spec = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group_of(cluster)}"},
        "spec": {
            "group": group_of(cluster),
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "conversion": conversion,
            "versions": [
                {"name": name, "served": True, "storage": name == stored, "schema": schema} for name in ("v1", "v2")
            ],
        },
    }


def a_widget(cluster: Cluster, name: str, version: str = "v2", **spec: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": cluster.space}
    return {"apiVersion": f"{group_of(cluster)}/{version}", "kind": "Widget", "metadata": metadata, "spec": spec}


def passed(
    cluster: Cluster, *manifests: dict[str, Any], held_objects: Inventory, client: Recorder | None = None, **chosen: Any
) -> Any:
    """One visit of a pass: observed, planned and applied, in as many rounds as it takes."""
    desired = ClusterDesired(cluster="member1", commit="c0ffee", objects=desired_objects(manifests))
    job = ClusterJob(desired=desired, inventory=held_objects, options=cluster.options(**chosen))
    how = ApplySettings(settle_seconds=QUICK.settle_seconds, version=QUICK.version, holder=QUICK.holder)
    sender = client or cluster.client()
    (report,) = apply_fleet([job], MemberReach(open_client=lambda _name, _deadline: sender), FleetOptions(apply=how))
    return report


def applied_of(report: ClusterReport) -> ClusterResult:
    assert report.applied is not None, report.failure
    return report.applied


def found_by_the_doctor(cluster: Cluster, *manifests: dict[str, Any]) -> list[str]:
    """Return what the doctor says of the objects of a cluster, beside that all is granted."""
    question = MemberQuestion(desired=ClusterDesired(cluster="member1", objects=desired_objects(manifests)))
    asking = MemberAsking(
        reach=MemberReach(open_client=lambda _name, _deadline: cluster.client()), applyset=cluster.applyset
    )
    return [check.state for check in member_checks([question], asking) if check.name == "objects"]


@pytest.fixture
def broken(real_cluster: Cluster) -> Iterator[Cluster]:
    """A cluster with widgets that can no longer be read: two stored in v1, while the definition stores v2."""
    cluster = real_cluster
    kept = [a_widget(cluster, name, "v1", a="1") for name in ("kept", "going")]
    applied = applied_of(
        passed(cluster, a_definition(cluster, NONE, "v1"), *kept, held_objects=Inventory(cluster="member1"))
    )
    assert applied.outcome is ApplyOutcome.CONVERGED, outcomes(applied)
    passed(cluster, a_definition(cluster, BROKEN), *kept, held_objects=Inventory(cluster="member1"))
    path = f"/apis/{group_of(cluster)}/v2/widgets"
    eventually(lambda: cluster.server.request("GET", path)[0] >= 429, "the failure of the conversion")
    yield cluster
    _remove_widgets(cluster)


def _remove_widgets(cluster: Cluster) -> None:
    """Mend the definition before it goes: while a kind cannot be read, no namespace of its server can be removed."""
    definition, mended = f"{CRDS}/widgets.{group_of(cluster)}", {"spec": {"conversion": {**NONE, "webhook": None}}}
    cluster.server.request("PATCH", definition, mended, content_type="application/merge-patch+json")
    path = f"/apis/{group_of(cluster)}/v2/widgets"
    eventually(lambda: cluster.server.request("GET", path)[0] == 200, "widgets that can be read")
    cluster.server.request("DELETE", definition)
    eventually(lambda: cluster.server.read(definition) is None, "the end of the definition")


@pytest.mark.cluster
class TestConversion:
    def test_only_that_kind_is_blocked_and_all_else_is_applied_and_pruned(self, broken: Cluster) -> None:
        cluster = broken
        other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{cluster.space}-other"}}
        settings, here = (a_config_map(name, namespace=cluster.space, a="1") for name in ("settings", "here"))
        elsewhere = a_config_map("elsewhere", namespace=f"{cluster.space}-other")
        definition, kept = a_definition(cluster, BROKEN), a_widget(cluster, "kept", a="2")
        first = passed(cluster, definition, settings, here, other, elsewhere, held_objects=Inventory(cluster="member1"))
        assert first.failure is None
        going = a_widget(cluster, "going")
        held_objects = cluster.inventory(definition, settings, here, other, elsewhere, kept, going)
        changed = {**settings, "data": {"a": "2"}}
        cluster.edit("configmaps", "settings", {"data": {"b": "by hand"}})
        report = passed(cluster, definition, changed, other, kept, held_objects=held_objects)
        kind = f"Widget.{group_of(cluster)}"
        assert outcomes(applied_of(report)) == {
            f"Namespace {cluster.space}-other": "unchanged UpToDate",
            f"CustomResourceDefinition.apiextensions.k8s.io widgets.{group_of(cluster)}": "unchanged UpToDate",
            "ConfigMap settings": "configured Changed",
            f"{kind} kept": "blocked ConversionFailed",
            f"{kind} going": "kept Unknown",
            "ConfigMap here": "kept Held",
            "ConfigMap elsewhere": "deleted NotWanted",
        }
        (line,) = (each for each in applied_of(report).results if each.ref.name == "kept")
        assert line.message == f"the conversion webhook of Widget in {group_of(cluster)}/v1 fails"
        assert line.hint.startswith("see to the conversion webhook in its CustomResourceDefinition")
        assert (report.failure, applied_of(report).outcome) == (None, ApplyOutcome.INCOMPLETE)
        assert cluster.read("configmaps", "settings")["data"]["a"] == "2"
        cluster.server.request("DELETE", f"/api/v1/namespaces/{cluster.space}-other")

    def test_the_commit_that_repairs_it_is_applied_with_all_of_the_kind_in_one_pass(self, broken: Cluster) -> None:
        cluster = broken
        definition, kept = a_definition(cluster, NONE), a_widget(cluster, "kept", a="2")
        held_objects = cluster.inventory(definition, kept, a_widget(cluster, "going"))
        report = passed(cluster, definition, kept, held_objects=held_objects)
        kind = f"Widget.{group_of(cluster)}"
        assert outcomes(applied_of(report)) == {
            f"CustomResourceDefinition.apiextensions.k8s.io widgets.{group_of(cluster)}": "configured Changed",
            f"{kind} kept": "configured Changed",
            f"{kind} going": "deleted NotWanted",
        }
        assert applied_of(report).outcome is ApplyOutcome.CONVERGED
        live = cluster.read("widgets", "kept", f"apis/{group_of(cluster)}/v2")
        assert live["spec"] == {"a": "2"}

    def test_the_doctor_lists_as_a_pass_does(self, broken: Cluster) -> None:
        cluster = broken
        message = f"the conversion webhook of Widget in {group_of(cluster)}/v1 fails"
        assert found_by_the_doctor(cluster, a_definition(cluster, BROKEN), a_widget(cluster, "kept")) == [
            f"it cannot list Widget.{group_of(cluster)}: ConversionFailed: {message}"
        ]

    def test_the_doctor_writes_as_a_pass_does(self, broken: Cluster) -> None:
        """In the version that they are stored in they can be listed, and not be written: it said that all was well."""
        cluster = broken
        message = f"the conversion webhook of Widget in {group_of(cluster)}/v1 fails"
        known, kept = a_config_map("known", namespace=cluster.space), a_widget(cluster, "kept", "v1", a="2")
        held_objects = cluster.inventory(kept)
        tried = outcomes(applied_of(passed(cluster, kept, held_objects=held_objects)))
        assert tried[f"Widget.{group_of(cluster)} kept"] == "failed ConversionFailed"
        for wanted in (kept, a_widget(cluster, "new", "v1")):
            assert found_by_the_doctor(cluster, a_definition(cluster, BROKEN), known, wanted) == [
                f"it cannot write Widget.{group_of(cluster)}: ConversionFailed: {message}"
            ]
        assert cluster.read("configmaps", "known") is None


def a_guard(cluster: Cluster, policy: str) -> dict[str, Any]:
    """A webhook over the ConfigMaps of the test's namespace that nobody answers."""
    webhook = {
        "name": "guard.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.space}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": policy,
    }
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**head, "metadata": {"name": f"{cluster.space}-guard"}, "webhooks": [webhook]}


def await_refusal(cluster: Cluster) -> None:
    """Wait until the server has heard of the guard over the ConfigMaps."""
    tried, path = a_config_map("tried", namespace=cluster.space), f"{cluster.path('configmaps')}?dryRun=All"
    eventually(lambda: cluster.server.request("POST", path, tried)[0] >= 400, "the refusal of a ConfigMap")


@pytest.mark.cluster
def test_what_a_webhook_refused_is_applied_in_the_pass_that_mends_the_webhook(real_cluster: Cluster) -> None:
    """It was refused in that pass, for webhooks are applied last, and applied in the next one."""
    cluster = real_cluster
    settings, name = a_config_map("settings", namespace=cluster.space, a="1"), f"{cluster.space}-guard"
    strict, lenient = a_guard(cluster, "Fail"), a_guard(cluster, "Ignore")
    passed(cluster, settings, strict, held_objects=Inventory(cluster="member1"))
    await_refusal(cluster)
    report = passed(
        cluster, {**settings, "data": {"a": "2"}}, lenient, held_objects=cluster.inventory(settings, strict)
    )
    assert outcomes(applied_of(report)) == {
        "ConfigMap settings": "configured Changed",
        f"ValidatingWebhookConfiguration.admissionregistration.k8s.io {name}": "configured Changed",
    }
    assert applied_of(report).outcome is ApplyOutcome.CONVERGED
    assert cluster.read("configmaps", "settings")["data"] == {"a": "2"}
    passed(cluster, settings, held_objects=cluster.inventory(settings, lenient))


@pytest.mark.cluster
def test_what_the_first_round_sent_is_not_sent_again_in_the_second(real_cluster: Cluster) -> None:
    """A server leaves out the piece that an edit made empty, and refuses the same manifest the second time."""
    cluster = real_cluster
    settings, strict, lenient = (
        a_config_map("settings", namespace=cluster.space, a="1"),
        a_guard(cluster, "Fail"),
        a_guard(cluster, "Ignore"),
    )
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"{cluster.space}-all"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "1"}}]},
    }
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": cluster.space},
        "spec": {"ports": ports},
    }
    passed(cluster, settings, strict, role, service, held_objects=Inventory(cluster="member1"))
    await_refusal(cluster)
    emptied = {**service, "spec": {"ports": [{**ports[0], "protocol": ""}]}}
    changed = ({**settings, "data": {"a": "2"}}, lenient, {**role, "aggregationRule": {}}, emptied)
    client, held_objects = cluster.client(), cluster.inventory(settings, strict, role, service)
    report = passed(
        cluster, *changed, held_objects=held_objects, client=client, changed=frozenset(map(ObjectRef.of, changed))
    )
    assert outcomes(applied_of(report)) == {
        "ConfigMap settings": "configured Changed",
        f"ValidatingWebhookConfiguration.admissionregistration.k8s.io {cluster.space}-guard": "configured Changed",
        f"ClusterRole.rbac.authorization.k8s.io {cluster.space}-all": "configured Changed",
        "Service web": "configured Changed",
    }
    sent = [each.rpartition("/")[2] for each in client.writes if "clusterroles" in each or "services" in each]
    assert sorted(sent) == sorted([f"{cluster.space}-all", "web"])
    assert applied_of(report).outcome is ApplyOutcome.CONVERGED
    passed(cluster, settings, held_objects=cluster.inventory(settings, lenient, role, service))


FAULTS = {
    "an error": Failure(kind=FailureKind.ALONE, message="InternalError: unable to transform key", status=500),
    "a right that is missing": Failure(kind=FailureKind.FORBIDDEN, message="not you", status=403),
    "a watch cache that is too old": Failure(kind=FailureKind.EXPIRED, message="too old", status=410),
    "an answer that is no list": Failure(kind=FailureKind.ANSWER, message="it is no list"),
    "an answer without an end": Failure(kind=FailureKind.ANSWER_TOO_LARGE, message="it is too large"),
    "a storage that is being read in": Failure(kind=FailureKind.INITIALIZING, message="not now", status=429),
}


@pytest.mark.parametrize("why", FAULTS)
def test_a_kind_that_cannot_be_listed_blocks_itself_alone(why: str, cluster: Cluster) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": cluster.space}}
    settings = a_config_map("settings", namespace=cluster.space, a="1")
    passed(cluster, settings, secret, held_objects=Inventory(cluster="member1"))
    client = cluster.client()

    def failing(request: Request, send: Send) -> Answer | Failure:
        return FAULTS[why] if request.path.endswith("/secrets") else send(request)

    client.wire = failing
    changed = {**settings, "data": {"a": "2"}}
    report = passed(cluster, changed, secret, held_objects=cluster.inventory(settings, secret), client=client)
    told = {"ConfigMap settings": "configured Changed", "Secret s": f"blocked {FAULTS[why].kind}"}
    assert (report.failure, outcomes(applied_of(report))) == (None, told)
    assert outcomes(applied_of(passed(cluster, changed, secret, held_objects=Inventory(cluster="member1")))) == {
        "ConfigMap settings": "unchanged UpToDate",
        "Secret s": "unchanged UpToDate",
    }


def test_a_namespace_without_rights_blocks_its_own_objects_and_holds_its_own_deletions(cluster: Cluster) -> None:
    other = f"{cluster.space}-other"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}}
    here, gone = (a_config_map(name, namespace=cluster.space, a="1") for name in ("here", "gone"))
    there, left = (a_config_map(name, namespace=other, a="1") for name in ("there", "left"))
    passed(cluster, namespace, here, gone, there, left, held_objects=Inventory(cluster="member1"))
    client = cluster.client()

    def restricted(request: Request, send: Send) -> Answer | Failure:
        if request.path in {"/api/v1/configmaps", f"/api/v1/namespaces/{other}/configmaps"}:
            return Failure(kind=FailureKind.FORBIDDEN, message="not there", hint="ask for it", status=403)
        return send(request)

    client.wire = restricted
    held_objects = cluster.inventory(namespace, here, gone, there, left)
    report = passed(cluster, namespace, {**here, "data": {"a": "2"}}, there, held_objects=held_objects, client=client)
    assert outcomes(applied_of(report)) == {
        f"Namespace {other}": "unchanged UpToDate",
        "ConfigMap here": "configured Changed",
        "ConfigMap gone": "deleted NotWanted",
        "ConfigMap there": "blocked Forbidden",
        "ConfigMap left": "kept Unknown",
    }
    assert {each.hint for each in applied_of(report).results if each.ref.namespace == other} == {"ask for it"}
    cluster.server.request("DELETE", f"/api/v1/namespaces/{other}")
