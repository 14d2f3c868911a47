"""Clusters that were disconnected and never come back: the branches drop what they keep of them, and nothing else."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from reconciler.cli import argosy as command

from .build import Repository, a_deployment, a_policy, argosy, on_clusters, weighted
from .memory_fleet import MemoryFleet

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
PLACEMENT = on_clusters("eu", "us", "asia", replicaScheduling=weighted(eu=1, us=1, asia=1))
FILES = {"nginx.yaml": a_deployment(replicas=6), "policy.yaml": a_policy(placement=PLACEMENT)}


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> MemoryFleet:
    """Three clusters hold replicas; one of them was disconnected since."""
    made = MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(("asia", "eu", "us"), (1, ROOMY)), FILES)
    made.run()
    made.run(60)
    assert argosy(made.repository, capsys, "cluster", "unjoin", "us", "--disconnect", "--commit").code == 0
    made.run(60)
    return made


def paths_about(repository: Repository, name: str) -> dict[str, list[str]]:
    """Return what the branches have of a cluster."""
    return {
        branch: [path for path in repository.files(branch) if name in path.removesuffix(".yaml").split("/")]
        for branch in ("argosy/rendered", "argosy/status")
    }


def test_a_disconnected_cluster_is_kept_until_it_is_forgotten(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, before = fleet.repository, dict(fleet.members["us"].objects)
    kept = paths_about(repository, "us")
    assert kept["argosy/rendered"] == ["clusters/us/default/Deployment.apps/nginx.yaml", "facts/us.yaml"]
    assert {path.partition("/")[0] for path in kept["argosy/status"]} >= {"clusters", "inventory", "works"}
    assert "us  " in argosy(repository, capsys, "status").out
    others = {name: paths_about(repository, name) for name in ("eu", "asia")}

    ended = argosy(repository, capsys, "cluster", "forget", "us", "--commit")
    assert (ended.code, ended.out) == (0, "cluster/us to be forgotten\n\nnext:\n  argosy reconcile\n")
    assert repository.git("log", "-1", "--format=%s") == "Forget us"
    fleet.run(60)

    assert paths_about(repository, "us") == {"argosy/rendered": [], "argosy/status": []}
    assert {name: paths_about(repository, name) for name in ("eu", "asia")} == others
    assert fleet.members["us"].objects == before
    assert "us  " not in argosy(repository, capsys, "status").out
    assert "[us]" not in repository.show("README.md", "argosy/status")
    assert argosy(repository, capsys, "verify").code == 0


def test_a_shell_is_offered_the_clusters_that_left(fleet: MemoryFleet) -> None:
    completer = ShellComplete(command, {}, "argosy", "_ARGOSY_COMPLETE")
    words = ["-C", str(fleet.repository.path), "cluster", "forget"]
    assert [item.value for item in completer.get_completions(words, "")] == ["us"]


def test_the_name_of_a_forgotten_cluster_is_free(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    repository = fleet.repository
    burnt = argosy(repository, capsys, "cluster", "rename", "eu", "us")
    assert (burnt.code, "argosy cluster forget us" in burnt.err) == (3, True)
    assert argosy(repository, capsys, "cluster", "forget", "us", "--commit").code == 0
    fleet.run(60)
    renamed = argosy(repository, capsys, "cluster", "rename", "eu", "us")
    assert (renamed.code, renamed.outcome) == (0, "cluster/us renamed from eu: nothing changes in any cluster\n")
    warned = argosy(repository, capsys, "validate").out
    assert "spec.forgotten[0]: 'us' is a member of the fleet, of which nothing is forgotten" in warned


def test_no_guard_asks_about_a_forgotten_cluster(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Its folder is dropped, and nothing is removed anywhere."""
    repository = fleet.repository
    assert argosy(repository, capsys, "cluster", "forget", "us", "--commit").code == 0
    checked = argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "--check")
    assert (checked.code, "REFUSED" in checked.out) == (0, False)
    assert "spec.forgotten" in checked.out


REFUSALS = {
    "a member": ("eu", "'eu' is a member of the fleet"),
    "nobody": ("mars", "no cluster called 'mars' left this fleet: the branches have nothing of it"),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_a_cluster_that_did_not_leave_is_not_forgotten(
    why: str, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    name, message = REFUSALS[why]
    before = fleet.repository.git("status", "--porcelain")
    ended = argosy(fleet.repository, capsys, "cluster", "forget", "us", name)
    assert (ended.code, ended.err.splitlines()[0]) == (3, f"argosy: {message}")
    assert fleet.repository.git("status", "--porcelain") == before


def test_one_that_is_listed_already_is_not_listed_twice(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(fleet.repository, capsys, "cluster", "forget", "us", "us").code == 0
    again = argosy(fleet.repository, capsys, "cluster", "forget", "us")
    assert (again.code, again.outcome) == (0, "cluster/us already listed as forgotten\n")
    assert (fleet.repository.path / "argosy.yaml").read_text().count("us") == 1
