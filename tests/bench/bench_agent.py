"""Agents: the bytes that one fetches and pushes in a fleet of many, for one changed template and idle.

``python -m tests.bench agent [--templates N] [--clusters N]``. Every cluster pulls. The bytes are those on the wire to
Git, both ways, counted by what stands in for ssh; the member is in memory. An idle hour has twelve passes.
A server that is pushed to names all its branches first, unless it hides them from the agent's key, as the last rows
have it do.
"""

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reconciler.cli import run
from reconciler.console.log import Log
from reconciler.passes.agent_pass import Agent, AgentOptions, run_agent_pass
from reconciler.repository import open_repository_for_branches
from tests.build import AUTHOR, Repository, a_cluster, a_cluster_policy, a_deployment
from tests.fakes import FakeCluster

from .figures import BYTES, Figure, figure

_NAMESPACES = 20
_NAME = "cluster-77"
_COUNTING = """
import os, subprocess, sys, threading
key = "receive" if "receive-pack" in sys.argv[-1] else "uploadpack"
hidden = ["refs/heads", "!refs/heads/argosy/cluster/{name}", "!refs/heads/argosy/agent/{name}"]
for number, value in enumerate(hidden if "HIDING" in os.environ else ()):
    os.environ |= {{f"GIT_CONFIG_KEY_{{number}}": f"{{key}}.hideRefs", f"GIT_CONFIG_VALUE_{{number}}": value}}
    os.environ["GIT_CONFIG_COUNT"] = str(number + 1)
process = subprocess.Popen(sys.argv[-1], shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
counts = [0, 0]
def copy(number, source, target):
    while data := os.read(source, 65536):
        counts[number] += len(data)
        os.write(target, data)
    os.close(target)
threading.Thread(target=copy, args=(0, 0, process.stdin.fileno()), daemon=True).start()
copy(1, process.stdout.fileno(), 1)
with open({log!r}, "a") as file:
    print(*counts, "receive-pack" in sys.argv[-1], file=file)
sys.exit(process.wait())
"""


class _Wire:
    """The wire to Git: what stands in for ssh, and the bytes it has carried."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "bytes"
        self._log.touch()
        (folder / "ssh.py").write_text(_COUNTING.format(log=str(self._log), name=_NAME))
        self.environment = {"GIT_SSH_COMMAND": f"{sys.executable} {folder / 'ssh.py'}", "GIT_SSH_VARIANT": "ssh"}

    def taken(self) -> tuple[int, int]:
        """Return the bytes of fetches and of pushes since the last question, both ways."""
        rows = [line.split() for line in self._log.read_text().splitlines()]
        self._log.write_text("")
        fetched = sum(int(row[0]) + int(row[1]) for row in rows if row[2] == "False")
        return fetched, sum(int(row[0]) + int(row[1]) for row in rows) - fetched


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Print a row for each pass, and yield the bytes of those that count."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench agent")
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=1000)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        yield from _measured(Path(folder), options.templates, options.clusters)


def _measured(folder: Path, templates: int, clusters: int) -> Iterator[Figure]:
    scenario = f"agent, {templates} templates in a fleet of {clusters} clusters"
    source = _fleet(folder / "fleet", templates, clusters)
    wire, member = _Wire(folder), FakeCluster(name=_NAME)
    print(f"{templates} templates, {clusters} clusters that pull; bytes of one agent on the wire")
    print(f"{'':24} {'fetched':>10} {'pushed':>10} {'commits':>8} {'wall s':>8}")
    _row("first pass", folder, source, wire, member)
    _row("told what it did", folder, source, wire, member)
    source.commit({"template-3.yaml": _template(3, "nginx:2")})
    _reconcile(source)
    changed = _row("one changed template", folder, source, wire, member)
    _row("nothing new", folder, source, wire, member)
    idle = [_row("", folder, source, wire, member, quiet=True) for _ in range(2)]
    fetched, pushed, commits = (sum(each[part] for each in idle) for part in range(3))
    print(f"{'two passes idle':24} {fetched:>10} {pushed:>10} {commits:>8}")
    wire.environment["HIDING"] = "yes"
    source.commit({"template-3.yaml": _template(3, "nginx:3")})
    _reconcile(source)
    hidden = _row("changed, others hidden", folder, source, wire, member)
    _row("nothing new", folder, source, wire, member)
    yield figure(scenario, "one changed template, fetched", changed[0], BYTES)
    what = "the same where other branches are hidden, fetched and pushed"
    yield figure(scenario, what, sum(hidden[:2]), BYTES)
    yield figure(scenario, "two passes idle, fetched and pushed", fetched + pushed, BYTES)
    yield figure(scenario, "commits of two idle passes", commits, "")


def _fleet(path: Path, templates: int, clusters: int) -> Repository:
    source = Repository.create(path)
    policy = a_cluster_policy("all", selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement={})
    members = [a_cluster(f"cluster-{number}", syncMode="Pull") for number in range(clusters)]
    files = {f"template-{number}.yaml": _template(number) for number in range(templates)}
    source.commit({**files, "clusters.yaml": members, "policy.yaml": policy})
    began = time.monotonic()
    _reconcile(source, "--bootstrap")
    print(f"the first pass over the fleet, with its mirrors: {time.monotonic() - began:.1f} s")
    return source


def _template(number: int, image: str = "nginx:1") -> dict[str, Any]:
    return a_deployment(f"app-{number}", namespace=f"space-{number % _NAMESPACES}", image=image)


def _reconcile(source: Repository, *words: str) -> None:
    assert run(["-q", "-C", str(source.path), "reconcile", *words]) == 0


def _row(
    name: str, folder: Path, source: Repository, wire: _Wire, member: FakeCluster, *, quiet: bool = False
) -> tuple[int, int, int]:
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(folder / "cache"), **AUTHOR, **wire.environment}
    began = time.monotonic()
    address = f"ssh://here{source.path}"
    with open_repository_for_branches(address, f"agent {_NAME}", environment=environment) as repository:
        agent = Agent(
            repository=repository,
            options=AgentOptions(cluster=_NAME),
            open_client=lambda _name, _deadline: member,
            clock=lambda: 1_800_000_000.0,
        )
        before = _commits(source)
        ended = run_agent_pass(agent, Log(stream=io.StringIO()))
    assert ended.exit_code == 0, ended
    row = *wire.taken(), _commits(source) - before
    if not quiet:
        print(f"{name:24} {row[0]:>10} {row[1]:>10} {row[2]:>8} {time.monotonic() - began:>8.1f}")
    return row


def _commits(source: Repository) -> int:
    branch = f"argosy/agent/{_NAME}"
    known = source.git("branch", "--list", branch)
    return int(source.git("rev-list", "--count", branch)) if known else 0
