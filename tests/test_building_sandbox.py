"""A program that builds is bounded in time, output and memory, and leaves nothing behind."""

import ctypes
import os
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.building.confinement import Confinement, SystemBounds, system_bounds
from reconciler.building.sandbox import Run, RunLimits, run_in_copy
from tests.waiting import SECONDS, eventually, running

PYTHON = Confinement.of(sys.executable)
PYTHON = Confinement(reads=(*(PYTHON.reads or ()), sys.prefix, sys.base_prefix))


def run_python(
    program: str, contents: Mapping[str, bytes] | None = None, *, at: str = "", limits: RunLimits | None = None
) -> Run:
    command = (sys.executable, "-I", "-c", program)
    return run_in_copy(command, contents or {}, at=at, limits=limits, confinement=PYTHON)


class Bounded(NamedTuple):
    why: str
    program: str
    limits: RunLimits
    want: Run


MIB = 1 << 20
BOUNDED = [
    Bounded(
        "one that never ends",
        "while True: pass",
        RunLimits(seconds=0.3),
        Run(complaint="it did not end within 0.3 s", is_bounded=True),
    ),
    Bounded(
        "one that never stops printing",
        "while True: print('x' * 65536)",
        RunLimits(output=MIB),
        Run(complaint="it printed more than 1048576 bytes", is_bounded=True),
    ),
    Bounded(
        "one that never stops complaining ends by its time",
        "import sys\nwhile True: sys.stderr.write('x' * 65536)",
        RunLimits(seconds=0.3),
        Run(complaint="it did not end within 0.3 s", is_bounded=True),
    ),
    Bounded(
        "one that fails says why",
        "raise SystemExit('no way')",
        RunLimits(),
        Run(complaint="no way"),
    ),
    Bounded(
        "one that fails without a word", "raise SystemExit(3)", RunLimits(), Run(complaint="it ended with exit code 3")
    ),
    Bounded("one that ends well", "print('done')", RunLimits(), Run(output=b"done\n")),
]


@pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case.why)
def test_a_program_is_bounded(case: Bounded) -> None:
    assert run_python(case.program, limits=case.limits) == case.want


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of another process")
def test_the_memory_of_a_program_is_bounded() -> None:
    program = "import time\ntime.sleep(0.2)\nx = bytearray(3 << 30)\nprint(len(x))"
    run = run_python(program, limits=RunLimits(memory=1 << 30))
    assert (run.output, run.complaint.splitlines()[-1]) == (b"", "MemoryError")


def test_what_a_program_starts_ends_with_it() -> None:
    program = (
        "import os, time\n"
        "started = os.fork()\n"
        "if started == 0:\n"
        "    os.close(1), os.close(2)\n"
        "    time.sleep(600)\n"
        "print(started)\n"
    )
    pid = int(run_python(program).output)
    eventually(lambda: _has_ended(pid), "the child of the program ends")


def _has_ended(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_program_ends_with_a_pass_that_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    hang = f"import os, pathlib; pathlib.Path({str(told)!r}).write_text(str(os.getpid())); [*iter(int, 1)]"
    code = f"""
from reconciler.building.confinement import Confinement
from reconciler.building.sandbox import run_in_copy
run_in_copy(({sys.executable!r}, "-I", "-c", {hang!r}), {{}}, confinement=Confinement())
"""
    with running([sys.executable, "-c", code], cwd=Path(__file__).parent.parent) as argosy:
        pid = int(eventually(lambda: told.exists() and told.read_text(), "the program that hangs"))
        argosy.kill()
        argosy.wait(timeout=SECONDS)
        eventually(lambda: not _is_alive(pid), "the end of the program", seconds=20)


def _is_alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_copy_is_private_and_removed_with_what_was_written_beside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import os, pathlib\npathlib.Path('new').write_text('x')\n"
        "print(sorted(os.listdir('..')), oct(os.stat('../..').st_mode & 0o777), open('../b/x').read())"
    )
    run = run_python(program, {"a/x": b"1", "b/x": b"2"}, at="a")
    assert run.output == b"['a', 'b'] 0o700 2\n"
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_would_lead_out_of_the_copy_is_never_written() -> None:
    with pytest.raises(OSError, match="is no path below a folder"):
        run_in_copy(("true",), {"../out": b""})


def test_a_program_that_is_not_there_is_a_complaint() -> None:
    run = run_in_copy(("/nonexistent/kustomize",), {})
    assert run == Run(complaint="/nonexistent/kustomize cannot be run: No such file or directory", is_bounded=True)


HAS_LANDLOCK = sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
HAS_FILTERS = sys.platform == "linux" and os.uname().machine in {"x86_64", "aarch64"}


def test_what_the_kernel_can_bound_is_bounded() -> None:
    assert system_bounds() == SystemBounds(files=HAS_LANDLOCK, network=HAS_FILTERS)


class Reached(NamedTuple):
    why: str
    program: str


def reached(secret: Path, port: int) -> list[Reached]:
    internet = f"s = socket.socket(); s.connect(('127.0.0.1', {port})); print(s.recv(99))"
    return [
        Reached("a file of the user", f"print(open({str(secret)!r}).read())"),
        Reached("a folder of the user", f"print(os.listdir({str(secret.parent)!r}))"),
        Reached("a file by a link in the copy", f"os.symlink({str(secret)!r}, 'l'); print(open('l').read())"),
        Reached("a file by a hard link in the copy", f"os.link({str(secret)!r}, 'h'); print(open('h').read())"),
        Reached("a file of the machine", "print(open('/etc/passwd').read())"),
        Reached("the environment of Argosy", "print(open(f'/proc/{os.getppid()}/environ').read())"),
        Reached("the memory of Argosy", "print(open(f'/proc/{os.getppid()}/mem', 'rb'))"),
        Reached("a new file", f"open({str(secret.parent / 'new')!r}, 'w')"),
        Reached("a file that is cut", f"os.truncate({str(secret)!r}, 0)"),
        Reached("a program of the user", f"import subprocess; print(subprocess.run([{str(secret)!r}]))"),
        Reached("a service of this machine", f"import socket; {internet}"),
        Reached("a datagram", "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
        Reached("the network of six", "import socket; socket.socket(socket.AF_INET6)"),
        Reached("a local socket", "import socket; socket.socket(socket.AF_UNIX)"),
        Reached("a raw socket", "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    ]


@pytest.mark.skipif(not (HAS_LANDLOCK and HAS_FILTERS), reason="this kernel cannot bound a program")
def test_a_program_reaches_no_file_but_its_own_and_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    secret = tmp_path / "secret"
    secret.write_text("#!/bin/sh\necho c4n4ry\n")
    secret.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server:
        for case in reached(secret, server.getsockname()[1]):
            run = run_python(f"import os\n{case.program}\nprint('reached')")
            assert run.output == b"", case.why
            assert "Permission" in run.complaint or "Invalid cross-device" in run.complaint, (case.why, run.complaint)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copies", "secret"]
    assert "c4n4ry" in secret.read_text()
