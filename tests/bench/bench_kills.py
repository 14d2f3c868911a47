"""Whole passes over real control planes, killed at random moments; then every cluster must be exactly as the tree says.

Each round changes, adds and removes objects, and kills the ``argosy reconcile`` that delivers that. After every tenth
kill, and at the end, a pass runs to its end: it must converge, each member must hold the objects of the rendered commit
and no others of ours, and what belongs to somebody else must be as it was, to its resourceVersion. One more pass must
write nothing at all.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from render.documents import parse_documents
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, on_clusters
from tests.clusters import Member, members_of_a_fleet

ROOT = Path(__file__).parent.parent.parent
NAMES = ("member1", "member2", "member3")
SPACE = "kills"
CHECK_AFTER = 10
MOST_SECONDS = 600
KINDS = {"ConfigMap": "api/v1/namespaces/kills/configmaps", "Deployment": "apis/apps/v1/namespaces/kills/deployments"}
SELECTORS = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]


def main(arguments: list[str]) -> int:
    """Run the benchmark; 1 where a cluster is not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args(arguments)
    with members_of_a_fleet(NAMES) as (members, folder):
        return _killed(Loop(folder / "fleet", folder / "kubeconfigs", members), chosen.kills, chosen.seed)


class Loop:
    """A fleet whose passes are killed, its members, and the objects of others there."""

    def __init__(self, folder: Path, kubeconfigs: Path, members: list[Member]) -> None:
        self.repository = Repository.create(folder)
        self.members = members
        self.command = [sys.executable, "-m", "reconciler", "-q", "-C", str(folder), "reconcile"]
        self.command += ["--kubeconfigs", str(kubeconfigs), "--allow-removal", "*=1000"]
        policy = a_policy("all", namespace=SPACE, selectors=SELECTORS, placement=on_clusters(*NAMES))
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
        clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in NAMES}
        self.repository.commit({**clusters, "policy.yaml": policy, "namespace.yaml": namespace, **_tree(0)})
        self.run("--bootstrap")
        self.foreign = {member.name: [_made(member, f"theirs-{number}") for number in range(4)] for member in members}

    def run(self, *options: str) -> float:
        """Run a pass to its end and return its seconds; it must converge."""
        began, command = time.monotonic(), [*self.command, *options]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=MOST_SECONDS)
        assert run.returncode == 0, f"exit {run.returncode}\n{run.stdout}{run.stderr}"
        return time.monotonic() - began

    def kill(self, seconds: float) -> bool:
        """Begin a pass and kill it after so many seconds; False where it ended before."""
        with subprocess.Popen(self.command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                return True
        return False

    def differences(self) -> Iterator[str]:
        """Yield how members are other than the rendered commit says, and what of others was touched."""
        for member in self.members:
            wanted, live = dict(self._wanted(member.name)), dict(_live(member))
            theirs = {f"ConfigMap/{item['metadata']['name']}": item for item in self.foreign[member.name]}
            for name in sorted({*wanted, *live} - {*theirs}):
                if wanted.get(name) != live.get(name):
                    yield f"{member.name}: {name} is {live.get(name)}, not {wanted.get(name)}"
            for name, before in theirs.items():
                if member.read(f"/{KINDS['ConfigMap']}/{name.partition('/')[2]}") != before:
                    yield f"{member.name}: {name}, which is somebody else's, was touched"

    def _wanted(self, cluster: str) -> Iterator[tuple[str, Any]]:
        for path in self.repository.files(under=f"clusters/{cluster}/{SPACE}"):
            yield _as_compared(parse_documents(f"{self.repository.show(path)}\n".encode())[0].value)

    def tips(self) -> list[str]:
        """The branches of the fleet."""
        return [self.repository.git("rev-parse", branch) for branch in ("argosy/rendered", "argosy/status")]


def _killed(loop: Loop, kills: int, seed: int) -> int:
    moments, killed, turn = random.Random(seed), 0, 1
    began = time.monotonic()
    whole = _changed(loop, 1)
    while killed < kills:
        turn += 1
        loop.repository.commit(_tree(turn), f"turn {turn}")
        killed += loop.kill(moments.uniform(0.0, whole))
        if killed == kills or turn % CHECK_AFTER == 0:
            loop.run()
            if found := list(loop.differences()):
                print(f"seed {seed}, after {killed} kills:", *found, sep="\n  ")
                return 1
            print(f"{killed} kills in {turn} rounds: all as it must be", flush=True)
    before = loop.tips()
    loop.run()
    print(f"a pass with nothing to do writes {'nothing' if loop.tips() == before else 'SOMETHING'}")
    print(f"seed {seed}: {killed} kills, {turn} rounds, {time.monotonic() - began:.0f} s")
    return 0 if loop.tips() == before else 1


def _changed(loop: Loop, turn: int) -> float:
    loop.repository.commit(_tree(turn), f"turn {turn}")
    return loop.run()


def _tree(turn: int) -> dict[str, Any]:
    """The templates of a turn, and None for those of the turn before that leave."""
    always = [a_config_map(f"always-{number}", namespace=SPACE, turn=str(turn)) for number in range(10)]
    some = [a_config_map(f"turn-{turn % 2}-{number}", namespace=SPACE, turn=str(turn)) for number in range(15)]
    web = a_deployment("web", namespace=SPACE, image=f"nginx:{turn}")
    left = {f"templates/turn-{(turn + 1) % 2}-{number}.yaml": None for number in range(15)} if turn else {}
    return {**left, **{f"templates/{item['metadata']['name']}.yaml": item for item in (*always, *some, web)}}


def _made(member: Member, name: str) -> Any:
    status, made = member.request("POST", f"/{KINDS['ConfigMap']}", {"metadata": {"name": name}, "data": {"a": "1"}})
    assert status == 201, made
    return member.read(f"/{KINDS['ConfigMap']}/{name}")


def _live(member: Member) -> Iterator[tuple[str, Any]]:
    for kind, path in KINDS.items():
        for item in member.read(f"/{path}")["items"]:
            yield _as_compared({"kind": kind, **item})


def _as_compared(manifest: dict[str, Any]) -> tuple[str, Any]:
    name = f"{manifest['kind']}/{manifest['metadata']['name']}"
    if manifest["kind"] == "ConfigMap":
        return name, manifest.get("data")
    return name, manifest["spec"]["template"]["spec"]["containers"][0]["image"]
