"""Every loss of a fleet by the whole command, and what a single loss costs beside the pass that it amounts to.

The fleet is one of ``bench_render``, with its clusters in as many regions as asked for. Memory is that of all processes
of the command together, where each has its part of what they share.
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.build import Repository

from .bench_render import copied, make_fleet, report, timed

SAMPLED = 0.5


class Answer(NamedTuple):
    """The cost of one command: wall and CPU seconds with children, peak memory in MiB, and its first line."""

    wall: float
    cpu: float
    peak: float
    line: str


def main(arguments: list[str]) -> int:
    """Print the figures of every scenario."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench losses")
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--policies", type=int, default=40)
    parser.add_argument("--regions", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--shape", choices=["shared", "scattered", "distinct"], default="shared")
    parser.add_argument("--only", choices=["clusters", "pairs", "single"], default="")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        origin = Path(folder) / "origin"
        make_fleet(origin, options)
        move_to_regions(Repository(origin), options.regions)
        timed(origin)
        print(f"{options.templates} templates x {options.clusters} clusters, {options.shape}")
        if options.only in {"", "clusters"}:
            tell("every cluster", answered(origin, "--n-minus", "1"))
        if options.only in {"", "pairs"}:
            tell(f"every pair of {options.regions} regions", answered(origin, "--n-minus", "2", "--by", "region"))
        if options.only in {"", "single"}:
            single(origin, Path(folder), options.runs)
    return 0


def move_to_regions(repository: Repository, count: int) -> None:
    """Put each cluster in one of so many regions."""
    for number, path in enumerate(sorted(repository.path.glob("clusters/*.yaml"))):
        path.write_text(re.sub(r"region: \S+", f"region: region{number % count:02}", path.read_text()))
    repository.commit({}, "regions")


def single(origin: Path, folder: Path, runs: int) -> None:
    """Compare a what-if with the pass after the cluster is gone from the source."""
    words = ("simulate", "--without-cluster", "member0007")
    report("without one cluster", [timed(origin, *words) for _ in range(runs)])
    passes = []
    for number in range(runs):
        work = copied(origin, folder / f"work{number}")
        Repository(work).git("rm", "-q", "clusters/member0007.yaml")
        Repository(work).commit({}, "without it")
        passes.append(timed(work, "reconcile", "--allow-removal", "*=100000"))
    report("the pass without it", passes)


def answered(path: Path, *words: str) -> Answer:
    """Run ``argosy simulate`` and watch the memory of its processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "reconciler", "-C", str(path), "simulate", *words]
    peak = 0.0
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told, stderr=subprocess.STDOUT)
        while process.poll() is None:
            peak = max(peak, sum(shares_of_memory(process.pid)))
            time.sleep(SAMPLED)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        told.seek(0)
        output = told.read()
    assert process.returncode in {0, 1}, output[-2000:]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Answer(wall, cpu, peak, output.partition("\n")[0])


def shares_of_memory(pid: int) -> Iterator[float]:
    """Yield the proportional share of memory of a process and those that it began, in MiB."""
    for each in (pid, *children_of(pid)):
        try:
            found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{each}/smaps_rollup").read_text(), re.MULTILINE)
        except OSError:
            continue
        yield int(found.group(1)) / 1024 if found else 0.0


def children_of(pid: int) -> list[int]:
    """Return the processes that one has begun."""
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []


def tell(what: str, answer: Answer) -> None:
    """Print the cost of a command, and what it answered."""
    cost = f"{answer.wall:7.1f} s wall {answer.cpu:7.1f} s cpu, peak {answer.peak:6.0f} MiB in all processes"
    print(f"  {what:28} {cost}: {answer.line}", flush=True)
