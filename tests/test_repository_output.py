"""Output folders: exactly the files wanted, nothing of anybody else's, and never outside."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.repository import Written, write_directory
from reconciler.repository.output import LIST
from render.errors import ConfigError
from render.gitobjects import Spliced


def contents(root: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {name: data for name, data in found.items() if name != LIST}


TREE = {
    "clusters/eu-1/_cluster/Namespace/shop.yaml": b"ns\n",
    "clusters/eu-1/shop/Service/web.yaml": b"svc\n",
    "README.md": b"#\n",
}


def test_a_tree_is_written_and_written_again_for_nothing(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "out"
    assert write_directory(root, TREE.items()) == Written(written=3, unchanged=0, removed=0)
    assert contents(root) == TREE
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert write_directory(root, TREE.items()) == Written(written=0, unchanged=3, removed=0)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_spliced_blob_is_written_whole(tmp_path: Path) -> None:
    write_directory(tmp_path / "out", [("a.yaml", Spliced((b"replicas: ", b"\n"), (3,)))])
    assert contents(tmp_path / "out") == {"a.yaml": b"replicas: 3\n"}


def test_what_is_no_longer_wanted_goes_with_its_empty_folders(tmp_path: Path) -> None:
    write_directory(tmp_path, TREE.items())
    wanted = {"README.md": b"changed\n", "clusters/eu-1/shop/Service/web.yaml": b"svc\n"}
    assert write_directory(tmp_path, wanted.items()) == Written(written=1, unchanged=1, removed=1)
    assert contents(tmp_path) == wanted
    assert not (tmp_path / "clusters/eu-1/_cluster").exists()


def test_what_others_put_there_stays(tmp_path: Path) -> None:
    write_directory(tmp_path, TREE.items())
    (tmp_path / "clusters/eu-1/_cluster/notes.txt").write_bytes(b"mine")
    write_directory(tmp_path, [])
    assert contents(tmp_path) == {"clusters/eu-1/_cluster/notes.txt": b"mine"}


def test_a_file_may_become_a_folder_and_back(tmp_path: Path) -> None:
    for files in ({"a": b"1"}, {"a/b": b"2"}, {"a/b/c": b"3"}, {"a": b"4"}):
        write_directory(tmp_path, files.items())
        assert contents(tmp_path) == files


def test_a_file_changed_or_removed_by_hand_is_put_right(tmp_path: Path) -> None:
    write_directory(tmp_path, TREE.items())
    (tmp_path / "README.md").write_bytes(b"edited")
    (tmp_path / "clusters/eu-1/shop/Service/web.yaml").unlink()
    assert write_directory(tmp_path, TREE.items()) == Written(written=2, unchanged=1, removed=0)
    assert contents(tmp_path) == TREE


def test_an_interrupted_run_is_finished_by_the_next(tmp_path: Path) -> None:
    """The list is written first, so a file that made it into place is known to be ours."""
    write_directory(tmp_path, [("old", b"0")])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "in-the-way").write_bytes(b"mine")
    with pytest.raises(ConfigError):
        write_directory(tmp_path, [("a", b"1"), ("b", b"2")])
    assert contents(tmp_path) == {"a": b"1", "b/in-the-way": b"mine"}
    write_directory(tmp_path, [("c", b"3")])
    assert contents(tmp_path) == {"b/in-the-way": b"mine", "c": b"3"}


class Refused(NamedTuple):
    why: str
    path: str


REFUSED = [
    Refused("up and out", "../x"),
    Refused("up in the middle", "a/../../x"),
    Refused("absolute", "/etc/x"),
    Refused("nothing", ""),
    Refused("two slashes", "a//b"),
    Refused("a slash at the end", "a/"),
    Refused("the folder itself", "."),
    Refused("a NUL", "a\0b"),
    Refused("inside a repository", ".git/hooks/post-checkout"),
    Refused("inside a repository, in capitals", "a/.GIT/config"),
    Refused("the list of files", LIST),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_a_path_that_is_not_below_the_folder_is_refused(tmp_path: Path, case: Refused) -> None:
    with pytest.raises(ConfigError) as caught:
        write_directory(tmp_path / "out", [("good", b"1"), (case.path, b"evil")])
    assert str(caught.value) == (
        f"{case.path!r} cannot be written below a folder\n  hint: rename the object it comes from"
    )
    assert list(tmp_path.rglob("*")) == []


def foreign(root: Path) -> None:
    (root / "mine.txt").write_bytes(b"mine")


def a_damaged_list(root: Path) -> None:
    (root / LIST).write_bytes(b"no list\n")


def a_list_that_leads_out(root: Path) -> None:
    write_directory(root, [("a", b"1")])
    (root / LIST).write_bytes((root / LIST).read_bytes() + b'"../victim"\n')


def a_list_of_something_else(root: Path) -> None:
    write_directory(root, [("a", b"1")])
    (root / LIST).write_bytes((root / LIST).read_bytes() + b"not json\n")


class Foreign(NamedTuple):
    why: str
    prepare: Callable[[Path], None]
    want: str


NOT_OURS = "{root} is not empty and was not written by argosy\n  hint: choose an empty folder"
NO_LIST = "{root}/.argosy-files is damaged\n  hint: empty the folder and run again"
LED_OUT = "'../victim' cannot be written below a folder\n  hint: rename the object it comes from"
FOREIGN = [
    Foreign("somebody's files", foreign, NOT_OURS),
    Foreign("a damaged list", a_damaged_list, NO_LIST),
    Foreign("a list of something else", a_list_of_something_else, NO_LIST),
    Foreign("a list that leads out", a_list_that_leads_out, LED_OUT),
]


@pytest.mark.parametrize("case", FOREIGN, ids=lambda case: case.why)
def test_a_folder_that_is_not_ours_is_left_alone(tmp_path: Path, case: Foreign) -> None:
    victim, root = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"precious")
    root.mkdir()
    case.prepare(root)
    before = {path: path.read_bytes() for path in root.rglob("*")}
    with pytest.raises(ConfigError) as caught:
        write_directory(root, TREE.items())
    assert str(caught.value) == case.want.format(root=root)
    assert {path: path.read_bytes() for path in root.rglob("*")} == before
    assert victim.read_bytes() == b"precious"


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    write_directory(root, [("clusters/a", b"1")])
    (root / "clusters/a").unlink()
    (root / "clusters").rmdir()
    (root / "clusters").symlink_to(outside)
    with pytest.raises(ConfigError) as caught:
        write_directory(root, [("clusters/a", b"1"), ("clusters/b", b"2")])
    assert str(caught.value) == (
        "clusters: cannot be written: Not a directory\n"
        f"  hint: choose another folder than {root}, or remove what is in the way"
    )
    write_directory(root, [])
    assert list(outside.iterdir()) == []


def test_a_file_that_is_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim, root = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"precious")
    write_directory(root, [("a", b"1")])
    (root / "a").unlink()
    (root / "a").symlink_to(victim)
    write_directory(root, [("a", b"1")])
    assert (victim.read_bytes(), (root / "a").is_symlink(), (root / "a").read_bytes()) == (b"precious", False, b"1")


def test_a_name_no_file_system_takes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written: File name too long"):
        write_directory(tmp_path, [("x" * 300, b"1")])


PARTS = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.binary(max_size=3), max_size=5)


@settings(max_examples=40)
@given(first=FILES, second=FILES)
def test_the_folder_holds_what_was_asked_for_last(
    first: dict[str, bytes], second: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("out")
    for files in (first, second):
        try:
            write_directory(root, files.items())
        except ConfigError:
            return
        assert contents(root) == files
