"""``argosy diff`` compares sources: a rendered commit is refused with its source, and what passes made is said."""

from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted

CLUSTERS = ("oslo", "rome")


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Four replicas in two clusters, rendered."""
    repository = Repository.create(tmp_path / "fleet")
    placement = on_clusters(*CLUSTERS, replicaScheduling=weighted(oslo=1, rome=1))
    clusters = {f"{name}.yaml": a_cluster(name) for name in CLUSTERS}
    repository.commit({**clusters, "p.yaml": a_policy(placement=placement), "nginx.yaml": a_deployment(replicas=4)})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def test_rendered_commits_are_refused_with_their_sources(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    first, one = fleet.git("rev-parse", "HEAD", "argosy/rendered").splitlines()
    fleet.commit({"nginx.yaml": a_deployment(replicas=6)})
    assert argosy(fleet, capsys, "reconcile").code == 0
    second, two = fleet.git("rev-parse", "HEAD", "argosy/rendered").splitlines()
    ended = argosy(fleet, capsys, "diff", "argosy/rendered~1", "argosy/rendered")
    assert (ended.code, ended.out, ended.err) == (
        3,
        "",
        (
            f"argosy: argosy/rendered~1 is a rendered commit, made from source {first[:12]}\n"
            f"  hint: argosy diff {first[:12]} {second[:12]} compares the sources; git diff {one[:12]} {two[:12]}"
            " -- clusters bindings shows what passes rendered\n"
        ),
    )
    assert argosy(fleet, capsys, "diff", first, "argosy/rendered").err == (
        f"argosy: argosy/rendered is a rendered commit, made from source {second[:12]}\n"
        f"  hint: argosy diff {first[:12]} {second[:12]} compares the sources\n"
    )
    assert argosy(fleet, capsys, "diff", two).err == (
        f"argosy: {two} is a rendered commit, made from source {second[:12]}\n"
        f"  hint: argosy diff {second[:12]} compares the sources\n"
    )
    assert argosy(fleet, capsys, "diff", first, second).code == 1


def test_what_a_drain_left_behind_is_said_of_equal_sources(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The replicas that a drain moved do not come back with its revert: equal sources, other trees."""
    first, one = fleet.git("rev-parse", "HEAD", "argosy/rendered").splitlines()
    assert argosy(fleet, capsys, "cluster", "drain", "rome", "--commit").code == 0
    assert argosy(fleet, capsys, "reconcile", "--allow-removal", "rome=1").code == 0
    fleet.git("revert", "--no-edit", "HEAD")
    assert argosy(fleet, capsys, "reconcile").code == 0
    second, two = fleet.git("rev-parse", "HEAD", "argosy/rendered").splitlines()
    ended = argosy(fleet, capsys, "diff", first, second)
    assert (ended.code, ended.out) == (0, f"{first[:12]}..{second[:12]}: no difference\n")
    assert ended.err == (
        "warning: passes rendered other trees for these two sources, for what they decided in between goes on\n"
        f"  hint: git diff {one[:12]} {two[:12]} -- clusters bindings shows it;"
        " argosy rebalance has replicas placed afresh\n"
    )
    assert argosy(fleet, capsys, "rebalance", "deploy/nginx", "--commit").code == 0
    assert argosy(fleet, capsys, "reconcile").code == 0
    third = fleet.git("rev-parse", "HEAD")
    assert argosy(fleet, capsys, "diff", first, first).err == ""
    assert "passes rendered" not in argosy(fleet, capsys, "diff", first, third).err


def test_what_no_pass_has_rendered_yet_is_not_said_to_differ(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first = fleet.git("rev-parse", "HEAD")
    fleet.commit({"nginx.yaml": a_deployment(replicas=4, image="nginx:2")})
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.git("revert", "--no-edit", "HEAD")
    ended = argosy(fleet, capsys, "diff", first, "HEAD")
    assert (ended.code, ended.err) == (0, "")
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert argosy(fleet, capsys, "diff", first, "HEAD").err == ""
