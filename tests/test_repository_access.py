"""One open repository: what it answers, in every shape a clone can have, and how it refuses."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import pytest
from msgspec.structs import force_setattr

from reconciler.repository import (
    ABSENT,
    CommitInfo,
    File,
    GitFolder,
    NewCommit,
    RefUpdate,
    Snapshot,
    open_repository,
)
from reconciler.repository import Repository as Opened
from reconciler.repository.settings import Settings
from render.errors import GitError, SourceMoved
from render.gitobjects import BLOB_MODE, TreeEntry, encode_tree, git_object_id

from .build import Repository
from .tables import each_row
from .waiting import raced

ALONE = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
RENDERED = "refs/heads/argosy/rendered"


def blob(content: str, algorithm: str = "sha1") -> bytes:
    return git_object_id("blob", content.encode(), algorithm)


def a_source(path: Path, files: Mapping[str, Any] | None = None) -> Repository:
    repository = Repository.create(path)
    repository.commit(files or {"argosy.yaml": "a: 1\n", "apps/web.yaml": "b: 2\n"}, "Add the shop")
    return repository


def a_commit(opened: Opened, content: str = "hello\n", parents: tuple[str, ...] = (), time: int = 1) -> NewCommit:
    """Store a commit of one file; no ref names it yet."""
    id_ = git_object_id("blob", content.encode(), opened.algorithm)
    tree = encode_tree([TreeEntry(b"README.md", BLOB_MODE, id_)])
    tree_id = git_object_id("tree", tree, opened.algorithm)
    commit = opened.commit_tree(tree_id, parents, "Render", {"Argosy-Version": "1"}, time=time)
    opened.store(blobs={id_: content.encode()}, trees={tree_id: tree}, commits=[commit])
    return commit


def whole(error: pytest.ExceptionInfo[GitError]) -> str:
    return str(error.value)


# Opening


def test_a_folder_below_a_work_tree_opens_the_repository(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path / "apps")
    git_dir = source.path / ".git"
    assert opened.folder == GitFolder(git_dir=git_dir, common_dir=git_dir, work_tree=source.path, under="apps")
    assert open_repository(source.path).folder.under == ""


def test_a_bare_repository_and_a_folder_in_it_open(tmp_path: Path) -> None:
    bare = Repository.create(tmp_path / "bare.git", bare=True)
    for folder in (bare.path, bare.path / "refs" / "heads"):
        assert open_repository(folder).folder == GitFolder(git_dir=bare.path, common_dir=bare.path)


def test_a_git_folder_named_itself_opens_with_its_work_tree(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    assert open_repository(source.path / ".git").folder.work_tree == source.path


def test_a_linked_worktree_shares_objects_and_branches(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    opened = open_repository(tmp_path / "linked")
    assert opened.folder == GitFolder(
        git_dir=source.path / ".git/worktrees/linked", common_dir=source.path / ".git", work_tree=tmp_path / "linked"
    )
    commit = a_commit(opened)
    opened.update_ref(RENDERED, commit.id, None)
    assert source.git("rev-parse", "argosy/rendered") == commit.id
    assert opened.cache_dir == source.path / ".git/argosy"


class Unopenable(NamedTuple):
    why: str
    make: Callable[[Path], Path]
    want: str


def a_plain_folder(path: Path) -> Path:
    path.mkdir()
    return path


def a_folder_with_a_broken_git(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


UNOPENABLE = [
    Unopenable(
        "no repository",
        a_plain_folder,
        "{path} is not in a Git repository\n  hint: git init and argosy init begin one there; -C names another",
    ),
    Unopenable(
        "nothing there",
        lambda path: path,
        "{path} does not exist\n  hint: name a Git repository or a folder in one: -C FOLDER",
    ),
    Unopenable(
        "a name that no file can have",
        lambda path: a_plain_folder(path) / ("x" * 300),
        "{path}/" + "x" * 300 + ": file name too long\n  hint: name a Git repository or a folder in one: -C FOLDER",
    ),
    Unopenable(
        "an empty .git",
        a_folder_with_a_broken_git,
        "{path} is not in a Git repository\n  hint: git init and argosy init begin one there; -C names another",
    ),
]


@pytest.mark.parametrize("case", UNOPENABLE, ids=lambda case: case.why)
def test_what_is_no_repository_says_so(tmp_path: Path, case: Unopenable) -> None:
    with pytest.raises(GitError) as caught:
        open_repository(case.make(tmp_path / "x"))
    assert whole(caught) == case.want.format(path=tmp_path / "x")


def test_a_broken_repository_inside_another_is_not_taken_for_the_outer(tmp_path: Path) -> None:
    """Git would walk up past a .git it does not accept; the objects of another repository must not be read."""
    a_source(tmp_path)
    inner = Repository.create(tmp_path / "inner")
    (inner.path / ".git/HEAD").write_text("broken\n", encoding="utf-8")
    with pytest.raises(GitError) as caught:
        open_repository(inner.path).resolve("main")
    assert whole(caught) == (
        "git rev-parse: not a git repository (or any of the parent directories): .git\n"
        "  hint: the repository is damaged: look at HEAD in its .git folder"
    )


@pytest.mark.parametrize("line", ["gitdir: ../gone\n", "nonsense\n", ""])
def test_a_pointer_to_no_repository_does_not_lead_to_the_outer(tmp_path: Path, line: str) -> None:
    a_source(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / ".git").write_text(line, encoding="utf-8")
    with pytest.raises(GitError) as caught:
        open_repository(tmp_path / "inner")
    assert whole(caught) == (
        f"{tmp_path}/inner/.git leads to no repository\n  hint: repair it: git worktree repair, git submodule update"
    )


def test_a_repository_whose_refs_are_no_files_is_asked_through_git(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    (source.path / ".git/reftable").mkdir()
    head, opened = source.git("rev-parse", "HEAD"), open_repository(source.path)
    assert [opened.tip(ref) for ref in ("HEAD", "refs/heads/main", RENDERED)] == [head, head, None]
    assert opened.resolve("main") == head


# Revisions


def test_every_way_to_name_a_commit(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    first = source.git("rev-parse", "HEAD")
    second = source.commit({"apps/web.yaml": "b: 3\n"})
    source.git("tag", "-a", "-m", "first", "v1", first)
    source.git("branch", "feature/x", first)
    opened = open_repository(source.path)
    names = [
        "HEAD",
        "main",
        "refs/heads/main",
        second,
        second[:9],
        "HEAD~1",
        "main^",
        "v1",
        "feature/x",
        "refs/tags/v1",
    ]
    assert [opened.resolve(name) for name in names] == [second] * 5 + [first] * 5


class Unresolvable(NamedTuple):
    why: str
    prepare: tuple[tuple[str, ...], ...]
    revision: str
    want: str


SPELLING = "check the spelling: git branch --all"
UNRESOLVABLE = [
    Unresolvable("absent", (), "nope", f"there is no commit 'nope'\n  hint: {SPELLING}"),
    Unresolvable("misspelt", (), "mian", "there is no commit 'mian'\n  hint: did you mean 'main'?"),
    Unresolvable(
        "absent, with a remote",
        (("remote", "add", "hub", "/nowhere"),),
        "nope",
        f"there is no commit 'nope'\n  hint: fetch it first (git fetch hub), or {SPELLING}",
    ),
    Unresolvable("an option", (), "--all", f"there is no commit '--all'\n  hint: {SPELLING}"),
    Unresolvable("an option with a value", (), "--output=x", f"there is no commit '--output=x'\n  hint: {SPELLING}"),
    Unresolvable("a short option", (), "-x", f"there is no commit '-x'\n  hint: {SPELLING}"),
    Unresolvable("too far back", (), "HEAD~7", f"there is no commit 'HEAD~7'\n  hint: {SPELLING}"),
    Unresolvable("nothing", (), "", "'' is not a revision\n  hint: name a branch, a tag or a commit"),
    Unresolvable("two lines", (), "a\nb", "'a\\nb' is not a revision\n  hint: name a branch, a tag or a commit"),
    Unresolvable(
        "a tag and a branch",
        (("tag", "main"),),
        "main",
        "'main' is ambiguous: refs/tags/main and refs/heads/main\n  hint: write it in full: refs/heads/main",
    ),
    Unresolvable(
        "a branch without commits",
        (("checkout", "-q", "--orphan", "new"),),
        "HEAD",
        "there is no commit 'HEAD'\n  hint: commit something first: the branch is still empty",
    ),
    Unresolvable(
        "a branch without commits by name",
        (("checkout", "-q", "--orphan", "new"),),
        "new",
        "there is no commit 'new'\n  hint: commit something first: the branch is still empty",
    ),
]


@pytest.mark.parametrize("case", UNRESOLVABLE, ids=lambda case: case.why)
def test_a_revision_that_names_no_commit_says_what_to_do(tmp_path: Path, case: Unresolvable) -> None:
    source = a_source(tmp_path / "repo")
    for arguments in case.prepare:
        source.git(*arguments)
    with pytest.raises(GitError) as caught:
        open_repository(source.path).resolve(case.revision)
    assert whole(caught) == case.want


def test_a_branch_whose_name_begins_with_a_dash_is_only_a_branch(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    head = source.git("rev-parse", "HEAD")
    source.git("update-ref", "refs/heads/-x", head)
    source.git("pack-refs", "--all")
    opened = open_repository(source.path)
    assert (opened.resolve("-x"), opened.resolve("refs/heads/-x"), opened.tip("refs/heads/-x")) == (head, head, head)
    assert opened.refs("refs/heads/") == {"refs/heads/-x": head, "refs/heads/main": head}


def test_a_whole_id_costs_no_process(tmp_path: Path) -> None:
    repository = a_source(tmp_path / "fleet")
    commit = repository.git("rev-parse", "HEAD")
    tree = repository.git("rev-parse", "HEAD^{tree}")
    opened = open_repository(repository.path)
    assert opened.algorithm == "sha1"  # git has said that this is a repository, and how it is configured
    force_setattr(opened.git, "folder", tmp_path / "nowhere")  # from here on git cannot be run
    assert (opened.resolve(commit), opened.is_ancestor(commit, commit)) == (commit, True)
    with pytest.raises((GitError, OSError)):
        opened.resolve(tree)


def test_what_a_commit_says_is_asked_once(tmp_path: Path) -> None:
    repository = a_source(tmp_path / "fleet")
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit({"a": "1"})
    opened = open_repository(repository.path)
    files = opened.snapshot(second).files
    rmtree(repository.path / ".git/objects")
    assert opened.snapshot(second).files == files
    with pytest.raises((GitError, OSError)):
        opened.snapshot(first)
    with pytest.raises((GitError, OSError)):
        opened.is_ancestor(second, first)


ADDRESSES = [
    ({"remote.origin.url": ("https://example.com/a",)}, "origin", False),
    ({"remote.origin.url": ("https://ada:secret@example.com/a",)}, "origin", True),
    ({"remote.origin.url": ("git@example.com:a",)}, "origin", True),
    ({"remote.origin.url": ("a",), "remote.origin.pushurl": ("https://ada:x@example.com/a",)}, "origin", True),
    ({"remote.origin.url": ("work:a",), "url.https://ada:x@example.com/.insteadof": ("work:",)}, "origin", True),
    ({"remote.origin.url": ("https://example.com/a",), "user.email": ("ada@example.com",)}, "origin", False),
    ({"remote.origin.url": ("https://example.com/a",)}, "other", True),
]


@each_row(("values", "remote", "want"), ADDRESSES)
def test_where_an_address_may_have_a_password(values: Mapping[str, tuple[str, ...]], remote: str, want: bool) -> None:
    assert Settings(values=values).may_have_passwords(remote) is want


def test_a_detached_head_is_a_commit(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    head = source.git("rev-parse", "HEAD")
    source.git("checkout", "-q", "--detach")
    assert (open_repository(source.path).resolve("HEAD"), open_repository(source.path).tip("HEAD")) == (head, head)


def test_an_empty_repository_has_no_tips(tmp_path: Path) -> None:
    opened = open_repository(Repository.create(tmp_path / "repo").path)
    assert (opened.tip("HEAD"), opened.tip("refs/heads/main"), opened.refs("refs/")) == (None, None, {})


# Reading


def test_a_snapshot_lists_modes_ids_and_sizes(tmp_path: Path) -> None:
    source = Repository.create(tmp_path / "repo")
    source.write({"a.yaml": "a: 1\n", "apps/web.yaml": "b\n", "apps/run.sh": "#!/bin/sh\n"})
    (source.path / "apps/run.sh").chmod(0o755)
    (source.path / "link").symlink_to("apps")
    commit = source.commit({})
    opened = open_repository(source.path)
    web = File("apps/web.yaml", 0o100644, blob("b\n"), 2)
    run = File("apps/run.sh", 0o100755, blob("#!/bin/sh\n"), 10)
    assert opened.snapshot(commit) == Snapshot(
        commit=commit,
        files=(File("a.yaml", 0o100644, blob("a: 1\n"), 5), run, web, File("link", 0o120000, blob("apps"), 4)),
    )
    assert opened.read_blobs([web.id, run.id, web.id]) == {web.id: b"b\n", run.id: b"#!/bin/sh\n"}
    assert opened.read_blobs([]) == {}


def test_a_submodule_is_listed_and_never_followed(tmp_path: Path) -> None:
    other = a_source(tmp_path / "other")
    source = a_source(tmp_path / "repo")
    head = other.git("rev-parse", "HEAD")
    source.git("update-index", "--add", "--cacheinfo", f"160000,{head},vendor")
    source.git("commit", "-q", "-m", "submodule")
    opened = open_repository(source.path)
    listed = [file for file in opened.snapshot("HEAD").files if file.path == "vendor"]
    assert listed == [File("vendor", 0o160000, bytes.fromhex(head), 0)]


WEIRD = [b"new\nline.yaml", b'quo"te.yaml', b"back\\slash.yaml", b"tab\t.yaml", b"-rf.yaml", b"not-utf8-\xff.yaml"]


def test_paths_are_read_as_they_are(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    for number, name in enumerate(WEIRD):
        Path(os.fsdecode(os.fsencode(source.path) + b"/" + name)).write_text(f"{number}", encoding="utf-8")
    source.commit({})
    opened = open_repository(source.path)
    found = {os.fsencode(file.path): file.id for file in opened.snapshot("HEAD").files}
    assert {name: found[name] for name in WEIRD} == {name: blob(f"{number}") for number, name in enumerate(WEIRD)}


def test_trees_are_read_in_bulk(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    root = bytes.fromhex(source.git("rev-parse", "HEAD^{tree}"))
    apps = bytes.fromhex(source.git("rev-parse", "HEAD:apps"))
    assert open_repository(source.path).read_trees([root, apps]) == {
        root: (TreeEntry(b"apps", 0o40000, apps), TreeEntry(b"argosy.yaml", 0o100644, blob("a: 1\n"))),
        apps: (TreeEntry(b"web.yaml", 0o100644, blob("b: 2\n")),),
    }


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    with pytest.raises(GitError) as caught:
        opened.read_blobs([bytes([number]) * 20 for number in range(1, 6)])
    assert whole(caught) == (
        "5 objects are missing from the repository: 010101010101, 020202020202, 030303030303 ...\n  hint: run git fsck"
    )


def test_an_object_of_another_kind_is_refused(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    tree = source.git("rev-parse", "HEAD^{tree}")
    with pytest.raises(GitError, match=f"object {tree[:12]} is a tree, not a blob"):
        open_repository(source.path).read_blobs([bytes.fromhex(tree)])


def test_many_and_large_blobs_come_through(tmp_path: Path) -> None:
    """More ids than a pipe holds, and contents with every byte there is."""
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    contents = [b"%d" % number for number in range(4000)] + [bytes(range(256)) * 5000, b"", b"\n"]
    blobs = {git_object_id("blob", content): content for content in contents}
    opened.store(blobs=blobs)
    assert opened.read_blobs(blobs) == blobs


def test_history_and_ancestry(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    first = source.git("rev-parse", "HEAD")
    second = source.commit({"a": "1"}, "Second\n\nWith a body.\n\nArgosy-Allow-Removal: eu-1 3\nSigned-off-by: Ada")
    source.git("checkout", "-q", "-b", "side", first)
    side = source.commit({"b": "1"}, "Side")
    opened = open_repository(source.path)
    assert [info.subject for info in opened.history("main", 5)] == ["Second", "Add the shop"]
    assert [info.subject for info in opened.history("main", 1)] == ["Second"]
    assert [opened.is_ancestor(first, other) for other in (first, second, side)] == [True] * 3
    assert [opened.is_ancestor(second, other) for other in (first, side)] == [False] * 2
    tree, when = source.git("rev-parse", f"{second}^{{tree}}"), source.git("log", "-1", "--format=%ct", second)
    assert opened.commit_info(second) == CommitInfo(
        id=second,
        tree=bytes.fromhex(tree),
        parents=(first,),
        author="Ada <ada@example.com>",
        time=int(when),
        message="Second\n\nWith a body.\n\nArgosy-Allow-Removal: eu-1 3\nSigned-off-by: Ada",
        trailers=(("Argosy-Allow-Removal", "eu-1 3"), ("Signed-off-by", "Ada")),
    )


# Writing


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_commit_of_ours_is_one_git_would_make(tmp_path: Path, algorithm: str) -> None:
    bare = Repository(tmp_path / "bare")
    bare.path.mkdir()
    bare.git("init", "-q", "--bare", f"--object-format={algorithm}")
    opened = open_repository(bare.path, environment={**ALONE, "ARGOSY_AUTHOR_NAME": "Fleet"})
    commit = a_commit(opened, time=1_700_000_000)
    opened.update_ref(RENDERED, commit.id, None)
    assert opened.algorithm == algorithm
    assert bare.git("fsck", "--full", "--strict") == ""
    said = bare.git("log", "-1", "--format=%an <%ae> %ct%n%P%n%B", "argosy/rendered")
    assert said == "Fleet <argosy@localhost> 1700000000\n\nRender\n\nArgosy-Version: 1"
    assert bare.git("show", "argosy/rendered:README.md") == "hello"
    later = a_commit(opened, "later\n", (commit.id,))
    opened.update_ref(RENDERED, later.id, commit.id)
    assert bare.git("log", "--format=%H", "argosy/rendered").split() == [later.id, commit.id]
    assert opened.commit_info(later.id).trailer("argosy-version") == ("1",)


def test_the_author_is_whom_git_knows_unless_named(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.git("config", "user.name", "Grace <x>\n")
    source.git("config", "user.email", "grace@example.com")
    assert open_repository(source.path).author.encode() == b"Grace x <grace@example.com>"
    person = {**os.environ, "GIT_AUTHOR_NAME": "Tess", "GIT_AUTHOR_EMAIL": "tess@example.com"}
    assert open_repository(source.path, environment=person).author.encode() == b"Tess <tess@example.com>"
    named = {**person, "ARGOSY_AUTHOR_NAME": "Bot", "ARGOSY_AUTHOR_EMAIL": "bot@example.com"}
    assert open_repository(source.path, environment=named).author.encode() == b"Bot <bot@example.com>"
    for hook in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_REFLOG_ACTION", "GIT_EXEC_PATH"):
        around = {**person, hook: "elsewhere"}
        assert open_repository(source.path, environment=around).author.encode() == b"Grace x <grace@example.com>"


def test_what_is_there_already_is_not_stored_again(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    loose = {blob("a: 1\n"): b"a: 1\n"}
    assert opened.store(blobs=loose) is None
    source.git("repack", "-adq")
    assert opened.store(blobs=loose) is None
    pack = opened.store(blobs=loose | {blob("new\n"): b"new\n"})
    assert pack is not None
    listing = source.git("verify-pack", "-v", str(pack)).splitlines()
    assert [line.split()[0] for line in listing if len(line.split()) == 5] == [blob("new\n").hex()]


@pytest.mark.parametrize("asked", [3, 900], ids=["few of many", "many of many"])
def test_objects_are_found_among_many(tmp_path: Path, asked: int) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    stored = {blob(f"{number}"): f"{number}".encode() for number in range(1000)}
    opened.store(blobs=stored)
    wanted = dict(list(stored.items())[:asked]) | {blob("new"): b"new"}
    pack = opened.store(blobs=wanted)
    assert pack is not None
    assert int.from_bytes(pack.read_bytes()[8:12], "big") == 1


def test_what_was_left_holds_no_pack_and_still_answers(tmp_path: Path) -> None:
    """A process that lives on would keep the disk space of packs that were joined since."""
    a_source(tmp_path)
    with open_repository(tmp_path) as opened:
        commit = a_commit(opened)
    with opened:
        assert opened.commit_info(commit.id).time == 1
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    assert opened.history(commit.id, 1)[0].id == commit.id


def test_borrowed_objects_are_not_stored_again(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.git("clone", "-q", "--shared", str(source.path), str(tmp_path / "borrower"))
    opened = open_repository(tmp_path / "borrower")
    assert opened.store(blobs={blob("a: 1\n"): b"a: 1\n"}) is None
    assert opened.read_blobs([blob("a: 1\n")]) == {blob("a: 1\n"): b"a: 1\n"}


def test_relying_on_a_pack_keeps_it_from_being_pruned(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    objects = {blob("x"): b"x"}
    pack = opened.store(blobs=objects)
    assert pack is not None
    os.utime(pack, (1, 1))
    assert opened.store(blobs=objects) is None
    assert pack.stat().st_mtime > 1_000_000_000


def test_a_branch_moves_only_from_where_it_was_seen(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    first, second, third = (a_commit(opened, text) for text in ("1", "2", "3"))
    opened.update_ref(RENDERED, first.id, None)
    opened.update_ref(RENDERED, second.id, first.id)
    for expected in (None, first.id):
        with pytest.raises(SourceMoved):
            opened.update_ref(RENDERED, third.id, expected)
    assert opened.tip(RENDERED) == second.id
    with pytest.raises(SourceMoved):
        opened.update_ref(RENDERED, None, first.id)
    opened.update_ref(RENDERED, None, second.id)
    assert opened.tip(RENDERED) is None
    with pytest.raises(SourceMoved):
        opened.update_ref(RENDERED, third.id, second.id)


def test_branches_move_together_or_not_at_all(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    commit, other = a_commit(opened), a_commit(opened, "other")
    status = "refs/heads/argosy/status"
    opened.update_refs([RefUpdate(RENDERED, commit.id, None), RefUpdate(status, commit.id, None)])
    with pytest.raises(SourceMoved):
        opened.update_refs([RefUpdate(RENDERED, other.id, commit.id), RefUpdate(status, other.id, other.id)])
    assert opened.refs("refs/heads/argosy/") == {RENDERED: commit.id, status: commit.id}


def test_the_message_of_a_lost_race(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    first, second = a_commit(opened, "1"), a_commit(opened, "2")
    opened.update_ref(RENDERED, first.id, None)
    with pytest.raises(SourceMoved) as caught:
        opened.update_ref(RENDERED, second.id, second.id)
    assert whole(caught) == (
        f"git update-ref: prepare: cannot lock ref '{RENDERED}': is at {first.id} but expected {second.id}"
        "\n  hint: somebody was faster; run again"
    )


def test_a_branch_that_is_checked_out_is_left_alone(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    commit = a_commit(opened)
    opened.update_ref(RENDERED, commit.id, None)
    source.git("checkout", "-q", "argosy/rendered")
    with pytest.raises(GitError) as caught:
        opened.update_ref(RENDERED, a_commit(opened, "2").id, commit.id)
    assert whole(caught) == (
        "branch 'argosy/rendered' is checked out in a work tree of this repository"
        "\n  hint: leave it first: git switch --detach"
    )


def test_a_branch_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.git("branch", "argosy")
    opened = open_repository(source.path)
    with pytest.raises(GitError) as caught:
        opened.update_ref(RENDERED, a_commit(opened).id, None)
    assert whole(caught) == (
        f"git update-ref: prepare: cannot lock ref '{RENDERED}': 'refs/heads/argosy' exists; cannot create '{RENDERED}'"
        "\n  hint: a branch whose name is a folder of this one is in the way: git branch -m"
    )


def test_a_lock_left_behind_is_named(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    commit = a_commit(opened)
    lock = opened.folder.git_dir / f"{RENDERED}.lock"
    lock.parent.mkdir()
    lock.touch()
    with pytest.raises(SourceMoved, match=r"if none runs, remove the \.lock file"):
        opened.update_ref(RENDERED, commit.id, None)


def test_a_killed_pass_loses_nothing(tmp_path: Path) -> None:
    """Between the pack and the branch: the branch stands where it stood, and the next pass does it again."""
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    first = a_commit(opened, "1")
    opened.update_ref(RENDERED, first.id, None)
    killed = a_commit(opened, "2", (first.id,))
    again = open_repository(source.path)
    assert again.tip(RENDERED) == first.id
    assert source.git("fsck", "--full", "--strict", "--no-dangling") == ""
    assert a_commit(again, "2", (first.id,)) == killed
    again.update_ref(RENDERED, killed.id, first.id)
    source.git("gc", "-q", "--prune=now")
    assert source.git("show", "argosy/rendered:README.md") == "2"


RACER = """
import sys
from pathlib import Path
from reconciler.repository import open_repository
from render.errors import SourceMoved
opened = open_repository(Path(sys.argv[1]))
opened.git
print("ready", flush=True)
sys.stdin.readline()
try:
    opened.update_ref("refs/heads/argosy/rendered", sys.argv[2], sys.argv[3])
except SourceMoved:
    print("moved")
else:
    print("won")
"""


def test_of_racing_writers_one_wins_and_the_others_are_told(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path)
    base = a_commit(opened, "base")
    opened.update_ref(RENDERED, base.id, None)
    commits = [a_commit(opened, f"{number}", (base.id,)).id for number in range(3)]
    where = str(tmp_path / "repo")
    said = raced([[sys.executable, "-c", RACER, where, commit, base.id] for commit in commits])
    ended = dict(zip(commits, said, strict=True))
    assert sorted(ended.values()) == ["moved", "moved", "won"]
    assert ended[str(opened.tip(RENDERED))] == "won"


def test_maintenance_joins_packs_and_keeps_everything(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    parents: tuple[str, ...] = ()
    for number in range(6):
        commit = a_commit(opened, f"{number}", parents)
        opened.update_ref(RENDERED, commit.id, parents[0] if parents else None)
        parents = (commit.id,)
    assert not opened.maintain_packs(packs=7)
    assert opened.maintain_packs(packs=6)
    assert len(list((source.path / ".git/objects/pack").glob("*.pack"))) == 1
    assert source.git("fsck", "--full", "--strict") == ""
    assert len(opened.history("argosy/rendered", 9)) == 6


# Incomplete clones


def test_a_revision_begins_with_a_branch_that_one_remote_alone_has(tmp_path: Path) -> None:
    """As the rendered branch of most fleets, from which people go back by ``~1``."""
    source = a_source(tmp_path / "repo")
    source.git("checkout", "-q", "-b", "argosy/rendered")
    first, second = source.commit({"a": "1"}), source.commit({"a": "2"})
    source.git("checkout", "-q", "main")
    source.git("clone", "-q", f"file://{source.path}", str(tmp_path / "clone"))
    opened = open_repository(tmp_path / "clone")
    assert [opened.resolve(f"argosy/rendered{suffix}") for suffix in ("", "^0", "~1", "^")] == [second] * 2 + [
        first
    ] * 2
    for revision, hint in (
        ("argosy/renderd~1", "did you mean 'origin/argosy/rendered~1'?"),
        ("argosy/rendered~9", "fetch it first (git fetch origin), or check the spelling: git branch --all"),
        ("main~9", "fetch it first (git fetch origin), or check the spelling: git branch --all"),
        ("HEAD~9", "fetch it first (git fetch origin), or check the spelling: git branch --all"),
    ):
        with pytest.raises(GitError) as caught:
            opened.resolve(revision)
        assert whole(caught) == f"there is no commit {revision!r}\n  hint: {hint}"


def test_a_revision_begins_with_no_branch_of_a_remote_where_another_is_meant(tmp_path: Path) -> None:
    """A branch of that name is here, or two remotes have one; HEAD is that of the repository at hand."""
    source = a_source(tmp_path / "repo")
    source.git("branch", "argosy/rendered")
    source.commit({"a": "1"})
    source.git("branch", "other")
    source.git("clone", "-q", f"file://{source.path}", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    opened = open_repository(clone.path)
    assert opened.resolve("other~1") == source.git("rev-parse", "main~1")
    clone.git("remote", "add", "fork", f"file://{source.path}")
    clone.git("fetch", "-q", "fork", "other:refs/remotes/fork/other")
    clone.git("switch", "-q", "--detach", "main~1")
    clone.git("branch", "-q", "-f", "main", "main~1")
    for revision in ("main~1", "HEAD~1", "other~1"):
        with pytest.raises(GitError, match=f"there is no commit '{revision}'"):
            opened.resolve(revision)


def test_a_shallow_clone_says_what_it_cannot_know(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    last = source.commit({"a": "1"})
    source.git("clone", "-q", "--depth=1", f"file://{source.path}", str(tmp_path / "clone"))
    opened = open_repository(tmp_path / "clone")
    assert (opened.is_shallow, open_repository(source.path).is_shallow) == (True, False)
    assert opened.resolve("main") == last
    with pytest.raises(GitError) as caught:
        opened.resolve("HEAD~1")
    assert whole(caught) == (
        "there is no commit 'HEAD~1'\n  hint: this clone is shallow; fetch the whole history: git fetch --unshallow"
    )
    unrelated = a_commit(opened)
    with pytest.raises(GitError) as caught:
        opened.is_ancestor(unrelated.id, last)
    assert whole(caught) == (
        f"this shallow clone does not reach from {last[:12]} back to {unrelated.id[:12]}"
        "\n  hint: fetch the whole history: git fetch --unshallow"
    )
    assert opened.is_ancestor(last, last)


def test_a_single_branch_clone_lacks_the_others(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    source.git("branch", "argosy/rendered")
    source.git("clone", "-q", "--single-branch", "-b", "main", f"file://{source.path}", str(tmp_path / "clone"))
    opened = open_repository(tmp_path / "clone")
    assert opened.tip("refs/remotes/origin/argosy/rendered") is None
    assert opened.remote_tips("origin", [RENDERED]).tips == {RENDERED: source.git("rev-parse", "HEAD")}


def a_partial_clone(tmp_path: Path) -> tuple[Repository, Opened]:
    source = a_source(tmp_path / "repo")
    source.git("config", "uploadpack.allowFilter", "true")
    source.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = tmp_path / "clone"
    source.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{source.path}", str(clone))
    Repository(clone).git("cat-file", "-e", "HEAD:argosy.yaml")
    return Repository(clone), open_repository(clone)


def test_a_partial_clone_lists_what_it_lacks(tmp_path: Path) -> None:
    _, opened = a_partial_clone(tmp_path)
    assert opened.snapshot("HEAD").files == (
        File("apps/web.yaml", 0o100644, blob("b: 2\n"), ABSENT),
        File("argosy.yaml", 0o100644, blob("a: 1\n"), 5),
    )


def test_a_partial_clone_is_never_completed_behind_ones_back(tmp_path: Path) -> None:
    clone, opened = a_partial_clone(tmp_path)
    packs = sorted(path.name for path in (clone.path / ".git/objects").rglob("*") if path.is_file())
    assert opened.read_blobs([blob("a: 1\n")]) == {blob("a: 1\n"): b"a: 1\n"}
    with pytest.raises(GitError) as caught:
        opened.read_blobs([blob("a: 1\n"), blob("b: 2\n")])
    assert whole(caught) == (
        f"1 object is not in this partial clone: {blob('b: 2' + chr(10)).hex()[:12]}"
        "\n  hint: Argosy never fetches behind your back; complete the clone: git fetch --refetch --no-filter"
    )
    assert sorted(path.name for path in (clone.path / ".git/objects").rglob("*") if path.is_file()) == packs


def test_a_partial_clone_is_not_repacked(tmp_path: Path) -> None:
    """Git before 2.45 loses track of what was promised."""
    _, opened = a_partial_clone(tmp_path)
    assert not opened.maintain_packs(packs=1)


def test_git_itself_may_not_fetch_lazily(tmp_path: Path) -> None:
    """Git refuses everything that the previous test sees refused before git is asked."""
    _, opened = a_partial_clone(tmp_path)
    with pytest.raises(GitError, match="partial clone: git fetch --refetch --no-filter"):
        opened.git.run("cat-file", "blob", blob("b: 2\n").hex())


def rendered_twice(tmp_path: Path) -> tuple[Repository, Repository, list[str]]:
    """A repository with two rendered commits, a clone that has a branch at the first, and the commits."""
    origin = Repository.create(tmp_path / "origin")
    source, git = origin.commit({"a": "1"}), origin.git
    origin.git("checkout", "-q", "-b", "argosy/rendered")
    commits = [origin.commit({"b": text}, f"Render\n\nArgosy-Source: {source}") for text in "12"]
    git("checkout", "-q", "-")
    git("clone", "-q", str(origin.path), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    clone.git("branch", "-q", "argosy/rendered", commits[0])
    return origin, clone, commits


def test_a_rendered_branch_means_the_one_that_passes_read(tmp_path: Path) -> None:
    """A branch that came of a work tree stayed behind, and going one commit back from it went many back."""
    _, clone, commits = rendered_twice(tmp_path)
    with open_repository(str(clone.path)) as repository:
        assert repository.resolve("argosy/rendered") == commits[1]
        assert repository.resolve("argosy/rendered~1") == commits[0]
        assert repository.resolve("refs/heads/argosy/rendered") == commits[0]


def test_a_branch_of_people_means_the_one_of_the_clone(tmp_path: Path) -> None:
    origin, clone, _ = rendered_twice(tmp_path)
    main = clone.git("rev-parse", "--abbrev-ref", "HEAD")
    origin.commit({"a": "2"})
    clone.git("fetch", "-q")
    with open_repository(str(clone.path)) as repository:
        assert repository.resolve(main) == clone.git("rev-parse", "HEAD")
        assert repository.resolve(f"origin/{main}") == origin.git("rev-parse", "HEAD")
