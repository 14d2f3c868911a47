"""Delivery at fleet size: a push to many members under ``argosy run``, until each is applied, recorded and healthy.

The members are imitated by one process (``tests/members``), whose answers are Kubernetes' own; what it costs is told
beside what Argosy costs. ``change``: images changed with one push, for all members or, with ``--spread``, for so many
each. ``first``: everything for the first time. ``shards``: an apply by four processes beside one.
``change --members 100 --apps 1000 --changed 1000 --spread 10`` is 1,000 apps changed at once, and
``first --members 500 --apps 100 --parts 1`` is 50,000 objects.

What remains of one changed object among 31, as shares of all that Argosy computes in a pass (a profile, 60 members):
18 requests a member 18 %, a third of it in TLS; the plan of the member's objects 15 %; kubeconfig, TLS context and
handshake 6 %, for a pass is a process of its own and no TLS session outlives one; sending, and what was found, 12 %;
recording 28 %, of which half are the Works of all objects, each compared with what is recorded, and a quarter the
members' records, which name the commit, so that each is written and read back once; rendering 7 %. Fewer requests would
be promises weakened: which cluster it is before a write, what intercepts writes, what scales, and what the ApplySet's
parent names are asked because applying rests on the answers. Reading only what changes would take a pass that goes by
lists of metadata in members it writes to, as it does in idle ones; with equal objects planned once it would spare the
digests, a tenth.

What remains of an object that is new: one request, which applies it. Nothing asks before whether it is there, for its
namespace is not, and it takes no dry run. Some three parts of what Argosy computes are the requests and their answers,
two are the Works and what is recorded of all of them together. 50,000 objects to 500 members took 113 s of CPU, and the
members 129 s, where ``argosy --help`` takes 0.075 s, under a load of 39 that made some late: it took three passes.

What remains of a pass's memory with many members: 75 MiB of imports and 0.3 MiB for a member of 31 objects (164 MiB for
300, and 210 where equal parts of objects are not kept once). A third of that is outside of Python, TLS contexts and
connections; of the rest a half is what no two objects share: times, UIDs, versions, and a status or an owner with
another time in it.

A shard has a part that does not shrink with its share. At 100 members with 91 objects each that is a tenth of what one
process takes: more than half of it the imports of an apply, which 1,000 members make little of. The rest grows with the
fleet, not with the share, an eighth of what a shard of four computes: the status of each changed binding, which is
about all clusters, and the facts and records of all of them. So four shards, one after the other, cost 1.33 times
their quarter at 100 members, and side by side on two processors 1.36 times at 1,000. Shards that end at one moment
move one branch: one that is refused makes its files again for the newer tip, a fifth more where four shards begin and
end together.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.build import AUTHOR, Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment
from tests.controllers import Controller, controller
from tests.members.program import Change, ImitatedMembers, Told, imitated_members
from tests.processes import cpu_seconds, descendants
from tests.waiting import eventually

from .bench_apply import compile_modules
from .figures import CPU, SECONDS, Figure, figure

ROOT = Path(__file__).parent.parent.parent
MOST_SECONDS = 7200.0
SPACE = "apps"
KINDS = ("v1 ConfigMap", "v1 Service", "apps/v1 Deployment")


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of one measurement."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench fleet", description=__doc__)
    parser.add_argument("what", choices=tuple(_SCENARIOS))
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--apps", type=int, default=10, help="apps in every member")
    parser.add_argument("--parts", type=int, default=3, help="objects of an app: a Deployment, a Service, a ConfigMap")
    parser.add_argument("--changed", type=int, default=1, help="apps that get another image with one push")
    parser.add_argument("--spread", type=int, help="members that each app goes to, a divisor of all  [default: all]")
    parser.add_argument("--shards", type=int, default=4, help="processes that share an apply")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--await-health", type=float, default=0.0, help="seconds to wait for health to be recorded")
    parser.add_argument("--healthy-after", type=float, default=0.2, help="seconds that workloads take")
    parser.add_argument("--option", action="append", default=[], help="one more option of argosy run")
    chosen = parser.parse_args(arguments)
    compile_modules()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        yield from _SCENARIOS[chosen.what](Path(folder), chosen)


def scenario_of(chosen: argparse.Namespace) -> str:
    """Return the name of a measurement with its size."""
    each = f", each for {chosen.spread}" if chosen.spread else ""
    what = {
        "change": f"{chosen.changed} of {chosen.apps} apps changed",
        "first": f"{chosen.apps} apps for the first time",
    }
    shared = f"{chosen.changed} of {chosen.apps} apps changed, {chosen.shards} shards"
    return f"fleet, {what.get(chosen.what, shared)}, {chosen.members} members{each}"


class Apps(NamedTuple):
    """The apps of a fleet, the objects of each, and the groups of members that they are for, with a namespace each."""

    number: int
    parts: int
    groups: int = 1

    @classmethod
    def chosen(cls, options: argparse.Namespace) -> "Apps":
        """Return the apps that options ask for."""
        groups = options.members // (options.spread or options.members)
        return cls(options.apps, options.parts, groups)

    def files(self, numbers: Iterable[int], image: str) -> dict[str, Any]:
        """Return the files of apps, one each."""
        return {
            f"apps/app-{number}.yaml": objects_of_app(number, image, self.parts, namespace_of(number % self.groups))
            for number in numbers
        }

    def policies(self) -> list[dict[str, Any]]:
        """Return a policy for each group of members, which has its own namespace."""
        return [
            a_cluster_policy(
                f"group-{group}",
                selectors=[
                    {**dict(zip(("apiVersion", "kind"), kind.split(), strict=True)), "namespace": namespace_of(group)}
                    for kind in KINDS
                ],
                placement={"clusterAffinity": {"labelSelector": {"matchLabels": {"group": str(group)}}}},
            )
            for group in range(self.groups)
        ]


def namespace_of(group: int) -> str:
    """Return the namespace of the apps of a group of members."""
    return f"{SPACE}-{group}"


def objects_of_app(number: int, image: str, parts: int, space: str) -> list[dict[str, Any]]:
    """Return so many objects of an app: what runs, how it is reached, and its settings."""
    name = f"app-{number}"
    deployment = a_deployment(name, namespace=space, image=image)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": space},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}]},
    }
    return [deployment, service, a_config_map(name, namespace=space, settings="level=info\n" * 20)][:parts]


class Fleet(NamedTuple):
    """A bare repository, a clone to push from, the members, and the controller over them, which first took so long."""

    bare: Repository
    work: Repository
    members: ImitatedMembers
    argosy: Controller
    first: float = 0.0

    def push(self, files: dict[str, Any]) -> float:
        """Commit and push; return the time just before the push."""
        self.work.commit(files)
        begun = time.monotonic()
        self.work.git("push", "-q", "origin", "HEAD:main")
        return begun


def a_fleet(folder: Path, names: Sequence[str], apps: Apps) -> tuple[Repository, Repository]:
    """Make a fleet whose members, in groups in turn, get apps."""
    bare, work = Repository.create(folder / "fleet.git", bare=True), Repository.create(folder / "work")
    clusters = {
        f"clusters/{name}.yaml": a_cluster(name, labels={"group": str(number % apps.groups)})
        for number, name in enumerate(names)
    }
    files = apps.files(range(apps.number), "shop/app:1")
    work.commit({**files, **clusters, "policies.yaml": apps.policies()})
    work.git("remote", "add", "origin", str(bare.path))
    work.git("push", "-q", "origin", "HEAD:main")
    return bare, work


@contextmanager
def a_running_fleet(folder: Path, chosen: argparse.Namespace) -> Iterator[Fleet]:
    """Run a controller over a fleet until it has nothing more to do."""
    with imitated_members(
        folder / "members", chosen.members, healthy_after=chosen.healthy_after, seconds=MOST_SECONDS
    ) as members:
        bare, work = a_fleet(folder, members.names, Apps.chosen(chosen))
        began = time.monotonic()
        given = ("--bootstrap", "--kubeconfigs", str(members.kubeconfigs), "--drift", "1h", *chosen.option)
        with controller(folder, str(bare.path), *given, seconds=MOST_SECONDS, is_measured=True) as argosy:
            fleet = Fleet(bare, work, members, argosy)
            took = _is_recorded(fleet, MOST_SECONDS) - began
            told = members.told()
            print(f"{chosen.members} members, {told.objects} objects; the first apply took {took:.1f} s", flush=True)
            print(f"  {_costs(_cpu(argosy), told.cpu, told)}", flush=True)
            try:
                yield fleet._replace(first=took)
            finally:
                argosy.ended()


def _is_recorded(fleet: Fleet, seconds: float, sampled: list[tuple[float, float]] | None = None) -> float:
    """Wait until the status branch says of every member that it holds the newest commit; return when.

    Meanwhile the CPU seconds of the controller are sampled, with their times.
    """
    seen = ""

    def is_told() -> bool:
        nonlocal seen
        if sampled is not None:
            sampled.append((time.monotonic(), _cpu(fleet.argosy)))
        tip = fleet.bare.git("rev-parse", "argosy/status", check=False)
        if tip == seen or len(tip) != 40:
            return False
        seen = tip
        commit = fleet.bare.git("rev-parse", "argosy/rendered")
        source = fleet.bare.git("log", "-1", "--format=%(trailers:key=Argosy-Source,valueonly)", "argosy/rendered")
        if source.strip() != fleet.bare.git("rev-parse", "main"):
            return False
        lacking = fleet.bare.git("grep", "-L", commit, tip, "--", "clusters", check=False)
        return not lacking and bool(fleet.bare.git("ls-tree", f"{tip}:works", check=False))

    eventually(is_told, "everything recorded", seconds=seconds, pause=0.05)
    return time.monotonic()


def _is_recorded_healthy(fleet: Fleet, seconds: float) -> float:
    """Wait until the status branch says of every workload that it is healthy; return when, infinity for not in time."""

    def is_told() -> bool:
        where = ("argosy/status", "--", "works/*/Deployment.apps/*")
        return not fleet.bare.git("grep", "-L", "health: Healthy", *where, check=False)

    try:
        eventually(is_told, "everything recorded as healthy", seconds=seconds, pause=0.2)
    except AssertionError:
        return math.inf
    return time.monotonic()


def _cpu(argosy: Controller) -> float:
    """Return the CPU seconds of a controller and of all that it started."""
    pid = argosy.process.pid
    total = cpu_seconds(pid)
    for each in descendants(pid):
        try:
            total += cpu_seconds(each)
        except OSError:  # it ended just now, and counts with its parent from here on
            continue
    return total


def _costs(argosy: float, members: float, told: Told) -> str:
    """Return the costs of something: CPU seconds of Argosy and of the members, and what went between them."""
    between = f"{told.total} requests over {told.connections} connections, {told.sent / 1e6:.1f} MB"
    return f"CPU: Argosy {argosy:.2f} s, members {members:.2f} s; {between}; {_load()}"


def _load() -> str:
    return f"load {os.getloadavg()[0]:.0f}"


def _most_frequent(requests: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(requests.items(), key=lambda each: -each[1]))


def percentiles(times: Sequence[float]) -> str:
    """Return the median and the ninety-ninth of a hundred."""
    return f"{statistics.median(times):.2f} / {percentile_99(times):.2f}"


def percentile_99(times: Iterable[float]) -> float:
    """Return the time within which 99 of 100 are."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def _first(folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    """Give members everything for the first time."""
    with a_running_fleet(folder, chosen) as fleet:
        requests = _most_frequent(fleet.members.told().requests)
        print(f"  {requests}", flush=True)
        told = fleet.members.told()
        scenario, remark = scenario_of(chosen), f"{told.objects} objects, {_load()}"
        yield figure(scenario, "all applied and recorded", fleet.first, SECONDS, remark=remark)
        yield figure(scenario, "Argosy's CPU", _cpu(fleet.argosy), CPU, remark=f"members {told.cpu:.1f} s")


def _change(folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    """Change images, push, and follow them to every member that has them; the median of the rounds counts."""
    apps, turns = Apps.chosen(chosen), list[Turn]()
    with a_running_fleet(folder, chosen) as fleet:
        for turn in range(chosen.rounds):
            fleet.members.mark()
            cpu, told = _cpu(fleet.argosy), fleet.members.told()
            files = apps.files(range(chosen.changed), f"shop/app:{turn + 2}")
            begun, sampled = fleet.push(files), list[tuple[float, float]]()
            recorded = _is_recorded(fleet, MOST_SECONDS, sampled) - begun
            after, used = fleet.members.told(), _cpu(fleet.argosy) - cpu
            changes = _changes_until_healthy(fleet.members, (chosen.spread or chosen.members) * chosen.changed)
            end = _tell_of_change(changes, begun, recorded)
            spent = next((used - cpu for at, used in sampled if at >= end), 0.0)
            print(f"  Argosy's CPU until the last one was applied: {spent:.2f} s")
            print(f"  {_costs(used, after.cpu - told.cpu, after)}")
            print(f"  {_most_frequent(after.requests)}", flush=True)
            applied, healthy = (
                percentile_99(at - begun for at in times.values()) for times in _times_of_objects(changes)
            )
            turns.append(Turn(applied, healthy, recorded, used, spent))
            if chosen.await_health:
                known = _is_recorded_healthy(fleet, chosen.await_health) - begun
                print(f"  all recorded as healthy: {known:.2f} s", flush=True)
    middle = Turn(*(statistics.median(each) for each in zip(*turns, strict=True)))
    scenario, remark = scenario_of(chosen), f"median of {len(turns)} rounds, {_load()}"
    yield figure(scenario, "push to applied, p99", middle.applied, SECONDS, remark=remark)
    yield figure(scenario, "push to healthy, p99", middle.healthy, SECONDS, remark=remark)
    yield figure(scenario, "push to all recorded as applied", middle.recorded, SECONDS, remark=remark)
    yield figure(scenario, "Argosy's CPU until the last was applied", middle.until_applied, CPU)
    yield figure(scenario, "Argosy's CPU", middle.cpu, CPU)


class Turn(NamedTuple):
    """Seconds of a round, and Argosy's CPU seconds: of all of it, and until the last object was applied."""

    applied: float
    healthy: float
    recorded: float
    cpu: float
    until_applied: float


def _changes_until_healthy(members: ImitatedMembers, count: int) -> list[Change]:
    """Return the changes of workloads, once so many of them were written and are healthy."""
    changes = list[Change]()

    def are_healthy() -> bool:
        changes[:] = [each for each in members.changes() if each.key.startswith("/apps/deployments/")]
        return all(len(times) == count for times in _times_of_objects(changes))

    eventually(are_healthy, f"{count} objects applied and healthy", pause=0.1)
    return changes


def _times_of_objects(changes: Iterable[Change]) -> tuple[dict[tuple[str, str], float], ...]:
    """Return when each object was last written, and when it became healthy after that."""
    written, healthy = dict[tuple[str, str], float](), dict[tuple[str, str], float]()
    for each in changes:
        key = each.member, each.key
        if each.what == "written":
            written[key] = each.at
            healthy.pop(key, None)
        elif each.what == "healthy" and key in written:
            healthy[key] = each.at
    return written, healthy


def _tell_of_change(changes: Sequence[Change], begun: float, recorded: float) -> float:
    """Say how long the objects took to be applied and healthy; return when the last one was applied."""
    applied, healthy = ([at - begun for at in times.values()] for times in _times_of_objects(changes))
    told = f"push to applied {percentiles(applied)}, healthy {percentiles(healthy)}"
    print(f"{told} s (p50 / p99), all recorded as applied {recorded:.2f} s", flush=True)
    return begun + max(applied)


def _shards(folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    """Apply a change by one process, and the next by several that share the members."""
    with imitated_members(folder / "members", chosen.members, seconds=MOST_SECONDS) as members:
        apps = Apps.chosen(chosen)
        _, work = a_fleet(folder, members.names, apps)
        work.git("remote", "remove", "origin")
        argosy = [sys.executable, "-m", "reconciler", "-q", "-C", str(work.path)]
        reach = ["--kubeconfigs", str(members.kubeconfigs), "--timeout", "10m"]
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **AUTHOR}
        _cpu_of([[*argosy, "reconcile", "--bootstrap", *reach]], environment)
        ratios = []
        for turn in range(chosen.rounds):
            costs = []
            for number, shards in enumerate((1, chosen.shards)):
                image = f"shop/app:{turn}-{number}"
                work.commit(apps.files(range(chosen.changed), image))
                _cpu_of([[*argosy, "render", "--commit"]], environment)
                shares = [f"{share}/{shards}" for share in range(1, shards + 1)]
                costs.append(_cpu_of([[*argosy, "apply", *reach, "--shard", share] for share in shares], environment))
            (one,), each = costs
            ratios.append(statistics.mean(each) / (one / chosen.shards))
            print(f"one process {one:.2f} s CPU; {chosen.shards}: {', '.join(f'{cost:.2f}' for cost in each)} s each")
        remark = f"CPU; median of {len(ratios)} rounds, {_load()}"
        middle = statistics.median(ratios)
        yield figure(scenario_of(chosen), "a shard, times its part of one process", middle, "", remark=remark)


def _cpu_of(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> list[float]:
    """Run processes side by side to their end, and return the CPU seconds of each with its children."""
    begun = [
        subprocess.Popen(each, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for each in commands
    ]
    costs = []
    for process in begun:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"{process.args!r}: exit {process.returncode}: {said[-2000:]}"
        costs.append(used.ru_utime + used.ru_stime)
    return costs


_SCENARIOS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Figure]]] = {
    "change": _change,
    "first": _first,
    "shards": _shards,
}
