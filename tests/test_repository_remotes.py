"""Remotes: mirrors that are private and whole, fetches that change nothing else, pushes that never overwrite."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.repository import (
    Fetching,
    NewCommit,
    RefUpdate,
    RemoteTips,
    open_repository,
    open_repository_for_branches,
)
from reconciler.repository import Repository as Opened
from reconciler.repository.command import GitCommand
from reconciler.repository.porcelain import run_with_progress
from render.errors import ConfigError, GitError, SourceMoved
from render.gitobjects import BLOB_MODE, TreeEntry, encode_tree, git_object_id

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .waiting import SECONDS, raced, running

RENDERED = "refs/heads/argosy/rendered"


def an_upstream(tmp_path: Path) -> Repository:
    """A bare repository with a branch, a tag and a commit."""
    work = Repository.create(tmp_path / "work")
    work.commit({"argosy.yaml": "a: 1\n"}, "Add the shop")
    work.git("tag", "-a", "-m", "first", "v1")
    work.git("clone", "-q", "--bare", str(work.path), str(tmp_path / "upstream.git"))
    work.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    return Repository(tmp_path / "upstream.git")


def a_mirror(tmp_path: Path, *, refresh: bool = True) -> Opened:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return open_repository(f"file://{tmp_path / 'upstream.git'}", environment=environment, refresh=refresh)


def a_commit(opened: Opened, content: str, parents: tuple[str, ...] = ()) -> NewCommit:
    id_ = git_object_id("blob", content.encode(), opened.algorithm)
    tree = encode_tree([TreeEntry(b"README.md", BLOB_MODE, id_)])
    tree_id = git_object_id("tree", tree, opened.algorithm)
    commit = opened.commit_tree(tree_id, parents, "Render", {}, time=1)
    opened.store(blobs={id_: content.encode()}, trees={tree_id: tree}, commits=[commit])
    return commit


# Mirrors


def test_a_mirror_answers_for_the_remote(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    head = upstream.git("rev-parse", "main")
    opened = a_mirror(tmp_path)
    assert [opened.resolve(name) for name in ("HEAD", "main", "refs/heads/main", "v1", head[:8])] == [head] * 5
    assert [file.path for file in opened.snapshot(head).files] == ["argosy.yaml"]
    assert opened.folder.work_tree is None
    assert opened.refs("refs/") == {
        "refs/remotes/origin/main": head,
        "refs/tags/v1": upstream.git("rev-parse", "v1"),
    }


def test_a_mirror_is_private(tmp_path: Path) -> None:
    an_upstream(tmp_path)
    opened = a_mirror(tmp_path)
    a_commit(opened, "x")
    for folder, _, files in os.walk(tmp_path / "cache" / "argosy"):
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700, folder
        for name in files:
            path = Path(folder) / name
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 in (0, 0o044), path
    outside = [path for path in (tmp_path / "cache" / "argosy").glob("*") if path.is_file()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in outside] == [0o600, 0o600]


def test_a_mirror_follows_the_remote(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    a_mirror(tmp_path)
    work = Repository(tmp_path / "work")
    second = work.commit({"argosy.yaml": "a: 2\n"})
    work.git("push", "-q", "origin", "main", "main:gone")
    assert a_mirror(tmp_path).resolve("main") == second
    assert a_mirror(tmp_path).tip("refs/remotes/origin/gone") == second
    work.git("push", "-q", "origin", ":gone")
    assert a_mirror(tmp_path).tip("refs/remotes/origin/gone") is None
    upstream.git("update-ref", "refs/heads/main", f"{second}~1")
    assert a_mirror(tmp_path, refresh=False).resolve("main") == second
    assert a_mirror(tmp_path).resolve("main") == upstream.git("rev-parse", "main")


def test_a_mirror_follows_the_default_branch(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    a_mirror(tmp_path)
    work = Repository(tmp_path / "work")
    work.git("checkout", "-q", "-b", "trunk")
    second = work.commit({"argosy.yaml": "a: 2\n"})
    work.git("push", "-q", "origin", "trunk")
    a_mirror(tmp_path)
    upstream.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    assert a_mirror(tmp_path).resolve("HEAD") == second


def test_git_finds_no_fault_in_a_mirror(tmp_path: Path) -> None:
    an_upstream(tmp_path)
    folder = a_mirror(tmp_path).folder.git_dir
    checked = subprocess.run(
        ["git", "-C", str(folder), "fsck", "--strict"], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_what_a_mirror_prepares_is_not_lost_in_a_fetch(tmp_path: Path) -> None:
    an_upstream(tmp_path)
    opened = a_mirror(tmp_path)
    commit = a_commit(opened, "x")
    opened.update_ref(RENDERED, commit.id, None)
    Repository(tmp_path / "work").git("push", "-q", "origin", "main:argosy/rendered")
    again = a_mirror(tmp_path)
    assert again.tip(RENDERED) == commit.id
    assert again.resolve("argosy/rendered") == again.resolve("main")


@pytest.mark.parametrize("form", ["git@example.com:{}", "ssh://git@example.com{}"])
def test_a_remote_is_reached_by_ssh(tmp_path: Path, form: str) -> None:
    """A program in place of ssh runs on this machine what it would run on the other."""
    upstream = an_upstream(tmp_path)
    program = tmp_path / "ssh.sh"
    program.write_text(
        '#!/bin/sh\nwhile [ "$1" != git@example.com ]; do shift; done; shift; exec sh -c "$*"\n', "utf-8"
    )
    program.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "GIT_SSH_COMMAND": str(program)}
    opened = open_repository(form.format(upstream.path), environment=environment)
    assert opened.resolve("main") == upstream.git("rev-parse", "main")
    commit = a_commit(opened, "1")
    opened.push("origin", [RefUpdate(RENDERED, commit.id, None)])
    assert upstream.git("rev-parse", RENDERED) == commit.id


def test_an_empty_remote_has_a_mirror_without_commits(tmp_path: Path) -> None:
    upstream = Repository.create(tmp_path / "upstream.git", bare=True)
    opened = a_mirror(tmp_path)
    assert opened.refs("refs/") == {}
    with pytest.raises(GitError, match="there is no commit 'main'"):
        opened.resolve("main")
    opened.push("origin", [RefUpdate(RENDERED, a_commit(opened, "x").id, None)])
    assert upstream.git("log", "--format=%s", "argosy/rendered") == "Render"


def test_a_mirror_has_the_hash_of_its_remote(tmp_path: Path) -> None:
    work = Repository(tmp_path / "work")
    work.path.mkdir()
    work.git("init", "-q", "-b", "main", "--object-format=sha256")
    head = work.commit({"argosy.yaml": "a: 1\n"})
    work.git("clone", "-q", "--bare", str(work.path), str(tmp_path / "upstream.git"))
    opened = a_mirror(tmp_path)
    assert (opened.algorithm, opened.resolve("main"), len(head)) == ("sha256", head, 64)


def test_nothing_is_written_into_a_repository_of_another_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pack with names of both lengths would break every command of git there."""
    work = Repository(tmp_path / "work")
    work.path.mkdir()
    work.git("init", "-q", "-b", "main", "--object-format=sha256")
    policy = a_policy(placement=on_clusters("m1"))
    work.commit({"m1.yaml": a_cluster("m1"), "a.yaml": a_deployment(), "policy.yaml": policy})
    assert argosy(work, capsys, "render").code == 0
    for command in (("reconcile", "--bootstrap"), ("render", "--commit", "--bootstrap")):
        ended = argosy(work, capsys, *command)
        assert (ended.code, ended.err.splitlines()) == (
            4,
            [
                "argosy: the repository names its objects by SHA256, and what passes write has names by SHA1",
                "  hint: have the rendered branch in a repository made with git init --object-format=sha1",
            ],
        )
    assert work.git("fsck", "--full") == ""
    assert work.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_half_made_mirror_is_made_again(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    folder = a_mirror(tmp_path).folder.git_dir
    (folder / "HEAD").unlink()
    assert a_mirror(tmp_path, refresh=False).resolve("main") == upstream.git("rev-parse", "main")


@pytest.mark.parametrize("number", range(1, 6))
def test_a_store_for_branches_of_which_the_making_was_ended_anywhere_is_made_by_whoever_comes_next(
    tmp_path: Path, number: int
) -> None:
    """A program in place of git goes on as git so many times, and then kills who called it."""
    upstream = an_upstream(tmp_path)
    program, calls = tmp_path / "bin" / "git", tmp_path / "calls"
    program.parent.mkdir()
    counted = f"echo >> {calls}\n[ $(wc -l < {calls}) -lt {number} ] || kill -9 $PPID"
    program.write_text(f'#!/bin/sh\n{counted}\nPATH=${{PATH#*:}}\nexec git "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    path = f"{program.parent}:{os.environ['PATH']}"
    command = [sys.executable, "-c", MAKER, f"file://{upstream.path}"]
    killed = subprocess.run(command, env={**environment, "PATH": path}, check=False, timeout=SECONDS)
    store = open_repository_for_branches(f"file://{upstream.path}", "test", environment=environment)
    store.fetch("origin", Fetching(refspecs=["+refs/heads/main:refs/remotes/origin/main"]))
    assert killed.returncode == -9
    assert store.tip("refs/remotes/origin/main") == upstream.git("rev-parse", "main")


MAKER = """
import sys
from reconciler.repository import open_repository_for_branches
open_repository_for_branches(sys.argv[1], "test")
"""


def test_a_password_in_the_address_is_written_nowhere(tmp_path: Path) -> None:
    """Port 9 of this machine answers nobody."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with pytest.raises(GitError) as caught:
        open_repository("https://me:s3cret@127.0.0.1:9/fleet.git", environment=environment)
    assert "s3cret" not in str(caught.value)
    for path in tmp_path.rglob("*"):
        assert "s3cret" not in path.name
        assert path.is_dir() or b"s3cret" not in path.read_bytes()
    outside = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": "relative"}
    with pytest.raises(GitError, match="XDG_CACHE_HOME is not an absolute path"):
        open_repository("https://127.0.0.1:9/x", environment=outside)


def test_a_password_is_in_no_command_line(tmp_path: Path) -> None:
    """A program in place of git writes down its arguments, which anybody on the machine can read."""
    an_upstream(tmp_path)
    program, notes = tmp_path / "bin" / "git", tmp_path / "notes"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {notes}\nPATH=${{PATH#*:}}\nexec git "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    opened = open_repository(tmp_path / "work", environment=environment)
    remote, head = "https://me:s3cret@127.0.0.1:9/fleet.git", opened.resolve("main")
    calls: list[Callable[[], object]] = [
        lambda: opened.remote_tips(remote),
        lambda: opened.fetch(remote, Fetching(refspecs=["refs/heads/main:refs/remotes/x/main"])),
        lambda: opened.push(remote, [RefUpdate(RENDERED, head, None)]),
    ]
    for call in calls:
        with pytest.raises(GitError) as caught:
            call()
        assert "s3cret" not in str(caught.value)
    said = notes.read_text(encoding="utf-8")
    assert [verb in said for verb in ("ls-remote", "fetch", "push", "https://127.0.0.1:9/")] == [True] * 4
    assert "s3cret" not in said


OPENER = """
import os, sys
from reconciler.repository import open_repository
print("ready", flush=True)
sys.stdin.readline()
print(open_repository(sys.argv[1]).resolve("main"))
"""


def test_many_may_open_a_mirror_at_once(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", OPENER, f"file://{upstream.path}"]
    assert set(raced([command] * 3, env=environment)) == {upstream.git("rev-parse", "main")}


def test_nobody_else_refreshes_a_mirror_meanwhile(tmp_path: Path) -> None:
    """A program in place of git notes whether it could have had the lock, and goes on as git."""
    upstream = an_upstream(tmp_path)
    program, notes, lock = tmp_path / "bin" / "git", tmp_path / "notes", "import fcntl, glob, os, sys\n"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\n{lock}"
        f"for name in glob.glob('{tmp_path}/cache/argosy/*.lock'):\n"
        "    try:\n"
        "        fcntl.flock(os.open(name, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        f"        open('{notes}', 'a').write(' '.join(sys.argv) + '\\n')\n"
        "    except BlockingIOError:\n"
        "        pass\n"
        "os.environ['PATH'] = os.environ['PATH'].partition(':')[2]\n"
        "os.execvp('git', ['git', *sys.argv[1:]])\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": path}
    opened = open_repository(f"file://{upstream.path}", environment=environment)
    assert not notes.exists(), notes.read_text(encoding="utf-8")
    opened.snapshot("refs/remotes/origin/main")
    assert "ls-tree" in notes.read_text(encoding="utf-8")


# Fetching


def test_a_fetch_changes_nothing_but_the_refs_asked_for(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    clone = Repository(tmp_path / "clone")
    upstream.git("clone", "-q", str(upstream.path), str(clone.path))
    work = Repository(tmp_path / "work")
    second = work.commit({"argosy.yaml": "a: 2\n"})
    work.git("tag", "v2")
    work.git("push", "-q", "origin", "main", "main:other", "v2")
    before = {path.name for path in (clone.path / ".git").iterdir()}
    opened = open_repository(clone.path)
    seen: list[tuple[str, int, int]] = []
    fetching = Fetching(refspecs=["+refs/heads/other:refs/remotes/origin/other"])
    opened.fetch("origin", fetching, lambda *progress: seen.append(progress))
    assert opened.tip("refs/remotes/origin/other") == second
    names = ("HEAD", "main", "other")
    assert opened.refs("refs/remotes/origin/").keys() == {f"refs/remotes/origin/{name}" for name in names}
    assert opened.refs("refs/tags/").keys() == {"refs/tags/v1"}
    assert {path.name for path in (clone.path / ".git").iterdir()} == before
    assert {stage for stage, _, _ in seen} >= {"counting"}


def test_a_fetch_may_be_shallow_and_may_prune(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    work = Repository(tmp_path / "work")
    work.commit({"argosy.yaml": "a: 2\n"})
    work.git("push", "-q", "origin", "main", "main:gone")
    clone = Repository.create(tmp_path / "clone")
    opened = open_repository(clone.path)
    refspecs = ["+refs/heads/*:refs/remotes/origin/*"]
    opened.fetch(f"file://{upstream.path}", Fetching(refspecs=refspecs, depth=1))
    assert clone.git("rev-list", "--count", "refs/remotes/origin/main") == "1"
    work.git("push", "-q", "origin", ":gone")
    opened.fetch(f"file://{upstream.path}", Fetching(refspecs=refspecs, prune=True))
    assert opened.refs("refs/remotes/").keys() == {"refs/remotes/origin/main"}


def test_a_fetch_of_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    an_upstream(tmp_path)
    opened = open_repository(tmp_path / "work")
    with pytest.raises(GitError) as caught:
        opened.fetch("origin", Fetching(refspecs=["refs/heads/nope:refs/remotes/origin/nope"]))
    assert str(caught.value) == "git fetch: couldn't find remote ref refs/heads/nope"


class Unchanging(dict[str, str]):
    """Variables that nobody may change."""

    def __setitem__(self, name: str, value: str) -> None:
        raise AssertionError(f"{name} is set for all threads")

    def __delitem__(self, name: str) -> None:
        raise AssertionError(f"{name} is taken from all threads")


def test_a_transfer_leaves_the_environment_of_other_threads_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that apply to members start programs meanwhile, which need what git may not see."""
    an_upstream(tmp_path)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    opened = open_repository(tmp_path / "work")
    with monkeypatch.context() as patched:
        patched.setattr(os, "environ", Unchanging(os.environ))
        opened.fetch("origin", Fetching(refspecs=["+refs/heads/main:refs/remotes/origin/again"]))
    assert opened.tip("refs/remotes/origin/again") == opened.tip("refs/heads/main")


def test_a_folder_that_goes_away_before_a_fetch_is_told_as_git_tells_it(tmp_path: Path) -> None:
    git = GitCommand(folder=tmp_path / "gone")
    said = []
    for run in (lambda: git.run("fetch", "origin"), lambda: run_with_progress(git, ["fetch", "origin"], None)):
        with pytest.raises(GitError) as caught:
            run()
        said.append(str(caught.value))
    assert said == [f"git fetch: cannot change to '{tmp_path}/gone': No such file or directory"] * 2


def test_what_a_remote_has(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    head, tag = upstream.git("rev-parse", "main"), upstream.git("rev-parse", "v1")
    opened = open_repository(tmp_path / "work")
    offered = opened.remote_tips("origin")
    assert offered == RemoteTips(
        head="refs/heads/main", tips={"HEAD": head, "refs/heads/main": head, "refs/tags/v1": tag}
    )
    assert opened.remote_tips(str(upstream.path), ["refs/heads/main", RENDERED]).tips == {"refs/heads/main": head}


def test_a_ref_is_asked_for_once_until_a_push_is_refused(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    main, refs = "refs/heads/main", ["refs/heads/main", RENDERED]
    opened = open_repository(tmp_path / "work")
    before = upstream.git("rev-parse", "main")
    assert opened.known_tips("origin", [main]) == {main: before}
    newer = upstream.git("commit-tree", "-m", "newer", "main^{tree}")
    upstream.git("update-ref", main, newer)
    assert opened.remote_tips("origin", [main]).tips == {main: newer}
    assert opened.known_tips("origin", refs) == {main: before, RENDERED: None}
    opened.push("origin", [RefUpdate(RENDERED, before, None)])
    assert opened.known_tips("origin", refs) == {main: before, RENDERED: before}
    upstream.git("update-ref", RENDERED, newer)
    with pytest.raises(SourceMoved):
        opened.push("origin", [RefUpdate(RENDERED, None, before)])
    assert opened.known_tips("origin", refs) == {main: newer, RENDERED: newer}


# Pushing


class Race(NamedTuple):
    why: str
    stands: str
    expected: str


RACES = [
    Race("it was expected to be absent", "first", ""),
    Race("it stands elsewhere", "first", "second"),
    Race("it is gone", "", "first"),
]


@pytest.mark.parametrize("case", RACES, ids=lambda case: case.why)
def test_a_push_from_elsewhere_than_expected_is_refused(tmp_path: Path, case: Race) -> None:
    upstream = an_upstream(tmp_path)
    opened = a_mirror(tmp_path)
    ids = {"first": a_commit(opened, "1").id, "second": a_commit(opened, "2").id}
    if case.stands:
        opened.push("origin", [RefUpdate(RENDERED, ids[case.stands], None)])
    new = a_commit(opened, "3")
    with pytest.raises(SourceMoved) as caught:
        opened.push("origin", [RefUpdate(RENDERED, new.id, ids.get(case.expected))])
    assert str(caught.value) == f"git push: {RENDERED}: stale info\n  hint: somebody was faster; run again"
    assert upstream.git("rev-parse", "--verify", "-q", RENDERED, check=False) == ids.get(case.stands, "")


def test_a_push_moves_what_stands_where_it_was_expected(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    opened = a_mirror(tmp_path)
    first, unrelated = a_commit(opened, "1"), a_commit(opened, "2")
    seen: list[str] = []
    opened.push("origin", [RefUpdate(RENDERED, first.id, None)], lambda stage, _done, _count: seen.append(stage))
    assert "writing" in seen
    opened.push("origin", [RefUpdate(RENDERED, unrelated.id, first.id)])
    assert upstream.git("rev-parse", RENDERED) == unrelated.id
    assert opened.tip("refs/remotes/origin/argosy/rendered") == unrelated.id
    opened.push("origin", [RefUpdate(RENDERED, None, unrelated.id)])
    assert upstream.git("for-each-ref", "refs/heads/argosy") == ""
    assert upstream.git("fsck", "--full", "--strict", "--no-dangling") == ""


def test_branches_are_pushed_together_or_not_at_all(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    opened = a_mirror(tmp_path)
    commit = a_commit(opened, "1")
    main = upstream.git("rev-parse", "main")
    wrong = [RefUpdate(RENDERED, commit.id, None), RefUpdate("refs/heads/main", commit.id, commit.id)]
    with pytest.raises(SourceMoved, match="refs/heads/main: stale info"):
        opened.push("origin", wrong)
    assert upstream.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads") == f"refs/heads/main {main}"


def test_a_rule_of_the_server_is_quoted(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    hook = upstream.path / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'signed commits only' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    opened = a_mirror(tmp_path)
    with pytest.raises(GitError) as caught:
        opened.push("origin", [RefUpdate(RENDERED, a_commit(opened, "1").id, None)])
    assert not isinstance(caught.value, SourceMoved)
    assert str(caught.value) == (
        f"git push: {RENDERED}: pre-receive hook declined; signed commits only"
        "\n  hint: a rule of the server refused the push; its words are above"
    )


@pytest.mark.waits
@pytest.mark.parametrize("verb", ["fetch", "push", "ls-remote"])
def test_a_server_that_says_nothing_is_left(tmp_path: Path, verb: str) -> None:
    an_upstream(tmp_path)
    program = tmp_path / "ssh.sh"
    program.write_text("#!/bin/sh\nsleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "GIT_SSH_COMMAND": str(program), "ARGOSY_GIT_TIMEOUT": "1"}
    opened = open_repository(tmp_path / "work", environment=environment)
    remote = "git@example.com:fleet.git"
    calls: dict[str, Callable[[], object]] = {
        "fetch": lambda: opened.fetch(remote, Fetching(refspecs=["refs/heads/main:refs/remotes/x/main"])),
        "push": lambda: opened.push(remote, [RefUpdate(RENDERED, opened.resolve("main"), None)]),
        "ls-remote": lambda: opened.remote_tips(remote),
    }
    with pytest.raises(GitError) as caught:
        calls[verb]()
    assert str(caught.value) == (
        f"git {verb} did not finish within 1 seconds\n  hint: allow more with ARGOSY_GIT_TIMEOUT, or check the network"
    )


@pytest.mark.parametrize("text", ["soon", "-1", "0", "1.5", "\u0663"])
def test_a_timeout_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    Repository.create(tmp_path)
    with pytest.raises(ConfigError) as caught:
        open_repository(tmp_path, environment={"ARGOSY_GIT_TIMEOUT": text})
    assert str(caught.value) == (f"ARGOSY_GIT_TIMEOUT is {text!r}\n  hint: write a number of seconds, such as 600")


def test_a_remote_that_is_gone_says_so(tmp_path: Path) -> None:
    an_upstream(tmp_path)
    opened = open_repository(tmp_path / "work")
    (tmp_path / "upstream.git").rename(tmp_path / "moved.git")
    with pytest.raises(GitError) as caught:
        opened.push("origin", [RefUpdate(RENDERED, opened.resolve("main"), None)])
    assert str(caught.value) == (
        f"git push: '{tmp_path / 'upstream.git'}' does not appear to be a git repository"
        "\n  hint: check the address of the remote: git remote -v"
    )


PUSHER = """
import sys
from pathlib import Path
from reconciler.repository import RefUpdate, open_repository
from render.errors import SourceMoved
opened = open_repository(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
try:
    opened.push("origin", [RefUpdate("refs/heads/argosy/rendered", sys.argv[2], None)])
except SourceMoved:
    print("moved")
else:
    print("won")
"""


def test_of_racing_pushes_one_wins(tmp_path: Path) -> None:
    upstream = an_upstream(tmp_path)
    opened = open_repository(tmp_path / "work")
    commits = [a_commit(opened, f"{number}").id for number in range(3)]
    where = str(tmp_path / "work")
    said = raced([[sys.executable, "-c", PUSHER, where, commit] for commit in commits])
    ended = dict(zip(commits, said, strict=True))
    assert sorted(ended.values()) == ["moved", "moved", "won"]
    assert ended[upstream.git("rev-parse", RENDERED)] == "won"


LEFT = [
    "packed-refs.lock",
    "refs/argosy/accepted/far.lock",
    "objects/info/commit-graph.lock",
    "objects/99/tmp_obj_mS36lN",
    "objects/pack/tmp_pack_eVmJHo",
    "objects/pack/.tmp-17-pack-0f.pack",
    "objects/pack/pack-0f.keep",
]
KEPT = ["objects/pack/pack-0f.rev", "refs/heads/tmp_pack"]
OPENING = """
import sys
from reconciler.repository import open_repository, open_repository_for_branches
for _ in range({times}):
    {how}
    print(flush=True)
    sys.stdin.readline()
"""
WHOLE, BRANCHES = "open_repository(sys.argv[1])", "open_repository_for_branches(sys.argv[1], 'one')"
LOOK = "open_repository(sys.argv[1], refresh=False)"


@dataclass
class Mirrored:
    """A remote that processes open in a cache of their own, and what is left in there."""

    folder: Path

    @contextmanager
    def opened(self, how: str, times: int = 1) -> Iterator[Callable[[], None]]:
        """Let another process open it so often; the function lets it do so once more."""
        command = [sys.executable, "-c", OPENING.format(how=how, times=times)]
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        address = f"file://{self.folder / 'upstream.git'}"
        pipe = subprocess.PIPE
        with running([*command, address], env=environment, stdin=pipe, stdout=pipe) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            stdin, stdout = process.stdin, process.stdout
            stdout.readline()

            def once_more() -> None:
                stdin.write("\n")
                stdin.flush()
                stdout.readline()

            yield once_more
            stdin.close()

    @property
    def store(self) -> Path:
        (found,) = (self.folder / "cache/argosy").glob("*.git")
        return found

    def leave(self) -> None:
        for name in (*LEFT, *KEPT):
            (self.store / name).parent.mkdir(parents=True, exist_ok=True)
            (self.store / name).touch()

    @property
    def left(self) -> list[str]:
        return [name for name in (*LEFT, *KEPT) if (self.store / name).exists()]


@pytest.fixture
def mirrored(tmp_path: Path) -> Mirrored:
    an_upstream(tmp_path)
    return Mirrored(tmp_path)


@pytest.mark.parametrize("how", [WHOLE, BRANCHES])
def test_what_git_left_that_was_killed_goes_once_nobody_holds_the_mirror(mirrored: Mirrored, how: str) -> None:
    """Whoever holds it is another process, whose locks and files this one must leave alone."""
    with mirrored.opened(how):
        mirrored.leave()
        with mirrored.opened(how):
            assert mirrored.left == [*LEFT, *KEPT]
    with mirrored.opened(how):
        assert mirrored.left == KEPT


def test_what_git_left_goes_while_a_controller_only_looks(mirrored: Mirrored) -> None:
    with mirrored.opened(WHOLE):
        pass
    with mirrored.opened(LOOK):
        mirrored.leave()
        with mirrored.opened(WHOLE):
            assert mirrored.left == KEPT


def test_what_git_left_goes_when_an_agent_opens_its_store_again(mirrored: Mirrored) -> None:
    with mirrored.opened(BRANCHES, times=2) as once_more:
        mirrored.leave()
        once_more()
        assert mirrored.left == KEPT
