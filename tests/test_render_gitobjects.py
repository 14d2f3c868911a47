"""Git's objects as values: ids, trees and spliced blobs are those of git itself."""

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.gitobjects import (
    BLOB_MODE,
    TREE_MODE,
    Joined,
    Spliced,
    SplicedIds,
    TreeEntry,
    content_of_blob,
    encode_tree,
    git_object_id,
    parse_tree,
)
from tests.tables import each_row
from tests.waiting import SECONDS


class Known(NamedTuple):
    why: str
    kind: str
    data: bytes
    algorithm: str
    want: str


KNOWN = [
    Known("the empty blob", "blob", b"", "sha1", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
    Known("the empty tree", "tree", b"", "sha1", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    Known(
        "the empty tree of a sha256 repository",
        "tree",
        b"",
        "sha256",
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    ),
    Known("the length is part of the id", "blob", b"hello\n", "sha1", "ce013625030ba8dba906f756967f9e9ca394464a"),
]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.why)
def test_object_id(case: Known) -> None:
    assert git_object_id(case.kind, case.data, case.algorithm).hex() == case.want


SEGMENTS = st.lists(st.binary(max_size=12), min_size=1, max_size=4)


@given(SEGMENTS, st.data(), st.sampled_from(["sha1", "sha256"]))
def test_a_spliced_blob_has_the_id_of_its_content(segments: list[bytes], data: st.DataObject, algorithm: str) -> None:
    size = len(segments) - 1
    values = tuple(data.draw(st.lists(st.integers(-10, 10**12), min_size=size, max_size=size)))
    spliced = Spliced(tuple(segments), values)
    want = git_object_id("blob", spliced.data(), algorithm)
    ids = SplicedIds(spliced.segments, algorithm)
    assert (ids.id_of(values), ids.id_of(values)) == (want, want)


def test_spliced_content_keeps_percent_signs_and_braces() -> None:
    spliced = Spliced((b"cpu: 100% of {", b"} %d\n"), (7,))
    assert spliced.data() == b"cpu: 100% of {7} %d\n"
    assert SplicedIds(spliced.segments).id_of(spliced.values) == git_object_id("blob", b"cpu: 100% of {7} %d\n")


@given(st.lists(st.binary(max_size=12)), st.sampled_from(["sha1", "sha256"]))
def test_a_joined_blob_has_the_id_and_the_size_of_its_content(parts: list[bytes], algorithm: str) -> None:
    joined, content = Joined(tuple(parts)), b"".join(parts)
    assert (joined.data(), content_of_blob(joined), joined.size) == (content, content, len(content))
    assert joined.id(algorithm) == git_object_id("blob", content, algorithm)


ID = bytes(range(20))

TREES = [
    ("a folder sorts as if it ended in a slash", [b"a-b", b"a", b"a.b"], [b"a-b", b"a.b", b"a"]),
    ("bytes decide, not letters", [b"\xc3\xa9", b"z", b"Z"], [b"Z", b"z", b"\xc3\xa9"]),
]


@pytest.mark.parametrize(("why", "names", "want"), TREES, ids=lambda case: case if isinstance(case, str) else "")
def test_a_tree_is_in_gits_order(why: str, names: list[bytes], want: list[bytes]) -> None:
    entries = [TreeEntry(name, TREE_MODE if name == b"a" else BLOB_MODE, ID) for name in names]
    assert [entry.name for entry in parse_tree(encode_tree(entries))] == want, why


def test_the_bytes_of_a_tree() -> None:
    entries = [TreeEntry(b"run.sh", 0o100755, ID), TreeEntry(b"clusters", TREE_MODE, ID)]
    assert encode_tree(entries) == b"40000 clusters\0" + ID + b"100755 run.sh\0" + ID
    assert parse_tree(encode_tree(entries)) == (entries[1], entries[0])
    assert (encode_tree([]), parse_tree(b"")) == (b"", ())


FORBIDDEN = [b"", b".", b"..", b".git", b".Git", b"a/b", b"a/", b"/", b"nul\0"]


@each_row("name", FORBIDDEN, ids=repr)
def test_a_name_git_could_not_check_out_is_refused(name: bytes) -> None:
    with pytest.raises(ValueError, match="a tree cannot hold"):
        encode_tree([TreeEntry(b"good", BLOB_MODE, ID), TreeEntry(name, BLOB_MODE, ID)])


@pytest.mark.parametrize("mode", [BLOB_MODE, TREE_MODE], ids=["two files", "a file and a folder"])
def test_a_name_twice_is_refused(mode: int) -> None:
    with pytest.raises(ValueError, match="twice"):
        encode_tree([TreeEntry(b"a", BLOB_MODE, ID), TreeEntry(b"a", mode, ID)])


DAMAGED = [b"100644 a\0" + ID[:-1], b"100644 a" + ID, b"\n100644 a\0" + ID, b"100644 a\0" + ID + b"x"]


@pytest.mark.parametrize("data", DAMAGED, ids=repr)
def test_a_damaged_tree_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        parse_tree(data)


RESERVED = {b".", b"..", b".git"}
NAMES = st.binary(min_size=1, max_size=8).filter(
    lambda name: not set(name) & {0, 0x2F} and name.lower() not in RESERVED
)


@given(st.dictionaries(NAMES, st.sampled_from([BLOB_MODE, TREE_MODE, 0o100755, 0o120000]), max_size=12))
def test_a_tree_reads_back_as_it_was_written(modes: dict[bytes, int]) -> None:
    entries = [TreeEntry(name, mode, git_object_id("blob", name)) for name, mode in modes.items()]
    assert sorted(parse_tree(encode_tree(entries))) == sorted(entries)


def test_git_makes_the_same_trees(tmp_path: Path) -> None:
    names = [b"a", b"a.yaml", b"a-b", b"B", b"\xc3\xa9.yaml", b'q"uote', b"new\nline", b"back\\slash", b"-x"]
    subprocess.run(["git", "init", "-q", "--bare", tmp_path], check=True, timeout=SECONDS)
    absent = ID
    entries = [TreeEntry(name, TREE_MODE if name == b"a" else BLOB_MODE, absent) for name in names]
    kinds = {TREE_MODE: b"040000 tree", BLOB_MODE: b"100644 blob"}
    listing = b"".join(b"%s %s\t%s\0" % (kinds[mode], absent.hex().encode(), name) for name, mode, _ in entries)
    command = ["git", "-C", str(tmp_path), "mktree", "-z", "--missing"]
    made = subprocess.run(command, input=listing, capture_output=True, check=True, timeout=SECONDS)
    assert made.stdout.decode().strip() == git_object_id("tree", encode_tree(entries)).hex()
