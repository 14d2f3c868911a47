"""Applying to a real API server against ``kubectl apply --server-side``: much that is unchanged, and much that is new.

Both are whole processes that read the same manifests from a file, on objects of their own, turn by turn, so the machine
is as busy for one as for the other. CPU is the process's own, without the server's. What the whole command costs, which
also reads a commit, renders it and records what came of every object, is for ``bench_reconcile`` to say.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.members.exchange import Failure, Request
from reconciler.members.opening import MemberAccess, Members
from tests.clusters import Member

ROOT = Path(__file__).parent.parent.parent
NOTE = "configuration of a service, about as long as such things are: "


class Cost(NamedTuple):
    """The seconds a process took, on the wall and of CPU; ``inner``: on the wall without starting up."""

    wall: float
    cpu: float
    inner: float = 0.0


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench apply")
    parser.add_argument("--unchanged", type=int, default=5000)
    parser.add_argument("--new", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    compile_modules()
    with Member("bench") as member, tempfile.TemporaryDirectory() as folder:
        _bench_requests(member)
        _bench_unchanged(member, Path(folder), chosen.unchanged, chosen.rounds)
        _bench_new(member, Path(folder), chosen.new, chosen.rounds)
    return 0


def _bench_requests(member: Member, count: int = 2000) -> None:
    client = Members(MemberAccess(kubeconfig=str(member.kubeconfig))).open(member.name, time.monotonic() + 600)
    assert not isinstance(client, Failure)
    request = Request(method="GET", path="/api/v1/namespaces/default")
    client.send(request)
    began = time.process_time()
    for _ in range(count):
        client.send(request)
    print(f"CPU per request: {(time.process_time() - began) / count * 1e6:.0f} us")


def _bench_unchanged(member: Member, folder: Path, count: int, rounds: int) -> None:
    ours = _state(member, folder, "unchanged-argosy", count)
    theirs = _state(member, folder, "unchanged-kubectl", count)
    _argosy(ours)
    _kubectl(member, theirs)
    costs = _turns([lambda _: _argosy(ours), lambda _: _kubectl(member, theirs)], rounds)
    _tell(f"{count} unchanged objects", costs)


def _bench_new(member: Member, folder: Path, count: int, rounds: int) -> None:
    costs = _turns(
        [
            lambda turn: _argosy(_state(member, folder, f"new-argosy-{turn}", count)),
            lambda turn: _kubectl(member, _state(member, folder, f"new-kubectl-{turn}", count)),
        ],
        rounds,
    )
    _tell(f"{count} new objects", costs)


def _turns(works: list[Callable[[int], Cost]], rounds: int) -> list[list[Cost]]:
    costs: list[list[Cost]] = [[] for _ in works]
    for turn in range(rounds):
        for number, work in enumerate(works):
            costs[number].append(work(turn))
    return costs


def _tell(what: str, costs: list[list[Cost]]) -> None:
    argosy, kubectl = (Cost(*(statistics.median(values) for values in zip(*cost, strict=True))) for cost in costs)
    print(f"{what}: argosy {argosy.wall:.2f} s ({argosy.cpu:.2f} s CPU), ", end="")
    print(f"kubectl {kubectl.wall:.2f} s ({kubectl.cpu:.2f} s CPU), ", end="")
    print(f"{kubectl.wall / argosy.wall:.1f} times as fast, {kubectl.cpu / argosy.cpu:.1f} times less CPU; ", end="")
    print(f"started already {argosy.inner:.2f} s, {kubectl.wall / argosy.inner:.1f} times as fast")


def _state(member: Member, folder: Path, space: str, count: int) -> Path:
    """Write a namespace's worth of manifests, once as a list for kubectl, once with what a pass needs to know."""
    path = folder / f"{space}.json"
    if not path.exists():
        member.request("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        items = [manifest(space, number) for number in range(count)]
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        state = {"name": member.name, "kubeconfig": str(member.kubeconfig), "space": space}
        path.with_suffix(".state").write_text(json.dumps(state))
    return path


def manifest(space: str, number: int) -> dict[str, Any]:
    """Return an object of the benchmark: every fifth is a Deployment, the others are ConfigMaps."""
    metadata = {"name": f"object-{number}", "namespace": space, "labels": {"app": f"app-{number}", "tier": "back"}}
    if number % 5 == 0:
        labels = {"app": f"app-{number}"}
        container: dict[str, Any] = {
            "name": "main",
            "image": "nginx:1.29",
            "env": [{"name": "A", "value": str(number)}],
        }
        container["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": pod}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    data = {f"key-{key}": NOTE * 5 + str(number) for key in range(4)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _argosy(path: Path) -> Cost:
    return cost_of([sys.executable, "-m", "tests.bench.apply_pass", str(path)])


def kubectl_command(member: Member) -> list[str]:
    """Return the command of kubectl for a member."""
    beside = Path(sys.executable).with_name("kubectl")
    return [str(beside) if beside.exists() else "kubectl", "--kubeconfig", str(member.kubeconfig)]


def _kubectl(member: Member, path: Path) -> Cost:
    return cost_of([*kubectl_command(member), "apply", "--server-side", "-f", str(path)])


def environment() -> dict[str, str]:
    """Return the environment of a process that keeps compiled modules, as an installed program does."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def compile_modules() -> None:
    """Compile our modules, as those of an installed program are."""
    command = [sys.executable, "-m", "compileall", "-q", "render", "overrides", "reconciler", "tests/bench"]
    subprocess.run(command, cwd=ROOT, check=True, env=environment())


def cost_of(command: list[str], codes: tuple[int, ...] = (0,)) -> Cost:
    """Return what a process costs that runs to its end, with one of these exit codes."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, env=environment())
    assert run.returncode in codes, f"{' '.join(command)}: exit {run.returncode}"
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    words = run.stdout.split()
    inner = float(words[0]) if len(words) == 1 else 0.0
    return Cost(wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, inner)
