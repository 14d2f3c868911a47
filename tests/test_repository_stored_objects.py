"""Objects read from a repository's files without a process: what git reads, or nothing at all."""

import os
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import force_setattr

from reconciler.repository import File, open_repository
from reconciler.repository.stored_objects import FEW, StoredObjects, apply_delta
from render.errors import GitError
from render.gitobjects import content_of_blob

from .build import Repository
from .test_repository_pack import a_fleet, a_repository, an_object_set, written

NOTE = "a line that stands in every one of these files, so that they are alike\n"


def a_history(path: Path, *options: str) -> Repository:
    """Many versions of one file, each a little longer, and a file of its own in each commit."""
    return Repository(shutil.copytree(_history(*options).name, path))


@cache
def _history(*options: str) -> "tempfile.TemporaryDirectory[str]":
    """Return such a repository, of which every other is a copy; it lasts as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="argosy-history-")
    repository = Repository(Path(folder.name))
    repository.git("init", "-q", "-b", "main", *options)
    for number in range(12):
        lines = "".join(f"{line}: {NOTE}" for line in range(number + 3))
        repository.commit({"alike.txt": lines, f"folder/own-{number}.txt": f"number {number}\n"}, f"change {number}")
    repository.git("tag", "-a", "-m", "a tag", "v1")
    return folder


def objects_of(repository: Repository) -> dict[str, list[bytes]]:
    """The ids of all objects, by kind, as git lists them."""
    listing = repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
    ids: dict[str, list[bytes]] = {}
    for line in listing.splitlines():
        kind, _, id_ = line.partition(" ")
        ids.setdefault(kind, []).append(bytes.fromhex(id_))
    return ids


def as_git_reads(repository: Repository, ids: list[bytes], kind: str) -> dict[bytes, bytes]:
    """The contents by git, which reads more objects than ``FEW`` at once."""
    opened = open_repository(repository.path)
    with opened.git.stream("cat-file", "--batch", stdin="".join(f"{id_.hex()}\n" for id_ in ids).encode()) as output:
        contents = {}
        for id_ in ids:
            _, found, size = output.readline().split()
            contents[id_] = output.read(int(size))
            output.read(1)
            assert found.decode() == kind
    return contents


class Storage(NamedTuple):
    why: str
    prepare: Callable[[Repository], object]
    options: tuple[str, ...] = ()


STORAGES = [
    Storage("loose files", lambda _: None),
    Storage("loose files of a sha256 repository", lambda _: None, ("--object-format=sha256",)),
    Storage("one pack, with chains of differences", lambda repository: repository.git("repack", "-adqf")),
    Storage(
        "one pack of a sha256 repository",
        lambda repository: repository.git("repack", "-adqf"),
        ("--object-format=sha256",),
    ),
    Storage(
        "differences that name their base by its id",
        lambda repository: repository.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adqf"),
    ),
]


@pytest.mark.parametrize("case", STORAGES, ids=lambda case: case.why)
def test_every_object_is_read_as_git_reads_it(tmp_path: Path, case: Storage) -> None:
    repository = a_history(tmp_path / "repo", *case.options)
    case.prepare(repository)
    opened = open_repository(repository.path)
    for kind, ids in objects_of(repository).items():
        stored = StoredObjects(opened.folder.objects, opened.algorithm)
        assert stored.read(ids, kind) == as_git_reads(repository, ids, kind)


def test_a_pack_of_ours_is_read_without_git(tmp_path: Path) -> None:
    objects = an_object_set(a_fleet())
    repository = a_repository(tmp_path / "bare")
    written(repository, objects)
    blobs = {id_: content_of_blob(blob) for id_, blob in objects.blobs.items()}
    stored = StoredObjects(repository.path / "objects", "sha1")
    assert stored.read(blobs, "blob") == blobs
    assert stored.read(objects.trees, "tree") == objects.trees
    assert stored.read(objects.commits, "commit") == objects.commits


def test_an_index_with_offsets_of_eight_bytes_is_read(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    repository.git("repack", "-adqf")
    (pack,) = (repository.path / ".git/objects/pack").glob("pack-*.pack")
    pack.with_suffix(".idx").unlink()
    repository.git("index-pack", "--index-version=2,0x40", str(pack))
    ids = objects_of(repository)["blob"]
    stored = StoredObjects(repository.path / ".git/objects", "sha1")
    assert stored.read(ids, "blob") == as_git_reads(repository, ids, "blob")


def test_objects_of_a_repository_that_is_borrowed_from_are_read(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    repository.git("clone", "-q", "--shared", str(repository.path), str(tmp_path / "clone"))
    ids = objects_of(repository)["tree"]
    stored = StoredObjects(tmp_path / "clone/.git/objects", "sha1")
    assert stored.read(ids, "tree") == as_git_reads(repository, ids, "tree")


def test_what_was_packed_after_the_first_look_is_found(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    ids = objects_of(repository)["blob"]
    stored = StoredObjects(repository.path / ".git/objects", "sha1")
    assert stored.read(ids, "blob").keys() == set(ids)
    repository.git("repack", "-adqf")
    later = repository.commit({"later.txt": "later\n"})
    repository.git("repack", "-dq")
    blob = bytes.fromhex(repository.git("rev-parse", f"{later}:later.txt"))
    assert stored.read([*ids, blob], "blob").keys() == {*ids, blob}


def test_an_object_of_another_kind_is_left_out(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    stored = StoredObjects(repository.path / ".git/objects", "sha1")
    assert stored.read(objects_of(repository)["blob"], "tree") == {}


def test_a_large_object_is_left_to_git(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    large = b"x" * (9 << 20)
    (repository.path / "large.txt").write_bytes(large)
    id_ = bytes.fromhex(repository.git("hash-object", "-w", "large.txt"))
    stored = StoredObjects(repository.path / ".git/objects", "sha1")
    assert stored.read([id_], "blob") == {}
    assert open_repository(repository.path).read_blobs([id_]) == {id_: large}
    repository.git("repack", "-adq")
    assert stored.read([id_], "blob") == {}


def test_few_objects_cost_no_process_and_many_cost_one(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "bare")
    objects = an_object_set({"eu": {f"app-{number}": b"number: %d\n" % number for number in range(FEW + 1)}})
    written(repository, objects)
    opened = open_repository(repository.path)
    opened.read_blobs(list(objects.blobs)[:1])  # git has said that this is a repository, and how it is configured
    # From here on git cannot be run.
    force_setattr(opened.git, "folder", tmp_path / "nowhere")
    few = list(objects.blobs)[:FEW]
    assert opened.read_blobs(few) == {id_: objects.blobs[id_] for id_ in few}
    with pytest.raises((GitError, OSError)):
        opened.read_blobs(objects.blobs)


def listed_by_git(repository: Repository, commit: str) -> tuple[File, ...]:
    """The files of a commit as git lists them; what is no blob has no size."""
    listing = open_repository(repository.path).git.run("ls-tree", "-r", "-l", "-z", commit).stdout
    lines = [line.partition("\t") for line in os.fsdecode(listing).split("\0") if line]
    parts = [(*meta.split(), path) for meta, _, path in lines]
    return tuple(
        File(path, int(mode, 8), bytes.fromhex(id_), int(size) if size.isdigit() else 0)
        for mode, _, id_, size, path in parts
    )


@pytest.mark.parametrize("case", STORAGES, ids=lambda case: case.why)
def test_a_small_commit_is_listed_as_git_lists_it_without_a_process(tmp_path: Path, case: Storage) -> None:
    repository = a_history(tmp_path / "repo", *case.options)
    repository.write(dict.fromkeys(("folder-a", "folder.a", "folder/sub/sub/a", "folder0", "run.sh"), ""))
    repository.write({"folder/\udce9": "a name that is no text"})
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link").symlink_to("folder")
    repository.git("add", "-A")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{repository.git('rev-parse', 'HEAD')},module")
    repository.git("commit", "-q", "-m", "all kinds of files")
    case.prepare(repository)
    commit = repository.git("rev-parse", "HEAD")
    opened = open_repository(repository.path)
    assert opened.algorithm  # git has said that this is a repository, and how it is configured
    force_setattr(opened.git, "folder", tmp_path / "nowhere")  # from here on git cannot be run
    assert opened.snapshot(commit).files == listed_by_git(repository, commit)


def test_a_wide_a_deep_and_an_unusual_commit_are_listed_by_git(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    wide = repository.commit({f"wide/{number}": "x" for number in range(200)}, "many files")
    deep = repository.commit({"d/" * 120 + "d": "x"}, "many folders")
    blob = bytes.fromhex(repository.git("rev-parse", "HEAD:alike.txt"))
    (tmp_path / "tree").write_bytes(b"100664 a mode of old\0" + blob)
    tree = repository.git("hash-object", "-t", "tree", "-w", "--literally", str(tmp_path / "tree"))
    unusual = repository.git("commit-tree", "-m", "x", tree)
    lost = repository.commit({"gone.txt": "this is taken away\n"}, "a blob that is lost")
    id_ = repository.git("rev-parse", f"{lost}:gone.txt")
    (repository.path / ".git/objects" / id_[:2] / id_[2:]).unlink()
    for commit in (wide, deep, unusual, lost):
        assert open_repository(repository.path).snapshot(commit).files == listed_by_git(repository, commit)


def test_a_short_history_costs_no_process(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    commits = repository.git("rev-list", "HEAD").split()
    opened = open_repository(repository.path)
    assert opened.algorithm
    force_setattr(opened.git, "folder", tmp_path / "nowhere")
    first, last = commits[-1], commits[0]
    assert (opened.first_commit(last), opened.first_commit(first)) == (first, first)
    assert [info.id for info in opened.history(last, 100)] == commits
    assert [info.id for info in opened.history(last, 3)] == commits[:3]
    assert [info.id for info in opened.commits_between(commits[5], last, 100)] == commits[:5]
    assert [info.id for info in opened.commits_between(commits[5], last, 2)] == commits[:2]
    assert opened.commits_between(last, last, 100) == ()
    assert opened.is_ancestor(first, last)


def test_a_history_with_merges_or_of_many_commits_is_as_git_says(tmp_path: Path) -> None:
    repository = a_history(tmp_path / "repo")
    first, middle = repository.git("rev-list", "--max-parents=0", "HEAD"), repository.git("rev-parse", "HEAD")
    root = repository.git("commit-tree", "-m", "another root", "HEAD^{tree}")
    repository.git("merge", "-q", "-s", "ours", "--allow-unrelated-histories", "-m", "both", root)
    merge = repository.git("rev-parse", "HEAD")
    late = [repository.commit({"number": str(number)}) for number in range(40)]
    opened = open_repository(repository.path)
    assert [opened.first_commit(each) for each in (late[-1], late[0], merge, root)] == [first, first, first, root]
    some = (first, middle, root, merge, late[0], late[-1])
    for new in some:
        everything = repository.git("rev-list", new).split()
        assert [info.id for info in opened.history(new, 45)] == everything[:45]
        assert [old for old in some if opened.is_ancestor(old, new)] == [old for old in some if old in everything]
        for old in some:
            between = repository.git("rev-list", new, f"^{old}").split()
            assert [info.id for info in opened.commits_between(old, new, 1000)] == between


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[bytes, bytes]]:
    """A repository of one pack, and its blobs."""
    repository = a_history(tmp_path_factory.mktemp("damaged") / "repo")
    repository.git("repack", "-adqf")
    return repository.path / ".git/objects", as_git_reads(repository, objects_of(repository)["blob"], "blob")


@settings(max_examples=60)
@given(data=st.data())
def test_a_damaged_file_gives_the_right_content_or_none(
    packed: tuple[Path, dict[bytes, bytes]], data: st.DataObject
) -> None:
    """Any byte of any file may be another one: what is read is still what the id says, or nothing."""
    objects, contents = packed
    path = data.draw(st.sampled_from(sorted(each for each in (objects / "pack").iterdir() if each.suffix != ".rev")))
    whole = path.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:position] + bytes([whole[position] ^ data.draw(st.integers(1, 255))]) + whole[position + 1 :]
    path.chmod(0o600)
    path.write_bytes(damaged)
    try:
        read = StoredObjects(objects, "sha1").read(contents, "blob")
    finally:
        path.write_bytes(whole)
    assert read == {id_: contents[id_] for id_ in read}


DELTAS = {
    "a base of another size": b"\x09\x03\x03abc",
    "a result of another size": b"\x0a\x04\x03abc",
    "a copy from beyond the base": b"\x0a\x04\x91\x09\x04",
    "a result that is too large": b"\x0a\xff\xff\xff\x7f\x03abc",
}


@pytest.mark.parametrize("delta", DELTAS.values(), ids=DELTAS)
def test_a_difference_that_does_not_fit_is_refused(delta: bytes) -> None:
    with pytest.raises(ValueError, match=r"^(a difference to something else|another size than stated)$"):
        apply_delta(b"0123456789", delta)


def test_a_difference_copies_and_inserts() -> None:
    assert apply_delta(b"0123456789", b"\x0a\x07\x91\x02\x04\x03abc") == b"2345abc"


def test_a_difference_that_copies_more_than_it_states_ends_there() -> None:
    copies_of_all = b"\x80" * 2000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="another size than stated"):
            apply_delta(bytes(0x10000), b"\x80\x80\x04\x0a" + copies_of_all)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
