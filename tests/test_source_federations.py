"""Objects of other federations in a source: they render beside Karmada's, as what they are converted to."""

from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters

Document = dict[str, Any]
TYPES = "types.kubefed.io/v1beta1"
EVERYWHERE: Document = {"clusterSelector": {}}


def federated(kind: str, name: str, placement: Document, template: Document, **spec: Any) -> Document:
    return {
        "apiVersion": TYPES,
        "kind": f"Federated{kind}",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": template, "placement": placement, **spec},
    }


POD = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx:1.17"}]}}
WEB = federated(
    "Deployment",
    "web",
    EVERYWHERE,
    {"spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": POD}},
    overrides=[{"clusterName": "c2", "clusterOverrides": [{"path": "/spec/paused", "op": "add", "value": True}]}],
)
NAMESPACE = federated("Namespace", "shop", EVERYWHERE, {})
SETTINGS = federated("ConfigMap", "settings", {"clusters": [{"name": "c1"}]}, {"data": {"a": "1"}})
PASSWORD = federated("Secret", "password", EVERYWHERE, {"data": {"a": "aHVudGVyMg=="}})
NOWHERE = federated("ConfigMap", "nowhere", {"clusters": []}, {"data": {"a": "1"}})
PREFERENCE = {
    "apiVersion": "scheduling.kubefed.io/v1alpha1",
    "kind": "ReplicaSchedulingPreference",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"targetKind": "FederatedDeployment", "totalReplicas": 7},
}
MEMBERS = [a_cluster("c1"), a_cluster("c2"), a_cluster("c3")]


def a_fleet(tmp_path: Path, *documents: Document, **fleet: Any) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": fleet}
    repository.commit({"argosy.yaml": settings, "clusters.yaml": MEMBERS, "shop/all.yaml": [*documents]})
    return repository


def sent(repository: Repository, capsys: pytest.CaptureFixture[str], *, code: int = 0) -> dict[str, Document]:
    """Return what every cluster is sent, by cluster, kind and name, by a first pass that ends so."""
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert ended.code == code, ended
    found = {}
    for path in repository.files():
        parts = path.split("/")
        if parts[0] == "clusters" and path.endswith(".yaml"):
            manifest = parse_documents(repository.show(path).encode())[0].value
            found[f"{parts[1]}/{manifest['kind']}/{manifest['metadata']['name']}"] = manifest
    return found


def test_federated_objects_render_beside_karmadas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = a_config_map("plain", namespace="shop")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "plain"}]
    policy = a_policy("plain", namespace="shop", selectors=selectors, placement=on_clusters("c3"))
    found = sent(a_fleet(tmp_path, NAMESPACE, WEB, SETTINGS, PASSWORD, NOWHERE, plain, policy), capsys)
    assert sorted(found) == sorted(
        [f"{name}/{kind}" for name in ("c1", "c2", "c3") for kind in ("Namespace/shop", "Deployment/web")]
        + [f"{name}/Secret/password" for name in ("c1", "c2", "c3")]
        + ["c1/ConfigMap/settings", "c3/ConfigMap/plain"]
    )
    paused = {name: found[f"{name}/Deployment/web"]["spec"].get("paused") for name in ("c1", "c2", "c3")}
    assert paused == {"c1": None, "c2": True, "c3": None}


def test_no_policy_claims_what_kubefed_sends_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy("all", namespace="shop", selectors=selectors, placement=on_clusters("c3"))
    found = sent(a_fleet(tmp_path, NAMESPACE, SETTINGS, NOWHERE, policy), capsys)
    assert [name for name in found if "/ConfigMap/" in name] == ["c1/ConfigMap/settings"]


def test_replicas_follow_the_planner_of_kubefed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = sent(a_fleet(tmp_path, NAMESPACE, WEB, PREFERENCE), capsys)
    shares = {name: found[f"{name}/Deployment/web"]["spec"]["replicas"] for name in ("c1", "c2", "c3")}
    assert shares == {"c1": 3, "c2": 1, "c3": 3}


def test_explain_says_what_an_object_was_and_why_it_is_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path, NAMESPACE, WEB, PREFERENCE)
    ended = argosy(repository, capsys, "explain", "deploy/web", "-n", "shop")
    assert ended.out.splitlines()[0] == (
        "Deployment.apps shop/web (shop/all.yaml, from FederatedDeployment shop/web of KubeFed: the replicas of each"
        " cluster are those KubeFed gives it now; they are not divided anew)"
    )
    assert "PropagationPolicy shop/kubefed-to-c1-c2-c3" in ended.out


def test_what_has_no_counterpart_is_a_problem_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = federated("Widget", "w", EVERYWHERE, {"spec": {}})
    ended = argosy(a_fleet(tmp_path, NAMESPACE, unknown), capsys, "validate")
    problem = "what FederatedWidget stands for is not known; add the FederatedTypeConfig of the kind, or an apiVersion"
    hint = "argosy import tells what has no counterpart; source.federations leaves the federation out"
    said = [f"shop/all.yaml:11: {problem} to the template", f"  hint: {hint}"]
    assert (ended.code, ended.out.splitlines()[:2]) == (3, said)


def test_a_federation_that_is_left_out_is_delivered_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    selectors = [{"apiVersion": TYPES, "kind": "FederatedConfigMap"}]
    policy = a_policy("host", namespace="shop", selectors=selectors, placement=on_clusters("c1"))
    found = sent(a_fleet(tmp_path, SETTINGS, policy, source={"federations": []}), capsys)
    assert found["c1/FederatedConfigMap/settings"]["spec"] == SETTINGS["spec"]


def test_a_pass_with_nothing_new_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, NAMESPACE, WEB, PREFERENCE)
    sent(repository, capsys)
    before = repository.git("rev-parse", "argosy/rendered")
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.git("rev-parse", "argosy/rendered") == before
    assert argosy(repository, capsys, "verify").code == 0


SUBSCRIPTION = {
    "apiVersion": "apps.clusternet.io/v1alpha1",
    "kind": "Subscription",
    "metadata": {"name": "s", "namespace": "shop"},
    "spec": {
        "subscribers": [{"clusterAffinity": {}, "weight": 1}],
        "schedulingStrategy": "Dividing",
        "dividingScheduling": {"type": "Static"},
        "feeds": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}],
    },
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": WEB["spec"]["template"]["spec"] | {"replicas": 7},
}


def test_subscriptions_of_clusternet_render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = sent(a_fleet(tmp_path, SUBSCRIPTION, DEPLOYMENT), capsys)
    shares = {name: found[f"{name}/Deployment/web"]["spec"]["replicas"] for name in ("c1", "c2", "c3")}
    assert shares == {"c1": 3, "c2": 2, "c3": 2}


@pytest.mark.parametrize("federations", [[], ["FederationV1"]], ids=["left out", "asked for"])
def test_federation_v1_is_asked_for(federations: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every plain Deployment would be divided, so that nothing of it is done unless somebody says so."""
    repository = a_fleet(tmp_path, DEPLOYMENT, source={"federations": federations})
    found = sent(repository, capsys, code=0 if federations else 1)
    shares = [each["spec"]["replicas"] for name, each in found.items() if name.endswith("Deployment/web")]
    assert shares == ([3, 1, 3] if federations else [])
