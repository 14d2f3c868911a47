"""Guides walked over real API servers with pods, as they are told; the script of one of them with stand-ins."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from render.documents import emit, parse_documents
from tests.clusters import Member, remove_namespaces
from tests.docs import LINES, ROOT, Script
from tests.waiting import SECONDS, eventually

GUIDES = [ROOT / "examples" / name / "README.md" for name in ("kind", "incidents", "waves-and-freezing")]
SCRIPT = ROOT / "examples" / "kind" / "clusters.sh"
NAMES = ("berlin", "oregon", "paris")
_OUTCOME = re.compile(
    rf"(?:{'|'.join(NAMES)})(?: +\d+){{5}} +[\w, ]+$|default +\S+ |      \S+ \d+ -> \d|.* is (?:healthy|applied)$|  ~"
)
"""The lines of tables of what was done, of replicas that move, and of objects that differ."""
_TIME = re.compile(r" \d{4}-\d\d-\d\dT[\d:]+Z")


class RealWalk(Script):
    """The document run over real members, whose nodes are simulated."""

    members_there_are: tuple[Member, ...]
    servers: dict[str, Member]
    stopped_servers: dict[str, Member]

    def _serve_members(self, names: str) -> None:
        config = self.home / ".kube" / "config"
        if config.exists():  # another fleet of the same guide, for members without the one before
            empty(self.members_there_are)
        self.servers = dict(zip(names.split(), self.members_there_are, strict=True))
        parts: dict[str, list[object]] = {"contexts": [], "clusters": [], "users": []}
        for name, member in self.servers.items():
            found = parse_documents(member.kubeconfig.read_bytes())[0].value
            for part, values in parts.items():
                values += [{**each, "name": name} for each in found[part]]
            parts["contexts"][-1] = {"name": name, "context": {"cluster": name, "user": name}}
        config.parent.mkdir(exist_ok=True)
        config.write_bytes(emit({"apiVersion": "v1", "kind": "Config", **parts}))

    def _settle(self, _words: str) -> None:
        """Wait until every Deployment has the pods that it asks for, running."""
        eventually(lambda: all(map(is_settled, self.servers.values())), "all pods running")

    def _write_contexts(self, down: set[str]) -> None:
        """Stop the servers of members that are down, and start those of others that were."""
        for name in set(self.stopped_servers) - down:
            self.servers[name] = self.stopped_servers.pop(name)
            self.servers[name].start_server()
        for name in down:
            self.stopped_servers[name] = self.servers.pop(name)
            self.stopped_servers[name].stop_server()


def empty(members: tuple[Member, ...]) -> None:
    """Take from members what guides put there."""
    for member in members:
        member.kubectl("delete", "deployment", "hello", "--ignore-not-found")
    remove_namespaces(members, "shop", "argosy-system")
    for member in members:
        member.kubectl("delete", "customresourcedefinition", "banners.shop.example.com", "--ignore-not-found")


def is_settled(member: Member) -> bool:
    """Say whether a member runs as many pods as its Deployments ask for."""
    found = member.read("/apis/apps/v1/deployments")["items"]
    wanted: int = sum(each["spec"]["replicas"] for each in found)
    return running(member) == wanted


def running(member: Member) -> int:
    """Return the number of pods that run in a member."""
    return sum(pod["status"].get("phase") == "Running" for pod in member.read("/api/v1/pods")["items"])


def told(document: str) -> list[str]:
    """Return the lines of a document about what was done in clusters and to replicas, without times."""
    lines = [_TIME.sub("", line) for line in document.splitlines()]
    return [line for line in lines if _OUTCOME.match(line)]


@pytest.fixture
def walk(simulated: tuple[Member, ...], tmp_path: Path) -> Iterator[RealWalk]:
    """A walk over three members, which are empty and answer again afterwards."""
    with RealWalk.begun(tmp_path) as begun:
        assert isinstance(begun, RealWalk)
        begun.members_there_are, begun.stopped_servers = simulated, {}
        yield begun
        begun._write_contexts(set())
    empty(simulated)


@pytest.mark.cluster
@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.parent.name)
def test_a_guide_over_real_servers_goes_as_it_is_told(guide: Path, walk: RealWalk) -> None:
    """The tables of what was done, and the replicas, are those of the guide, and as many pods run."""
    text = guide.read_text(encoding="utf-8")
    found = told(LINES.sub(walk.replaced, text))
    assert found == told(text)
    assert len(found) > 10
    walk._settle("")
    assert sum(map(running, walk.servers.values())) >= 8


STAND_IN = """\
#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
"""


@pytest.mark.parametrize("tool", ["kind", "k3d"])
def test_the_script_asks_the_tool_for_three_clusters_and_takes_them_away(tool: str, tmp_path: Path) -> None:
    """No other kubeconfig is named. The tools themselves run on a machine that has them."""
    for name in ("kind", "k3d", "kubectl"):
        (tmp_path / name).write_text(STAND_IN)
        (tmp_path / name).chmod(0o700)
    config, calls = tmp_path / "fleet.kubeconfig", tmp_path / "calls"
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "KUBECONFIG": str(config),
        "CALLS": str(calls),
    }

    def run(*words: str, **changed: str) -> int:
        command = ["sh", str(SCRIPT), *words]
        done = subprocess.run(
            command, env={**environment, **changed}, capture_output=True, timeout=SECONDS, check=False
        )
        return done.returncode

    assert run("up", tool) == 0
    config.touch()
    made = calls.read_text().splitlines()
    assert len(made) == {"kind": 6, "k3d": 9}[tool]
    for name in NAMES:
        assert any(
            line.startswith((f"kind create cluster --name {name} ", f"k3d cluster create {name} ")) for line in made
        )
        assert f"kubectl config rename-context {tool}-{name} {name}" in made
    calls.unlink()
    assert run("down", tool) == 0
    assert [line.split()[:3] for line in calls.read_text().splitlines()] == [
        [tool, *(("delete", "cluster") if tool == "kind" else ("cluster", "delete"))]
    ] * 3
    assert not config.exists()
    assert run("up", tool, KUBECONFIG="") != 0
    assert run("up", "minikube") == 2
    assert run() == 2
