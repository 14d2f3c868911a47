"""Status: commits of idle passes, growth of busy ones, and agents that push at once.

Options: ``--idle --facts --agents --rounds --passes --clusters --objects``, each a number; 0 leaves a part out.
Members are in memory, repositories and pushes real. Growth of ``--passes`` busy passes is measured after ``git gc``, as
maintenance leaves it, after every hundred.
"""

import argparse
import gc
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import StatusBranch
from reconciler.repository import open_repository
from render.errors import ReconcileError
from tests.build import AUTHOR, Repository, a_cluster, a_config_map, a_deployment, a_policy
from tests.memory_fleet import MemoryFleet, add_pod, settle

_HUNDRED = 100
_NODE = {"cpu": "64", "memory": "256Gi", "pods": "500"}


def main(argv: list[str]) -> int:
    """Run the benchmarks and print a line each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench status")
    for name, default in (
        ("idle", 200),
        ("facts", 200),
        ("passes", 100),
        ("clusters", 50),
        ("objects", 200),
        ("agents", 100),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args(argv)
    os.environ.update(AUTHOR)
    # As the command line does; what the members in memory hold would be looked through again and again.
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        if options.idle:
            _idle(Path(folder) / "idle", options.idle)
        if options.facts:
            _facts(Path(folder) / "facts", options.facts)
        if options.agents:
            _agents(Path(folder) / "agents", options.agents, options.rounds)
        if options.passes:
            _busy(Path(folder) / "busy", options.clusters, options.objects, options.passes)
    return 0


def _fleet(folder: Path, clusters: int, objects: int) -> MemoryFleet:
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
    files = {f"app-{number}.yaml": _object(number, 0) for number in range(objects)}
    names = {f"member{number:03}": (3, _NODE) for number in range(clusters)}
    return MemoryFleet.create(
        folder, names, {**files, "policy.yaml": a_policy("all", selectors=selectors, placement={})}
    )


def _object(number: int, version: int) -> dict[str, object]:
    if number % 4:
        return a_config_map(f"settings-{number:03}", version=str(version))
    return a_deployment(f"app-{number:03}", image=f"app:{version}")


def _idle(folder: Path, passes: int) -> None:
    """Let passes see pods come and go, but nothing that is worth a commit."""
    fleet = _fleet(folder, 3, 20)
    fleet.run()
    for member in fleet.members.values():
        settle(member)
    fleet.run(60)
    before = fleet.repository.git("rev-parse", "argosy/status", "argosy/rendered")
    began = time.process_time()
    for _number in range(passes):
        fleet.run(60)
    cpu = (time.process_time() - began) / passes
    moved = fleet.repository.git("rev-parse", "argosy/status", "argosy/rendered") != before
    print(
        f"{passes} idle passes over 3 clusters x 20 objects: {'MOVED' if moved else '0 commits'}; CPU {cpu:.3f} s each"
    )


def _facts(folder: Path, passes: int) -> None:
    """Let capacity change in every pass, and the source never."""
    dynamic = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    }
    template = a_deployment("web", replicas=60)
    template["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}}
    policy = a_policy(
        placement={"replicaScheduling": dynamic}, selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}]
    )
    names = {"big": (3, _NODE), "middle": (2, _NODE), "small": (1, _NODE)}
    fleet = MemoryFleet.create(folder, names, {"web.yaml": template, "policy.yaml": policy})
    fleet.run()
    binding = "argosy/rendered:bindings/default/Deployment.apps/web.yaml"
    before, moves, random = fleet.repository.git("rev-parse", binding), 0, Random(1)
    for number in range(passes):
        member = fleet.members[random.choice(sorted(names))]
        add_pod(member, f"other-{number % 40}", node=f"node-{random.randrange(3)}", cpu=f"{random.randrange(1, 64)}")
        fleet.run(random.choice((30, 60, 700)))
        moves += fleet.repository.git("rev-parse", binding) != before
    rendered, status = (
        fleet.repository.git("rev-list", "--count", f"argosy/{name}") for name in ("rendered", "status")
    )
    print(
        f"{passes} passes with new facts alone: {moves} bindings moved; {rendered} rendered and {status} status commits"
    )


def _busy(folder: Path, clusters: int, objects: int, passes: int) -> None:
    """Change an object in every pass; workloads become ready in between, pods of others come."""
    fleet = _fleet(folder, clusters, objects)
    began = time.process_time()
    fleet.run()
    first = time.process_time() - began
    began = time.process_time()
    fleet.run(60)
    print(f"{clusters} x {objects}: CPU of the first pass {first:.1f} s, second {time.process_time() - began:.1f} s")
    size = _size(fleet.repository)
    print(f"{size / 1e6:.2f} MB before the busy passes", flush=True)
    for begin in range(0, passes, _HUNDRED):
        count = min(_HUNDRED, passes - begin)
        began = time.process_time()
        for number in range(begin, begin + count):
            _busy_pass(fleet, number, objects)
        cpu, left = (time.process_time() - began) / count, _stored(fleet.repository)
        before, size = size, _size(fleet.repository)
        commits = fleet.repository.git("rev-list", "--count", "argosy/status")
        print(
            f"{begin + count} busy passes: {(size - before) * _HUNDRED / count / 1e6:.2f} MB more per 100 after"
            f" maintenance, {size / 1e6:.2f} MB in all, {left / 1e6:.2f} MB before it;"
            f" {commits} status commits; CPU {cpu:.2f} s each",
            flush=True,
        )


def _busy_pass(fleet: MemoryFleet, number: int, objects: int) -> None:
    changed = number % objects
    fleet.repository.commit({f"app-{changed}.yaml": _object(changed, number + 1)})
    fleet.run(60)
    for name, member in fleet.members.items():
        settle(member)
        if number % 10 == 0:
            add_pod(member, f"other-{number}-{name}", node="node-0", cpu="2500m")
        member.requests.clear()
    if number % 10 == 0:
        gc.collect()


def _size(repository: Repository) -> int:
    repository.git("gc", "-q", "--prune=now")
    return _stored(repository)


def _stored(repository: Repository) -> int:
    return sum(file.stat().st_size for file in (repository.path / ".git" / "objects").rglob("*") if file.is_file())


@dataclass
class _Agent:
    """A pulling cluster with a clone of its own."""

    name: str
    folder: Path
    rejected: int = 0
    pushed: int = 0

    def push(self, number: int) -> None:
        status = {"conditions": [{"type": "Ready", "status": "True", "reason": f"Round{number}"}]}
        manifest = {**a_cluster(self.name), "status": status}
        with open_repository(str(self.folder)) as repository:
            publication = Publication(repository=repository, remote="origin")
            branch = StatusBranch(publication=publication, branch=f"argosy/agent/{self.name}")
            try:
                done = branch.commit(
                    lambda _tip: {f"clusters/{self.name}.yaml": _as_file(manifest)}, "Told", time=number
                )
                self.pushed += done is not None
            except ReconcileError:
                self.rejected += 1


def _as_file(manifest: dict[str, object]) -> bytes:
    from render.documents import emit

    return emit(manifest)


def _agents(folder: Path, count: int, rounds: int) -> None:
    """Let every agent push its own branch in every round, all at once, and fold all of them in after each round."""
    fleet = MemoryFleet.create(folder / "fleet", {f"puller{number:03}": None for number in range(count)}, {})
    fleet.run()
    hub = folder / "hub.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(folder / "fleet"), str(hub)], check=True)
    fleet.repository.git("remote", "add", "origin", str(hub))
    fleet.repository.git("fetch", "-q", "origin")
    agents = []
    for number in range(count):
        clone = Repository.create(folder / f"agent-{number:03}")
        clone.git("remote", "add", "origin", str(hub))
        agents.append(_Agent(f"puller{number:03}", clone.path))
    began, folding = time.monotonic(), 0.0
    for number in range(1, rounds + 1):
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda agent, number=number: agent.push(number), agents))
        started = time.process_time()
        fleet.run(60)
        folding += time.process_time() - started
    pushed, rejected = sum(agent.pushed for agent in agents), sum(agent.rejected for agent in agents)
    told = sum(
        "Round" in fleet.repository.show(f"clusters/{agent.name}.yaml", "origin/argosy/status") for agent in agents
    )
    print(
        f"{count} agents, {rounds} rounds: {pushed} pushes, {rejected} rejected, {told} folded in; "
        f"{time.monotonic() - began:.0f} s in all, CPU of folding {folding / rounds:.2f} s a round"
    )
