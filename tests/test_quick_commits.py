"""Commits that tests make without a process are git's own, to the byte."""

import os
from pathlib import Path

import pytest

from .build import AUTHOR, Repository
from .quick_commits import committed

FILES = {
    "a/b.yaml": "b\n",
    "a-b": "sorted before the folder",
    "a.c/d": "sorted after it",
    "deep/er/file": b"\0\xff",
    "größe.yaml": "",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def test_a_commit_is_the_one_that_git_makes(repository: Repository) -> None:
    """git finds nothing that differs, neither in its objects nor in the index, and goes on from there."""
    repository.write(FILES)
    (repository.path / "a" / "link").symlink_to("b.yaml")
    (repository.path / "a-b").chmod(0o755)
    (repository.path / "empty").mkdir()
    first = committed(repository.path, AUTHOR, "Begin\n\nWith a body.")
    repository.write({"a/b.yaml": None, "new": "new"})
    dated = {"GIT_AUTHOR_DATE": "@1768467600 +0100", "GIT_COMMITTER_DATE": "@1768467660 +0000"}
    second = committed(repository.path, {**AUTHOR, **dated, "GIT_COMMITTER_NAME": "Eve"}, "Go on")
    by_git = {}
    for commit in (first, second):
        repository.git("checkout", "-q", "--force", "--detach", commit)
        repository.git("add", "-A")
        by_git[commit] = repository.git("write-tree")
    repository.git("checkout", "-q", "main")
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("fsck", "--strict", "--no-dangling") == ""
    people = "Ada ada@example.com Ada ada@example.com"
    others = "Ada ada@example.com Eve ada@example.com"
    assert repository.git("log", "--reverse", "--format=%H/%P/%T/%an %ae %cn %ce/%B/").split("/\n") == [
        f"{first}//{by_git[first]}/{people}/Begin\n\nWith a body.\n",
        f"{second}/{first}/{by_git[second]}/{others}/Go on\n/",
    ]
    assert repository.git("log", "-1", "--date=raw", "--format=%ad %cd") == "1768467600 +0100 1768467660 +0000"


def test_the_index_knows_the_files_as_they_stand(repository: Repository) -> None:
    repository.write(FILES)
    assert committed(repository.path, AUTHOR, "Begin")
    written = repository.git("ls-files", "-s", "--debug")
    (repository.path / ".git" / "index").unlink()
    repository.git("add", "-A")
    assert repository.git("ls-files", "-s", "--debug") == written


@pytest.mark.parametrize(
    "unusual",
    [
        {".gitignore": "x"},
        {"a/.gitattributes": "* text"},
        {".gitmodules": ""},
        {"inner/.git": "gitdir: elsewhere"},
        {".git/info/exclude": "x"},
        {".git/MERGE_HEAD": "0" * 40},
        {".git/packed-refs": ""},
        {".git/hooks/pre-commit": "#!/bin/sh\nexit 1\n"},
        {".git/HEAD": "0" * 40},
        {".git/config": "[core]\n\tautocrlf = true\n"},
    ],
    ids=lambda unusual: next(iter(unusual)),
)
def test_where_git_might_do_something_else_it_is_asked(repository: Repository, unusual: dict[str, str]) -> None:
    repository.write({"file": "content", **unusual})
    assert committed(repository.path, AUTHOR, "Begin") == ""
    assert not (repository.path / ".git" / "index").exists()


def test_a_pipe_is_left_to_git(repository: Repository) -> None:
    os.mkfifo(repository.path / "pipe")
    assert committed(repository.path, AUTHOR, "Begin") == ""
