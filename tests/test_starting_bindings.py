"""Bindings in a source: what another control plane placed stays where it is, until something asks for a change."""

from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
NAMES = ("member1", "member2", "member3")


def a_binding(**replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": "nginx-deployment", "namespace": "default"},
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "nginx"},
            "clusters": [{"name": name, "replicas": count} for name, count in replicas.items()],
        },
    }


def a_source(clusters: tuple[str, ...] = NAMES, replicas: int = 5, **binding: int) -> dict[str, Any]:
    placement = on_clusters(*clusters, replicaScheduling=DYNAMIC)
    return {
        **{f"{name}.yaml": a_cluster(name) for name in NAMES},
        "policy.yaml": a_policy(placement=placement),
        "nginx.yaml": a_deployment(replicas=replicas),
        "binding.yaml": a_binding(**binding),
    }


def placed(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the clusters and replicas that a pass decided on."""
    ended = argosy(repository, capsys, "reconcile", *words)
    assert ended.code in {0, 1}, ended
    return " ".join(argosy(repository, capsys, "render").out.splitlines()[1].split("   ")[2].split())


def test_the_first_pass_begins_with_what_a_binding_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is known of the clusters' room, so that without it no replica would be placed."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(a_source(member1=4, member3=1))
    assert placed(repository, capsys, "--bootstrap") == "member1:4 member3:1"
    assert argosy(repository, capsys, "verify").code == 0
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.out.partition(":")[0]) == (0, "unchanged")


def test_a_pass_goes_by_its_own_past_once_it_has_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(a_source(member1=4, member3=1))
    assert placed(repository, capsys, "--bootstrap") == "member1:4 member3:1"
    repository.commit({"binding.yaml": a_binding(member2=5)})
    assert placed(repository, capsys) == "member1:4 member3:1"
    repository.git("rm", "-q", "binding.yaml")
    repository.git("commit", "-qm", "forget")
    assert placed(repository, capsys) == "member1:4 member3:1"


def test_fewer_replicas_leave_where_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A template that asks for another number is scheduled from there, as Karmada would go on."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(a_source(replicas=3, member1=4, member3=2))
    assert placed(repository, capsys, "--bootstrap") == "member1:2 member3:1"


def test_a_binding_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    source = a_source(member1=5)
    del source["nginx.yaml"], source["policy.yaml"]
    repository.commit(source)
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.err) == (0, ""), ended


def test_a_binding_that_says_nothing_is_a_problem_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    binding = a_binding(member1=1)
    del binding["spec"]["resource"]["kind"]
    repository.commit({**a_source(member1=1), "binding.yaml": binding})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.splitlines()[0]) == (3, "binding.yaml:10: spec.resource.kind: required, but missing")
