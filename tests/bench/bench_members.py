"""A fleet of many control planes, three of them bad, against the same fleet without these.

The healthy ones are kube-apiservers that share one etcd. One of the bad takes connections and never answers, one is
dead, and one forbids everything. Measured is the time until the healthy ones are applied and recorded: by the line that
says so, or else the end of the process. Each is a whole ``argosy reconcile``, with bad members and without them in
turn: first after a change that concerns every object, then when there is nothing to do.
"""

import argparse
import itertools
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy
from tests.clusters import Member

ROOT = Path(__file__).parent.parent.parent
BAD = ("dead", "forbidden", "hanging")
MOST_SECONDS = 900
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bench"}}
SELECTORS = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]


class Times(NamedTuple):
    """The seconds until the healthy members were done, and until the process ended; its exit code."""

    healthy: float
    whole: float
    code: int


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench members")
    parser.add_argument("--members", type=int, default=20, help="control planes in all, the three bad ones included")
    parser.add_argument("--objects", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    names = [f"member{number:02}" for number in range(1, chosen.members - len(BAD) + 1)]
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kubeconfigs = place / "kubeconfigs"
        kubeconfigs.mkdir()
        members = list(_started(stack, names))
        _write_kubeconfigs(kubeconfigs, members, stack.enter_context(_hanging()))
        repository = _fleet(place / "fleet", names, chosen.objects)
        _measure(repository, kubeconfigs, chosen.objects, chosen.rounds)
    return 0


def _started(stack: ExitStack, names: list[str]) -> Iterator[Member]:
    first = stack.enter_context(Member(names[0]))
    yield first
    for name in names[1:]:
        yield stack.enter_context(Member(name, beside=first))


@contextmanager
def _hanging() -> Iterator[str]:
    """An address that takes connections, by its backlog, and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"


def _write_kubeconfigs(folder: Path, members: list[Member], hanging: str) -> None:
    for member in members:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    whole = json.loads(members[0].kubeconfig.read_text())
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"https://127.0.0.1:{closed.getsockname()[1]}"
    for name, server in (("dead", dead), ("forbidden", members[0].host), ("hanging", hanging)):
        changed = json.loads(json.dumps(whole).replace(members[0].name, name).replace(members[0].host, server))
        if name == "forbidden":
            changed["users"][0]["user"]["token"] += "-nobody"
        (folder / f"{name}.yaml").write_text(json.dumps(changed))


def _fleet(folder: Path, names: list[str], objects: int) -> Repository:
    repository = Repository.create(folder)
    clusters = {f"clusters/{name}.yaml": a_cluster(name, labels={"state": "good"}) for name in names}
    clusters |= {f"clusters/{name}.yaml": a_cluster(name, labels={"state": "bad"}) for name in BAD}
    policy = a_policy("all", namespace="bench", selectors=SELECTORS, placement={})
    repository.commit({**clusters, "namespace.yaml": NAMESPACE, "policy.yaml": policy, **_templates(objects, 0)})
    return repository


def _templates(objects: int, turn: int) -> dict[str, object]:
    def template(number: int) -> object:
        if number % 5:
            return a_config_map(f"object-{number}", namespace="bench", turn=str(turn))
        return a_deployment(f"object-{number}", namespace="bench", image=f"nginx:{turn}")

    return {f"templates/{number}.yaml": template(number) for number in range(objects)}


def _measure(repository: Repository, kubeconfigs: Path, objects: int, rounds: int) -> None:
    turns = itertools.count(1)
    reach = ["--kubeconfigs", str(kubeconfigs)]
    everybody: Callable[[], Times] = lambda: _pass(repository, *reach)
    healthy: Callable[[], Times] = lambda: _pass(repository, *reach, "-l", "state=good")
    _tell("first of all", [_pass(repository, *reach, "-l", "state=good", "--bootstrap")])
    _change(repository, objects, next(turns))
    _tell("the bad members are new", [everybody()])
    changed: list[list[Times]] = [[], []]
    for _ in range(rounds):
        for runs, run in zip(changed, (healthy, everybody), strict=True):
            _change(repository, objects, next(turns))
            runs.append(run())
    _compare(f"{objects} objects changed in each", changed)
    everybody()
    idle: list[list[Times]] = [[], []]
    for _ in range(rounds):
        for runs, run in zip(idle, (healthy, everybody), strict=True):
            runs.append(run())
    _compare("nothing to do", idle)


def _change(repository: Repository, objects: int, turn: int) -> None:
    repository.commit(_templates(objects, turn), f"turn {turn}")


def _pass(repository: Repository, *options: str) -> Times:
    command = [sys.executable, "-m", "reconciler", "-C", str(repository.path), "reconcile", *options]
    began, done = time.monotonic(), 0.0
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr
        for line in process.stderr:
            if "done and recorded" in line:
                done = time.monotonic() - began
        code = process.wait(MOST_SECONDS)
    whole = time.monotonic() - began
    return Times(done or whole, whole, code)


def _compare(what: str, runs: list[list[Times]]) -> None:
    alone, beside = runs
    _tell(f"{what}, without bad members", alone)
    _tell(f"{what}, with three bad members", beside)
    ratio = statistics.median(each.healthy for each in beside) / statistics.median(each.healthy for each in alone)
    print(f"{what}: the healthy ones take {ratio:.2f} times as long beside the bad ones", flush=True)


def _tell(what: str, runs: list[Times]) -> None:
    healthy, whole = (statistics.median(values) for values in list(zip(*runs, strict=True))[:2])
    codes = sorted({each.code for each in runs})
    print(f"{what}: healthy members done after {healthy:.2f} s, all after {whole:.2f} s, exit {codes}", flush=True)
