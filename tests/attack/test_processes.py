"""The process itself: standard streams that are closed, full or left, limits that are too low, odd files of Git."""

import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from reconciler.cli import run
from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from tests.waiting import SECONDS
from tests.workflows import ROOT

COMMANDS = [
    *["render -o json", "status", "validate -o sarif", "explain cm/a", "diff", "doctor"],
    *["--help", "schema Fleet", "reconcile --bootstrap", "cluster label m1 a=b"],
]
STREAMS = [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "| true", "2>/dev/full"]


@pytest.fixture
def fleet(repository: Repository) -> Repository:
    """A fleet with a cluster, an object and a policy."""
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy(selectors=selectors, placement=on_clusters("m1"))
    repository.commit({"m1.yaml": a_cluster("m1"), "a.yaml": a_config_map("a"), "policy.yaml": policy})
    return repository


def ended(command: str, *, limit: Callable[[], None] | None = None) -> tuple[int, str]:
    """Run a command of the shell; return its exit code, and what it printed, which has no trace of Python's."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        # Python would keep a compiled module of which a limit allowed only the beginning.
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "argosy: a bug" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("streams", STREAMS)
def test_streams_that_are_closed_full_or_left_end_no_command_in_a_bug(streams: str, fleet: Repository) -> None:
    argosy_here = f"{sys.executable} -m reconciler -C {fleet.path}"
    script = "\n".join(f"{argosy_here} {command} {streams}; echo $? >&9" for command in COMMANDS)
    codes = fleet.path.parent / "codes"
    ended(f"exec 9>{codes}; {script}")
    found = dict(zip(COMMANDS, map(int, codes.read_text().split()), strict=True))
    assert {command: code for command, code in found.items() if code not in {0, 1, 3, 4}} == {}
    assert fleet.git("fsck", "--full") == ""


def test_nothing_that_is_printed_goes_into_a_file_opened_in_place_of_a_closed_stream(fleet: Repository) -> None:
    argosy_here = f"{sys.executable} -m reconciler -C {fleet.path}"
    assert ended(f"{argosy_here} -v reconcile --bootstrap <&- >&- 2>&-")[0] == 0
    assert fleet.git("fsck", "--full") == ""
    assert ended(f"{argosy_here} reconcile")[0] == 0


LIMITS = {
    "no file may be written": (resource.RLIMIT_FSIZE, 0),
    "files of 1,000 bytes": (resource.RLIMIT_FSIZE, 1_000),
    "hardly any open file": (resource.RLIMIT_NOFILE, 7),
    "few open files": (resource.RLIMIT_NOFILE, 10),
    "a small stack": (resource.RLIMIT_STACK, 200_000),
}


@pytest.mark.parametrize("why", LIMITS)
@pytest.mark.parametrize("command", ["reconcile --bootstrap", "cluster label m1 a=b --commit", "init --new-cluster m2"])
def test_a_limit_that_is_too_low_is_said_and_damages_nothing(why: str, command: str, fleet: Repository) -> None:
    kind, most = LIMITS[why]
    before = fleet.git("rev-parse", "HEAD")
    code, _ = ended(
        f"{sys.executable} -m reconciler -C {fleet.path} {command}",
        limit=lambda: resource.setrlimit(kind, (most, most)),
    )
    assert code in {0, 3, 4}
    assert fleet.git("fsck", "--full") == ""
    assert code == 0 or fleet.git("rev-parse", "HEAD") == before


@pytest.mark.parametrize("said", ["", '{"location": "/x", '])
def test_a_pass_whose_parent_was_killed_before_it_gave_the_job_ends_quietly(said: str) -> None:
    begin = "from reconciler.run.processes.pass_process import main; main()"
    assert ended(f"printf %s {shlex.quote(said)} | {sys.executable} -c {shlex.quote(begin)}") == (0, "")


@pytest.mark.parametrize("command", ["init", "validate", "reconcile", "status"])
def test_a_path_longer_than_any_system_takes_is_said(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = "x" * 5_000
    code = run(["-C", path, command])
    said = capsys.readouterr().err.splitlines()
    assert (code, f"argosy: {path}: file name too long" in said) == (4, True), said


def a_pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def text(content: str) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    return write


RENDERED = "refs/heads/argosy/rendered"
ODD: Mapping[str, tuple[str, Callable[[Path], object]]] = {
    "HEAD is a pipe": ("HEAD", a_pipe),
    "HEAD is of any length": ("HEAD", text("ref: refs/heads/" + "a" * 1_000_000)),
    "HEAD leads out": ("HEAD", text("ref: ../../../../etc/passwd\n")),
    "HEAD is garbage": ("HEAD", text("\x00\x1b[2K")),
    "packed refs are a pipe": ("packed-refs", a_pipe),
    "packed refs are garbage": ("packed-refs", text(f"x {RENDERED}\n")),
    "a branch is a pipe": (RENDERED, a_pipe),
    "a branch is garbage": (RENDERED, text("zzz")),
    "a branch is nothing": (RENDERED, text("1" * 40)),
    "a branch is a folder": (RENDERED, lambda path: (path / "x").mkdir(parents=True)),
    "the status branch is a pipe": ("refs/heads/argosy/status", a_pipe),
    "commondir is a pipe": ("commondir", a_pipe),
    "commondir leads out": ("commondir", text("/dev")),
    "alternates are a pipe": ("objects/info/alternates", a_pipe),
    "alternates lead anywhere": ("objects/info/alternates", text("/dev/zero\n../../..\n" + "x/" * 5_000)),
    "shallow is a pipe": ("shallow", a_pipe),
    "shallow is garbage": ("shallow", text("zzz\n")),
    "the index is garbage": ("index", text("DIRC" + "x" * 100)),
    "the configuration is garbage": ("config", text("[core\x00")),
    "the configuration includes itself": ("config", text("[include]\npath=config\n")),
    "a version nobody knows": ("config", text("[core]\nrepositoryformatversion = 99\n")),
    "an address that runs something": ("config", text('[remote "origin"]\nurl = ext::sh -c touch% canary\n')),
    "an address that is an option": ("config", text('[remote "origin"]\nurl = --upload-pack=touch canary\n')),
    "a host that is an option": ("config", text('[remote "origin"]\nurl = ssh://-oProxyCommand=touch%20canary/x\n')),
    "an address without a value": ("config", text('[remote "origin"]\n\turl\n')),
    "another work tree": ("config", text("[core]\nworktree = /etc\n")),
    "the cache is a file": ("argosy", text("x")),
    "a work tree that is none": ("worktrees/x/gitdir", text("\x00/")),
    "a pack that is none": ("objects/pack/pack-1.idx", text("x" * 2_000)),
}


@pytest.mark.parametrize("why", ODD)
def test_an_odd_file_of_git_is_neither_waited_for_nor_a_bug(
    why: str, fleet: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.repository.command.LOCAL_TIMEOUT", 2.0)
    monkeypatch.chdir(fleet.path.parent)
    name, make = ODD[why]
    make(fleet.path / ".git" / name)
    for command in ("reconcile --bootstrap", "status", "cluster label m1 a=b --commit"):
        found = argosy(fleet, capsys, *command.split())
        assert found.code in {0, 1, 3, 4, 5}, (command, found)
    assert sorted(path.name for path in fleet.path.parent.iterdir()) == ["fleet"]
