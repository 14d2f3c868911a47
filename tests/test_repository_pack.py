"""Packs: git accepts every one of ours, and reads from it exactly what was put in."""

import hashlib
import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler.repository import pack, pack_parts
from reconciler.repository import processes as processes_that_share
from reconciler.repository.pack import write_pack
from render.gitobjects import (
    BLOB_MODE,
    TREE_MODE,
    Blob,
    Joined,
    Spliced,
    TreeEntry,
    content_of_blob,
    encode_tree,
    git_object_id,
)

from .blobs import blob_id
from .build import Repository
from .waiting import SECONDS

ID = bytes(20)


class Objects(NamedTuple):
    blobs: dict[bytes, Blob]
    trees: dict[bytes, bytes]
    commits: dict[bytes, bytes]
    head: str


def an_object_set(clusters: Mapping[str, Mapping[str, Blob]], algorithm: str = "sha1") -> Objects:
    """A commit of one folder of files per cluster."""
    blobs, trees, top = {}, {}, []
    for cluster, files in clusters.items():
        entries = []
        for name, blob in files.items():
            id_ = blob_id(blob, algorithm)
            blobs[id_] = blob
            entries.append(TreeEntry(name.encode(), BLOB_MODE, id_))
        data = encode_tree(entries)
        id_ = git_object_id("tree", data, algorithm)
        trees[id_] = data
        top.append(TreeEntry(cluster.encode(), TREE_MODE, id_))
    data = encode_tree(top)
    root = git_object_id("tree", data, algorithm)
    trees[root] = data
    who = "A <a@example.com> 1 +0000"
    commit = f"tree {root.hex()}\nauthor {who}\ncommitter {who}\n\nm\n".encode()
    head = git_object_id("commit", commit, algorithm)
    return Objects(blobs, trees, {head: commit}, head.hex())


def a_fleet(clusters: int = 12, apps: int = 60) -> dict[str, dict[str, Blob]]:
    """Manifests that differ by replicas in some clusters, one that is the same in all, one of each cluster's own."""
    segments = [(b"kind: Deployment\nname: app-%d\nreplicas: " % app, b"\n" + b"env: 1\n" * 50) for app in range(apps)]
    return {
        f"eu-{cluster}": {
            **{
                f"app-{app}.yaml": Spliced(segments[app], (cluster if (app * 7 + cluster) % 9 == 0 else 1,))
                for app in range(apps)
            },
            "shared.yaml": b"kind: ConfigMap\n",
            "own.yaml": b"kind: ConfigMap\ndata:\n" + b"  key: value\n" * 40 + b"  cluster: %d\n" % cluster,
        }
        for cluster in range(clusters)
    }


def a_repository(path: Path, algorithm: str = "sha1") -> Repository:
    repository = Repository(path)
    path.mkdir()
    repository.git("init", "-q", "--bare", f"--object-format={algorithm}")
    return repository


def written(repository: Repository, objects: Objects, algorithm: str = "sha1", processes: int = 1) -> Path:
    found = write_pack(
        repository.path / "objects" / "pack",
        blobs=objects.blobs,
        trees=objects.trees,
        commits=objects.commits,
        algorithm=algorithm,
        processes=processes,
    )
    assert found is not None
    repository.git("update-ref", "refs/heads/main", objects.head)
    return found


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_git_accepts_a_pack_and_reads_every_object(tmp_path: Path, algorithm: str) -> None:
    fleet = a_fleet()
    objects = an_object_set(fleet, algorithm)
    repository = a_repository(tmp_path / "bare", algorithm)
    packed = written(repository, objects, algorithm)
    repository.git("verify-pack", str(packed))
    assert repository.git("fsck", "--full", "--strict") == ""
    asked = "".join(f"main:{cluster}/{name}\n" for cluster, files in fleet.items() for name in files)
    answer = subprocess.run(
        ["git", "cat-file", "--batch=%(objectsize)"],
        cwd=repository.path,
        input=asked.encode(),
        capture_output=True,
        check=True,
        timeout=SECONDS,
    ).stdout
    contents = [content_of_blob(blob) for files in fleet.values() for blob in files.values()]
    assert answer == b"".join(b"%d\n%s\n" % (len(data), data) for data in contents)


def test_what_is_alike_is_stored_as_a_difference(tmp_path: Path) -> None:
    objects = an_object_set(a_fleet())
    repository = a_repository(tmp_path / "bare")
    packed = written(repository, objects)
    listing = repository.git("verify-pack", "-v", str(packed)).splitlines()
    kinds = [line.split() for line in listing if len(line) > 40 and line[40] == " "]
    whole = {kind: sum(1 for line in kinds if line[1] == kind and len(line) == 5) for kind in ("blob", "tree")}
    assert whole == {"blob": 62, "tree": 2}
    assert [line.partition(":")[0] for line in listing if line.startswith("chain")] == ["chain length = 1"]


def test_files_whose_names_have_several_lengths_are_each_compared_with_one_of_their_length(tmp_path: Path) -> None:
    beginning, lines = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n", b"# a line of the text\n" * 20
    names = [b"object-%d" % number for number in (95, 100, 96, 101, 97, 102)]
    files: dict[str, Blob] = {
        name.decode(): beginning + b"  name: %s\n" % name + lines + b"# %s\n" % name + lines[:42] for name in names
    }
    repository = a_repository(tmp_path / "bare")
    packed = written(repository, an_object_set({"member": files}))
    listing = [line.split() for line in repository.git("verify-pack", "-v", str(packed)).splitlines()]
    whole = [line for line in listing if line[1:2] == ["blob"] and len(line) == 5]
    assert len(whole) == 2, "one with two digits, one with three"


def test_git_fast_import_makes_the_same_commit(tmp_path: Path) -> None:
    fleet = a_fleet(4, 8)
    objects = an_object_set(fleet)
    lines = ["commit refs/heads/main", "committer A <a@example.com> 1 +0000", "data 2\nm\n"]
    for cluster, files in fleet.items():
        for name, blob in files.items():
            data = content_of_blob(blob).decode()
            lines += [f"M 100644 inline {cluster}/{name}", f"data {len(data)}\n{data}"]
    repository = a_repository(tmp_path / "bare")
    stream = ("\n".join(lines) + "\n").encode()
    command = ["git", "fast-import", "--quiet"]
    subprocess.run(command, cwd=repository.path, input=stream, check=True, timeout=SECONDS)
    assert repository.git("rev-parse", "main") == objects.head


def test_git_index_pack_makes_the_same_index(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "bare")
    packed = written(repository, an_object_set(a_fleet()))
    ours = packed.with_suffix(".idx").read_bytes()
    repository.git("index-pack", "-o", str(tmp_path / "git.idx"), str(packed))
    assert (tmp_path / "git.idx").read_bytes() == ours


def test_a_pack_is_named_by_its_checksum_and_read_only(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "bare")
    objects = an_object_set(a_fleet(2, 3))
    packed = written(repository, objects)
    content = packed.read_bytes()
    assert hashlib.sha1(content[:-20]).digest() == content[-20:]
    assert packed.name == f"pack-{content[-20:].hex()}.pack"
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in packed.parent.iterdir()}
    assert files == {packed.name: 0o444, packed.with_suffix(".idx").name: 0o444}
    assert written(repository, objects) == packed
    assert {path.name for path in packed.parent.iterdir()} == files.keys()


def test_no_objects_are_no_pack(tmp_path: Path) -> None:
    assert write_pack(tmp_path, blobs={}, trees={}, commits={}) is None
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_no_pack(tmp_path: Path) -> None:
    class Interrupted(dict[bytes, Blob]):
        """Blobs that cannot be read to their end."""

        def items(self) -> object:  # type: ignore[override]  # stands for a reader that fails
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pack(tmp_path, blobs=Interrupted({ID: b""}), trees={}, commits={})
    assert list(tmp_path.iterdir()) == []


def test_a_pack_without_its_index_is_not_seen_by_git(tmp_path: Path) -> None:
    """Between the two renames git sees neither, and both after the second."""
    repository = a_repository(tmp_path / "bare")
    objects = an_object_set(a_fleet(2, 3))
    packed = written(repository, objects)
    index = packed.with_suffix(".idx")
    hidden = index.rename(tmp_path / "hidden.idx")
    command = ["git", "cat-file", "--batch-check"]
    looked = subprocess.run(
        command, cwd=repository.path, input=objects.head.encode(), capture_output=True, check=True, timeout=SECONDS
    )
    assert "missing" in looked.stdout.decode()
    hidden.rename(index)
    assert repository.git("cat-file", "-t", objects.head) == "commit"


MEMBERS, PLACEMENT = b"- {name: member}\n" * 400, b'placement: {"a": "' + b"b" * 300 + b'"}\n'
PARTS = st.sampled_from([b"", b"a" * 90, MEMBERS, PLACEMENT])
JOINED = st.lists(st.one_of(PARTS, st.binary(max_size=60)), max_size=5).map(lambda parts: Joined(tuple(parts)))
CONTENTS = st.lists(
    st.one_of(
        JOINED,
        st.binary(max_size=200),
        st.binary(min_size=20, max_size=60).map(lambda data: data * 8),
        st.tuples(st.sampled_from([(b"a" * 90, b""), (b"", b"z"), (b"x", b"y" * 200)]), st.integers(0, 10**6)).map(
            lambda pair: Spliced(pair[0], (pair[1],))
        ),
    ),
    max_size=20,
)


@settings(max_examples=25)
@given(contents=CONTENTS)
def test_any_blobs_come_back_as_they_were(contents: list[Blob], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pack")
    blobs = {blob_id(blob): blob for blob in contents}
    packed = write_pack(folder, blobs=blobs, trees={}, commits={})
    if packed is None:
        assert not blobs
        return
    environment = {**os.environ, "GIT_OBJECT_DIRECTORY": str(folder.parent / "none")}
    command = ["git", "index-pack", "--strict", "-o", "again.idx", str(packed)]
    subprocess.run(command, cwd=folder, check=True, env=environment, timeout=SECONDS)
    assert (folder / "again.idx").read_bytes() == packed.with_suffix(".idx").read_bytes()


@settings(max_examples=25)
@given(contents=st.lists(JOINED, min_size=1, max_size=20), size=st.integers(1, 20_000))
@example(
    contents=[
        Joined((b"1\n" * 30, PLACEMENT, MEMBERS)),
        Joined((b"x" * 99,)),
        Joined((b"2\n" * 30, PLACEMENT, MEMBERS)),
    ],
    size=9999,
)
def test_a_pack_of_joined_blobs_is_that_of_their_contents(
    contents: list[Joined], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    joined: dict[bytes, Blob] = {blob_id(blob): blob for blob in contents}
    folders = [tmp_path_factory.mktemp(name) for name in ("joined", "whole")]
    whole: dict[bytes, Blob] = {id_: content_of_blob(blob) for id_, blob in joined.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack_parts, "LARGEST_PART", size)
        for folder, blobs in zip(folders, (joined, whole), strict=True):
            write_pack(folder, blobs=blobs, trees={}, commits={})
    one, other = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert one == other


@settings(max_examples=25)
@given(contents=CONTENTS, size=st.integers(1, 2000))
def test_a_pack_is_the_same_however_many_processes_encode_its_parts(
    contents: list[Blob], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    blobs = {blob_id(blob): blob for blob in contents}
    entries = [TreeEntry(b"%d" % number, BLOB_MODE, id_) for number, id_ in enumerate(blobs)]
    trees = {git_object_id("tree", data): data for data in map(encode_tree, (entries, entries[1:]))}
    folders = [tmp_path_factory.mktemp(f"by-{processes}") for processes in (1, 2, 3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "_WORTH_SHARING", 0)
        patch.setattr(processes_that_share, "_has_threads", lambda: False)
        patch.setattr(pack_parts, "LARGEST_PART", size)
        for processes, folder in enumerate(folders, start=1):
            written_pack = write_pack(folder, blobs=blobs, trees=trees, commits={}, processes=processes)
            assert written_pack is not None
    one, *others = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert all(other == one for other in others)
    command = ["git", "index-pack", "--strict", "-o", "again.idx", *(name for name in one if name.endswith(".pack"))]
    environment = {**os.environ, "GIT_OBJECT_DIRECTORY": str(folders[0].parent / "none")}
    subprocess.run(command, cwd=folders[0], check=True, env=environment, timeout=SECONDS)


def test_a_pack_of_many_parts_is_one_that_git_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "_WORTH_SHARING", 0)
    monkeypatch.setattr(processes_that_share, "_has_threads", lambda: False)
    monkeypatch.setattr(pack_parts, "LARGEST_PART", 1000)
    objects = an_object_set(a_fleet())
    assert len(pack_parts.parts_of_pack(objects.blobs, objects.trees, objects.commits)) > 10
    repository = a_repository(tmp_path / "bare")
    repository.git("verify-pack", str(written(repository, objects, processes=2)))
    assert repository.git("fsck", "--full", "--strict") == ""


def test_what_is_encoded_comes_back_from_another_process_as_it_was() -> None:
    objects = an_object_set(a_fleet(3, 4))
    for part in pack_parts.parts_of_pack(objects.blobs, objects.trees, objects.commits):
        encoded = pack_parts.encode_part(part)
        assert pack_parts.EncodedPart.unpacked(encoded.packed()) == encoded
