"""The repository after thousands of passes: its size, the last pass beside the first, and what clones of it cost.

``passes``: real passes one after the other, in this process, each over another image of one template. All go to every
cluster: four of five are the same in clusters of a class, of which there are twelve, and one is divided so that no two
clusters have the same. What passes leave is measured as it is, since each fiftieth pass joins packs, and after
``git gc``. Source commits are written a hundred at a time, as a fetch brings them, so that nearly all of the time is
that of passes.

``history``: passes over a repository in which ten thousand rendered commits are already, beside the same fleet without
them; as in ``bench_past``, these commits are written as passes would have. Without any cache, such as in a fresh clone,
a pass asks git once which source commits changed argosy.yaml, because the settings that somebody accepted first are
trusted most: 0.1 ms for each commit of the source, all of it in git. That alone grows, and the clone remembers it.
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

from .bars import FEWER
from .bench_apply import Cost, compile_modules, cost_of
from .bench_backtest import History, run, source_of, workload_file
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
    """Run passes, and yield what the last ones cost beside the first, and what all of them leave."""
    shape = {"clusters": given.clusters, "templates": given.objects, "policies": 5, "shape": "scattered"}
    make_fleet(folder / "fleet", argparse.Namespace(**shape))
    repository = _bootstrapped(Repository(folder / "fleet"))
    before = stored(repository)
    seconds = _seconds_of_passes(repository, given)
    count = len(seconds)
    scenario = f"repository, passes over {given.objects} objects x {given.clusters} clusters"
    yield figure(scenario, FEWER, given.passes - count, "", remark=f"{count} of {given.passes:,}")
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


def _seconds_of_passes(repository: Repository, given: argparse.Namespace) -> list[float]:
    """Run passes, as many as there is time for, and print what each hundred costs; return the CPU seconds of each."""
    gc.disable()  # as the command line does
    began = time.monotonic()
    ends = began + (60 * given.minutes or float("inf"))
    seconds: list[float] = []
    for commit in _source_commits(repository, random.Random(given.seed), given):
        if time.monotonic() > ends:
            break
        seconds.append(_cost_of_pass_in_process(repository, commit))
        if len(seconds) % _EACH == 0:
            gc.collect()
            cpu, size = statistics.median(seconds[-_EACH:]), stored(repository) / 1e6
            wall = (time.monotonic() - began) / len(seconds)
            said = f"{cpu:.3f} s CPU each, {wall:.3f} s of wall with all that is around them"
            print(f"{len(seconds)} passes: {said}, {size:.2f} MB, {packs(repository)} packs", flush=True)
    return seconds


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


def _source_commits(repository: Repository, draw: random.Random, given: argparse.Namespace) -> Iterator[str]:
    """Yield source commits, each of which gives one template another image; a hundred are stored at once."""
    branch = repository.git("symbolic-ref", "--short", "HEAD")
    template = {app: repository.git("show", f"HEAD:{_path_of(app)}") + "\n" for app in range(given.objects)}
    for first in range(1, given.passes + 1, _EACH):
        with open_repository(str(repository.path)) as opened:
            history = History(repository=opened)
            source, made = history.branch(branch), []
            for number in range(first, min(first + _EACH, given.passes + 1)):
                app, at = draw.randrange(given.objects), BEGIN + timedelta(minutes=1 + number)
                content = re.sub(r"nginx:[\w.]+", f"nginx:1.{number}", template[app]).encode()
                made.append(history.commit(source, {_path_of(app): content}, at, f"Image {number}"))
            history.write()
        yield from made


def _path_of(app: int) -> str:
    return f"apps/t{app:04}.yaml"


def _cost_of_pass_in_process(repository: Repository, commit: str) -> float:
    """Move the source to a commit and run a pass in this process; return its CPU seconds, with those of git."""
    repository.git("update-ref", "HEAD", commit)
    began = _cpu_seconds()
    with redirect_stdout(io.StringIO()):
        code = argosy(["-q", "-C", str(repository.path), "reconcile"])
    assert code == 0, f"pass over {commit} ended with {code}"
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
