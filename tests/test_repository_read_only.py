"""A process that was started only to read writes nothing, with no help of the system: no cache, object or branch."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reconciler.assistants.runs import CommandToRun, _environment_of_command, run_command
from reconciler.building.confinement import system_bounds
from reconciler.repository.read_only import READ_ONLY
from tests.assistants import a_fleet, everything_below
from tests.build import argosy
from tests.waiting import SECONDS

READING = (
    ("status",),
    ("status", "-o", "json"),
    ("explain", "deploy/web"),
    ("history",),
    ("blame", "deploy/web"),
    ("validate",),
    ("diff",),
    ("diff", "HEAD~1", "HEAD"),
    ("simulate", "--without-cluster", "oslo"),
    ("verify",),
)
WRITING = (
    (("reconcile",), "store objects"),
    (("cluster", "cordon", "oslo"), "write files"),
    (("render", "--output-dir", "out"), "write files"),
)


def test_commands_that_read_keep_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = a_fleet(tmp_path / "fleet")
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.write({"settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"})
    fleet.git("commit", "-q", "-a", "-m", "Less")
    monkeypatch.setenv(READ_ONLY, "1")
    before = everything_below(fleet.path)
    assert {argosy(fleet, capsys, *words).code for words in READING} <= {0, 1}
    assert everything_below(fleet.path) == before


def test_commands_that_write_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = a_fleet(tmp_path / "fleet")
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"settings.yaml": None}, "Less")
    monkeypatch.setenv(READ_ONLY, "1")
    monkeypatch.chdir(tmp_path)
    before = everything_below(tmp_path)
    for words, verb in WRITING:
        ended = argosy(fleet, capsys, *words)
        wanted = f"argosy: this process only reads, so it does not {verb}\n  hint: unset {READ_ONLY} to have it write"
        assert (ended.code, wanted in ended.err) == (3, True), ended
    assert everything_below(tmp_path) == before


@pytest.mark.skipif(not system_bounds().files, reason="this machine cannot bound the files of a process")
def test_the_system_keeps_a_call_from_writing_anywhere_but_where_it_may(tmp_path: Path) -> None:
    """Any program that a call could come to run is bounded: here Python's own zipfile, told to write a file."""
    (tmp_path / "a.txt").write_text("a")
    allowed = tmp_path / "allowed"
    allowed.mkdir()

    def code_of_writing(target: Path, *writes: str) -> int:
        command = CommandToRun(module="zipfile", words=("-c", str(target), str(tmp_path / "a.txt")), writes=writes)
        return run_command(command, seconds=SECONDS, is_cancelled=threading.Event()).code

    assert code_of_writing(tmp_path / "x.zip") != 0
    assert code_of_writing(Path.home() / "argosy-never.zip") != 0
    assert code_of_writing(tmp_path / "y.zip", str(allowed)) != 0
    assert code_of_writing(allowed / "z.zip", str(allowed)) == 0
    assert sorted(path.name for path in tmp_path.rglob("*.zip")) == ["z.zip"]
    assert not (Path.home() / "argosy-never.zip").exists()


@pytest.mark.skipif(not system_bounds().network, reason="this machine cannot close the network of a process")
def test_the_system_keeps_a_call_from_the_network() -> None:
    command = CommandToRun(module="http.server", words=("--bind", "127.0.0.1", "0"))
    run = run_command(command, seconds=SECONDS, is_cancelled=threading.Event())
    assert (run.bound, run.code != 0, "PermissionError" in run.said) == ("", True, True)


def test_a_call_is_told_of_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARGOSY_FORGE_TOKEN_FILE", "ARGOSY_SIGN_KEY", "SOPS_AGE_KEY", "AWS_SECRET_ACCESS_KEY", "GIT_ASKPASS"):
        monkeypatch.setenv(name, "canary")
    command = CommandToRun(module="sysconfig", words=())
    assert "canary" not in _environment_of_command(Path("/tmp")).values()
    assert run_command(command, seconds=SECONDS, is_cancelled=threading.Event()).code == 0


def test_a_long_call_is_told_of_and_a_cancelled_one_ends() -> None:
    ticks: list[float] = []
    command = CommandToRun(module="timeit", words=("-n", "1", "-r", "1", "import time; time.sleep(3)"))
    done = run_command(command, seconds=SECONDS, is_cancelled=threading.Event(), on_second=ticks.append)
    assert (done.bound, done.code, len(ticks) >= 2) == ("", 0, True)
    cancelled = threading.Event()
    cancelled.set()
    assert run_command(command, seconds=SECONDS, is_cancelled=cancelled).bound == "it was cancelled"


def test_the_command_is_loaded_only_when_it_is_used() -> None:
    """Neither the help of the program nor a rendering imports what serves assistants."""
    code = "import sys; from reconciler.cli import run; run(['--help']); print('reconciler.assistants' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert done.stdout.splitlines()[-1] == "False"
