"""The walk with three clusters: its commands over real API servers with pods, and its script with stand-ins."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from render.documents import emit, parse_documents
from tests.clusters import Member
from tests.docs import LINES, ROOT, Script
from tests.waiting import SECONDS, eventually

GUIDE = ROOT / "examples" / "kind" / "README.md"
SCRIPT = ROOT / "examples" / "kind" / "clusters.sh"
NAMES = ("berlin", "oregon", "paris")
_TIME = re.compile(r" \d{4}-\d\d-\d\dT[\d:]+Z")


class RealWalk(Script):
    """The document run over real members, whose nodes are simulated."""

    members_there_are: tuple[Member, ...]
    servers: dict[str, Member]

    def _serve_members(self, names: str) -> None:
        self.servers = dict(zip(names.split(), self.members_there_are, strict=True))
        parts: dict[str, list[object]] = {"contexts": [], "clusters": [], "users": []}
        for name, member in self.servers.items():
            found = parse_documents(member.kubeconfig.read_bytes())[0].value
            for part, values in parts.items():
                values += [{**each, "name": name} for each in found[part]]
            parts["contexts"][-1] = {"name": name, "context": {"cluster": name, "user": name}}
        config = self.home / ".kube" / "config"
        config.parent.mkdir()
        config.write_bytes(emit({"apiVersion": "v1", "kind": "Config", **parts}))

    def _settle(self, _words: str) -> None:
        """Wait until every Deployment has the pods that it asks for, running."""
        eventually(lambda: all(map(self.is_settled, self.servers.values())), "all pods running")

    def is_settled(self, member: Member) -> bool:
        found = member.read("/apis/apps/v1/namespaces/default/deployments/hello")
        wanted = found["spec"]["replicas"] if found else 0
        return self.running(member) == wanted

    def running(self, member: Member) -> int:
        pods = member.read("/api/v1/namespaces/default/pods")["items"]
        return sum(pod["status"].get("phase") == "Running" for pod in pods)

    def _write_contexts(self, down: set[str]) -> None:
        for name in down:
            self.servers.pop(name).stop_server()


def told(document: str) -> list[str]:
    """Return the lines of a document about clusters, objects and their replicas, without times."""
    lines = document.splitlines()
    told_lines = [line for line in lines if line.startswith((*NAMES, "default ", "      ", "the fleet", "  ~"))]
    return [_TIME.sub("", line) for line in told_lines]


@pytest.mark.cluster
def test_the_walk_over_real_servers_goes_as_it_is_told(simulated: tuple[Member, ...], tmp_path: Path) -> None:
    """Replicas, results and tables are those of the guide, and there are as many running pods."""
    guide = GUIDE.read_text(encoding="utf-8")
    with RealWalk.begun(tmp_path) as walk:
        assert isinstance(walk, RealWalk)
        walk.members_there_are = simulated
        assert told(LINES.sub(walk.replaced, guide)) == told(guide)
        walk._settle("")
        assert {name: walk.running(member) for name, member in walk.servers.items()} == {"berlin": 7, "oregon": 3}


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
