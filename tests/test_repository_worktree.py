"""Work trees as they stand: what git would commit, read without running or following anything."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.repository import File, open_repository
from reconciler.repository.safe_folder import SafeFolder
from reconciler.repository.worktree import UNREAD
from render.errors import GitError
from render.gitobjects import git_object_id

from .build import Repository

PLAIN, RUN, LINK = 0o100644, 0o100755, 0o120000


def blob(content: bytes) -> bytes:
    return git_object_id("blob", content)


def a_source(path: Path) -> Repository:
    repository = Repository.create(path)
    repository.commit({"argosy.yaml": "a: 1\n", "apps/web.yaml": "b: 2\n", ".gitignore": "*.log\nsecret/\n"})
    return repository


def files(repository: Repository) -> dict[str, tuple[int, bytes]]:
    snapshot = open_repository(repository.path).worktree_snapshot()
    return {file.path: (file.mode, file.id) for file in snapshot.files}


def committed(repository: Repository) -> dict[str, tuple[int, bytes]]:
    """Return the files git itself would commit now, by way of an index of its own."""
    repository.git("add", "-A")
    listed = repository.git("ls-files", "-s", "-z").split("\0")
    return {
        line.partition("\t")[2]: (int(line.split()[0], 8), bytes.fromhex(line.split()[1])) for line in listed if line
    }


def test_an_unchanged_work_tree_is_its_commit(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    assert opened.worktree_snapshot().files == opened.snapshot("HEAD").files
    assert opened.worktree_snapshot().commit == ""
    assert opened.dirty_paths() == ()


def test_a_submodule_is_listed_as_its_commit_lists_it(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    commit = source.git("rev-parse", "HEAD")
    for path in ("vendor/sub", "vendor/gone"):
        source.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
        source.git("commit", "-q", "-m", path)
    (source.path / "vendor/sub").mkdir(parents=True)
    (source.path / "vendor/sub/x.yaml").write_text("a: 1\n")
    opened = open_repository(source.path)
    assert opened.worktree_snapshot().files == opened.snapshot("HEAD").files
    assert files(source)["vendor/sub"] == (0o160000, bytes.fromhex(commit))


def test_changes_are_seen_as_git_sees_them(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.write({"argosy.yaml": "a: 2\n", "apps/web.yaml": None, "new/x.yaml": "x", "run.sh": "#!", "x.log": "no"})
    source.write({"secret/key": "no", "weird\n\"name'\\.yaml": "w", "größe.yaml": "ü\n", "-x.yaml": "-", "empty": ""})
    (source.path / "run.sh").chmod(0o755)
    (source.path / "link").symlink_to("argosy.yaml")
    seen = files(source)
    assert seen["link"] == (LINK, blob(b"argosy.yaml"))
    assert seen["run.sh"] == (RUN, blob(b"#!"))
    assert open_repository(source.path).dirty_paths() == tuple(
        sorted(["argosy.yaml", "apps/web.yaml", "new/x.yaml", "run.sh", "link", "weird\n\"name'\\.yaml", "größe.yaml",
                "-x.yaml", "empty"])
    )  # fmt: skip
    assert seen == committed(source)


def test_staged_and_unstaged_are_one(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.write({"argosy.yaml": "staged\n", "b.yaml": "staged\n"})
    source.git("add", "-A")
    source.write({"argosy.yaml": "newer\n", "b.yaml": None})
    assert files(source)["argosy.yaml"] == (PLAIN, blob(b"newer\n"))
    assert "b.yaml" not in files(source)
    assert open_repository(source.path).dirty_paths() == ("argosy.yaml", "b.yaml")


def test_contents_can_be_read_though_git_has_none_of_them(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.write({"new.yaml": "new\n"})
    opened = open_repository(source.path)
    opened.worktree_snapshot()
    old, new = blob(b"b: 2\n"), blob(b"new\n")
    assert opened.read_blobs([new, old]) == {new: b"new\n", old: b"b: 2\n"}


def test_only_what_is_wanted_is_read(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.write({"big.yaml": "x" * 1000, "image.png": "png"})
    asked: dict[str, int] = {}

    def wanted(path: str, size: int) -> bool:
        asked[path] = size
        return path.endswith(".yaml") and size < 100

    snapshot = open_repository(source.path).worktree_snapshot(wanted=wanted)
    assert snapshot.files == (
        File(".gitignore", PLAIN, UNREAD, 14),
        File("apps/web.yaml", PLAIN, blob(b"b: 2\n"), 5),
        File("argosy.yaml", PLAIN, blob(b"a: 1\n"), 5),
        File("big.yaml", PLAIN, UNREAD, 1000),
        File("image.png", PLAIN, UNREAD, 3),
    )
    assert asked == {file.path: file.size for file in snapshot.files}


def test_a_new_file_may_be_named_like_a_line_of_the_index(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    names = (f"100644 {'a' * 40} 0\tx.yaml", "? y.yaml", "two\nlines.yaml")
    source.write(dict.fromkeys(names, "x"))
    listed = files(source)
    assert {name: listed.get(name) for name in names} == dict.fromkeys(names, (PLAIN, blob(b"x")))
    assert listed == committed(source)


def test_a_folder_exchanged_for_a_link_is_not_entered(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "web.yaml").write_text("stolen\n", encoding="utf-8")
    source.write({"apps/web.yaml": None})
    (source.path / "apps").rmdir()
    (source.path / "apps").symlink_to(outside)
    assert files(source) == {
        ".gitignore": (PLAIN, blob(b"*.log\nsecret/\n")),
        "apps": (LINK, blob(os.fsencode(outside))),
        "argosy.yaml": (PLAIN, blob(b"a: 1\n")),
    }


def test_a_file_exchanged_for_a_link_is_not_followed(tmp_path: Path) -> None:
    """Also between looking at it and reading it."""
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "x.yaml").symlink_to("../secret")
    with SafeFolder(tmp_path / "root") as root, pytest.raises(OSError, match="symbolic links"):
        root.read("x.yaml")


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    (source.path / "argosy.yaml").unlink()
    os.mkfifo(source.path / "argosy.yaml")
    os.mkfifo(source.path / "pipe.yaml")
    Repository.create(source.path / "nested").commit({"n.yaml": "n"})
    (source.path / "apps" / "web.yaml").unlink()
    (source.path / "apps" / "web.yaml").mkdir()
    assert files(source).keys() == {".gitignore"}


class Ending(NamedTuple):
    why: str
    attributes: str
    content: bytes


ENDINGS = [
    Ending("line ends are not converted", "* text=auto eol=lf\n", b"a\r\nb\r\n"),
    Ending("keywords are not collapsed", "* ident\n", b"$Id: 1234 $\n"),
    Ending("encodings are not changed", "* working-tree-encoding=UTF-16\n", b"plain\n"),
    Ending("nothing is cleaned", "* filter=clean\n", b"dirty\n"),
]


@pytest.mark.parametrize("case", ENDINGS, ids=lambda case: case.why)
def test_contents_are_as_they_are(tmp_path: Path, case: Ending) -> None:
    source = a_source(tmp_path / "repo")
    source.git("config", "filter.clean.clean", "echo clean")
    source.write({".gitattributes": case.attributes, "x.yaml": case.content})
    assert files(source)["x.yaml"] == (PLAIN, blob(case.content))


def test_what_sparse_checkout_left_out_is_what_the_index_has(tmp_path: Path) -> None:
    """An absent file must not look like a deleted template."""
    source = a_source(tmp_path / "repo")
    source.git("sparse-checkout", "set", "--no-cone", "/argosy.yaml")
    assert not (source.path / "apps").exists()
    opened = open_repository(source.path)
    assert opened.worktree_snapshot().files == opened.snapshot("HEAD").files


def test_a_conflict_shows_the_file_as_it_stands_once(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.git("checkout", "-q", "-b", "side")
    source.commit({"argosy.yaml": "side\n"})
    source.git("checkout", "-q", "main")
    source.commit({"argosy.yaml": "main\n"})
    source.git("merge", "-q", "side", check=False)
    standing = (source.path / "argosy.yaml").read_bytes()
    assert b"<<<<<<<" in standing
    assert files(source)["argosy.yaml"] == (PLAIN, blob(standing))


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    (source.path / "argosy.yaml").chmod(0)
    opened = open_repository(source.path)
    if os.geteuid() == 0:
        assert len(opened.worktree_snapshot().files) == 3, "root may read anything"
        return
    with pytest.raises(GitError, match=r"argosy\.yaml cannot be read: Permission denied"):
        opened.worktree_snapshot()


def test_an_empty_repository_has_only_new_files(tmp_path: Path) -> None:
    source = Repository.create(tmp_path / "repo")
    source.write({"a.yaml": "a"})
    assert files(source) == {"a.yaml": (PLAIN, blob(b"a"))}


def test_a_bare_repository_has_no_work_tree(tmp_path: Path) -> None:
    opened = open_repository(Repository.create(tmp_path / "bare.git", bare=True).path)
    with pytest.raises(GitError) as caught:
        opened.worktree_snapshot()
    assert str(caught.value) == "a bare repository has no work tree\n  hint: name a revision: --rev main"
    assert opened.dirty_paths() == ()
