"""Branches that Argosy wrote, changed by somebody else; configuration of a clone that names programs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reconciler.repository import open_repository
from tests.build import (
    Ended,
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    copied,
    on_clusters,
)
from tests.fakes import FakeCluster
from tests.served import serving_members
from tests.workflows import ROOT

ARGOSY = (sys.executable, "-m", "reconciler")
STATUSES = [
    *["apiEnablements: [{resources: [{kind: a}]}]", "apiEnablements: [{groupVersion: [v1], resources: [{kind: a}]}]"],
    *["kubernetesVersion: 1", "apiEnablements: [{groupVersion: v1, resources: [x]}]"],
    *["resourceSummary: {allocatableModelings: [x]}", "resourceSummary: {allocatableModelings: [{grade: 1}]}"],
    *["resourceSummary: {allocatable: x}", "resourceSummary: {allocatable: {cpu: x}}"],
    *["resourceSummary: {allocated: {cpu: [1]}}", "resourceSummary: {allocatableModelings: [{grade: x, count: 1}]}"],
]
INVENTORIES = [("[member1]", "''"), ("member2", "''"), ("member1", "abc"), ("member1", "../x"), ("member1", "[]")]
FILES = {
    "facts/member1.yaml": [
        *["x", "metadata: {name: 1}", "metadata: {name: member1}\nstatus: {apiEnablements: x}"],
        *(f"metadata: {{name: member1}}\nstatus: {{{status}}}" for status in STATUSES),
    ],
    "clusters/member1.yaml": ["x", "metadata: x", "metadata: {name: member1}\nstatus: [1]\n", "[1]", "a: [\n"],
    "works/member1/**/*.yaml": [
        "x",
        "metadata: {name: a}\nstatus: {conditions: [1]}",
        "metadata: {name: a}\nstatus: {conditions: [{}]}",
        "metadata: {name: a}\nstatus: {manifestStatuses: [{identifier: {kind: []}}]}",
    ],
    "bindings/**/*.yaml": ["x", "metadata: {name: a}\nstatus: {aggregatedStatus: {}}", "#" * (9 << 20)],
    "inventory/member1.yaml": [
        *["x", "[]"],
        *(f"{{cluster: {cluster}, clusterUID: u, converged: {commit}}}" for cluster, commit in INVENTORIES),
        "{cluster: member1, clusterUID: u, converged: '', attempted: abc}",
    ],
}
CASES = [(path, text) for path, texts in FILES.items() for text in texts]
FOREIGN = (
    b"clusters/a.txt",
    b"clusters/b/c.yaml",
    b"clusters/\xff.yaml",
    b"facts/a.txt",
    b"facts/a/b.yaml",
    b"facts/\xff.yaml",
    b"inventory/a/b.yaml",
    b"works/a.yaml",
    b"works/a/b.yaml",
    b"works/member1/shop/ConfigMap/\xff.yaml",
)


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Path]:
    """A fleet whose status branch has every kind of file."""
    folder = tmp_path_factory.mktemp("applied")
    repository = Repository.create(folder / "fleet")
    policy = a_policy(placement=on_clusters("member1"))
    repository.commit({"cluster.yaml": a_cluster("member1"), "a.yaml": a_deployment(), "policy.yaml": policy})
    with serving_members([FakeCluster(name="member1")], folder / "kubeconfigs") as served:
        done = subprocess.run(
            [*ARGOSY, "-C", str(repository.path), "reconcile", "--bootstrap", "--kubeconfigs", str(served.kubeconfigs)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert done.returncode in {0, 1}, done.stderr
    return repository, folder / "kubeconfigs"


@contextmanager
def with_status_file(repository: Repository, path: str, content: str) -> Iterator[Path]:
    """The status branch with a file that somebody wrote, by its path in a work tree; it is as it was afterwards."""
    tip = repository.git("rev-parse", "argosy/status")
    worktree = repository.path.parent / "status"
    repository.git("worktree", "add", "-q", "--detach", str(worktree), "argosy/status")
    try:
        status = Repository(worktree)
        file = next(iter(worktree.glob(path)), worktree / path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        status.git("add", "-A")
        status.git("commit", "-q", "-m", "Damage")
        repository.git("update-ref", "refs/heads/argosy/status", status.git("rev-parse", "HEAD"))
        yield file.relative_to(worktree)
    finally:
        repository.git("worktree", "remove", "--force", str(worktree))
        repository.git("update-ref", "refs/heads/argosy/status", tip)


def ends_with(repository: Repository, kubeconfigs: Path, capsys: pytest.CaptureFixture[str]) -> list[Ended]:
    """The ends of the commands that read the status branch."""
    commands = (("status",), ("reconcile", "--kubeconfigs", str(kubeconfigs), "--timeout", "3"), ("verify",))
    return [argosy(repository, capsys, *command) for command in commands]


@pytest.mark.parametrize(("path", "text"), CASES, ids=lambda value: value[:40])
def test_a_damaged_file_of_the_status_branch_is_named(
    path: str, text: str, applied: tuple[Repository, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    repository, kubeconfigs = applied
    with with_status_file(repository, path, text) as file:
        ends = ends_with(repository, kubeconfigs, capsys)
    assert 70 not in {ended.code for ended in ends}
    named = [ended for ended in ends if str(file) in ended.err]
    assert named
    assert {ended.code for ended in named} == {4}


OBJECTS = ["\x00", "a: [\n", "", "x", "[]", "{kind: ConfigMap}", "{apiVersion: v1, kind: A, metadata: {name: [a]}}"]
READING = [
    *["apply --timeout 3", "diff --live --timeout 3", "reconcile --timeout 3", "verify", "diff", "render"],
    "emit flux --url https://example.com/fleet",
]


@pytest.mark.parametrize("content", OBJECTS)
def test_a_damaged_object_of_the_rendered_branch_is_named(
    content: str, applied: tuple[Repository, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository,) = copied(tmp_path, applied[0])
    worktree = tmp_path / "rendered"
    repository.git("worktree", "add", "-q", "--detach", str(worktree), "argosy/rendered")
    (file,) = worktree.glob("clusters/member1/default/Deployment.apps/*.yaml")
    file.write_text(content)
    rendered = Repository(worktree)
    message = repository.git("log", "-1", "--format=%B", "argosy/rendered")
    rendered.git("commit", "-q", "-a", "-m", message)
    repository.git("update-ref", "refs/heads/argosy/rendered", rendered.git("rev-parse", "HEAD"))
    for command in READING:
        words = command.split()
        options = ["--kubeconfigs", str(applied[1])] if "--timeout" in words else []
        ended = argosy(repository, capsys, *words, *options)
        assert ended.code in {0, 1, 4}, (command, ended.err)
        if words[0] == "apply":
            where = f"{file.relative_to(worktree / 'clusters' / 'member1')} on the rendered branch holds no object"
            assert (ended.code, where in ended.err) == (4, True), ended


@pytest.mark.parametrize("path", FOREIGN, ids=repr)
def test_a_file_that_no_pass_writes_on_the_status_branch_is_named(
    path: bytes, applied: tuple[Repository, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    repository, kubeconfigs = applied
    with with_status_file(repository, os.fsdecode(path), "metadata: {name: a}\n"):
        ends = ends_with(repository, kubeconfigs, capsys)
    assert 70 not in {ended.code for ended in ends}
    name = path.decode("ascii", "replace").split("/")[0]
    named = [ended for ended in ends if "passes write no file of this name" in ended.err and f"{name}/" in ended.err]
    assert named
    assert {ended.code for ended in named} == {4}


def test_no_program_that_a_clones_configuration_names_is_run(repository: Repository, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    repository.commit({"a.yaml": a_config_map("a")})
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "hub.git"))
    repository.git("remote", "add", "origin", (tmp_path / "hub.git").as_uri())
    for name in ("uploadpack", "receivepack"):
        repository.git("config", f"remote.origin.{name}", f"touch {canary};git-{name.replace('pack', '-pack')}")
    with open_repository(str(repository.path)) as opened:
        assert opened.remote_tips("origin").tips
    assert not canary.exists()


def test_a_folder_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])"
    script += "; from reconciler.cli import run; print(run(['status']))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(gone)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == "4", done.stderr
