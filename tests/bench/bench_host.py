"""Many agents on one Git host: its requests, bytes and CPU for one changed template, and at rest.

The host is git's own ``http-backend`` on loopback (``git_host``), with a branch for each of 1,000 clusters that pull
and one for each of their agents. Fifty processes run the agents' passes side by side, each its part of them one by one;
the members are in memory. A look is what an agent does every 30 seconds, and a pass for drift every five minutes asks
Git the same. In the end a template changes once more, while the host hides the branches of others from each agent. The
host's CPU is that of its git processes. With ``--agents 200`` only some of the agents run.
"""

import argparse
import io
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.cli import run
from reconciler.console.log import Log
from reconciler.passes.agent_pass import Agent, AgentOptions, run_agent_pass
from reconciler.repository import open_repository_for_branches
from tests.build import AUTHOR, Repository, a_cluster, a_cluster_policy, a_deployment
from tests.fakes import FakeCluster
from tests.wires import a_certificate

from .figures import BYTES, Figure, figure
from .git_host import HostWork, git_host

NAMESPACES = 5
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
CHANGED, HIDDEN = "one changed template", ", others hidden"
TURNS = ("first pass", "told what it did", CHANGED, "nothing new", "a look at rest", f"{CHANGED}{HIDDEN}")


class Turn(NamedTuple):
    """The turn of the agents of one process: how many they are, their CPU seconds with children, and their faults."""

    agents: int
    cpu: float
    faults: tuple[str, ...]


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Run the agents through a change and a time of rest; yield what that costs the host, and what failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench host", description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000, help="clusters that pull")
    parser.add_argument("--agents", type=int, default=1000, help="those of them whose agents run")
    parser.add_argument("--templates", type=int, default=50)
    parser.add_argument("--processes", type=int, default=50)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        yield from _measured(Path(folder), chosen)


def _measured(folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    scenario = f"host, {chosen.agents} agents of {chosen.clusters} clusters, {chosen.templates} templates"
    rows: dict[str, HostRow] = {}
    source, counted, certificate = _fleet(folder / "fleet", chosen), HostWork(), a_certificate(folder)
    workers = [_Worker(folder, number, chosen) for number in range(chosen.processes)]  # before there is any thread
    try:
        with git_host(source.path / ".git", certificate, counted) as address:
            print(f"{chosen.clusters} clusters pull {chosen.templates} templates; the agents of {chosen.agents} run")
            print(
                f"{'':36} {'requests':>9} {'MB in':>8} {'MB out':>8} {'host CPU s':>11} {'agents CPU s':>13} {'s':>6}"
            )
            for turn, name in enumerate(TURNS):
                counted.is_hiding = HIDDEN in name
                if name.startswith(CHANGED):
                    source.commit({"template-3.yaml": _template(3, f"nginx:{turn}")})
                    _reconcile(source)
                what = "look" if "look" in name else "pass"
                rows[name] = _row(name, workers, counted, address, what)
    finally:
        for worker in workers:
            worker.end()
    for name in (CHANGED, f"{CHANGED}{HIDDEN}", "a look at rest"):
        row = rows[name]
        yield figure(scenario, f"{name}, of one agent", row.size, BYTES, remark=f"{row.requests:.2f} requests")
        yield figure(scenario, f"{name}, the host's CPU for one agent", 1000 * row.cpu, "CPU ms")
    faults = [fault for row in rows.values() for fault in row.faults]
    print("\n".join(faults[:10]))
    yield figure(scenario, "agents that failed", len(faults), "")


class HostRow(NamedTuple):
    """The cost of one agent's turn to the host: requests, bytes and CPU seconds; and the faults of all."""

    requests: float
    size: float
    cpu: float
    faults: tuple[str, ...]


class _Worker:
    """A process that runs its part of the agents."""

    def __init__(self, folder: Path, number: int, chosen: argparse.Namespace) -> None:
        names = [f"cluster-{each}" for each in range(number, chosen.agents, chosen.processes)]
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=_work, args=(folder, names, other), daemon=True)
        self._process.start()

    def end(self) -> None:
        """Let the process end."""
        with suppress(BrokenPipeError):  # it has ended by itself
            self.pipe.send(None)
        self._process.join(timeout=30)


def _work(folder: Path, names: Sequence[str], pipe: Connection) -> None:
    """Do what is asked with all of one's agents, until nothing more is."""
    members = {name: FakeCluster(name=name) for name in names}
    while asked := pipe.recv():
        what, address = asked
        begun, faults = sum(os.times()[:4]), []
        for name, member in members.items():
            fault = _acted(folder, name, member, address, is_look=what == "look")
            faults += [f"{name}: {fault}"] if fault else []
        pipe.send(Turn(len(names), sum(os.times()[:4]) - begun, tuple(faults)))


def _acted(folder: Path, name: str, member: FakeCluster, address: str, *, is_look: bool) -> str:
    """Run a pass, or a look, of one agent; return what went wrong."""
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(folder / "cache"), **AUTHOR}
    environment["GIT_SSL_CAINFO"] = str(folder / "server.crt")
    with open_repository_for_branches(
        f"{address}/{name}/fleet.git", f"agent {name}", environment=environment
    ) as repository:
        agent = Agent(
            repository=repository,
            options=AgentOptions(cluster=name),
            open_client=lambda _name, _deadline: member,
            clock=lambda: 1_800_000_000.0,
        )
        if is_look:
            return "" if agent.fetch() else "no mirror"
        ended = run_agent_pass(agent, Log(stream=io.StringIO()))
    return "" if ended.exit_code == 0 else "; ".join(ended.lines) or f"exit code {ended.exit_code}"


def _row(name: str, workers: Sequence[_Worker], counted: HostWork, address: str, what: str) -> HostRow:
    """Let all agents act, and print what the host had to do."""
    begun = time.monotonic()
    counted.taken()
    for worker in workers:
        worker.pipe.send((what, address))
    turns: list[Turn] = [worker.pipe.recv() for worker in workers]
    done, agents = counted.taken(), sum(turn.agents for turn in turns)
    total = done.requests.total()
    cpu = sum(turn.cpu for turn in turns)
    row = f"{total:>9} {done.received / 1e6:>8.2f} {done.sent / 1e6:>8.2f} {done.cpu:>9.2f} {cpu:>11.1f}"
    print(f"{name:36} {row} {time.monotonic() - begun:>6.0f}")
    each = ", ".join(f"{count / agents:.2f} {asked}" for asked, count in sorted(done.requests.items()))
    size = (done.received + done.sent) / agents
    print(f"{'  of one agent':36} {each}; {size:,.0f} bytes, {1000 * done.cpu / agents:.1f} ms of the host", flush=True)
    faults = tuple(fault for turn in turns for fault in turn.faults)
    return HostRow(total / agents, size, done.cpu / agents, faults)


def _fleet(path: Path, chosen: argparse.Namespace) -> Repository:
    source = Repository.create(path)
    policy = a_cluster_policy("all", selectors=[DEPLOYMENT], placement={})
    members = [a_cluster(f"cluster-{number}", syncMode="Pull") for number in range(chosen.clusters)]
    files = {f"template-{number}.yaml": _template(number) for number in range(chosen.templates)}
    source.commit({**files, "clusters.yaml": members, "policy.yaml": policy})
    began = time.monotonic()
    _reconcile(source, "--bootstrap")
    print(f"the first pass over the fleet, with its mirrors: {time.monotonic() - began:.1f} s", flush=True)
    return source


def _template(number: int, image: str = "nginx:1") -> dict[str, Any]:
    return a_deployment(f"app-{number}", namespace=f"space-{number % NAMESPACES}", image=image)


def _reconcile(source: Repository, *words: str) -> None:
    assert run(["-q", "-C", str(source.path), "reconcile", *words]) == 0
