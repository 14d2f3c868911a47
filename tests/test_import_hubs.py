"""Control planes read from their API servers: what they propagate becomes files, and the rest is counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from render.documents import parse_documents

from .build import Ended, a_cluster, a_config_map, a_deployment, a_policy, on_clusters
from .fakes import FakeCluster
from .served import serving_members
from .test_commands_import import EVERYWHERE, NAMESPACE, federated, member
from .test_starting_bindings import DYNAMIC, a_binding

CANARY = "Y2FuYXJ5LThmMTRlNDVm"


def a_definition(api_version: str, kind: str, scope: str = "Namespaced") -> dict[str, Any]:
    group, version = api_version.split("/")
    plural = f"{kind.lower().removesuffix('y')}{'ies' if kind.endswith('y') else 's'}"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "served": True, "storage": True}],
        },
    }


def a_hub(definitions: list[dict[str, Any]], manifests: list[dict[str, Any]]) -> FakeCluster:
    """A control plane that serves these kinds and holds these objects."""
    hub = FakeCluster(name="hub")
    plurals = {}
    for each in definitions:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert hub.request("POST", path, each)[0] == 201
    for api_version, kind, plural, _ in hub._kinds():
        plurals[api_version, kind] = plural
    for each in manifests:
        version, namespace = each["apiVersion"], each["metadata"].get("namespace")
        start = f"/apis/{version}" if "/" in version else f"/api/{version}"
        space = f"/namespaces/{namespace}" if namespace else ""
        status, said = hub.request("POST", f"{start}{space}/{plurals[version, each['kind']]}", each)
        assert status == 201, said
    return hub


def imported_hub(
    folder: Path, capsys: pytest.CaptureFixture[str], *clusters: FakeCluster, arguments: tuple[str, ...] = ()
) -> Ended:
    """Serve a control plane and members, import it into ``fleet``, and return what was said."""
    with serving_members(clusters, folder / "kubeconfigs") as served:
        wanted = ("--kubeconfigs", str(served.kubeconfigs), "--output-dir", str(folder / "fleet"))
        code = run(["import", "--context", "hub", *wanted, *arguments])
        assert served.written == []
    said = capsys.readouterr()
    assert CANARY not in said.out + said.err
    return Ended(code, said.out, said.err)


def files(folder: Path) -> dict[str, Any]:
    found = {}
    for path in sorted((folder / "fleet").rglob("*.yaml")):
        assert CANARY not in path.read_text()
        found[str(path.relative_to(folder / "fleet"))] = [each.value for each in parse_documents(path.read_bytes())]
    return found


KARMADA = [
    a_definition("policy.karmada.io/v1alpha1", "PropagationPolicy"),
    a_definition("work.karmada.io/v1alpha2", "ResourceBinding"),
    a_definition("work.karmada.io/v1alpha1", "Work"),
    a_definition("cluster.karmada.io/v1alpha1", "Cluster", "Cluster"),
]


def a_live_cluster(name: str) -> dict[str, Any]:
    cluster = a_cluster(name)
    cluster["spec"] = {
        "syncMode": "Push",
        "secretRef": {"namespace": "karmada-cluster", "name": name},
        "taints": [
            {"key": "cluster.karmada.io/not-ready", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
            {"key": "mine", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
        ],
    }
    return cluster


def test_karmada_is_read_with_what_its_policies_propagate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = a_deployment(replicas=5)
    web["spec"]["revisionHistoryLimit"] = 10
    marked = a_config_map("marked")
    marked["metadata"]["annotations"] = {"propagationpolicy.karmada.io/name": "gone"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "default"}}
    selectors = [
        {"apiVersion": version, "kind": kind} for version, kind in (("apps/v1", "Deployment"), ("v1", "Secret"))
    ]
    policy = a_policy(selectors=selectors, placement=on_clusters("member1", "member2", replicaScheduling=DYNAMIC))
    binding = a_binding(member1=4, member2=1)
    binding["spec"]["gracefulEvictionTasks"] = [{"fromCluster": "member3", "reason": "x", "producer": "y"}]
    binding["spec"]["rescheduleTriggeredAt"] = "2027-01-01T00:00:01Z"
    binding["status"] = {"schedulerObservingAffinityName": "first", "lastScheduledTime": "2027-01-01T00:00:00Z"}
    work = {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "w", "namespace": "default"}}
    objects = [web, marked, {**secret, "data": {"a": CANARY}}, a_config_map("mine"), policy, binding, work]
    hub = a_hub(KARMADA, [*map(a_live_cluster, ("member1", "member2")), *objects])
    ended = imported_hub(tmp_path, capsys, hub, arguments=("-o", "json", "--no-proof"))
    report, written = json.loads(ended.out), files(tmp_path)
    assert ended.code == 3
    assert list(written) == [
        "bindings/default/resourcebinding-nginx-deployment.yaml",
        "clusters/member1.yaml",
        "clusters/member2.yaml",
        "policies/default/propagationpolicy-nginx.yaml",
        "templates/default/configmap-marked.yaml",
        "templates/default/deployment-nginx.yaml",
    ]
    (start,) = written["bindings/default/resourcebinding-nginx-deployment.yaml"]
    assert start == {**a_binding(member1=4, member2=1), "status": {"schedulerObservingAffinityName": "first"}}
    (cluster,) = written["clusters/member1.yaml"]
    assert cluster["spec"] == {"syncMode": "Push", "taints": [{"key": "mine", "effect": "NoSchedule"}]}
    (template,) = written["templates/default/deployment-nginx.yaml"]
    assert "revisionHistoryLimit" not in template["spec"]
    told = {(each["document"], each.get("code")) for each in report["documents"]}
    assert told >= {
        ("ConfigMap: 1 object", "not-propagated"),
        ("CustomResourceDefinition.apiextensions.k8s.io: 4 objects", "not-propagated"),
        ("ResourceBinding default/nginx-deployment", "starting-binding"),
        ("ResourceBinding default/nginx-deployment", "leaving"),
        ("ResourceBinding default/nginx-deployment", "rescheduling"),
        ("Secret default/key", "secret-left-out"),
        ("Work.work.karmada.io", "kind-left-out"),
    }


def test_the_host_of_kubefed_is_read_by_its_own_front_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kubefed = [
        a_definition("types.kubefed.io/v1beta1", "FederatedConfigMap"),
        a_definition("types.kubefed.io/v1beta1", "FederatedNamespace"),
        a_definition("core.kubefed.io/v1beta1", "KubeFedCluster"),
    ]
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("shop", "kube-federation-system")
    ]
    objects = [*spaces, NAMESPACE, member("c1"), federated("ConfigMap", "settings", EVERYWHERE)]
    hub, c1 = a_hub(kubefed, objects), FakeCluster(name="c1")
    sent = a_config_map("settings", namespace="shop", a="1")
    sent["metadata"]["labels"] = {"kubefed.io/managed": "true"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}}
    assert c1.request("POST", "/api/v1/namespaces", space)[0] == 201
    assert c1.request("POST", "/api/v1/namespaces/shop/configmaps?fieldManager=controller-manager", sent)[0] == 201
    ended = imported_hub(tmp_path, capsys, hub, c1)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "c1: 2 objects taken over without a change"), ended
    assert list(files(tmp_path)) == [
        "clusters/c1.yaml",
        "policies/cluster-scoped.yaml",
        "policies/shop.yaml",
        "templates/cluster-scoped/namespace-shop.yaml",
        "templates/shop/configmap-settings.yaml",
    ]


def test_the_current_context_of_a_kubeconfig_is_a_control_plane(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = a_hub(KARMADA, [a_live_cluster("member1"), a_policy()])
    with serving_members([hub], tmp_path / "kubeconfigs") as served:
        config = served.kubeconfigs / "hub.yaml"
        assert run(["import", "--kubeconfig", str(config), "--no-proof", "--print"]) == 0
        printed = capsys.readouterr().out
        unnamed = tmp_path / "unnamed"
        unnamed.write_text(config.read_text().replace("current-context: hub\n", ""))
        assert run(["import", "--kubeconfig", str(unnamed)]) == 3
    assert [line for line in printed.splitlines() if line.startswith("# ")][::2] == [
        "# clusters/member1.yaml",
        "# policies/default/propagationpolicy-nginx.yaml",
    ]
    assert capsys.readouterr().err == (
        "argosy: the kubeconfig has no current context\n  hint: name one with --context\n"
    )


def test_what_cannot_be_listed_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def forbidding(handler: Any) -> bool:
        if not handler.path.startswith("/api/v1/configmaps"):
            return False
        said = json.dumps({"kind": "Status", "message": "no", "reason": "Forbidden"}).encode()
        handler.send_response(403)
        handler.send_header("Content-Length", str(len(said)))
        handler.end_headers()
        handler.wfile.write(said)
        return True

    hub = a_hub(KARMADA, [a_live_cluster("member1"), a_policy()])
    with serving_members([hub], tmp_path / "kubeconfigs", {"hub": forbidding}) as served:
        code = run(["import", "--context", "hub", "--kubeconfigs", str(served.kubeconfigs), "--no-proof", "-o", "json"])
    report = json.loads(capsys.readouterr().out)
    refused = [each for each in report["documents"] if each["grade"] == "refused"]
    assert (code, [(each["document"], each["from"], each["code"]) for each in refused]) == (
        3,
        [("ConfigMap", "hub", "not-listed")],
    )


def test_a_cluster_that_is_no_control_plane_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = imported_hub(tmp_path, capsys, FakeCluster(name="hub"))
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "argosy: hub holds no object of a federation\n  hint: read clusters that no federation joins with --cluster\n"
    )


TIMED = [*KARMADA, a_definition("apps.karmada.io/v1alpha1", "WorkloadRebalancer", "Cluster")]
ANSWERED = {"observedGeneration": 1, "finishTime": "2027-01-01T00:00:00Z"}


def a_rebalancer(*names: str, done: tuple[str, ...] = (), **status: Any) -> dict[str, Any]:
    named = {
        name: {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": name} for name in names
    }
    results = [{"workload": named[name], "result": "Successful"} for name in done]
    return {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": "again", "generation": 1},
        "spec": {"workloads": list(named.values())},
        "status": {"observedWorkloads": results, **status},
    }


def a_hub_with(rebalancer: dict[str, Any]) -> tuple[FakeCluster, ...]:
    """A control plane and its members: 4 and 1 replicas, where there is room for 1 and 4 more."""
    clusters = [a_live_cluster("member1"), a_live_cluster("member2")]
    for cluster, free in zip(clusters, ("1", "4"), strict=True):
        cluster["spec"].pop("taints")
        summary = {"allocatable": {"cpu": free, "memory": "64Gi", "pods": "100"}}
        cluster["status"] = {"kubernetesVersion": "v1.36.0", "resourceSummary": summary}
    web = a_deployment(replicas=5)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    policy = a_policy(placement=on_clusters("member1", "member2", replicaScheduling=DYNAMIC))
    binding = a_binding(member1=4, member2=1)
    members = [FakeCluster(name=name) for name in ("member1", "member2")]
    for sent_to, replicas in zip(members, (4, 1), strict=True):
        sent = {**web, "spec": {**web["spec"], "replicas": replicas}}
        path = "/apis/apps/v1/namespaces/default/deployments?fieldManager=karmada"
        assert sent_to.request("POST", path, sent)[0] == 201
    return a_hub(TIMED, [*clusters, web, policy, binding, rebalancer]), *members


def test_a_rebalancer_that_karmada_has_answered_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub = a_hub_with(a_rebalancer("nginx", done=("nginx",), **ANSWERED))
    ended = imported_hub(tmp_path, capsys, *hub, arguments=("--all",))
    assert ended.code == 0, ended
    assert "templates/workloadrebalancer-again.yaml" not in files(tmp_path)
    assert "Karmada has answered it, and a request is answered once" in ended.out
    assert ended.out.splitlines()[-2:] == [
        "member1: 1 object taken over without a change",
        "member2: 1 object taken over without a change",
    ]


def test_a_rebalancer_keeps_what_karmada_has_not_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub = a_hub_with(a_rebalancer("nginx", "new", done=("nginx",)))
    ended = imported_hub(tmp_path, capsys, *hub, arguments=("--all",))
    (rebalancer,) = files(tmp_path)["templates/workloadrebalancer-again.yaml"]
    assert [each["name"] for each in rebalancer["spec"]["workloads"]] == ["new"]
    assert "left out: 1 workload of it that Karmada is done with" in ended.out


def test_a_proof_goes_by_the_room_that_karmada_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A request that waits moves replicas in the first pass, which knows how much room there is: so must the proof."""
    ended = imported_hub(tmp_path, capsys, *a_hub_with(a_rebalancer("nginx")))
    assert ended.code == 1, ended
    shown = [line for line in ended.out.splitlines() if line.startswith("member")]
    assert shown == [
        "member1: 0 objects taken over without a change, 1 not as wanted",
        "member2: 0 objects taken over without a change, 1 not as wanted",
    ]
    assert "not proven" not in ended.out
