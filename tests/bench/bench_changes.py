"""One small change in a fleet of several members with many objects: the whole command until it is delivered.

The members are kube-apiservers that share one etcd. Each kind of pass runs several times, as a process of its own: one
with nothing to do, one after a template changed, one after somebody edited an object in one member, and one while a
member is dead. CPU is the process's own and its children's.
"""

import argparse
import http
import itertools
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.build import Repository, a_cluster, a_policy, on_clusters
from tests.clusters import Member, members_of_a_fleet

from .bench_apply import Cost, compile_modules, cost_of, manifest

SPACE = "changes"
SELECTORS = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]
SETTINGS = f"/api/v1/namespaces/{SPACE}/configmaps/object-1"


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench changes")
    parser.add_argument("--objects", type=int, default=5000)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    compile_modules()
    names = [f"member{number}" for number in range(1, chosen.members + 1)]
    with members_of_a_fleet(names) as (members, folder):
        _measure(_fleet(folder / "fleet", names, chosen.objects), folder / "kubeconfigs", members, chosen.rounds)
    return 0


def _fleet(folder: Path, names: list[str], objects: int) -> Repository:
    files: dict[str, Any] = {f"templates/{number}.yaml": manifest(SPACE, number) for number in range(objects)}
    files["templates/namespace.yaml"] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    files["policy.yaml"] = a_policy("all", namespace=SPACE, selectors=SELECTORS, placement=on_clusters(*names))
    repository = Repository.create(folder)
    repository.commit({**files, **{f"clusters/{name}.yaml": a_cluster(name) for name in names}})
    return repository


def _measure(repository: Repository, kubeconfigs: Path, members: list[Member], rounds: int) -> None:
    command = [sys.executable, "-m", "reconciler", "-q", "-C", str(repository.path), "reconcile"]
    command += ["--kubeconfigs", str(kubeconfigs)]
    turns = itertools.count(1)

    def run(*options: str) -> Cost:
        return cost_of([*command, *options], codes=(0, 7))

    def change_template() -> None:
        changed = manifest(SPACE, 1)
        changed["data"]["turn"] = str(next(turns))
        repository.commit({"templates/1.yaml": changed})

    def delete_object() -> None:
        assert members[0].request("DELETE", SETTINGS)[0] == http.HTTPStatus.OK

    def leave_alone() -> None:
        return

    _tell("first of all", [run("--bootstrap")])
    _settle(repository, run)
    cases: list[tuple[str, Callable[[], None]]] = [
        ("nothing to do", leave_alone),
        ("one template changed", change_template),
        ("one object deleted in one member", delete_object),
    ]
    for what, change in cases:
        costs = []
        for _ in range(rounds):
            change()
            costs.append(run())
            _settle(repository, run)
        _tell(what, costs)
    members[-1].stop_server()
    run()
    _tell("nothing to do, one member dead", [run() for _ in range(rounds)])


def _settle(repository: Repository, run: Callable[[], Cost]) -> None:
    """Run passes until one writes nothing, which the next remembers."""
    before: list[str] = []
    while before != (before := [repository.git("rev-parse", f"argosy/{name}") for name in ("rendered", "status")]):
        run()


def _tell(what: str, costs: list[Cost]) -> None:
    wall, cpu = (statistics.median(values) for values in list(zip(*costs, strict=True))[:2])
    print(f"{what}: {wall:.2f} s ({cpu:.2f} s CPU)", flush=True)
