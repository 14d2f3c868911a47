"""A program that builds is bounded in time, output and memory, and leaves nothing behind."""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.building.sandbox import Run, RunLimits, run_in_copy
from tests.waiting import eventually


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
    assert run_in_copy((sys.executable, "-I", "-c", case.program), {}, limits=case.limits) == case.want


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of another process")
def test_the_memory_of_a_program_is_bounded() -> None:
    program = "import time\ntime.sleep(0.2)\nx = bytearray(3 << 30)\nprint(len(x))"
    run = run_in_copy((sys.executable, "-I", "-c", program), {}, limits=RunLimits(memory=1 << 30))
    assert (run.output, run.complaint.splitlines()[-1]) == (b"", "MemoryError")


def test_what_a_program_starts_ends_with_it(tmp_path: Path) -> None:
    trace = tmp_path / "pid"
    program = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.close(1), os.close(2)\n"
        f"    open({str(trace)!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
        f"while not os.path.exists({str(trace)!r}) or not os.path.getsize({str(trace)!r}): time.sleep(0.01)\n"
    )
    assert run_in_copy((sys.executable, "-I", "-c", program), {}) == Run()
    pid = int(trace.read_text())
    eventually(lambda: _has_ended(pid), "the child of the program ends")


def _has_ended(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_the_copy_is_private_and_removed_with_what_was_written_beside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import os, pathlib\npathlib.Path('new').write_text('x')\n"
        "print(sorted(os.listdir('..')), oct(os.stat('../..').st_mode & 0o777), open('../b/x').read())"
    )
    run = run_in_copy((sys.executable, "-I", "-c", program), {"a/x": b"1", "b/x": b"2"}, at="a")
    assert run.output == b"['a', 'b'] 0o700 2\n"
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_would_lead_out_of_the_copy_is_never_written() -> None:
    with pytest.raises(OSError, match="is no path below a folder"):
        run_in_copy(("true",), {"../out": b""})


def test_a_program_that_is_not_there_is_a_complaint() -> None:
    run = run_in_copy(("/nonexistent/kustomize",), {})
    assert run == Run(complaint="/nonexistent/kustomize cannot be run: No such file or directory", is_bounded=True)
