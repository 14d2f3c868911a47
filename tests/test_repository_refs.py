"""Refs read as files: always what git itself would answer."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.repository import RefUpdate, is_ref_name, open_repository, read_ref_fast
from reconciler.repository.refs import git_dir_with_branch_checked_out, head_branch
from render.errors import GitError

from .build import Repository
from .waiting import SECONDS


def a_repository(path: Path) -> Repository:
    repository = Repository.create(path)
    repository.commit({"a.yaml": "a: 1\n"})
    return repository


def git_says(repository: Repository, ref: str) -> str | None:
    return repository.git("rev-parse", "--verify", "-q", ref, check=False) or None


def packed(repository: Repository) -> None:
    repository.git("pack-refs", "--all")


def packed_then_moved(repository: Repository) -> None:
    repository.git("pack-refs", "--all")
    repository.commit({"a.yaml": "a: 2\n"})


def packed_then_deleted(repository: Repository) -> None:
    repository.git("branch", "argosy/rendered")
    repository.git("pack-refs", "--all")
    repository.git("branch", "-D", "argosy/rendered")


def detached(repository: Repository) -> None:
    repository.git("checkout", "-q", "--detach")


def unborn(repository: Repository) -> None:
    repository.git("checkout", "-q", "--orphan", "new")


def nothing(repository: Repository) -> None:
    repository.git("status")


def similar_names(repository: Repository) -> None:
    repository.git("update-ref", "refs/heads/x/refs/heads/main", "HEAD")
    repository.git("update-ref", "refs/heads/mainline", "HEAD")
    repository.git("pack-refs", "--all")
    repository.git("update-ref", "-d", "refs/heads/main")


def symbolic(repository: Repository) -> None:
    repository.git("symbolic-ref", "refs/heads/argosy/rendered", "refs/heads/main")


def annotated(repository: Repository) -> None:
    repository.git("tag", "-a", "-m", "t", "v1")
    repository.git("pack-refs", "--all")


STATES = [nothing, packed, packed_then_moved, packed_then_deleted, detached, unborn, similar_names, symbolic, annotated]
REFS = ["HEAD", "refs/heads/main", "refs/heads/argosy/rendered", "refs/heads/absent", "refs/tags/v1", "refs/heads"]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_ref_is_where_git_says_it_is(tmp_path: Path, state: Callable[[Repository], None]) -> None:
    repository = a_repository(tmp_path / "repo")
    state(repository)
    read = {ref: read_ref_fast(repository.path / ".git", ref) for ref in REFS}
    assert read == {ref: git_says(repository, ref) for ref in REFS}


def test_a_linked_worktree_has_its_own_head_and_the_shared_branches(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "repo")
    repository.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    linked = Repository(tmp_path / "linked")
    linked.commit({"b.yaml": "b: 1\n"})
    linked.git("update-ref", "refs/worktree/own", "HEAD")
    opened = open_repository(tmp_path / "linked")
    refs = [*REFS, "refs/heads/side", "refs/worktree/own"]
    assert {ref: opened.tip(ref) for ref in refs} == {ref: git_says(linked, ref) for ref in refs}
    assert opened.folder.git_dir != opened.folder.common_dir
    assert head_branch(opened.folder.git_dir) == "refs/heads/side"
    assert git_dir_with_branch_checked_out(opened.folder.common_dir, "refs/heads/side") == opened.folder.git_dir
    assert git_dir_with_branch_checked_out(opened.folder.common_dir, "refs/heads/other") is None


class Name(NamedTuple):
    why: str
    name: str


NAMES = [
    Name("an ordinary branch", "refs/heads/main"),
    Name("a branch of ours", "refs/heads/argosy/cluster/eu-1"),
    Name("a dash in front", "refs/heads/-x"),
    Name("a unicode name", "refs/heads/größe"),
    Name("a short name", "main"),
    Name("a way out", "refs/heads/../../config"),
    Name("two dots", "refs/heads/a..b"),
    Name("a space", "refs/heads/a b"),
    Name("a line break", "refs/heads/a\nb"),
    Name("an escape", "refs/heads/a\x1bb"),
    Name("a tilde", "refs/heads/a~1"),
    Name("a caret", "refs/heads/a^"),
    Name("a colon", "refs/heads/a:b"),
    Name("a star", "refs/heads/*"),
    Name("a question mark", "refs/heads/a?"),
    Name("a bracket", "refs/heads/a[b"),
    Name("a backslash", "refs/heads/a\\b"),
    Name("an at with a brace", "refs/heads/a@{1}"),
    Name("an at sign", "refs/heads/a@b"),
    Name("a lock file", "refs/heads/a.lock"),
    Name("a lock file as folder", "refs/heads/a.lock/b"),
    Name("a hidden part", "refs/heads/.a"),
    Name("a dot at the end", "refs/heads/a."),
    Name("a slash at the end", "refs/heads/a/"),
    Name("two slashes", "refs/heads//a"),
    Name("a slash in front", "/refs/heads/a"),
    Name("nothing", ""),
]


@pytest.mark.parametrize("case", NAMES, ids=lambda case: case.why)
def test_a_name_is_one_exactly_when_git_thinks_so(tmp_path: Path, case: Name) -> None:
    command = ["git", "check-ref-format", case.name]
    checked = subprocess.run(command, cwd=tmp_path, check=False, timeout=SECONDS)
    assert is_ref_name(case.name) == (case.name.startswith("refs/") and checked.returncode == 0)


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "repo")
    with pytest.raises(GitError) as caught:
        read_ref_fast(repository.path / ".git", "refs/heads/../../config")
    assert str(caught.value) == (
        "'refs/heads/../../config' is not the name of a ref\n  hint: write it in full, such as refs/heads/main"
    )


def test_a_damaged_ref_is_an_error_and_not_absent(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "repo")
    (repository.path / ".git/refs/heads/main").write_text("garbage\n", encoding="utf-8")
    with pytest.raises(GitError, match=r"refs/heads/main is damaged"):
        read_ref_fast(repository.path / ".git", "HEAD")


def test_an_endless_chain_of_refs_is_an_error(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "repo")
    for name, target in (("a", "b"), ("b", "a")):
        (repository.path / ".git/refs/heads" / name).write_text(f"ref: refs/heads/{target}\n", encoding="utf-8")
    with pytest.raises(GitError, match="chain of symbolic refs"):
        read_ref_fast(repository.path / ".git", "refs/heads/a")


def test_a_symbolic_ref_leads_nowhere_else(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "repo")
    (repository.path / ".git/HEAD").write_text("ref: ../../secret\n", encoding="utf-8")
    with pytest.raises(GitError, match="is not the name of a ref"):
        read_ref_fast(repository.path / ".git", "HEAD")


def test_many_branches_are_flushed_at_once(tmp_path: Path) -> None:
    """A flush for each would take seconds of a first pass over a thousand clusters that pull."""
    repository, traced = Repository.create(tmp_path / "repo"), tmp_path / "traced"
    tip = repository.commit({"a": "b"})
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nexport GIT_TRACE2_EVENT={traced}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    environment = {"PATH": f"{git.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    with open_repository(repository.path, environment=environment) as opened:
        opened.update_refs([RefUpdate(f"refs/heads/many/{number}", tip, None) for number in range(40)])
        assert len(opened.refs("refs/heads/many/")) == 40
    events = [json.loads(line) for line in traced.read_text().splitlines()]
    flushed = {event["key"]: event["value"] for event in events if event.get("category") == "fsync"}
    assert flushed == {"fsync/writeout-only": "40"}
