"""A clone as others left it: filters in its configuration, passwords in its addresses, files of killed processes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from reconciler.repository import Fetching, RefUpdate, open_repository
from reconciler.repository import Repository as Opened
from render.errors import ConfigError, GitError
from render.gitobjects import git_object_id
from tests.build import Repository, a_cluster, argosy, as_bytes
from tests.waiting import SECONDS, happened, joined, running
from tests.workflows import ROOT

EDITS = [
    ["cluster", "label", "m1", "a=b", "--commit"],
    ["cluster", "taint", "m1", "a=b:NoSchedule", "--commit"],
    ["cluster", "cordon", "m1", "--commit"],
    ["cluster", "set", "m1", "--cpu", "4", "--commit"],
    ["cluster", "drain", "m1", "--commit"],
    ["cluster", "join", "m9", "--commit"],
    ["cluster", "unjoin", "m1", "--commit"],
    ["init", "--new-cluster", "m1"],
]
FILTERS = ["plain", "a=b", "with.dots", "a.b=c.d"]


def a_trap(repository: Repository, canary: Path, name: str) -> None:
    """Configure a filter that says when it ran, and have the next commit use it for every file."""
    for part in ("clean", "smudge", "process"):
        repository.git("config", f"filter.{name}.{part}", f"touch {canary}; cat")
    repository.git("config", f"filter.{name}.required", "true")
    (repository.path / ".git" / "info" / "attributes").write_text(f"* filter={name}\n")


@pytest.mark.parametrize("command", EDITS, ids=lambda command: " ".join(command[:2]))
def test_no_command_that_writes_the_source_runs_a_filter(
    command: list[str], repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if command[0] != "init":
        repository.commit({"clusters/m1.yaml": a_cluster("m1", labels={"x": "y"})})
    canary = tmp_path / "canary"
    a_trap(repository, canary, "evil")
    ended = argosy(repository, capsys, *command)
    assert ended.code == 0, ended.err
    assert not canary.exists()


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_runs_under_no_name(
    name: str, repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repository.commit({"clusters/m1.yaml": a_cluster("m1")})
    canary = tmp_path / "canary"
    a_trap(repository, canary, name)
    assert argosy(repository, capsys, "cluster", "label", "m1", "a=b", "--commit").code == 0
    assert open_repository(repository.path).dirty_paths() == ()
    assert not canary.exists()
    content = (repository.path / "clusters/m1.yaml").read_bytes()
    assert repository.git("rev-parse", "HEAD:clusters/m1.yaml") == git_object_id("blob", content).hex()


def test_the_trap_of_the_tests_above_works(repository: Repository, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    a_trap(repository, canary, "a=b")
    repository.write({"x": "y\n"})
    repository.git("add", "x", check=False)
    assert canary.exists()


def test_a_commit_keeps_the_line_ends_that_attributes_ask_for(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository.path / "clusters/m1.yaml"
    crlf = as_bytes(a_cluster("m1")).replace(b"\n", b"\r\n")
    repository.commit({".gitattributes": "*.yaml text eol=crlf\n", "clusters/m1.yaml": crlf})
    repository.write({"staged.txt": "not of this commit\n"})
    repository.git("add", "staged.txt")
    assert argosy(repository, capsys, "cluster", "label", "m1", "a=b", "--commit").code == 0
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n") > 5
    assert "\r" not in repository.git("show", "HEAD:clusters/m1.yaml")
    assert repository.git("status", "--porcelain") == "A  staged.txt"


# Files of killed processes

OURS, THEIRS = "tmp_pack_argosy_0123456789abcdef", "tmp_pack_AbCdEf"
LONG_AGO = 7200.0


def stored(repository: Repository, content: bytes) -> None:
    with open_repository(repository.path) as opened:
        opened.store(blobs={git_object_id("blob", content): content})


def leftovers(repository: Repository) -> set[str]:
    return {path.name for path in (repository.path / ".git/objects/pack").glob("tmp_*")}


def test_what_a_killed_pass_left_is_swept_up_and_nothing_else(repository: Repository) -> None:
    pack = repository.path / ".git/objects/pack"
    old = {pack / f"{OURS[:-1]}0", pack / f"{THEIRS}0"}
    young = {pack / f"{OURS[:-1]}1", pack / f"{THEIRS}1"}
    for path in old | young:
        path.write_bytes(b"PACK")
    for path in old:
        os.utime(path, (time.time() - LONG_AGO,) * 2)
    stored(repository, b"x")
    assert leftovers(repository) == {f"{THEIRS}0", f"{OURS[:-1]}1", f"{THEIRS}1"}


WRITER = """
import sys, time
from pathlib import Path
from reconciler.repository import pack
def slow(*arguments):
    print("writing", flush=True)
    time.sleep(60)
pack.encode_part = slow
pack.write_pack(Path(sys.argv[1]), blobs={b"0" * 20: b""}, trees={}, commits={})
"""


def test_a_writer_that_lives_is_left_alone_whatever_the_clock_says(repository: Repository) -> None:
    pack = repository.path / ".git/objects/pack"
    command = [sys.executable, "-c", WRITER, str(pack)]
    with running(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == "writing\n"
        (left,) = leftovers(repository)
        os.utime(pack / left, (time.time() - LONG_AGO,) * 2)
        stored(repository, b"x")
        assert leftovers(repository) == {left}
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=SECONDS)
    assert leftovers(repository) == {left}
    stored(repository, b"y")
    assert leftovers(repository) == set()


# Passwords in configured addresses

PASSWORD = "pa55-w0rd"


@contextmanager
def silent_server() -> Iterator[tuple[int, threading.Event]]:
    """Run a server that takes connections and says nothing; yield its port, and an event that a connection sets."""
    asked = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(SECONDS)
    taken: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                taken.append(listener.accept()[0])
                asked.set()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], asked
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for client in taken:
            client.close()
        joined(thread)


def command_lines() -> list[str]:
    """The arguments of every process that this one started, and of theirs.

    Others on the machine, such as tests beside this one that write the same password with ``git config``, are no
    concern of the claim.
    """
    parents, lines = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            pid = int(path.name)
            parents[pid] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            lines[pid] = (path / "cmdline").read_bytes().decode("utf-8", "replace")
    return [line for pid, line in lines.items() if os.getpid() in ancestors(pid, parents)]


def ancestors(pid: int, parents: Mapping[int, int]) -> Iterator[int]:
    """The processes that started this one, the nearest first."""
    while pid := parents.get(pid, 0):
        yield pid


def fetched(opened: Opened) -> None:
    opened.fetch("origin", Fetching(refspecs=["+refs/heads/*:refs/remotes/origin/*"]))


def pushed(opened: Opened) -> None:
    opened.push("origin", [RefUpdate("refs/heads/x", opened.resolve("HEAD"), None)])


TALKS: dict[str, Callable[[Opened], object]] = {
    "asked": lambda opened: opened.remote_tips("origin"),
    "fetched from": fetched,
    "pushed to": pushed,
}
WRITTEN = {
    "as its address": {"remote.origin.url": "https://me:{password}@127.0.0.1:{port}/x.git"},
    "as what another stands for": {
        "remote.origin.url": "work:x.git",
        "url.https://me:{password}@127.0.0.1:{port}/.insteadOf": "work:",
    },
    "as the address to push to": {
        "remote.origin.url": "https://me:{password}@127.0.0.1:{port}/x.git",
        "remote.origin.pushurl": "https://me:{password}@127.0.0.1:{port}/y.git",
    },
    "as what another stands for in a push": {
        "remote.origin.url": "https://me:{password}@127.0.0.1:{port}/x.git",
        "url.https://me:{password}@127.0.0.1:{port}/z.pushInsteadOf": "https://me:{password}@127.0.0.1:{port}/x",
    },
}


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see arguments of others")
@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize("written", WRITTEN)
def test_no_process_has_the_password_of_a_remote_in_its_arguments(
    talk: str, written: str, repository: Repository
) -> None:
    with silent_server() as (port, asked):
        for key, value in WRITTEN[written].items():
            repository.git(
                "config", key.format(password=PASSWORD, port=port), value.format(password=PASSWORD, port=port)
            )
        repository.commit({"x": "y"})
        errors: list[GitError] = []

        def speak() -> None:
            with open_repository(repository.path) as opened:
                try:
                    TALKS[talk](opened)
                except GitError as error:
                    errors.append(error)

        thread = threading.Thread(target=speak)
        thread.start()
        happened(asked, "a connection of git to the server")
        lines = command_lines()
    joined(thread)
    assert any("remote-https" in line and str(port) in line for line in lines)
    assert [line for line in lines if PASSWORD in line] == []
    assert PASSWORD not in str(errors[0])


PROGRAMS = ("core.sshCommand", "gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program")


@pytest.mark.parametrize("is_off", [True, False], ids=["switched off", "as they are"])
def test_programs_of_a_clone_are_switched_off(repository: Repository, tmp_path: Path, *, is_off: bool) -> None:
    """ssh of the clone's own configuration is run where nobody says otherwise, and not where CI does."""
    canary, empty = tmp_path / "canary", tmp_path / "empty"
    empty.write_text("")
    for name in (*PROGRAMS, "core.askPass", "credential.helper", "credential.https://a.example.helper"):
        repository.git("config", name, f"touch {canary};")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": str(empty)}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", **({"ARGOSY_CLONE_PROGRAMS": "off"} if is_off else {})}
    with open_repository(str(repository.path), environment=environment) as opened:
        with pytest.raises(GitError):
            opened.fetch("ssh://127.0.0.1:1/x", Fetching(refspecs=["+refs/heads/*:refs/remotes/x/*"]))
        said = {name: opened.git.text("config", "--get", name) for name in PROGRAMS}
        helpers = opened.git.run("config", "--get-all", "credential.helper").stdout
    assert canary.exists() is not is_off
    if is_off:
        assert said == dict(zip(PROGRAMS, ("ssh", "gpg", "gpg", "gpgsm", "ssh-keygen"), strict=True))
        assert helpers.endswith(b";\n\n")  # an empty one takes back those before it


def test_programs_of_the_user_stay_where_those_of_a_clone_are_off(repository: Repository, tmp_path: Path) -> None:
    for name in PROGRAMS:
        repository.git("config", name, "theirs")
    mine = tmp_path / "mine"
    mine.write_text("[core]\nsshCommand = mine\n[credential]\nhelper = mine\n")
    repository.git("config", "credential.helper", "theirs")
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": str(mine), "ARGOSY_CLONE_PROGRAMS": "off"}
    with open_repository(str(repository.path), environment=environment) as opened:
        assert opened.git.text("config", "--get", "core.sshCommand") == "mine"
        assert opened.git.text("config", "--get-all", "credential.helper").split("\n")[-2:] == ["", "mine"]


def test_another_word_for_the_switch_is_refused(repository: Repository) -> None:
    environment = {"PATH": os.environ["PATH"], "ARGOSY_CLONE_PROGRAMS": "no"}
    with (
        open_repository(str(repository.path), environment=environment) as opened,
        pytest.raises(ConfigError, match="ARGOSY_CLONE_PROGRAMS is 'no'"),
    ):
        opened.git.text("status")
