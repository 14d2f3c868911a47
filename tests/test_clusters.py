"""The members of the tests themselves: where their programs come from, and that they leave nothing behind."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from .clusters import reserved_ports
from .kubernetes.programs import PROGRAMS, cache_folder, installed
from .waiting import eventually, running

ROOT = Path(__file__).parent.parent
STARTING = """
import sys, time
from tests.clusters import Member
with Member("doomed") as member:
    print(member.folder, *member.pids.values(), flush=True)
    time.sleep(60)
"""


def test_a_folder_somebody_names_beats_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    assert installed("etcd") is None
    for folder in (cache_folder(), tmp_path / "assets"):
        folder.mkdir(parents=True)
        (folder / "etcd").write_text("#!/bin/sh\n")
        (folder / "etcd").chmod(0o755)
        assert installed("etcd") == folder / "etcd"


def test_every_program_is_pinned_beside_its_sums() -> None:
    for source in PROGRAMS.values():
        folder = ROOT / "tests" / "kubernetes" / source.module
        assert (
            f"\t{source.package}\n" in (text := (folder / "go.mod").read_text()) or f"tool {source.package}\n" in text
        )
        assert (folder / "go.sum").stat().st_size > 1000


def listening(port: int) -> socket.socket:
    """Listen as servers written in Go do."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_the_port_of_a_server_that_was_killed_is_given_to_nobody_else() -> None:
    """Another run's server listened there, and what had to be unreachable showed a certificate that nobody trusts."""
    with reserved_ports(1) as (port,):
        for _ in range(2):
            with listening(port), socket.create_connection(("127.0.0.1", port)):
                pass
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port))
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))


@pytest.mark.cluster
def test_a_killed_test_run_leaves_no_server_and_no_folder_behind() -> None:
    with running([sys.executable, "-c", STARTING], seconds=120, cwd=ROOT, stdout=subprocess.PIPE) as run:
        assert run.stdout
        folder, *pids = run.stdout.readline().split()
        assert len(pids) == 2
        run.send_signal(signal.SIGKILL)
    left = [Path(folder), *(Path(f"/proc/{pid}") for pid in pids)]
    eventually(lambda: not any(path.exists() for path in left), "the end of every server, and of their folder")
