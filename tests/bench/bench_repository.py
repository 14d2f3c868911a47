"""The repository after thousands of passes: its size, the last pass beside the first, and what clones of it cost.

``passes``: real passes one after the other, in this process, each over another image of one template. All go to every
cluster: four of five are the same in clusters of a class, of which there are twelve, and one is divided so that no two
clusters have the same. What passes leave is measured as it is, since each fiftieth pass joins packs, and after
``git gc``.

``history``: passes over a repository in which ten thousand rendered commits are already, beside the same fleet without
them; as in ``bench_past``, these commits are written as passes would have.
"""

import argparse
import gc
import io
import os
import random
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from datetime import timedelta
from functools import partial
from pathlib import Path

from reconciler.cli import run as argosy
from reconciler.repository import open_repository
from render.timing import instant_text
from tests.backtesting import commit_at
from tests.build import AUTHOR, Repository
from tests.simulation import BEGIN

from .bench_apply import Cost, compile_modules, cost_of
from .bench_backtest import run, source_of, workload_file
from .bench_past import lived_fleet
from .bench_render import make_fleet
from .figures import CPU, Figure, figure

_EACH = 100
_SAME = "times the same without history"


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of many passes, of a long history, or of both."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench repository", description=__doc__)
    parser.add_argument("what", nargs="*", metavar="PART", help="passes, history; both unless one is named")
    parser.add_argument("--passes", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=0.0, help="end after so long, with fewer passes")
    parser.add_argument("--commits", type=int, default=10_000, help="rendered commits of a history")
    parser.add_argument("--objects", type=int, default=200)
    parser.add_argument("--clusters", type=int, default=50)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    os.environ.update(AUTHOR)
    compile_modules()
    with tempfile.TemporaryDirectory() as folder:
        if "passes" in given.what or not given.what:
            yield from _of_passes(Path(folder) / "passes", given)
        if "history" in given.what or not given.what:
            yield from _of_history(Path(folder) / "history", given)


def _of_passes(folder: Path, given: argparse.Namespace) -> Iterator[Figure]:
    """Run passes, and print what each hundred costs and leaves."""
    shape = {"clusters": given.clusters, "templates": given.objects, "policies": 5, "shape": "scattered"}
    make_fleet(folder / "fleet", argparse.Namespace(**shape))
    repository = _bootstrapped(Repository(folder / "fleet"))
    gc.disable()  # as the command line does
    draw, ends = random.Random(given.seed), time.monotonic() + (60 * given.minutes or float("inf"))
    seconds: list[float] = []
    before = stored(repository)
    while len(seconds) < given.passes and time.monotonic() < ends:
        seconds.append(_a_pass(repository, draw.randrange(given.objects), len(seconds) + 1))
        if len(seconds) % _EACH == 0:
            gc.collect()
            cpu, size = statistics.median(seconds[-_EACH:]), stored(repository) / 1e6
            print(f"{len(seconds)} passes: {cpu:.3f} s CPU each, {size:.2f} MB, {packs(repository)} packs", flush=True)
    count = len(seconds)
    scenario = f"repository, passes over {given.objects} objects x {given.clusters} clusters"
    first, last = (statistics.median(part) for part in (seconds[:_EACH], seconds[-_EACH:]))
    remark = f"of {count}; {1000 * first:.0f} ms of CPU, then {1000 * last:.0f} ms"
    yield figure(scenario, "the last hundred passes, times the first", last / first, "", remark=remark)
    left = stored(repository)
    remark = f"{left / 1e6:.1f} MB after {count} passes, {packs(repository)} packs"
    yield figure(scenario, "a pass, as passes leave it", (left - before) / count / 1000, "kB", remark=remark)
    cost = cost_of(["git", "-C", str(repository.path), "gc", "-q", "--prune=now"])
    size = stored(repository)
    remark = f"{size / 1e6:.1f} MB, with source commits; {cost.cpu:.1f} s of CPU"
    yield figure(scenario, "a pass, after git gc", (size - before) / count / 1000, "kB", remark=remark)
    for what, size, cost in _clones(repository, folder):
        remark = f"{size / 1e6:.1f} MB in {cost.wall:.1f} s, {cost.cpu:.2f} s of CPU"
        yield figure(scenario, f"a pass, in a {what}", size / count / 1000, "kB", remark=remark)


def _clones(repository: Repository, folder: Path) -> Iterator[tuple[str, int, Cost]]:
    """Clone everything, everything but contents, and the last commit of each branch; yield bytes and costs."""
    repository.git("config", "uploadpack.allowFilter", "true")
    ways = {"clone": (), "partial clone": ("--filter=blob:none",), "shallow clone": ("--depth=1", "--no-single-branch")}
    for what, options in ways.items():
        target = folder / what.replace(" ", "-")
        cost = cost_of(["git", "clone", "-q", "--bare", *options, f"file://{repository.path}", str(target)])
        yield what, stored(Repository(target), bare=True), cost


def _bootstrapped(repository: Repository) -> Repository:
    run(repository.path, "-q", "reconcile", "--bootstrap", "--now", instant_text(BEGIN + timedelta(minutes=1)))
    return repository


def _a_pass(repository: Repository, app: int, number: int) -> float:
    """Change an image and run a pass in this process; return its CPU seconds, with those of git."""
    path = f"apps/t{app:04}.yaml"
    content = re.sub(r"nginx:[\w.]+", f"nginx:1.{number}", (repository.path / path).read_text())
    repository.commit({path: content}, f"Image {number}")
    began = _cpu_seconds()
    with redirect_stdout(io.StringIO()):
        code = argosy(["-q", "-C", str(repository.path), "reconcile"])
    assert code == 0, f"pass {number} ended with {code}"
    return _cpu_seconds() - began


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it waited for."""
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _of_history(folder: Path, given: argparse.Namespace) -> Iterator[Figure]:
    """Run passes, each in a process of its own, over a fleet with a history and over one without, turn by turn."""
    long = lived_fleet(folder, argparse.Namespace(**{**vars(given), "gc": False}))
    short = Repository.create(folder / "short")
    commit_at(short, source_of(given.clusters, given.objects), BEGIN)
    _bootstrapped(short)
    scenario = f"repository, {given.commits} rendered commits, {given.objects} objects x {given.clusters} clusters"
    for repository in (long, short):
        _cost_of_pass(repository)
    turns: dict[str, Callable[[Repository, int], float]] = {
        "one template changed": partial(_changed_cost, given=given),
        "nothing changed": lambda repository, _number: _cost_of_pass(repository),
        "one template changed, no checkpoint": partial(_changed_cost, given=given, is_forgetful=True),
    }
    for what, turn in turns.items():
        pairs = [(turn(long, number), turn(short, number)) for number in range(given.runs)]
        mine, other = (statistics.median(each) for each in zip(*pairs, strict=True))
        yield figure(scenario, what, mine, CPU)
        times = statistics.median(one / two for one, two in pairs)
        yield figure(scenario, f"{what}, {_SAME}", times, "", remark=f"{other:.3f} s without")


def _changed_cost(
    repository: Repository, number: int, *, given: argparse.Namespace, is_forgetful: bool = False
) -> float:
    image = f"other:{number}-{is_forgetful}"
    repository.commit(workload_file(number % given.objects, image), f"Image {image}")
    if is_forgetful:
        forget(repository)
    return _cost_of_pass(repository)


def forget(repository: Repository) -> None:
    """Remove what a pass keeps for the next one."""
    with open_repository(str(repository.path)) as opened:
        for path in opened.cache_dir.iterdir():
            if path.is_file():
                path.unlink()


def _cost_of_pass(repository: Repository) -> float:
    return cost_of([sys.executable, "-m", "reconciler", "-q", "-C", str(repository.path), "reconcile"]).cpu


def stored(repository: Repository, *, bare: bool = False) -> int:
    """Return the bytes of a repository's objects."""
    folder = repository.path / ("objects" if bare else ".git/objects")
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def packs(repository: Repository) -> int:
    """Return how many packs a repository has."""
    return len(list((repository.path / ".git" / "objects" / "pack").glob("*.pack")))
