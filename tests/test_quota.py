"""FederatedResourceQuota: what a namespace may request in the whole fleet, and the shares of its clusters."""

from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents
from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted

BINDING = "bindings/shop/Deployment.apps/{}.yaml"


def _workload(name: str, replicas: int, cpu: str = "1") -> dict[str, Any]:
    deployment = a_deployment(name, replicas=replicas, namespace="shop")
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return deployment


def _quota(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": spec,
    }


def _fleet(tmp_path: Path, **files: Any) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    every = {"apiVersion": "apps/v1", "kind": "Deployment"}
    placement = on_clusters("lyon", "paris", replicaScheduling=weighted(lyon=1, paris=1))
    policy = a_policy("all", selectors=[every], namespace="shop", placement=placement)
    clusters = {f"c/{name}.yaml": a_cluster(name) for name in ("lyon", "paris")}
    repository.commit({"p.yaml": policy, **clusters, **{f"{name}.yaml": each for name, each in files.items()}})
    return repository


def _placed(repository: Repository, name: str) -> tuple[int, str]:
    """Return the replicas that a binding places, and the reason of its condition."""
    binding = parse_documents(repository.show(BINDING.format(name)).encode())[0].value
    clusters = binding["spec"].get("clusters") or ()
    reasons = [each["reason"] for each in binding["status"]["conditions"] if each["type"] == "Scheduled"]
    return sum(each.get("replicas", 0) for each in clusters), reasons[0]


def _rendered(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str, code: int = 0) -> None:
    ended = argosy(repository, capsys, "render", "--commit", *options)
    assert ended.code == code, ended.err


def test_workloads_are_placed_in_one_order_until_a_quota_is_used_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 4), web=_workload("web", 4), q=_quota(overall={"cpu": "6"}))
    _rendered(fleet, capsys, "--bootstrap", code=1)
    assert _placed(fleet, "api") == (4, "Success")
    assert _placed(fleet, "web") == (0, "QuotaExceeded")
    said = "FederatedResourceQuota(shop/shop) exceeded for resource cpu: requested sum 8, limit 6."
    assert said in " ".join(fleet.show(BINDING.format("web")).split())


def test_a_refused_change_keeps_the_previous_targets_and_shrinking_is_always_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 4), q=_quota(overall={"cpu": "6"}))
    _rendered(fleet, capsys, "--bootstrap")
    fleet.commit({"api.yaml": _workload("api", 8)})
    _rendered(fleet, capsys, code=1)
    assert _placed(fleet, "api") == (4, "QuotaExceeded")
    fleet.commit({"q.yaml": _quota(overall={"cpu": "1"}), "api.yaml": _workload("api", 3)})
    _rendered(fleet, capsys)
    assert _placed(fleet, "api") == (3, "Success")


def test_what_one_workload_gives_back_another_gets_in_the_same_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = _fleet(tmp_path, web=_workload("web", 6), q=_quota(overall={"cpu": "6"}))
    _rendered(fleet, capsys, "--bootstrap")
    fleet.commit({"api.yaml": _workload("api", 4), "web.yaml": _workload("web", 2)})
    _rendered(fleet, capsys)
    assert (_placed(fleet, "api"), _placed(fleet, "web")) == ((4, "Success"), (2, "Success"))
    assert argosy(fleet, capsys, "verify").code == 0


def test_a_resource_that_a_quota_does_not_limit_is_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 40), q=_quota(overall={"requests.cpu": "1", "pods": "2"}))
    _rendered(fleet, capsys, "--bootstrap")
    assert _placed(fleet, "api") == (40, "Success")


def test_as_in_karmada_nothing_is_enforced_while_its_gate_is_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"compatibility": "Karmada"}}
    fleet = _fleet(tmp_path, api=_workload("api", 8), q=_quota(overall={"cpu": "6"}), argosy=settings)
    facts = {
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}]
    }
    fleet.commit({f"c/{name}.yaml": {**a_cluster(name), "status": facts} for name in ("lyon", "paris")})
    _rendered(fleet, capsys, "--bootstrap")
    assert _placed(fleet, "api") == (8, "Success")


def test_assignments_become_resource_quotas_of_their_clusters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shares = [{"clusterName": "paris", "hard": {"cpu": "4"}}, {"clusterName": "lyon", "hard": {"cpu": "2"}}]
    quota = _quota(overall={"cpu": "8"}, staticAssignments=[*shares, {"clusterName": "nowhere", "hard": {"cpu": "1"}}])
    fleet = _fleet(tmp_path, q=quota)
    _rendered(fleet, capsys, "--bootstrap")
    assert fleet.show("clusters/paris/shop/ResourceQuota/shop.yaml") == (
        'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: shop\n  namespace: shop\nspec:\n  hard:\n    cpu: "4"'
    )
    assert fleet.files(under="clusters") == [
        "clusters/lyon/_cluster/Namespace/shop.yaml",
        "clusters/lyon/shop/ResourceQuota/shop.yaml",
        "clusters/paris/_cluster/Namespace/shop.yaml",
        "clusters/paris/shop/ResourceQuota/shop.yaml",
    ]
    fleet.commit(
        {"q.yaml": _quota(overall={"cpu": "8"}, staticAssignments=shares[:1])}, "Less\n\nArgosy-Allow-Removal: lyon 1"
    )
    _rendered(fleet, capsys)
    assert "clusters/lyon/shop/ResourceQuota/shop.yaml" not in fleet.files()
    assert argosy(fleet, capsys, "verify").code == 0


def test_a_template_of_the_same_name_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"hard": {"pods": "9"}},
    }
    selector = {"apiVersion": "v1", "kind": "ResourceQuota"}
    policy = a_policy("quotas", selectors=[selector], namespace="shop", placement=on_clusters("paris"))
    quota = _quota(overall={"cpu": "8"}, staticAssignments=[{"clusterName": "paris", "hard": {"cpu": "4"}}])
    fleet = _fleet(tmp_path, q=quota, own=own, own_policy=policy)
    _rendered(fleet, capsys, "--bootstrap")
    assert 'pods: "9"' in fleet.show("clusters/paris/shop/ResourceQuota/shop.yaml")
