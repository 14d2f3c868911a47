"""The files of a commit, found by the listing that is kept of an earlier one, are those that git lists."""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from reconciler.repository import known_listing, open_repository
from reconciler.repository.objects import Snapshot, list_files_of_tree
from tests.build import Repository

MANY = {f"apps/t{number:03}.yaml": f"a: {number}\n".encode() for number in range(120)}
NAMES = ("a", "a.b", "a-b", "b", "B", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "x y", os.fsdecode(b"\xff"), "z\tz")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit(MANY)
    return made


def listed_and_kept(repository: Repository, commit: str) -> Snapshot:
    """List a commit as a pass does that reads its source there."""
    with open_repository(repository.path) as opened:
        found = opened.snapshot(commit)
        opened.listings.keep(commit)
        return found


def listed_by_git(repository: Repository, commit: str) -> Snapshot:
    """List a commit where nothing is kept."""
    kept = listing_of(repository).rename(repository.path.parent / "kept")
    with open_repository(repository.path) as opened:
        found = opened.snapshot(commit)
    kept.rename(listing_of(repository))
    return found


def listing_of(repository: Repository) -> Path:
    return repository.path / ".git" / "argosy" / "listing"


def edit(repository: Repository, rng: random.Random) -> None:
    """Change, add, remove and replace files and folders, of names that git sorts each in its way."""
    for _ in range(rng.randrange(1, 6)):
        parts = rng.choices(NAMES, k=rng.randrange(1, 4))
        for above in (repository.path.joinpath(*parts[:count]) for count in range(1, len(parts))):
            if above.is_symlink() or above.is_file():
                above.unlink()
            above.mkdir(exist_ok=True)
        place = repository.path.joinpath(*parts)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        if (kind := rng.randrange(4)) == 0:
            place.symlink_to("nowhere")
        elif kind > 1:
            place.write_bytes(rng.randbytes(rng.randrange(200)))
            place.chmod(rng.choice((0o644, 0o755)))
    if rng.random() < 0.3:
        id_ = f"{rng.randrange(1 << 160):040x}"
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{id_},modules/m{rng.randrange(3)}")


def replace_kept(repository: Repository, rng: random.Random) -> None:
    """Take away some of what the kept listing has, or put a folder or another file in its place."""
    for place in rng.sample(sorted((repository.path / "apps").glob("t*.yaml")), rng.randrange(3)):
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        if (kind := rng.randrange(3)) == 0:
            place.mkdir()
            (place / "part.yaml").write_bytes(rng.randbytes(20))
        elif kind == 1:
            place.write_bytes(rng.randbytes(20))


@pytest.mark.parametrize("seed", range(6))
def test_any_history_is_listed_as_git_lists_it(
    seed: int, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    listed_and_kept(repository, repository.git("rev-parse", "HEAD"))
    asked: list[str] = []
    list_files = list_files_of_tree

    def noted(git: Any, stored: Any, commit: str, *, partial: bool) -> Any:
        asked.append(commit)
        return list_files(git, stored, commit, partial=partial)

    monkeypatch.setattr(known_listing, "list_files_of_tree", noted)
    for _ in range(10):
        edit(repository, rng)
        replace_kept(repository, rng)
        repository.git("add", "-A", ".", ":!modules")
        repository.git("commit", "-q", "--allow-empty", "-m", "edit")
        commit = repository.git("rev-parse", "HEAD")
        found = listed_and_kept(repository, commit)
        assert asked == []
        assert found == listed_by_git(repository, commit)
        assert asked.pop() == commit


def test_a_source_that_differs_in_much_is_listed_by_git_and_kept_instead(repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    listed_and_kept(repository, first)
    before = listing_of(repository).read_bytes()
    commit = repository.commit({f"more/f{number}.yaml": f"b: {number}\n".encode() for number in range(300)})
    assert listed_and_kept(repository, commit) == listed_by_git(repository, commit)
    assert listing_of(repository).read_bytes() != before
    assert listed_and_kept(repository, first) == listed_by_git(repository, first)


def test_a_source_that_has_come_to_differ_in_more_than_a_few_files_is_kept_anew(repository: Repository) -> None:
    """Each pass looks up every file in which the source differs from what is kept, however long ago that was."""
    listed_and_kept(repository, repository.git("rev-parse", "HEAD"))
    kept = listing_of(repository).read_bytes()
    for number in range(16):
        commit = repository.commit({f"apps/t{number:03}.yaml": b"b: 1\n"})
        assert listed_and_kept(repository, commit) == listed_by_git(repository, commit)
        assert listing_of(repository).read_bytes() == kept
    commit = repository.commit({"apps/t016.yaml": b"b: 1\n"})
    assert listed_and_kept(repository, commit) == listed_by_git(repository, commit)
    assert listing_of(repository).read_bytes() != kept
    kept = listing_of(repository).read_bytes()
    commit = repository.commit({"apps/t017.yaml": b"b: 1\n"})
    assert listed_and_kept(repository, commit) == listed_by_git(repository, commit)
    assert listing_of(repository).read_bytes() == kept


def test_a_process_that_goes_on_goes_by_what_it_kept_itself(repository: Repository) -> None:
    with open_repository(repository.path) as opened:
        first = repository.git("rev-parse", "HEAD")
        opened.snapshot(first)
        opened.listings.keep(first)
        many = repository.commit({f"apps/t{number:03}.yaml": b"b: 1\n" for number in range(17)})
        opened.snapshot(many)
        opened.listings.keep(many)
        kept = listing_of(repository).read_bytes()
        one = repository.commit({"apps/t017.yaml": b"b: 1\n"})
        found = opened.snapshot(one)
        opened.listings.keep(one)
    assert listing_of(repository).read_bytes() == kept
    assert found == listed_by_git(repository, one)


def test_few_files_are_listed_without_anything_kept(tmp_path: Path) -> None:
    small = Repository.create(tmp_path / "small")
    listed_and_kept(small, small.commit({"a.yaml": b"a: 1\n"}))
    assert not listing_of(small).exists()


@pytest.mark.parametrize("content", [b"", b"no listing", bytes(32) + b"\x92\xc4\x00\x90"])
def test_a_listing_that_is_none_is_left_alone(content: bytes, tmp_path: Path) -> None:
    made = Repository.create(tmp_path / "fleet")
    commit = made.commit(MANY)
    listed_and_kept(made, commit)
    listing_of(made).write_bytes(content)
    assert listed_and_kept(made, commit) == listed_by_git(made, commit)
    assert listing_of(made).read_bytes() != content
