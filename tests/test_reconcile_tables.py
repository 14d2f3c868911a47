"""What differs from Karmada by default, what leaves Git, and what fails in part - each line of the design, run."""

from pathlib import Path
from typing import Any

import pytest

from tests.build import (
    Ended,
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)

NGINX = "default/Deployment.apps/nginx.yaml"
BINDING = f"bindings/{NGINX}"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2, 3)})
    return made


def settings(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


def reconcile(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> Ended:
    return argosy(repository, capsys, "reconcile", "--bootstrap", *options)


def an_override(*plaintext: dict[str, Any], cluster: str) -> dict[str, Any]:
    rule = {"targetCluster": {"clusterNames": [cluster]}, "overriders": {"plaintext": list(plaintext)}}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "tuned", "namespace": "default"},
        "spec": {"resourceSelectors": selectors, "overrideRules": [rule]},
    }


def image(repository: Repository, cluster: str) -> str:
    text = repository.show(f"clusters/{cluster}/{NGINX}")
    return next(line.partition("image: ")[2] for line in text.splitlines() if "image: " in line)


def test_a_policy_s_bindings_may_be_removed_with_it(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("member1")
    repository.commit(
        {
            "argosy.yaml": settings(onPolicyRemoval="Remove"),
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=placement),
        }
    )
    reconcile(repository, capsys)
    repository.commit({"policy.yaml": None})
    assert reconcile(repository, capsys).code == 6
    assert reconcile(repository, capsys, "--allow-removal", "member1=1").code == 0
    assert repository.files() == ["README.md"]


def test_a_namespace_in_use_goes_along_and_stays_when_its_template_goes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "web"}}}
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy("all", namespace="shop", selectors=selectors, placement=on_clusters("member1"))
    repository.commit({"shop.yaml": shop, "apps.yaml": [a_config_map("one", namespace="shop"), policy]})
    reconcile(repository, capsys)
    assert "team: web" in repository.show("clusters/member1/_cluster/Namespace/shop.yaml")
    repository.commit({"shop.yaml": None})
    assert reconcile(repository, capsys).code == 0
    assert repository.show("clusters/member1/_cluster/Namespace/shop.yaml") == (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop"
    )


def test_a_failing_override_keeps_the_previous_bytes_of_its_cluster(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement=on_clusters("member1", "member2"))
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": policy})
    reconcile(repository, capsys)
    wrong = {"path": "/spec/nothing", "operator": "remove"}
    source = repository.commit(
        {"nginx.yaml": a_deployment(image="nginx:2"), "override.yaml": an_override(wrong, cluster="member1")}
    )
    ended = reconcile(repository, capsys)
    assert (ended.code, image(repository, "member1"), image(repository, "member2")) == (1, "nginx:1.29", "nginx:2")
    assert "Deployment.apps default/nginx in member1: OverrideFailed: OverridePolicy default/tuned" in ended.err
    binding = repository.show(BINDING)
    assert "reason: OverrideFailed" in binding
    assert source in binding

    repository.commit({"nginx.yaml": a_deployment(image="nginx:3")})
    reconcile(repository, capsys)
    assert source in repository.show(BINDING)
    assert image(repository, "member1") == "nginx:1.29"


def test_an_object_that_cannot_be_built_yet_is_nowhere_in_that_cluster(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"path": "/spec/nothing", "operator": "remove"}
    repository.commit(
        {
            "nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1", "member2"))],
            "override.yaml": an_override(wrong, cluster="member1"),
        }
    )
    assert reconcile(repository, capsys).code == 1
    assert repository.files(under="clusters") == [f"clusters/member2/{NGINX}"]


def test_where_no_cluster_fits_the_object_leaves_under_the_guard(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("member1"))})
    reconcile(repository, capsys)
    prod = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
    repository.commit({"policy.yaml": a_policy(placement=prod)})
    refused = reconcile(repository, capsys)
    assert (refused.code, "everything it holds" in refused.err) == (6, True)
    allowed = reconcile(repository, capsys, "--allow-removal", "*=1")
    assert (allowed.code, "NoClusterFit" in allowed.err) == (1, True)
    assert repository.files(under="clusters") == []


def test_what_cannot_be_scheduled_keeps_its_targets_with_the_new_content(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    placement = {"replicaScheduling": weighted(member1=1, member2=1)}
    repository.commit({"nginx.yaml": a_deployment(replicas=4), "policy.yaml": a_policy(placement=placement)})
    reconcile(repository, capsys)
    dynamic = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    }
    repository.commit(
        {
            "nginx.yaml": a_deployment(replicas=9, image="nginx:2"),
            "policy.yaml": a_policy(placement={"replicaScheduling": dynamic}),
        }
    )
    ended = reconcile(repository, capsys)
    assert (ended.code, "Unschedulable" in ended.err) == (1, True)
    assert [image(repository, name) for name in ("member1", "member2")] == ["nginx:2", "nginx:2"]
    assert "  - {name: member1, replicas: 2}\n  - {name: member2, replicas: 2}" in repository.show(BINDING)


def test_a_suspended_cluster_keeps_what_it_has(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("member1", "member2")
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=placement)})
    reconcile(repository, capsys)
    suspension = {"dispatchingOnClusters": {"clusterNames": ["member1"]}}
    repository.commit(
        {
            "nginx.yaml": a_deployment(image="nginx:2"),
            "policy.yaml": a_policy(placement=placement, suspension=suspension),
        }
    )
    assert reconcile(repository, capsys).code == 0
    assert [image(repository, name) for name in ("member1", "member2")] == ["nginx:1.29", "nginx:2"]


@pytest.mark.parametrize(("mode", "want"), [("Source", ["member2"]), ("Karmada", ["member1", "member2"])])
def test_a_target_the_source_no_longer_allows_is_left_unless_as_in_karmada(
    repository: Repository, capsys: pytest.CaptureFixture[str], mode: str, want: list[str]
) -> None:
    prod = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
    placement = {**prod, "replicaScheduling": weighted(member1=1, member2=1)}
    clusters = {f"clusters/{name}.yaml": a_cluster(name, labels={"env": "prod"}) for name in ("member1", "member2")}
    apps = {"nginx.yaml": [a_deployment(replicas=4), a_policy(placement=placement)]}
    repository.commit({"argosy.yaml": settings(rescheduling=mode), **clusters, **apps})
    reconcile(repository, capsys)
    repository.commit({"clusters/member1.yaml": a_cluster("member1", labels={"env": "test"})})
    assert reconcile(repository, capsys, "--allow-removal", "member1=1").code == 0
    assert [path.split("/")[1] for path in repository.files(under="clusters")] == want


@pytest.mark.parametrize(("spec", "want"), [({"tieBreak": "Name"}, ("2", "1")), ({}, ("1", "2"))])
def test_the_last_replica_of_an_equal_division(
    repository: Repository, capsys: pytest.CaptureFixture[str], spec: dict[str, str], want: tuple[str, str]
) -> None:
    """By default the template's reference decides, so that equal weights do not always favour the same cluster."""
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    placement = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
    policy = a_policy(selectors=selectors, placement=placement)
    repository.commit({"argosy.yaml": settings(**spec), "apj.yaml": [a_deployment("apj", replicas=3), policy]})
    reconcile(repository, capsys)
    shown = [repository.show(f"clusters/{name}/default/Deployment.apps/apj.yaml") for name in ("member1", "member2")]
    assert tuple(text.partition("replicas: ")[2][0] for text in shown) == want


def test_an_override_that_renames_is_an_error_of_its_cluster(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rename = {"path": "/metadata/name", "operator": "replace", "value": "other"}
    repository.commit(
        {
            "nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1", "member2"))],
            "override.yaml": an_override(rename, cluster="member1"),
        }
    )
    ended = reconcile(repository, capsys)
    assert (ended.code, "an override never renames or moves an object" in ended.err) == (1, True)
    assert repository.files(under="clusters") == [f"clusters/member2/{NGINX}"]


def test_replicas_in_the_tree_add_up_to_the_binding(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = {"replicaScheduling": weighted(member1=5, member2=3, member3=2)}
    repository.commit({"nginx.yaml": [a_deployment(replicas=17), a_policy(placement=placement)]})
    reconcile(repository, capsys)
    shown = [repository.show(path) for path in repository.files(under="clusters")]
    assert sum(int(text.partition("replicas: ")[2].split()[0]) for text in shown) == 17


def test_a_subfolder_is_no_fleet_of_its_own(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"apps/nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    reconcile(repository, capsys)
    inside = Repository(repository.path / "apps")
    assert argosy(inside, capsys, "reconcile").out.startswith("unchanged: argosy/rendered")


def test_what_a_released_binding_requires_stays_with_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    workload = a_deployment()
    workload["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    policy = a_policy(placement=on_clusters("member1"), propagateDeps=True)
    repository.commit({"apps.yaml": [workload, a_config_map("settings", color="red")], "policy.yaml": policy})
    reconcile(repository, capsys)
    before = repository.git("rev-parse", "argosy/rendered:clusters")
    repository.commit({"policy.yaml": None})
    assert reconcile(repository, capsys).code == 0
    assert repository.git("rev-parse", "argosy/rendered:clusters") == before


def test_a_first_commit_of_render_must_be_meant(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    refused = argosy(repository, capsys, "render", "--commit")
    assert (refused.code, "is this the first run?" in refused.err) == (3, True)
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
