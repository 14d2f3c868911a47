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


def a_published_fleet(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Repository, Repository]:
    """A fleet with mirrors after its first pass, and the bare repository that it is published in."""
    remote, made = Repository.create(path / "hub.git", bare=True), a_fleet(path / "one", "'*'")
    made.git("remote", "add", "origin", str(remote.path))
    made.git("push", "-q", "-u", "origin", "main")
    made.git("fetch", "-q")
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made, remote


MIRROR = "argosy/cluster/member1"
REF = f"refs/heads/{MIRROR}"


def foreign_commit(remote: Repository, *, trailer: bool = False) -> str:
    """Let somebody push a commit to the mirror of member1, which may say that it was rendered."""
    rendered = remote.git("rev-parse", "argosy/rendered")
    message = f"By hand\n\nArgosy-Rendered: {rendered}" if trailer else "By hand"
    tree = remote.git("rev-parse", "main^{tree}")
    commit = remote.git("commit-tree", tree, "-p", MIRROR, "-m", message)
    remote.git("update-ref", REF, commit)
    return commit


@pytest.mark.parametrize("is_changing", [False, True], ids=["nothing new", "a change"])
@pytest.mark.parametrize("trailer", [False, True], ids=["unnamed", "said to be rendered"])
def test_a_mirror_that_somebody_wrote_to_is_put_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_changing: bool, trailer: bool
) -> None:
    made, remote = a_published_fleet(tmp_path, capsys)
    own = remote.git("rev-parse", MIRROR)
    foreign = foreign_commit(remote, trailer=trailer)
    if is_changing:
        made.commit({"web.yaml": a_deployment(image="nginx:2")})
        made.git("push", "-q")
    ended = argosy(made, capsys, "reconcile")
    put_back = f"{MIRROR} has commit {foreign[:12]}, which no pass wrote: it is put back"
    assert (ended.code, put_back in ended.err) == (0, True)
    assert remote.git("rev-parse", f"{MIRROR}^" if is_changing else MIRROR) == own
    assert remote.git("rev-parse", f"{MIRROR}^{{tree}}") == remote.git("rev-parse", "argosy/rendered:clusters/member1")
    again = argosy(made, capsys, "reconcile")
    assert (again.code, "put back" in again.err) == (0, False)


def test_a_clone_that_never_saw_a_mirror_knows_what_passes_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, remote = a_published_fleet(tmp_path, capsys)
    own = remote.git("rev-parse", MIRROR)
    foreign_commit(remote)
    made.git("clone", "-q", str(remote.path), str(tmp_path / "two"))
    assert argosy(Repository(tmp_path / "two"), capsys, "reconcile").code == 0
    assert remote.git("rev-parse", MIRROR) == own


@pytest.mark.parametrize("is_deleted", [False, True], ids=["rewound", "deleted"])
def test_a_mirror_that_was_rewound_goes_on_from_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_deleted: bool
) -> None:
    made, remote = a_published_fleet(tmp_path, capsys)
    made.commit({"web.yaml": a_deployment(image="nginx:2")})
    made.git("push", "-q")
    assert argosy(made, capsys, "reconcile").code == 0
    last = remote.git("rev-parse", MIRROR)
    remote.git("update-ref", *(("-d", REF) if is_deleted else (REF, f"{last}^")))
    ended = argosy(made, capsys, "reconcile")
    assert (ended.code, f"{MIRROR} was " in ended.err, remote.git("rev-parse", MIRROR)) == (0, True, last)


def test_a_remote_that_forbids_it_is_told_which_branch_to_delete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other mirrors move all the same, and the pass does not end well for as long as it is so."""
    made, remote = a_published_fleet(tmp_path, capsys)
    own = remote.git("rev-parse", MIRROR)
    remote.git("config", "receive.denyNonFastForwards", "true")
    foreign = foreign_commit(remote)
    made.commit({"web.yaml": a_deployment(image="nginx:2")})
    made.git("push", "-q")
    for _ in range(2):
        ended = argosy(made, capsys, "reconcile")
        assert (ended.code, f"{MIRROR} has commit {foreign[:12]}, which no pass wrote" in ended.err) == (4, True)
        assert f"git push origin -d {MIRROR}" in ended.err
    other = remote.git("rev-parse", "argosy/cluster/member2^{tree}")
    assert other == remote.git("rev-parse", "argosy/rendered:clusters/member2")
    remote.git("update-ref", "-d", REF)
    assert argosy(made, capsys, "reconcile").code == 0
    assert remote.git("rev-parse", f"{MIRROR}^") == own
