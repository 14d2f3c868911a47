"""Mirrors: a branch for one cluster's folder, a commit for each change of it."""

from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

FLEET = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  mirrors: [{}]\n"
BOTH = on_clusters("member1", "member2")


def a_fleet(path: Path, mirrors: str) -> Repository:
    repository = Repository.create(path)
    clusters = [a_cluster(f"member{number}") for number in (1, 2, 3)]
    fleet = {"argosy.yaml": FLEET.format(mirrors), "clusters.yaml": clusters, "policy.yaml": a_policy(placement=BOTH)}
    repository.commit({**fleet, "web.yaml": a_deployment()})
    return repository


def branches(repository: Repository) -> list[str]:
    return repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads/argosy/cluster/").splitlines()


def test_a_mirror_holds_the_folder_and_follows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet", "member1, member3, elsewhere")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert branches(repository) == ["argosy/cluster/member1", "argosy/cluster/member3"]
    rendered, mirror = "argosy/rendered:clusters/member1", "argosy/cluster/member1^{tree}"
    assert repository.git("rev-parse", mirror) == repository.git("rev-parse", rendered)
    assert repository.files("argosy/cluster/member3") == []

    first, tip = repository.git("rev-parse", "argosy/cluster/member1"), repository.git("rev-parse", "argosy/rendered")
    assert repository.git("log", "-1", "--format=%B", first) == (
        f"Mirror member1 of {tip[:12]}\n\nArgosy-Rendered: {tip}"
    )
    repository.commit({"web.yaml": a_deployment(image="nginx:2")})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.git("rev-parse", mirror) == repository.git("rev-parse", rendered)
    assert repository.git("rev-parse", "argosy/cluster/member1^") == first
    assert repository.git("rev-list", "--count", "argosy/cluster/member3") == "1"


def test_one_that_is_behind_catches_up_when_nothing_else_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet", "'*'")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert branches(repository) == [f"argosy/cluster/member{number}" for number in (1, 2, 3)]
    repository.git("branch", "-q", "-D", "argosy/cluster/member2")
    repository.commit({})
    assert argosy(repository, capsys, "reconcile").out.startswith("unchanged: ")
    assert branches(repository) == [f"argosy/cluster/member{number}" for number in (1, 2, 3)]


def test_mirrors_are_pushed_where_the_fleet_is_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    remote, made = Repository.create(tmp_path / "hub.git", bare=True), a_fleet(tmp_path / "one", "'*'")
    made.git("remote", "add", "origin", str(remote.path))
    made.git("push", "-q", "-u", "origin", "main")
    made.git("fetch", "-q")
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    made.commit({"web.yaml": a_deployment(image="nginx:2")})
    made.git("push", "-q")
    made.git("clone", "-q", str(remote.path), str(tmp_path / "two"))
    other = Repository(tmp_path / "two")
    other.git("update-ref", "-d", "refs/remotes/origin/argosy/cluster/member1")
    assert argosy(other, capsys, "reconcile").code == 0
    for number in (1, 2):
        folder = remote.git("rev-parse", f"argosy/rendered:clusters/member{number}")
        assert remote.git("rev-parse", f"argosy/cluster/member{number}^{{tree}}") == folder
        assert remote.git("rev-list", "--count", f"argosy/cluster/member{number}") == "2"


def test_a_dry_run_moves_no_mirror(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet", "'*'")
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--dry-run").code == 0
    assert branches(repository) == []
