"""The machine that figures are from, and how fast it is: the CPU seconds of a fixed loop and of ``argosy --help``."""

import os
import platform
import re
import statistics
import subprocess
import sys
import time
import zlib
from hashlib import sha1
from pathlib import Path

from msgspec import Struct

from .bench_apply import cost_of

LOOP_OF_BARS = 0.046
"""CPU seconds of the loop on the machine of the bars, of which only ``argosy --help`` is known, 0.054 s. On another
machine the loop took 0.85 times as long as that, when the bars were set."""
_ROUNDS = 40_000


class Machine(Struct, frozen=True, kw_only=True):
    """A machine: its cores, memory in MiB and programs, and CPU seconds of the loop and of ``argosy --help``."""

    processor: str
    cores: int
    memory: int
    system: str
    python: str
    git: str
    loop: float
    help: float

    def is_like(self, other: "Machine") -> bool:
        """Say whether both are the same machine, however fast it is at the moment."""
        return str(self) == str(other)

    def __str__(self) -> str:
        cores = f"{self.cores} cores of {self.processor}, {self.memory / 1024:.1f} GiB"
        return f"{cores}; {self.system}, Python {self.python}, git {self.git}"


def this_machine() -> Machine:
    """Return the machine that this runs on, measured."""
    return Machine(
        processor=_found(Path("/proc/cpuinfo"), r"model name\s*: (.*)") or platform.processor() or platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        memory=int(_found(Path("/proc/meminfo"), r"MemTotal:\s*(\d+)") or 0) // 1024,
        system=f"{platform.system()} {platform.release().partition('-')[0]}",
        python=platform.python_version(),
        git=subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout.split()[2],
        loop=round(seconds_of_loop(), 4),
        help=round(statistics.median(cost_of([sys.executable, "-m", "reconciler", "--help"]).cpu for _ in range(5)), 4),
    )


def seconds_of_loop() -> float:
    """Return the CPU seconds that a fixed loop takes: what rendering is made of, and nothing of the program.

    It formats, cuts and joins text, keeps it in dicts, hashes and compresses it. A core that is shared slows it as it
    slows the program, so it is the median that counts, and not the least.
    """
    return statistics.median(_loop() for _ in range(7))


def _loop() -> float:
    began = time.process_time()
    known: dict[str, bytes] = {}
    for number in range(_ROUNDS):
        text = f"name: app-{number % 997}\nreplicas: {number}\nimage: registry.example.com/app:{number % 13}\n"
        key, _, rest = text.partition("\n")
        known[key] = sha1(rest.encode(), usedforsecurity=False).digest()
    zlib.compress(b"".join(known.values()) * 20, 1)
    return time.process_time() - began


def _found(path: Path, pattern: str) -> str:
    found = re.search(pattern, path.read_text()) if path.exists() else None
    return found[1].strip() if found else ""
