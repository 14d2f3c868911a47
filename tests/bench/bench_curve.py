"""Rendering at growing sizes: where one process ends, and what time and memory it takes on the way there.

Three lines: 1,000 templates for more and more clusters, more and more templates for 100 clusters, and both at once,
each up to 100 million manifests. The shape is that of ``render --shape shared``: 40 policies that duplicate, and twelve
classes of clusters. A point is a cold pass into a commit, and another after one template has changed, each in a process
of its own. A process that takes more memory than ``--gib`` or longer than is left of ``--seconds`` is ended, and its
line with it; a point that, by the one before, would not fit into what is left is not begun.

Memory goes with templates: a hundred kilobytes each, where twelve classes of clusters get their own text of it. A third
of that is these texts, a sixth the source as it was read, a sixth what overrides changed, and all of it is kept until
it is stored. It goes with clusters as well, seven kilobytes each, where 1,000 templates are for 100,000 of them. It
does not go with manifests: the lines of the clusters that bindings name are kept once for all that share them, and
joined as they are stored.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from render.documents import emit
from tests.build import Repository, a_cluster
from tests.processes import descendants

from .bars import COLD, TEMPLATE
from .bench_apply import compile_modules, environment
from .bench_render import REGIONS, a_placing_policy, a_template, overrides
from .figures import CPU, Figure, figure

POLICIES = 40
FILES_A_FOLDER = 1000


class Point(NamedTuple):
    """So many templates for so many clusters."""

    templates: int
    clusters: int

    @property
    def manifests(self) -> int:
        """All manifests of all clusters."""
        return self.templates * self.clusters


LINES = {
    "clusters": [Point(1000, clusters) for clusters in (1000, 3000, 10_000, 30_000, 100_000)],
    "templates": [Point(templates, 100) for templates in (1000, 10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "both": [Point(each, each) for each in (1000, 3000, 5000, 10_000)],
}


class Cost(NamedTuple):
    """The cost of one pass: CPU seconds with children, wall seconds, the most memory in MiB, and how it was ended."""

    cpu: float
    wall: float
    memory: float
    ending: str = ""


class Bound(NamedTuple):
    """The time at which all has to be over, and the memory that a pass may take, in MiB."""

    until: float
    memory: float

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.until - time.monotonic()


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Run line after line until each ends; yield the costs of each point."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench curve", description=__doc__)
    parser.add_argument("lines", nargs="*", default=[*LINES], metavar="LINE", help=f"of {', '.join(LINES)}")
    parser.add_argument("--seconds", type=float, default=600.0, help="the longest that all of it takes")
    parser.add_argument("--gib", type=float, default=8.0, help="the most memory of one pass")
    parser.add_argument("--least", type=int, default=0, help="leave out points of fewer manifests")
    chosen = parser.parse_args(arguments)
    compile_modules()
    bound = Bound(time.monotonic() + chosen.seconds, chosen.gib * 1024)
    print(f"{'templates':>10} {'clusters':>9} {'manifests':>12}   cold: CPU s, s, MiB    one template changed")
    for name in chosen.lines:
        print(f"more {name}:" if name != "both" else "more of both:", flush=True)
        yield from _line([each for each in LINES[name] if each.manifests >= chosen.least], bound)


def _line(points: list[Point], bound: Bound) -> Iterator[Figure]:
    """Measure point after point, until one does not fit."""
    before: tuple[Point, float] | None = None
    for point in points:
        if before is not None:
            grown = before[1] * max(_growth(before[0], point), 1.0)
            if grown > bound.left:
                print(f"{_named(point)}   not begun: about {grown:.0f} s, and {bound.left:.0f} s are left", flush=True)
                return
        begun = time.monotonic()
        for what, cost in zip((COLD, TEMPLATE), _told_costs(point, bound), strict=False):
            if cost.ending:
                return
            scenario = f"curve, {point.clusters} clusters x {point.templates} templates"
            yield figure(scenario, what, cost.cpu, CPU, remark=f"{cost.wall:.1f} s wall, {cost.memory:.0f} MiB")
        before = point, time.monotonic() - begun


def _growth(before: Point, point: Point) -> float:
    """Return how many times as long a point takes as the one before: as its inputs grow, not as its manifests do."""
    return max(point.templates / before.templates, point.clusters / before.clusters)


def _named(point: Point) -> str:
    return f"{point.templates:>10,} {point.clusters:>9,} {point.manifests:>12,}"


def _told_costs(point: Point, bound: Bound) -> Iterator[Cost]:
    """Print the costs of a point, and yield each."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "fleet"
        _write_fleet(source, point)
        cold = cost_of_pass(source, bound, "--bootstrap")
        print(f"{_named(point)}   {_told(cold)}", end="", flush=True)
        yield cold
        if cold.ending:
            print(flush=True)
            return
        _change_template(source)
        changed = cost_of_pass(source, bound)
        print(f"    {_told(changed)}", flush=True)
        yield changed


def _told(cost: Cost) -> str:
    return f"{cost.cpu:>7.1f} {cost.wall:>7.1f} {cost.memory:>7.0f}{f'  {cost.ending}' if cost.ending else ''}"


def cost_of_pass(path: Path, bound: Bound, *options: str) -> Cost:
    """Run a pass in a process of its own, which is ended where it goes beyond its bound."""
    command = [sys.executable, "-m", "reconciler", "-q", "-C", str(path), "reconcile", *options]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, start_new_session=True)
    most, ending = 0.0, ""
    while process.poll() is None:
        most = max(most, _memory(process.pid))
        if most > bound.memory:
            ending = f"ended: more than {bound.memory / 1024:.1f} GiB"
        elif bound.left <= 0:
            ending = "ended: the time is over"
        if ending:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not ending and process.returncode:
        ending = f"exit code {process.returncode}"
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.monotonic() - begun, most, ending)


def _memory(pid: int) -> float:
    """Return the memory of a process and of what it started, in MiB; what they share counts once."""
    total = 0
    for each in (pid, *descendants(pid)):
        with suppress(OSError):  # one that ends has none
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def _write_fleet(path: Path, point: Point) -> None:
    """Commit the source of a fleet, without a work tree: a million files would take longer than to render them."""
    repository = Repository.create(path)
    shape = argparse.Namespace(shape="shared", policies=POLICIES, clusters=point.clusters, templates=point.templates)
    command = ["git", "fast-import", "--quiet", "--force"]
    with subprocess.Popen(command, cwd=path, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(_commit_line("the fleet"))
        for name, content in _files(shape):
            process.stdin.write(b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(content), content))
        process.stdin.close()
    assert process.returncode == 0
    repository.git("symbolic-ref", "HEAD", "refs/heads/main")


def _commit_line(message: str) -> bytes:
    who = f"committer Ada <ada@example.com> {int(time.time())} +0000"
    return f"commit refs/heads/main\n{who}\ndata {len(message)}\n{message}\n".encode()


def _files(shape: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a fleet; templates are the same text but for their numbers, in period of the policies."""
    texts = [emit(a_template(number, shape)).decode() for number in range(POLICIES)]
    for number in range(shape.templates):
        like = number % POLICIES
        text = texts[like].replace(f"app{like:04}", f"app{number:04}").replace(f" of {like}\n", f" of {number}\n")
        yield f"apps/{number // FILES_A_FOLDER:04}/t{number:04}.yaml", text.encode()
    for number in range(shape.clusters):
        cluster = a_cluster(f"member{number:04}", region=REGIONS[number % 4], labels={"stage": f"s{number % 3}"})
        yield f"clusters/{number // FILES_A_FOLDER:04}/member{number:04}.yaml", emit(cluster)
    for number in range(POLICIES):
        yield f"policies/p{number:02}.yaml", emit(a_placing_policy(number, shape))
    for number, override in enumerate(overrides(shape)):
        yield f"policies/override-{number}.yaml", emit(override)


def _change_template(path: Path) -> None:
    """Commit another image of one template."""
    repository = Repository(path)
    name = "apps/0000/t0007.yaml"
    content = repository.show(name, "main").replace("nginx:1.29", "nginx:1.30") + "\n"
    command = ["git", "fast-import", "--quiet", "--force"]
    parent = repository.git("rev-parse", "main")
    given = _commit_line("one template") + f"from {parent}\nM 100644 inline {name}\n".encode()
    given += b"data %d\n%b\n" % (len(content.encode()), content.encode())
    subprocess.run(command, cwd=path, input=given, check=True, timeout=60)
