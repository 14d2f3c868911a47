"""Commits that changed files of some patterns: what is found equals what ``git log --raw`` says."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.repository import open_repository
from reconciler.repository.changing_commits import ChangedPath, ChangingCommit, ListingLimits, commits_changing_files

from .build import Repository

PATHS = ("a/web.yaml", "a/b/web.yaml", "c/b/web.yaml", "c/b/other.yaml", "c/d", "e/40000 x.yaml")
PATTERNS = ("a/**", "*/b/web.yaml", "c/*", "e/40000 x.yaml", "nothing/**", "**")


def changed_by_git(repository: Repository, patterns: list[str]) -> list[ChangingCommit]:
    wanted = [f":(top,glob){pattern}" for pattern in patterns]
    options = ("--first-parent", "--diff-merges=first-parent", "--raw", "-r", "--no-abbrev", "--no-renames")
    output = repository.git("log", *options, "--format=commit %H %P", "HEAD", "--", *wanted)
    found: list[ChangingCommit] = []
    for line in filter(None, output.splitlines()):
        if line.startswith("commit "):
            _, id_, *parents = line.split()
            found.append(ChangingCommit(id_, parents[0] if parents else "", (), 0))
            continue
        head, _, path = line.partition("\t")
        ids = [bytes.fromhex(each) if each.strip("0") else None for each in head.split()[2:4]]
        last = found[-1]
        found[-1] = last._replace(files=(*last.files, ChangedPath(path, ids[0], ids[1])))
    return [each._replace(files=tuple(sorted(each.files)), total=len(each.files)) for each in found if each.files]


@settings(max_examples=25)
@given(
    edits=st.lists(st.dictionaries(st.sampled_from(PATHS), st.integers(0, 3), min_size=1), min_size=1, max_size=5),
    patterns=st.lists(st.sampled_from(PATTERNS), min_size=1, unique=True),
)
def test_the_commits_are_those_of_git(
    edits: list[dict[str, int]], patterns: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository = Repository.create(tmp_path_factory.mktemp("log") / "fleet")
    for number, edit in enumerate(edits):
        for path, value in sorted(edit.items()):
            if value:
                repository.write({path: f"{value}\n"})
            else:
                repository.git("rm", "-q", "--ignore-unmatch", path)
        repository.git("add", "-A")
        repository.git("commit", "-q", "--allow-empty", "-m", f"edit {number}")

    with open_repository(str(repository.path)) as opened:
        found = list(commits_changing_files(opened, opened.resolve("HEAD"), patterns))

    assert [each._replace(files=tuple(sorted(each.files))) for each in found] == changed_by_git(repository, patterns)


def test_a_merge_counts_as_what_it_merged(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    base = repository.commit({"a/web.yaml": "1\n"})
    repository.git("checkout", "-q", "-b", "proposal")
    repository.commit({"a/web.yaml": "2\n"})
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "take it", "proposal")

    with open_repository(str(repository.path)) as opened:
        found = list(commits_changing_files(opened, opened.resolve("HEAD"), ["a/**"]))

    assert [each.parent for each in found] == [base, ""]
    assert found == changed_by_git(repository, ["a/**"])


def test_of_a_commit_that_changed_more_than_is_listed_the_files_are_counted(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({f"a/{name}.yaml": "1\n" for name in "abc"})
    repository.commit({"a/a.yaml": "2\n"})
    with open_repository(str(repository.path)) as opened:
        tip = opened.resolve("HEAD")
        listed = list(commits_changing_files(opened, tip, ["a/**"], ListingLimits(files=2)))
        without_first = list(commits_changing_files(opened, tip, ["a/**"], ListingLimits(with_first=False)))
    assert [(len(each.files), each.total) for each in listed] == [(1, 1), (0, 3)]
    assert without_first == listed[:1]
