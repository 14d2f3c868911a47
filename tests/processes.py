"""Processes of this machine as a test measures or kills them: by their own id, and never by name."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_BOUND = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
"""The program that becomes another, which is killed when its parent ends, however that does (PR_SET_PDEATHSIG)."""


class Held(NamedTuple):
    """The memory that a process holds, in KiB, its file descriptors and its threads."""

    memory: int
    descriptors: int
    threads: int


def held_by(pid: int) -> Held:
    """Return what a process holds, without its children."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    said = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Held(memory=int(said["VmRSS"].split()[0]), descriptors=descriptors, threads=int(said["Threads"]))


class Share(NamedTuple):
    """The memory of a process in MiB: with a part of each page that others have as well, and what is its own data."""

    memory: float
    data: float


def share_of(pid: int) -> Share:
    """Return the memory of a process without its children: shares of several can be added, for none counts twice."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    said = {name: int(amount.split()[0]) / 1024 for name, amount in (line.split(":", 1) for line in lines)}
    return Share(memory=said["Pss"], data=said["Anonymous"])


def bound_to_this_process(command: Sequence[str]) -> list[str]:
    """Return a command whose process does not outlive this one, even where this one is killed."""
    return [sys.executable, "-IS", "-c", _BOUND, str(os.getpid()), *command]


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> Iterator[int]:
    """Yield the children of a process and theirs, as far as they still live."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from descendants(child)


def kill_all(pid: int) -> None:
    """Kill a process and everything it started, at once."""
    for each in (pid, *descendants(pid)):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
