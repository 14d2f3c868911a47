"""A clone that serves passes for months does not gather their packs, and what was seen may be squashed."""

import io
from pathlib import Path
from typing import cast

import pytest

from reconciler.branches.publication import maintain_repository
from reconciler.console.log import VERBOSE, Log
from reconciler.repository import Repository as Opened
from reconciler.repository import open_repository
from render.errors import GitError
from render.gitobjects import git_object_id

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .memory_fleet import MemoryFleet, settle

PACKS = 60


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A fleet in a clone in which many passes left a pack each."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(placement=on_clusters("eu"))
    repository.commit({"eu.yaml": a_cluster("eu"), "nginx.yaml": a_deployment(), "policy.yaml": policy})
    with open_repository(str(repository.path)) as opened:
        for number in range(PACKS):
            content = str(number).encode()
            opened.store(blobs={git_object_id("blob", content): content})
    assert packs(repository) == PACKS
    return repository


def packs(repository: Repository) -> int:
    return len(list((repository.path / ".git" / "objects" / "pack").glob("*.pack")))


def test_a_pass_joins_the_packs_of_earlier_ones(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "-v")
    assert (ended.code, packs(repository) < 10) == (0, True)
    assert "joined the packs of earlier passes" in ended.err
    assert repository.git("fsck", "--full", "--strict", "--no-dangling") == ""


def test_what_cannot_be_joined_is_told_and_nothing_more() -> None:
    class Full:
        def maintain_packs(self) -> bool:
            raise GitError("git repack: no space left on device")

    stream = io.StringIO()
    maintain_repository(cast("Opened", Full()), Log(stream=stream, level=VERBOSE))
    assert stream.getvalue() == (
        "warning: the packs of earlier passes were not joined: git repack: no space left on device\n"
    )


def test_the_doctor_counts_packs(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"ok   storage: {PACKS} packs, 0.0 MB\n" in argosy(repository, capsys, "doctor", "--offline").out
    folder = repository.path / ".git" / "objects" / "pack"
    for number in range(200):
        (folder / f"pack-{number:040}.pack").touch()
    said = argosy(repository, capsys, "doctor", "--offline").out
    assert f"FAIL storage: {PACKS + 200} packs, 0.0 MB\n       hint: git gc\n" in said


def test_a_squashed_status_branch_is_gone_on_from(tmp_path: Path) -> None:
    files = {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("eu"))}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"eu": (1, {"cpu": "8", "pods": "110"})}, files)
    fleet.run()
    settle(fleet.members["eu"])
    fleet.run(60)
    git = fleet.repository.git
    squashed = git("commit-tree", "-m", "Squash what was seen", "argosy/status^{tree}")
    git("update-ref", "refs/heads/argosy/status", squashed)
    fleet.run(60)
    assert fleet.status_commits() == ["Squash what was seen"]
    fleet.repository.commit({"nginx.yaml": a_deployment(replicas=3)})
    fleet.run(60)
    assert len(fleet.status_commits()) == 3
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "-q", "--prune=now")
    fleet.run(60)
    assert fleet.recorded("inventory/eu.yaml")["converged"] == git("rev-parse", "argosy/rendered")
