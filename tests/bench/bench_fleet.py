"""Delivery at fleet size: a push to many members under ``argosy run``, until each is applied, healthy and recorded.

The members are imitated by one process (``tests/members``), whose answers are Kubernetes' own; what it costs is told
beside what Argosy costs. ``change``: one image changed for all members.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment
from tests.controllers import Controller, controller
from tests.members.program import Change, ImitatedMembers, Told, imitated_members
from tests.processes import cpu_seconds, descendants
from tests.waiting import eventually

from .bench_apply import compile_modules

MOST_SECONDS = 7200.0
SPACE = "apps"
KINDS = ("v1 ConfigMap", "v1 Service", "apps/v1 Deployment")


def main(arguments: list[str]) -> int:
    """Run one measurement."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench fleet", description=__doc__)
    parser.add_argument("what", choices=("change",))
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--apps", type=int, default=10, help="apps in every member, each of three objects")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--healthy-after", type=float, default=0.2, help="seconds that workloads take")
    parser.add_argument("--option", action="append", default=[], help="one more option of argosy run")
    chosen = parser.parse_args(arguments)
    compile_modules()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        return _change(Path(folder), chosen)


def objects_of_app(number: int, image: str) -> list[dict[str, Any]]:
    """Return the objects of an app: what runs, how it is reached, and its settings."""
    name = f"app-{number}"
    deployment = a_deployment(name, namespace=SPACE, image=image)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}]},
    }
    return [deployment, service, a_config_map(name, namespace=SPACE, settings="level=info\n" * 20)]


class Fleet(NamedTuple):
    """A bare repository, a clone to push from, the members, and the controller over them."""

    bare: Repository
    work: Repository
    members: ImitatedMembers
    argosy: Controller

    def push(self, files: dict[str, Any]) -> float:
        """Commit and push; return the time just before the push."""
        self.work.commit(files)
        begun = time.monotonic()
        self.work.git("push", "-q", "origin", "HEAD:main")
        return begun


def a_fleet(folder: Path, names: Sequence[str], apps: int) -> tuple[Repository, Repository]:
    """Make a fleet whose members all get so many apps."""
    bare, work = Repository.create(folder / "fleet.git", bare=True), Repository.create(folder / "work")
    selectors = [dict(zip(("apiVersion", "kind"), kind.split(), strict=True)) for kind in KINDS]
    files: dict[str, Any] = {f"apps/app-{number}.yaml": objects_of_app(number, "shop/app:1") for number in range(apps)}
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in names}
    work.commit({**files, **clusters, "policy.yaml": a_cluster_policy("all", selectors=selectors, placement={})})
    work.git("remote", "add", "origin", str(bare.path))
    work.git("push", "-q", "origin", "HEAD:main")
    return bare, work


@contextmanager
def a_running_fleet(folder: Path, chosen: argparse.Namespace) -> Iterator[Fleet]:
    """Run a controller over a fleet until it has nothing more to do."""
    began = time.monotonic()
    with imitated_members(
        folder / "members", chosen.members, healthy_after=chosen.healthy_after, seconds=MOST_SECONDS
    ) as members:
        bare, work = a_fleet(folder, members.names, chosen.apps)
        given = ("--bootstrap", "--kubeconfigs", str(members.kubeconfigs), "--drift", "1h", *chosen.option)
        with controller(folder, str(bare.path), *given, seconds=MOST_SECONDS, is_measured=True) as argosy:
            fleet = Fleet(bare, work, members, argosy)
            _is_recorded(fleet, MOST_SECONDS)
            told, took = members.told(), time.monotonic() - began
            print(f"{chosen.members} members, {told.objects} objects; the first apply took {took:.1f} s", flush=True)
            print(f"  {_costs(_cpu(argosy), told.cpu, told)}", flush=True)
            try:
                yield fleet
            finally:
                argosy.ended()


def _is_recorded(fleet: Fleet, seconds: float) -> float:
    """Wait until the status branch says of every member that it holds the newest commit, healthy; return when."""
    seen = ""

    def is_told() -> bool:
        nonlocal seen
        tip = fleet.bare.git("rev-parse", "argosy/status", check=False)
        if tip == seen or len(tip) != 40:
            return False
        seen = tip
        commit = fleet.bare.git("rev-parse", "argosy/rendered")
        source = fleet.bare.git("log", "-1", "--format=%(trailers:key=Argosy-Source,valueonly)", "argosy/rendered")
        if source.strip() != fleet.bare.git("rev-parse", "main"):
            return False
        lacking = fleet.bare.git("grep", "-L", commit, tip, "--", "clusters", check=False)
        ill = fleet.bare.git("grep", "-L", "Healthy", tip, "--", "works/*/Deployment/*", check=False)
        return not lacking and not ill and bool(fleet.bare.git("ls-tree", f"{tip}:works", check=False))

    eventually(is_told, "everything healthy and recorded", seconds=seconds, pause=0.05)
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
    return f"CPU: Argosy {argosy:.2f} s, members {members:.2f} s; {between}; load {os.getloadavg()[0]:.0f}"


def _most_frequent(requests: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(requests.items(), key=lambda each: -each[1]))


def percentiles(times: Sequence[float]) -> str:
    """Return the median and the ninety-ninth of a hundred."""
    ordered = sorted(times)
    return f"{statistics.median(ordered):.2f} / {ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]:.2f}"


def _change(folder: Path, chosen: argparse.Namespace) -> int:
    """Change one image, push, and follow it to every member."""
    with a_running_fleet(folder, chosen) as fleet:
        for turn in range(chosen.rounds):
            fleet.members.mark()
            cpu, told = _cpu(fleet.argosy), fleet.members.told()
            begun = fleet.push({"apps/app-0.yaml": objects_of_app(0, f"shop/app:{turn + 2}")})
            recorded = _is_recorded(fleet, MOST_SECONDS) - begun
            after = fleet.members.told()
            changes = fleet.members.changes()
            _tell_of_change(changes, begun, recorded, chosen.members)
            print(f"  {_costs(_cpu(fleet.argosy) - cpu, after.cpu - told.cpu, after)}")
            print(f"  {_most_frequent(after.requests)}", flush=True)
    return 0


def _tell_of_change(changes: Sequence[Change], begun: float, recorded: float, members: int) -> None:
    key = f"/apps/deployments/{SPACE}/app-0"
    applied = {each.member: each.at - begun for each in changes if each.key == key and each.what == "written"}
    healthy = {each.member: each.at - begun for each in changes if each.key == key and each.what == "healthy"}
    assert len(applied) == members, f"only {len(applied)} members were applied to"
    times = f"push to applied {percentiles([*applied.values()])}, healthy {percentiles([*healthy.values()])}"
    print(f"{times} s (p50 / p99), all recorded {recorded:.2f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
