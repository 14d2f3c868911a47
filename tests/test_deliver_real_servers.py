"""Things that only real API servers do: webhooks, rights, quotas, dying namespaces, kubectl, servers that die."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.fleet import ClusterJob, apply_fleet
from reconciler.deliver.holder import LeaseHolder
from reconciler.deliver.results import ApplySettings
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.client import KubeClient
from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.identity import Impersonation
from reconciler.members.kubeconfig import Context, Contexts
from reconciler.members.opening import MemberAccess, Members
from reconciler.members.visits import MemberReach
from reconciler.plans.model import Action, ClusterDesired
from render.documents import emit

from .applying import QUICK, Cluster, Recorder, Send, desired_objects, outcomes
from .build import a_config_map, a_deployment
from .clusters import Member, remove_namespaces
from .waiting import at_once, eventually

pytestmark = pytest.mark.cluster

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def cluster(real_cluster: Cluster) -> Cluster:
    return real_cluster


def member_of(cluster: Cluster) -> Member:
    assert isinstance(cluster.server, Member)
    return cluster.server


def context_of(member: Member, **user: Any) -> Context:
    found = Contexts(files=[member.kubeconfig]).find(member.name)
    assert isinstance(found, Context)
    if not user:
        return found
    return Context(
        name=found.name, cluster=found.cluster, user=user, cluster_folder=member.folder, user_folder=member.folder
    )


def client_as(member: Member, *, identity: Impersonation | None = None, **user: Any) -> Recorder:
    connection = open_connection(context_of(member, **user), AuthPlugins(environment=os.environ), identity=identity)
    assert not isinstance(connection, Failure), connection
    return Recorder(KubeClient(connection, deadline=time.monotonic() + 60))


def may_list_config_maps(member: Member, user: str) -> bool:
    """Ask the member whether a user has a right, which comes into force a moment after its role is there."""
    asked = {"user": user, "resourceAttributes": {"verb": "list", "resource": "configmaps"}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    status, answer = member.request("POST", path, {"spec": asked})
    assert status == 201, answer
    return bool(answer["status"]["allowed"])


@contextmanager
def made(member: Member, path: str, body: dict[str, Any]) -> Iterator[None]:
    """Have an object of the cluster's while a test runs."""
    status, answer = member.request("POST", path, body)
    assert status == 201, answer
    try:
        yield
    finally:
        member.request("DELETE", f"{path}/{body['metadata']['name']}")


def handing_over(guide: Path, folder: Path, manager: str) -> str:
    """Return the commands of a guide that give up Argosy's share of the objects in a folder."""
    (text,) = re.findall(r"```sh\n(git archive.*?)```\n", guide.read_text(encoding="utf-8"), re.DOTALL)
    _, *commands = text.splitlines()
    for said, meant in (
        ("clusters/paris", str(folder)),
        (" --context paris", ""),
        (re.search('"argosy-default-.*?"', text)[0], manager),  # type: ignore[index]  # it is there, or this fails
    ):
        commands = [command.replace(said, meant) for command in commands]
    return "\n".join(commands)


@pytest.mark.parametrize("tool", ["argocd", "flux"])
def test_an_object_that_is_handed_over_stays_and_loses_what_its_new_owner_leaves_out(
    tool: str, cluster: Cluster, tmp_path: Path
) -> None:
    settings, web = a_config_map("settings", namespace=cluster.space, a="1", b="2"), a_deployment("web", replicas=3)
    web["metadata"]["namespace"] = cluster.space
    cluster.apply(settings, web)
    for plural, manifest, api in (("configmaps", settings, "api/v1"), ("deployments", web, "apis/apps/v1")):
        cluster.apply_as("kustomize-controller", plural, manifest, api)
        (tmp_path / f"{plural}.yaml").write_bytes(emit(manifest))
    less = {**settings, "data": {"a": "1"}}
    assert cluster.apply_as("kustomize-controller", "configmaps", less)["data"] == {"a": "1", "b": "2"}
    before = cluster.read("deployments", "web", "apis/apps/v1")
    guide = Path(__file__).parent.parent / "examples" / tool / "README.md"
    commands = handing_over(guide, tmp_path, cluster.applyset.name)
    paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "KUBECONFIG": str(member_of(cluster).kubeconfig), "PATH": paths}
    run = subprocess.run(
        ["sh", "-ec", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    after = cluster.read("deployments", "web", "apis/apps/v1")
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1"}
    assert (after["spec"], after["metadata"]["generation"]) == (before["spec"], before["metadata"]["generation"])
    assert after["metadata"].get("labels") == web["metadata"].get("labels")
    managers = {each["manager"] for each in after["metadata"]["managedFields"]}
    assert managers - {"kube-controller-manager"} == {"kustomize-controller"}


class TestRefusals:
    def test_a_webhook_that_is_down_fails_what_it_guards_and_nothing_else(self, cluster: Cluster) -> None:
        guard = {
            "name": "guard.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
            "objectSelector": {"matchLabels": {"guarded-in": cluster.space}},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
        }
        configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": cluster.space},
            "webhooks": [guard],
        }
        guarded = a_config_map("guarded", namespace=cluster.space, a="1")
        guarded["metadata"]["labels"] = {"guarded-in": cluster.space}
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        with made(member_of(cluster), path, configuration):
            for _ in range(50):
                applied = cluster.apply(guarded, a_config_map("free", namespace=cluster.space))
                if applied.results[1].is_failure:
                    break
                member_of(cluster).request("DELETE", cluster.path("configmaps", "guarded"))
        assert outcomes(applied)["ConfigMap guarded"] == "failed WebhookFailed"
        told = next(result for result in applied.results if result.ref.name == "guarded")
        assert told.message == "the admission webhook 'guard.example.com' could not be called"
        assert cluster.read("configmaps", "free")

    def test_rights_that_are_missing_fail_what_needs_them_and_hold_pruning(self, cluster: Cluster) -> None:
        member, space = member_of(cluster), cluster.space
        everywhere = [
            {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "patch", "create"]},
        ]
        role = {"metadata": {"name": space}, "rules": everywhere}
        binding = {
            "metadata": {"name": space},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": space},
            "subjects": [{"kind": "User", "name": f"limited-{space}"}],
        }
        manifests = (
            a_config_map("settings", namespace=space),
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": space}},
        )
        inventory = cluster.inventory(*manifests, a_config_map("gone", namespace=space))
        cluster.apply(a_config_map("gone", namespace=space))
        with made(member, f"{RBAC}/clusterroles", role), made(member, f"{RBAC}/clusterrolebindings", binding):
            eventually(lambda: may_list_config_maps(member, f"limited-{space}"), "the rights are in force")
            client = client_as(member, identity=Impersonation(user=f"limited-{space}"))
            applied = cluster.apply(*manifests, inventory=inventory, client=client)
        assert outcomes(applied) == {
            "ConfigMap settings": "created Missing",
            "Secret s": "blocked Forbidden",
            "ConfigMap gone": "kept Held",
        }
        refused = next(result for result in applied.results if result.ref.kind == "Secret")
        assert f'User "limited-{space}" cannot list resource "secrets"' in refused.message

    def test_a_quota_that_is_used_up_is_told(self, cluster: Cluster) -> None:
        quota = {"metadata": {"name": "few"}, "spec": {"hard": {"count/configmaps": "3"}}}
        with made(member_of(cluster), cluster.path("resourcequotas"), quota):
            eventually(
                lambda: "hard" in (cluster.read("resourcequotas", "few").get("status") or {}),
                "the quota's status",
            )
            names = [f"c{number}" for number in range(4)]
            applied = cluster.apply(*(a_config_map(name, namespace=cluster.space) for name in names))
        assert applied.count(Action.FAILED) >= 1
        refused = next(result for result in applied.results if result.is_failure)
        assert (refused.reason, "exceeded quota" in refused.message) == (FailureKind.FORBIDDEN, True)

    def test_nothing_is_put_into_a_namespace_that_is_going(self, cluster: Cluster) -> None:
        cluster.create("configmaps", {"metadata": {"name": "last", "finalizers": ["example.com/hold"]}})
        member_of(cluster).request("DELETE", f"/api/v1/namespaces/{cluster.space}")
        at_once = ApplySettings(settle_seconds=0.0)
        applied = cluster.apply(a_config_map("late", namespace=cluster.space), how=at_once)
        assert outcomes(applied) == {"ConfigMap late": "failed NamespaceTerminating"}
        assert applied.prune_hold.startswith("the ApplySet's parent could not be written")
        assert applied.results[0].hint == "wait until the namespace is gone; the next pass creates it again"
        cluster.edit("configmaps", "last", {"metadata": {"finalizers": None}})

    def test_a_field_no_schema_knows_is_the_manifests_fault(self, cluster: Cluster) -> None:
        web = a_deployment("web", namespace=cluster.space)
        web["spec"]["replicaz"] = 3
        applied = cluster.apply(web)
        assert applied.results[0].reason == FailureKind.MANIFEST
        assert applied.results[0].message.endswith(".spec.replicaz: field not declared in schema")

    def test_an_object_that_is_too_large_is_its_own_fault_and_no_servers(self, cluster: Cluster) -> None:
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        rules = [
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["x" * (1700 << 10)], "verbs": ["get"]}
        ]
        metadata = {"name": "huge", "namespace": cluster.space}
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}
        client = cluster.client()
        applied = cluster.apply(settings, role, client=client)
        assert outcomes(applied) == {
            "ConfigMap settings": "created Missing",
            "Role.rbac.authorization.k8s.io huge": "failed RequestTooLarge",
        }
        assert len([write for write in client.writes if write.endswith("/huge")]) == 1

    def test_a_selector_that_cannot_change_is_told_and_recreated_where_allowed(self, cluster: Cluster) -> None:
        web = a_deployment("web", namespace=cluster.space)
        cluster.apply(web)
        other = a_deployment("web", namespace=cluster.space)
        other["spec"]["selector"]["matchLabels"] = other["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        applied = cluster.apply(other)
        assert outcomes(applied) == {"Deployment.apps web": "failed Immutable"}
        assert applied.results[0].message == "spec.selector: field is immutable"
        other["metadata"]["annotations"] = {"argosy.dev/recreate": "true"}
        assert outcomes(cluster.apply(other)) == {"Deployment.apps web": "created Recreated"}


class TestAuthentication:
    def test_a_client_certificate(self, cluster: Cluster) -> None:
        user: dict[str, Any] = {"client-certificate": "admin.crt", "client-key": "admin.key"}
        client = client_as(member_of(cluster), **user)
        assert (
            cluster.apply(a_config_map("a", namespace=cluster.space), client=client).outcome is ApplyOutcome.CONVERGED
        )

    def test_an_exec_plugin_that_answers_with_a_certificate(self, cluster: Cluster) -> None:
        folder = member_of(cluster).folder
        plugin = folder / "plugin"
        plugin.write_text(
            "#!/usr/bin/env python3\nimport json, pathlib, sys\n"
            "here = pathlib.Path(sys.argv[0]).parent\n"
            "status = {'clientCertificateData': (here / 'admin.crt').read_text(),"
            " 'clientKeyData': (here / 'admin.key').read_text()}\n"
            "print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential',"
            " 'status': status}))\n"
        )
        plugin.chmod(0o755)
        user: dict[str, Any] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin"}}
        applied = cluster.apply(
            a_config_map("a", namespace=cluster.space), client=client_as(member_of(cluster), **user)
        )
        assert applied.outcome is ApplyOutcome.CONVERGED

    def test_a_token_that_is_not_good_stops_the_cluster(self, cluster: Cluster) -> None:
        client = client_as(member_of(cluster), token="no-good")
        applied = cluster.apply(a_config_map("a", namespace=cluster.space), client=client)
        assert applied.failure
        assert applied.failure.kind is FailureKind.UNAUTHORIZED

    def test_a_certificate_nobody_trusts_stops_the_cluster(self, cluster: Cluster) -> None:
        found = context_of(member_of(cluster))
        stranger = Context(name="it", cluster={"server": found.cluster["server"]}, user=found.user)
        connection = open_connection(stranger, AuthPlugins(environment={}))
        assert not isinstance(connection, Failure)
        outcome = KubeClient(connection, deadline=time.monotonic() + 9).send(Request(method="GET", path="/version"))
        assert isinstance(outcome, Failure)
        assert outcome.kind is FailureKind.CERTIFICATE


class TestKubectl:
    """The things people do with the real kubectl, and its view of our set."""

    def test_what_it_changed_is_seen_and_set_right(self, cluster: Cluster) -> None:
        web = a_deployment("web", namespace=cluster.space)
        cluster.apply(web)
        run = member_of(cluster).kubectl
        run("-n", cluster.space, "scale", "deployment/web", "--replicas=5")
        run("-n", cluster.space, "set", "image", "deployment/web", "web=nginx:9")
        run("-n", cluster.space, "label", "deployment/web", "app-")
        run("-n", cluster.space, "set", "env", "deployment/web", "ADDED=by-hand")
        applied = cluster.apply(web)
        result = applied.results[0]
        assert sorted(change.path for change in result.changes) == [
            ".metadata.labels.app",
            ".spec.replicas",
            '.spec.template.spec.containers[name="web"].image',
        ]
        assert [change.path for change in result.foreign] == ['.spec.template.spec.containers[name="web"].env']
        assert outcomes(cluster.apply(web)) == {"Deployment.apps web": "unchanged UpToDate"}
        cluster.apply(web, remove_foreign=True)
        live = cluster.read("deployments", "web", "apis/apps/v1")
        assert (live["spec"]["replicas"], live["metadata"]["labels"]["app"]) == (2, "web")
        (container,) = live["spec"]["template"]["spec"]["containers"]
        assert (container["image"], container.get("env")) == ("nginx:1.29", None)

    def test_a_namespace_that_it_made_is_adopted_and_has_nothing_foreign(self, cluster: Cluster) -> None:
        name = f"{cluster.space}-made"
        member_of(cluster).kubectl("create", "namespace", name)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for said in ("adopted Equal", "unchanged UpToDate"):
            applied = cluster.apply(namespace)
            assert outcomes(applied) == {f"Namespace {name}": said}
            assert applied.results[0].foreign == ()
        remove_namespaces([member_of(cluster)], name)

    def test_objects_it_applied_are_taken_over_on_request(self, cluster: Cluster, tmp_path: Path) -> None:
        old = a_deployment("web", namespace=cluster.space)
        old["spec"]["minReadySeconds"] = 7
        path = tmp_path / "web.json"
        path.write_text(json.dumps(old))
        member_of(cluster).kubectl("apply", "-f", str(path))
        web = a_deployment("web", namespace=cluster.space, image="nginx:1.30")
        applied = cluster.apply(web, migrate_from=frozenset({"kubectl-client-side-apply"}))
        assert outcomes(applied) == {"Deployment.apps web": "adopted Migrated"}
        live = cluster.read("deployments", "web", "apis/apps/v1")
        assert live["spec"].get("minReadySeconds", 0) == 0
        assert outcomes(cluster.apply(web)) == {"Deployment.apps web": "unchanged UpToDate"}

    def test_it_keeps_its_hands_off_our_set(
        self, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cluster.apply(a_config_map("ours", namespace=cluster.space))
        path = tmp_path / "other.json"
        path.write_text('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}}')
        monkeypatch.setenv("KUBECTL_APPLYSET", "true")
        parent = f"--applyset=configmaps/{cluster.applyset.name}"
        with pytest.raises(AssertionError, match="tooling"):
            member_of(cluster).kubectl("apply", "-n", cluster.space, "--prune", parent, "-f", str(path))
        assert cluster.read("configmaps", "ours")


def test_a_server_killed_in_mid_apply_costs_nothing_but_another_pass(cluster: Cluster) -> None:
    member = member_of(cluster)
    manifests = [a_config_map(f"c{number:02}", namespace=cluster.space, a="1") for number in range(40)]
    _, plan = cluster.plan(manifests)
    client, came = cluster.client(seconds=20), 0

    def killing(request: Request, send: Send) -> Answer | Failure:
        nonlocal came
        answer = send(request)
        came += request.method == "PATCH"
        if came == 10:
            member.stop_server()
        return answer

    client.wire = killing
    applied = apply_plan(client, plan)
    member.start_server()
    assert applied.failure
    assert applied.failure.kind is FailureKind.UNREACHABLE
    assert applied.outcome is ApplyOutcome.INTERRUPTED
    assert 0 < applied.count(Action.CREATED) < 40
    again = cluster.apply(*manifests)
    assert again.outcome is ApplyOutcome.CONVERGED
    assert cluster.apply(*manifests).count(Action.UNCHANGED) == 40


def test_two_passes_at_once_come_to_the_same_and_delete_nothing_twice(cluster: Cluster) -> None:
    manifests = [a_config_map(f"c{number:02}", namespace=cluster.space, a="1") for number in range(20)]
    going = [a_config_map(f"g{number}", namespace=cluster.space) for number in range(5)]
    cluster.apply(*going)
    inventory = cluster.inventory(*manifests, *going)
    applied: list[Any] = []

    def work(number: int) -> None:
        how = ApplySettings(holder=LeaseHolder(name=f"pass {number}"))
        applied.append(cluster.apply(*manifests, inventory=inventory, how=how))

    at_once(work, 2)
    assert all(result.action is not Action.FAILED for one in applied for result in one.results)
    last = cluster.apply(*manifests, inventory=inventory)
    assert last.outcome is ApplyOutcome.CONVERGED
    assert {result.action for result in last.results} <= {Action.UNCHANGED, Action.DELETED}


class TestFleet:
    @staticmethod
    def jobs(members: tuple[Member, ...], space: str, *, uids: dict[str, str] | None = None) -> list[ClusterJob]:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
        wanted = desired_objects([namespace, a_config_map("settings", namespace=space, a="1")])
        return [
            ClusterJob(
                desired=ClusterDesired(cluster=member.name, commit="c0ffee", objects=wanted),
                inventory=Inventory(cluster=member.name, uid=(uids or {}).get(member.name, "")),
                options=Cluster(server=member, space=space).options(),
            )
            for member in members
        ]

    @staticmethod
    def kubeconfigs(members: tuple[Member, ...], folder: Path) -> MemberAccess:
        for member in members:
            (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
        return MemberAccess(folder=str(folder))

    def test_three_clusters_from_a_folder_of_kubeconfigs(
        self, members: tuple[Member, ...], cluster: Cluster, tmp_path: Path
    ) -> None:
        access, space = self.kubeconfigs(members, tmp_path), f"{cluster.space}-f"
        first, second = (
            list(apply_fleet(self.jobs(members, space), MemberReach(open_client=Members(access).open)))
            for _ in range(2)
        )
        assert {report.cluster for report in first} == {"member1", "member2", "member3"}
        for report in second:
            assert report.applied
            assert report.applied.count(Action.UNCHANGED) == 2
        for member in members:
            member.request("DELETE", f"/api/v1/namespaces/{space}")

    def test_a_context_that_leads_elsewhere_is_caught_by_the_pinned_identity(
        self, members: tuple[Member, ...], cluster: Cluster, tmp_path: Path
    ) -> None:
        access = self.kubeconfigs(members, tmp_path)
        (tmp_path / "member2.yaml").write_text(members[2].kubeconfig.read_text())
        uids = {member.name: member.read("/api/v1/namespaces/kube-system")["metadata"]["uid"] for member in members}
        space = f"{cluster.space}-w"
        reports = list(
            apply_fleet(self.jobs(members[:2], space, uids=uids), MemberReach(open_client=Members(access).open))
        )
        kinds = {report.cluster: report.failure and report.failure.kind for report in reports}
        assert kinds == {"member1": None, "member2": FailureKind.WRONG_CLUSTER}
        assert members[2].read(f"/api/v1/namespaces/{space}") is None
        members[0].request("DELETE", f"/api/v1/namespaces/{space}")

    def test_a_silent_cluster_costs_itself_alone(
        self, members: tuple[Member, ...], cluster: Cluster, tmp_path: Path
    ) -> None:
        """A stopped process accepts connections and says nothing."""
        access, space = self.kubeconfigs(members, tmp_path), f"{cluster.space}-s"
        frozen = members[2].pids["kube-apiserver"]
        os.kill(frozen, signal.SIGSTOP)
        try:
            came: list[str] = []
            for report in apply_fleet(
                self.jobs(members, space), MemberReach(open_client=Members(access).open, timeout=60)
            ):
                came.append(report.cluster)
                last = report
        finally:
            os.kill(frozen, signal.SIGCONT)
        assert (sorted(came), came[-1]) == (["member1", "member2", "member3"], "member3")
        assert last.failure
        assert last.failure.kind is FailureKind.UNREACHABLE
        for member in members[:2]:
            member.request("DELETE", f"/api/v1/namespaces/{space}")


def test_a_dry_run_tells_what_the_server_would_make_of_it(cluster: Cluster) -> None:
    cluster.apply(a_deployment("web", namespace=cluster.space))
    newer = a_deployment("web", namespace=cluster.space, image="nginx:2")
    applied = cluster.apply(newer, how=ApplySettings(dry_run=True, version=QUICK.version))
    (result,) = applied.results
    assert [(change.path, change.live, change.want) for change in result.changes] == [
        ('.spec.template.spec.containers[name="web"].image', "nginx:1.29", "nginx:2")
    ]
