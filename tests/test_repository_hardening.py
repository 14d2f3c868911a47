"""Nothing in a repository or around us makes git do anything but what was asked."""

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.repository import Fetching, RefUpdate, open_repository
from reconciler.repository import Repository as Opened
from reconciler.repository.command import OPTIONS, GitCommand, environment_for_git
from render.errors import GitError
from render.gitobjects import BLOB_MODE, TreeEntry, encode_tree, git_object_id

from .build import Repository
from .tables import each_row
from .waiting import SECONDS

RENDERED = "refs/heads/argosy/rendered"


def a_source(path: Path, name: str = "argosy.yaml") -> Repository:
    repository = Repository.create(path)
    repository.commit({name: "a: 1\n"})
    return repository


def everything(opened: Opened) -> None:
    """Do whatever can be done with a repository that has a remote ``origin``."""
    head = opened.resolve("HEAD")
    files = opened.snapshot(head).files
    opened.read_blobs(file.id for file in files)
    opened.worktree_snapshot()
    assert opened.dirty_paths() == ("argosy.yaml",)
    opened.history("HEAD", 3)
    opened.remote_tips("origin")
    opened.fetch("origin", Fetching(refspecs=["+refs/heads/*:refs/remotes/origin/*"], prune=True))
    tree = encode_tree([TreeEntry(b"a", BLOB_MODE, files[0].id)])
    tree_id = git_object_id("tree", tree)
    commit = opened.commit_tree(tree_id, (), "Render", {}, time=1)
    opened.store(trees={tree_id: tree}, commits=[commit])
    opened.update_ref(RENDERED, commit.id, None)
    opened.push("origin", [RefUpdate(RENDERED, commit.id, None)])
    opened.maintain_packs(packs=1)


HOOKS = [
    "post-checkout", "post-commit", "post-index-change", "post-merge", "pre-auto-gc", "pre-commit", "pre-push",
    "prepare-commit-msg", "push-to-checkout", "reference-transaction", "fsmonitor-watchman",
]  # fmt: skip
RUN_BY_CONFIGURATION = [
    "core.fsmonitor", "core.editor", "core.pager", "core.alternateRefsCommand", "diff.external", "gpg.program",
    "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
    "core.sshCommand", "trailer.x.command", "core.gitProxy", "sequence.editor", "merge.evil.driver",
]  # fmt: skip


def test_no_hook_filter_or_configured_program_ever_runs(tmp_path: Path) -> None:
    bare = a_source(tmp_path / "upstream")
    source = Repository(tmp_path / "repo")
    bare.git("clone", "-q", f"file://{bare.path}", str(source.path))
    canary, trap = tmp_path / "canary", tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho $0 >> {canary}\nexit 1\n", encoding="utf-8")
    trap.chmod(0o755)
    for hook in HOOKS:
        (source.path / ".git/hooks" / hook).symlink_to(trap)
    source.write({"argosy.yaml": "a: 2\n"})
    attributes = source.path / ".git/info/attributes"
    attributes.write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
    for key in RUN_BY_CONFIGURATION:
        source.git("config", key, str(trap))
    source.git("config", "filter.evil.required", "true")
    source.git("config", "log.showSignature", "true")
    source.git("config", "core.hooksPath", str(source.path / ".git/hooks"))
    everything(open_repository(source.path))
    assert not canary.exists(), canary.read_text(encoding="utf-8")


def test_the_trap_of_the_test_above_works(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    canary = tmp_path / "canary"
    source.git("config", "filter.evil.clean", f"touch {canary}; cat")
    (source.path / ".git/info/attributes").write_text("* filter=evil\n", encoding="utf-8")
    source.write({"argosy.yaml": "a: 2\n"})
    source.git("status")
    assert canary.exists()


REDIRECTIONS = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_CEILING_DIRECTORIES", "GIT_TRACE",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_CONFIG", "GIT_TEMPLATE_DIR", "GIT_PROXY_COMMAND",
]  # fmt: skip


def test_variables_of_a_hook_around_us_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream = a_source(tmp_path / "upstream")
    upstream.git("clone", "-q", f"file://{upstream.path}", str(tmp_path / "repo"))
    source = Repository(tmp_path / "repo")
    source.write({"argosy.yaml": "a: 2\n"})
    other = a_source(tmp_path / "other", "other.yaml")
    for name in REDIRECTIONS:
        monkeypatch.setenv(name, str(other.path / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare'='true'")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    before = dict(os.environ)
    opened = open_repository(source.path)
    everything(opened)
    assert [file.path for file in opened.snapshot("HEAD").files] == ["argosy.yaml"]
    assert opened.author.name != "Somebody Else"
    assert dict(os.environ) == before


class Variable(NamedTuple):
    why: str
    name: str
    kept: bool


VARIABLES = [
    Variable("another repository", "GIT_DIR", kept=False),
    Variable("whoever commits around us", "GIT_COMMITTER_NAME", kept=False),
    Variable("configuration of an outer git", "GIT_CONFIG_PARAMETERS", kept=False),
    Variable("which configuration this person has", "GIT_CONFIG_GLOBAL", kept=True),
    Variable("how this person reaches a server", "GIT_SSH_COMMAND", kept=True),
    Variable("a program that knows the password", "GIT_ASKPASS", kept=True),
    Variable("a window that asks", "SSH_ASKPASS", kept=False),
    Variable("the agent with the keys", "SSH_AUTH_SOCK", kept=True),
    Variable("a proxy", "HTTPS_PROXY", kept=True),
    Variable("the home folder", "HOME", kept=True),
]


@each_row("case", VARIABLES, ids=lambda case: case.why)
def test_which_variables_reach_git(case: Variable) -> None:
    assert (environment_for_git({case.name: "x"}).get(case.name) == "x") is case.kept


def test_what_git_is_told_in_any_case() -> None:
    told = environment_for_git({"LC_ALL": "de_DE.UTF-8", "GIT_ALLOW_PROTOCOL": "ext", "GIT_TERMINAL_PROMPT": "1"})
    wanted = {"LC_ALL": "C", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    assert {name: told[name] for name in wanted} == wanted
    assert environment_for_git({}, protocols="file:https:ssh")["GIT_ALLOW_PROTOCOL"] == "file:https:ssh"


def test_replaced_objects_and_grafts_are_not_followed(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    first = source.git("rev-parse", "HEAD")
    second = source.commit({"argosy.yaml": "a: 2\n"})
    source.git("replace", second, first)
    source.git(
        "replace", source.git("rev-parse", f"{second}:argosy.yaml"), source.git("rev-parse", f"{first}:argosy.yaml")
    )
    (source.path / ".git/info/grafts").write_text(f"{second}\n", encoding="utf-8")
    opened = open_repository(source.path)
    files = opened.snapshot(second).files
    assert list(opened.read_blobs([files[0].id]).values()) == [b"a: 2\n"]
    assert [info.id for info in opened.history(second, 9)] == [second, first]


def test_a_repository_of_somebody_else_is_refused(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    programs = tmp_path / "bin"
    programs.mkdir()
    wrapper = programs / "git"
    real = shutil.which("git")
    wrapper.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    with pytest.raises(GitError) as caught:
        open_repository(source.path, environment=environment).resolve("HEAD~0")
    assert str(caught.value) == (
        f"git rev-parse: detected dubious ownership in repository at '{source.path}'"
        "\n  hint: the repository belongs to another user; if you trust it: "
        "git config --global --add safe.directory FOLDER"
    )


def a_program(folder: Path, script: str) -> dict[str, str]:
    """An environment whose ``git`` is this script."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "git").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def test_git_that_is_not_installed_says_so(tmp_path: Path) -> None:
    opened = open_repository(a_source(tmp_path / "repo").path, environment={"PATH": str(tmp_path)})
    with pytest.raises(GitError) as caught:
        opened.resolve("HEAD~0")
    assert str(caught.value) == "git is not installed\n  hint: install git 2.32 or newer and put it on PATH"


@pytest.mark.waits
def test_a_command_that_hangs_ends_with_its_children(tmp_path: Path) -> None:
    """The pipe ends when the last of them has let go of it; a survivor would hold it for a minute."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = GitCommand(folder=tmp_path, environment=a_program(tmp_path / "bin", f"sleep 60 >{pipe} & wait"))
    with pytest.raises(GitError, match=r"git status did not finish within 1 seconds"):
        command.run("status", timeout=1)
    assert select.select([reading], [], [], SECONDS)[0] == [reading]
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_git_has_no_terminal_to_ask_on(tmp_path: Path) -> None:
    """The leader of a session that was never given a terminal has none, wherever the tests themselves run."""
    asks = f"exec {sys.executable} -c 'import os; print(os.getsid(0) == os.getpid())'"
    environment = a_program(tmp_path / "bin", asks)
    assert GitCommand(folder=tmp_path, environment=environment).text("status") == "True"


def test_a_stream_that_is_left_early_ends_its_process(tmp_path: Path) -> None:
    command = GitCommand(folder=tmp_path, environment=a_program(tmp_path / "bin", "yes"))
    with command.stream("cat-file") as output:
        assert output.readline() == b"y\n"


def test_a_stream_that_fails_says_so_once_it_is_read(tmp_path: Path) -> None:
    environment = a_program(tmp_path / "bin", "echo answer; echo 'fatal: broken' >&2; exit 3")
    command = GitCommand(folder=tmp_path, environment=environment)
    with pytest.raises(GitError) as caught, command.stream("cat-file", stdin=b"x" * 1_000_000) as output:
        assert output.read() == b"answer\n"
    assert str(caught.value) == "git cat-file: broken"


def test_complaints_longer_than_a_pipe_do_not_block(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 9000 ]; do echo 'warning: something is wrong' >&2; i=$((i+1)); done; echo done"
    command = GitCommand(folder=tmp_path, environment=a_program(tmp_path / "bin", script))
    with command.stream("cat-file") as output:
        assert output.read() == b"done\n"


class Evil(NamedTuple):
    why: str
    run: Callable[[Opened], object]
    want: str


REMOTE = "name a configured remote (git remote) or its address"
PROTOCOL = "use an https://, ssh:// or file:// address, or user@host:path"
EVIL = [
    Evil("a remote that runs a command", lambda opened: opened.remote_tips("ext::sh -c id"), "cannot fetch over 'ext'"),
    Evil("a remote over plain http", lambda opened: opened.remote_tips("http://x/y"), "cannot fetch over 'http'"),
    Evil("a remote over git", lambda opened: opened.remote_tips("git://x/y"), "cannot fetch over 'git'"),
    Evil("a remote that is an option", lambda opened: opened.remote_tips("--upload-pack=id"), "is not a remote"),
    Evil("a host that is an option", lambda opened: opened.remote_tips("ssh://-oProxyCommand=id/x"), "begins with '-'"),
    Evil("a host that is an option, by user", lambda opened: opened.remote_tips("ssh://a@-oX/x"), "begins with '-'"),
    Evil("a host in short form that is an option", lambda opened: opened.remote_tips("-oX:y"), "is not a remote"),
    Evil("a line break in an address", lambda opened: opened.remote_tips("https://x/\ny"), "cannot fetch over"),
    Evil(
        "a configured remote that runs a command", lambda opened: opened.remote_tips("evil"), "Argosy speaks to remotes"
    ),
    Evil(
        "an address rewritten to run a command", lambda opened: opened.remote_tips("file:///rewritten"), "file, https"
    ),
    Evil(
        "a refspec that is an option",
        lambda opened: opened.fetch("origin", Fetching(refspecs=["--upload-pack=id"])),
        "is not the name of a ref",
    ),
    Evil(
        "a pushed branch that is an option",
        lambda opened: opened.push("origin", [RefUpdate("--exec=id", "0" * 40, None)]),
        "is not the name of a ref",
    ),
    Evil("a branch outside refs", lambda opened: opened.update_ref("../x", "0" * 40, None), "is not the name of a ref"),
    Evil("a commit that is an option", lambda opened: opened.snapshot("--help"), "git ls-tree"),
    Evil("a history that is an option", lambda opened: opened.commits_between("HEAD", "--all", 1), "git rev-list"),
    Evil("an ancestor that is an option", lambda opened: opened.is_ancestor("--all", "HEAD"), "git merge-base"),
]


@pytest.mark.parametrize("case", EVIL, ids=lambda case: case.why)
def test_an_evil_argument_is_refused(tmp_path: Path, case: Evil) -> None:
    source = a_source(tmp_path / "repo")
    canary = tmp_path / "canary"
    source.git("config", "remote.evil.url", f"ext::touch {canary}")
    source.git("config", "protocol.ext.allow", "always")
    source.git("config", f"url.ext::touch {canary}.insteadOf", "file:///rewritten")
    with pytest.raises(GitError) as caught:
        case.run(open_repository(source.path))
    assert case.want in str(caught.value)
    assert not canary.exists()
    assert sorted(path.name for path in source.path.iterdir()) == [".git", "argosy.yaml"]


def test_gitpython_is_not_loaded_before_it_is_needed(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    script = (
        "import sys\n"
        "import reconciler.repository as r\n"
        "assert 'subprocess' not in sys.modules, 'subprocess'\n"
        "opened = r.open_repository(sys.argv[1])\n"
        "opened.resolve('HEAD'); opened.snapshot('HEAD'); opened.store(blobs={}); opened.history('HEAD', 1)\n"
        "assert 'git' not in sys.modules, 'before'\n"
        "opened.fetch('.', r.Fetching(refspecs=['refs/heads/main:refs/remotes/x/main']))\n"
        "assert 'git' in sys.modules, 'after'\n"
    )
    subprocess.run([sys.executable, "-c", script, source.path], check=True, timeout=SECONDS)


def test_options_hold_for_gitpython_too(tmp_path: Path) -> None:
    source = a_source(tmp_path / "repo")
    opened = open_repository(source.path)
    assert opened.git.command_line(["x"])[3 : 3 + 2 * len(OPTIONS)] == [
        part for option in OPTIONS for part in ("-c", option)
    ]
