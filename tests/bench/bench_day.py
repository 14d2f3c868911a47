"""A day of the controller, compressed: its memory while passes for drift, pushes and ticks of cron follow each other.

The fleet has 1,000 templates for 1,000 clusters, of which some are reached (``tests/members``) and the others are left
to agents of their own. A day is 288 passes for
drift and 48 pushes; each push changes one template, rules of cron change replicas every minute of the real time, and
some passes find an object that somebody changed by hand. ``--seconds`` ends a day that is too long for the machine,
which is said; what a day has grown by is told by a tenth of one at least.

Memory is sampled all the while: that of the controller, of the process that forks its passes, of these, and of git
under them, each with its share of the pages that it has in common with others, so that the sum is what the machine
gives. The bar of all is for the most of any sample. A pass after a push takes more than one that finds nothing, and
each of them some MiB more or less than the one before, whatever was done in between. So a quarter of the day is cut
into as many parts as it has pushes, and counts with the median of what is the most in each; a difference below
``UNTOLD`` MiB is none. The controller's growth is the slope of its own data over the last three quarters (least
squares).

What remains of the 147 MiB that a pass for drift takes, in all: 27 are the controller's, 28 are imports, which the
process that forks has and passes share, and 92 the pass's own: the source, the bindings and 5,000 objects of members
as they answered. A push adds the pages of git and of what is rendered and mirrored, up to 235 MiB in all.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from tests.build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment
from tests.controllers import Controller, controller
from tests.members.program import ImitatedMembers, imitated_members
from tests.processes import cpu_seconds, descendants, held_by, share_of
from tests.waiting import eventually

from .bench_apply import compile_modules
from .figures import MEMORY, Figure, figure

MOST_SECONDS = 7200.0
SPACE = "settings"
DRIFT_PASSES, PUSHES = 288, 48
LEAST_PART = 0.1
UNTOLD = 2.0
"""The MiB by which a controller varies from hour to hour: whatever takes memory takes it a MiB at a time."""
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}


class Sample(NamedTuple):
    """The memory of a controller, of its own data, and of all processes under it, in MiB; what else it holds."""

    at: float
    controller: float
    data: float
    passes: float
    threads: int
    descriptors: int

    @property
    def all(self) -> float:
        """The memory of the controller and of all processes under it."""
        return self.controller + self.passes


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Run a day, and yield what the controller holds, and how that grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench day", description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--members", type=int, default=5, help="clusters that are reached")
    parser.add_argument("--seconds", type=float, default=1800.0, help="the longest that the day may take")
    chosen = parser.parse_args(arguments)
    compile_modules()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        yield from _day(Path(folder), chosen)


def _day(folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    with imitated_members(folder / "members", chosen.members, prefix="cluster-", seconds=MOST_SECONDS) as members:
        bare, work = _a_fleet(folder, members.names, chosen)
        reach = ("--bootstrap", "--kubeconfigs", str(members.kubeconfigs), "--drift", "1s", "--timeout", "10m")
        with controller(folder, str(bare.path), *reach, seconds=MOST_SECONDS, is_measured=True) as argosy:
            _passes_end(argosy, 2)
            with _sampled_memory(argosy) as samples:
                begun, cpu = time.monotonic(), _cpu(argosy)
                done = _hours(argosy, work, members, begun + chosen.seconds)
                spent, took = _cpu(argosy) - cpu, time.monotonic() - begun
            argosy.ended()
    scenario = f"day, {chosen.templates} templates in {chosen.clusters} clusters, {chosen.members} of them reached"
    print(f"{done} of {DRIFT_PASSES + PUSHES} passes of a day in {took:.0f} s, {spent:.0f} s CPU")
    yield from _of_samples(scenario, samples, done / (DRIFT_PASSES + PUSHES))


def _a_fleet(folder: Path, reached: Sequence[str], chosen: argparse.Namespace) -> tuple[Repository, Repository]:
    bare, work = Repository.create(folder / "fleet.git", bare=True), Repository.create(folder / "work")
    others = [f"pulling-{number}" for number in range(chosen.clusters - len(reached))]
    maps = {f"maps/{number}.yaml": _settings(number, "first") for number in range(chosen.templates)}
    policy = a_cluster_policy("all", selectors=[CONFIG_MAP, DEPLOYMENT], placement={})
    clusters = [*map(a_cluster, reached), *(a_cluster(name, syncMode="Pull") for name in others)]
    work.commit({"clusters.yaml": clusters, "policy.yaml": policy, "cron.yaml": _ticking(), **maps})
    work.git("remote", "add", "origin", str(bare.path))
    work.git("push", "-q", "origin", "HEAD:main")
    return bare, work


def _settings(number: int, text: str) -> dict[str, Any]:
    return a_config_map(f"settings-{number}", namespace=SPACE, text=text)


def _ticking() -> list[dict[str, Any]]:
    """Return a workload whose replicas rules of cron change every minute."""
    rules = [
        {"name": name, "schedule": schedule, "targetReplicas": replicas}
        for name, schedule, replicas in (("even", "*/2 * * * *", 2), ("odd", "1-59/2 * * * *", 3))
    ]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "ticking"}
    cron = {
        "apiVersion": "autoscaling.karmada.io/v1alpha1",
        "kind": "CronFederatedHPA",
        "metadata": {"name": "ticks", "namespace": SPACE},
        "spec": {"scaleTargetRef": target, "rules": rules},
    }
    return [a_deployment("ticking", namespace=SPACE), cron]


def _hours(argosy: Controller, work: Repository, members: ImitatedMembers, end: float) -> int:
    """Push and let passes for drift run until the day or the time is over; return how many passes there were."""
    before, pushes = argosy.said.count("pass ended"), 0
    done = 0
    while done < DRIFT_PASSES + PUSHES and time.monotonic() < end:
        if pushes < PUSHES and pushes * (DRIFT_PASSES + PUSHES) <= done * PUSHES:
            work.commit({"maps/3.yaml": _settings(3, f"push {pushes}")})
            work.git("push", "-q", "origin", "HEAD:main")
            pushes += 1
            if pushes % 4 == 0:
                _change_by_hand(members, pushes)
        _passes_end(argosy, before + done + 1)
        done = argosy.said.count("pass ended") - before
    return done


def _change_by_hand(members: ImitatedMembers, turn: int) -> None:
    member = members.members[turn % len(members.members)]
    path, content = f"/api/v1/namespaces/{SPACE}/configmaps/settings-7", {"data": {"text": f"by hand {turn}"}}
    status, answer = member.request("PATCH", path, content, content_type="application/merge-patch+json")
    assert status == HTTPStatus.OK, answer


def _passes_end(argosy: Controller, count: int) -> None:
    def is_so() -> bool:
        assert argosy.process.poll() is None, argosy.said[-2000:]
        return argosy.said.count("pass ended") >= count

    eventually(is_so, f"pass {count}", seconds=1200, pause=0.1)


@contextmanager
def _sampled_memory(argosy: Controller) -> Iterator[list[Sample]]:
    """Sample the memory of the controller and of its passes for as long as the block."""
    samples, is_over = list[Sample](), threading.Event()

    def sample() -> None:
        begun = time.monotonic()
        while not is_over.wait(0.2):
            pid, passes = argosy.process.pid, 0.0
            held, own = held_by(pid), share_of(pid)
            for each in descendants(pid):
                with suppress(OSError, KeyError):  # it ends just now
                    passes += share_of(each).memory
            at = time.monotonic() - begun
            samples.append(Sample(at, own.memory, own.data, passes, held.threads, held.descriptors))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        is_over.set()
        thread.join()


def _of_samples(scenario: str, samples: Sequence[Sample], part_of_day: float) -> Iterator[Figure]:
    """Print the series, in quarters, and yield the most and the growth."""
    quarters = _parts(samples, 4)
    print(f"{'quarter':8} {'data':>7} {'controller':>11} {'its passes':>11} {'all':>7} {'at most':>8}  MiB; held")
    for number, part in enumerate(quarters, start=1):
        data, own, passes, both = (_usual_most(part, each) for each in ("data", "controller", "passes", "all"))
        held = f"{max(each.threads for each in part)} threads, {max(each.descriptors for each in part)} descriptors"
        most = max(each.all for each in part)
        print(f"{number:<8} {data:>7.1f} {own:>11.1f} {passes:>11.1f} {both:>7.1f} {most:>8.1f}  {held}")
    later = [each for part in quarters[1:] for each in part]
    days = [each.at / samples[-1].at * part_of_day for each in later]
    slope = statistics.linear_regression(days, [each.data for each in later]).slope
    growth = [_growth(*(_usual_most(quarters[number], each) for number in (1, 3))) for each in ("controller", "all")]
    yield figure(scenario, "memory of the controller and its passes", max(each.all for each in samples), MEMORY)
    remark = f"{part_of_day:.0%} of a day was run"
    if part_of_day < LEAST_PART:
        print(f"  {remark}, which tells nothing of growth")
        return
    yield figure(
        scenario, "growth of the controller in a day", max(0.0, slope), MEMORY, remark=f"{slope:+.2f}; {remark}"
    )
    yield figure(scenario, "the most of the last quarter, times the second", max(growth), "", remark=remark)


def _parts(samples: Sequence[Sample], count: int) -> list[Sequence[Sample]]:
    """Return so many parts of samples, equally long, as far as there are enough."""
    length = max(1, len(samples) // count)
    return [samples[number * length : (number + 1) * length] for number in range(min(count, len(samples)))]


def _usual_most(samples: Sequence[Sample], name: str) -> float:
    """Return the most of something in a part of a quarter of a day, as it is in most of them."""
    most = [max(float(getattr(each, name)) for each in part) for part in _parts(samples, PUSHES // 4)]
    return statistics.median(most)


def _growth(before: float, after: float) -> float:
    """Return how many times as much something is, unless that is as good as the same.

    >>> [_growth(100, 101), _growth(100, 110), _growth(100, 90)]
    [1.0, 1.1, 0.9]
    """
    return after / before if abs(after - before) > UNTOLD else 1.0


def _cpu(argosy: Controller) -> float:
    """Return the CPU seconds of a controller and of its passes."""
    pid = argosy.process.pid
    total = cpu_seconds(pid)
    for each in descendants(pid):
        with suppress(OSError):
            total += cpu_seconds(each)
    return total
