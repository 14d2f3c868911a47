"""Passes on clones: where the branch lives at a remote, somebody else is faster, or the checkout is shallow."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.build import (
    Repository,
    a_cluster,
    a_deployment,
    a_policy,
    argosy,
    weighted,
)


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    """A bare repository with a fleet of two clusters on its branch main."""
    work = Repository.create(tmp_path / "first")
    placement = {"replicaScheduling": weighted(member1=2, member2=1)}
    work.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2)})
    work.commit({"nginx.yaml": [a_deployment(replicas=6), a_policy(placement=placement)]}, "the fleet")
    bare = Repository.create(tmp_path / "origin.git", bare=True)
    work.git("push", "-q", str(bare.path), "main")
    return bare


def cloned(origin: Repository, name: str, *options: str) -> Repository:
    path = origin.path.parent / name
    Repository(origin.path.parent).git("clone", "-q", *options, f"file://{origin.path}", str(path))
    return Repository(path)


def test_a_pass_in_a_clone_publishes_at_the_remote(origin: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    clone = cloned(origin, "clone")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    published = origin.git("rev-parse", "argosy/rendered")
    assert clone.git("rev-parse", "origin/argosy/rendered") == published
    assert clone.git("branch", "--list", "argosy/*") == ""
    assert argosy(cloned(origin, "other"), capsys, "reconcile").out.startswith("unchanged: argosy/rendered")
    assert origin.git("rev-parse", "argosy/rendered") == published


def test_a_pass_on_an_address_needs_no_clone(
    origin: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    address = Repository(Path(f"file://{origin.path}"))
    address.path = f"file://{origin.path}"  # type: ignore[assignment]  # an address instead of a folder
    assert argosy(address, capsys, "reconcile", "--bootstrap").code == 0
    first = origin.git("rev-parse", "argosy/rendered")
    assert argosy(address, capsys, "reconcile").out.startswith("unchanged: argosy/rendered")
    assert origin.git("rev-parse", "argosy/rendered") == first


def test_the_newest_source_of_the_remote_is_rendered_not_the_clone_s(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    argosy(clone, capsys, "reconcile", "--bootstrap")
    author.commit({"nginx.yaml": author.path.joinpath("nginx.yaml").read_text().replace("nginx:1.29", "nginx:1.30")})
    author.git("push", "-q")
    argosy(clone, capsys, "reconcile")
    shown = origin.git("show", "argosy/rendered:clusters/member1/default/Deployment.apps/nginx.yaml")
    assert "image: nginx:1.30" in shown


def test_two_passes_at_once_make_one_commit(origin: Repository) -> None:
    clones = [cloned(origin, "one"), cloned(origin, "two")]
    command = [sys.executable, "-m", "reconciler", "-C"]
    root = Path(__file__).parent.parent
    running = [
        subprocess.Popen(
            [*command, str(clone.path), "reconcile", "--bootstrap"], cwd=root, stderr=subprocess.PIPE, text=True
        )
        for clone in clones
    ]
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0], ended
    assert origin.git("rev-list", "--count", "argosy/rendered") == "1"


def test_a_shallow_checkout_of_one_branch_never_deals_the_fleet_anew(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    argosy(cloned(origin, "clone"), capsys, "reconcile", "--bootstrap")
    first = origin.git("rev-parse", "argosy/rendered")
    shallow = cloned(origin, "shallow", "--depth", "1", "--single-branch", "-b", "main")
    ended = argosy(shallow, capsys, "render")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        "argosy: branch 'argosy/rendered' of 'origin' was never fetched here, so the fleet's past is not known\n"
        "  hint: git fetch origin '+refs/heads/argosy/rendered:refs/remotes/origin/argosy/rendered',"
        " or pass --bootstrap if the branch does not exist yet\n"
    )
    assert argosy(shallow, capsys, "reconcile").out.startswith("unchanged: argosy/rendered")
    assert origin.git("rev-parse", "argosy/rendered") == first


def test_a_force_pushed_source_is_refused_until_it_is_accepted(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    argosy(clone, capsys, "reconcile", "--bootstrap")
    author.git("commit", "-q", "--amend", "-m", "rewritten")
    author.git("push", "-q", "--force")
    ended = argosy(clone, capsys, "reconcile")
    assert (ended.code, "does not follow" in ended.err) == (6, True)
    assert argosy(clone, capsys, "reconcile", "--accept-rewind").code == 0


def test_the_rendered_branch_may_live_in_another_repository(
    origin: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = Repository.create(tmp_path / "rendered.git", bare=True)
    author = cloned(origin, "author")
    settings = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "prod"},
        "spec": {"rendered": {"remote": f"file://{elsewhere.path}"}},
    }
    author.commit({"argosy.yaml": settings})
    author.git("push", "-q")
    assert argosy(author, capsys, "reconcile", "--bootstrap").code == 0
    assert elsewhere.git("for-each-ref", "--format=%(refname)") == "refs/heads/argosy-prod/rendered"
    assert argosy(author, capsys, "reconcile").out.startswith("unchanged: argosy-prod/rendered")
    assert origin.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_branch_that_argosy_did_not_write_is_left_alone(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    origin.git("branch", "argosy/rendered", "main")
    ended = argosy(cloned(origin, "clone"), capsys, "reconcile")
    tip = origin.git("rev-parse", "main")
    assert (ended.code, ended.err) == (
        4,
        (
            f"argosy: commit {tip[:12]} on the rendered branch was not written by Argosy\n"
            "  hint: restore the branch to the last commit that has an Argosy-Source trailer\n"
        ),
    )
