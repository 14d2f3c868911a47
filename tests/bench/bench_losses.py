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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.build import Repository

from .bench_render import copied, figure_of, make_fleet, timed
from .figures import CPU, Figure, figure

SAMPLED = 0.5


class Answer(NamedTuple):
    """The cost of one command: wall and CPU seconds with children, peak memory in MiB, and its first line."""

    wall: float
    cpu: float
    peak: float
    line: str


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of every question."""
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
        size = f"{options.clusters} clusters x {options.templates} templates"
        scenario = f"losses {options.shape}, {size} in {options.regions} regions"
        if options.only in {"", "clusters"}:
            yield of_all_losses(scenario, "every cluster", answered(origin, "--n-minus", "1"))
        if options.only in {"", "pairs"}:
            answer = answered(origin, "--n-minus", "2", "--by", "region")
            yield of_all_losses(scenario, "every pair of regions", answer)
        if options.only in {"", "single"}:
            yield from single(scenario, origin, Path(folder), options.runs)


def move_to_regions(repository: Repository, count: int) -> None:
    """Put each cluster in one of so many regions."""
    for number, path in enumerate(sorted(repository.path.glob("clusters/*.yaml"))):
        path.write_text(re.sub(r"region: \S+", f"region: region{number % count:02}", path.read_text()))
    repository.commit({}, "regions")


def single(scenario: str, origin: Path, folder: Path, runs: int) -> Iterator[Figure]:
    """Compare a what-if with the pass after the cluster is gone from the source."""
    words, of_pass = ("simulate", "--without-cluster", "member0007"), "the pass without it"
    passes = []
    for number in range(runs):
        work = copied(origin, folder / f"work{number}")
        Repository(work).git("rm", "-q", "clusters/member0007.yaml")
        Repository(work).commit({}, "without it")
        passes.append(timed(work, "reconcile", "--allow-removal", "*=100000"))
    yield figure_of(scenario, of_pass, passes)
    asked = [timed(origin, *words) for _ in range(runs)]
    yield figure_of(scenario, "without one cluster", asked, beside=of_pass)


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


def of_all_losses(scenario: str, what: str, answer: Answer) -> Figure:
    """Return the figure of a question about many losses, with what it answered."""
    cost = f"{answer.wall:.1f} s wall, peak {answer.peak:.0f} MiB in all processes"
    return figure(scenario, what, answer.cpu, CPU, remark=f"{cost}: {answer.line}")
