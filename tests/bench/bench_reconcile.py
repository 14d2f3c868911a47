"""The whole command against ``kubectl apply --server-side``: ``argosy reconcile`` on one real API server, as a process.

A first pass over a fleet and passes that find nothing to do, each turn by turn with kubectl on as many objects of its
own, so that the machine is as busy for one as for the other. Both read the same files: a pass from a commit that is
packed, as in a clone, and kubectl from a folder. CPU is the process's own and its children's, without the server's.
Requests are those that the server counted meanwhile.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.build import Repository, a_cluster, a_policy
from tests.clusters import Member

from .bench_apply import Cost, compile_modules, cost_of, kubectl_command, manifest

SELECTORS = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench reconcile")
    parser.add_argument("--counts", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    compile_modules()
    with Member("bench") as member, tempfile.TemporaryDirectory() as folder:
        for count in chosen.counts:
            _bench(member, Path(folder) / str(count), count, chosen.rounds)
    return 0


def _bench(member: Member, folder: Path, count: int, rounds: int) -> None:
    """Apply to namespaces of their own, once each; then compare what it costs that nothing is to do."""
    folder.mkdir()
    ours, theirs = f"argosy-{count}", f"kubectl-{count}"
    argosy = _argosy(member, folder / "fleet", ours, count)
    Repository(folder / "manifests").write(_templates(theirs, count))
    kubectl = [*kubectl_command(member), "apply", "--server-side", "-R", "-f", str(folder / "manifests")]
    first = [_counted(member, [*argosy, "--bootstrap"])], [_counted(member, kubectl)]
    _tell(f"first apply of {count} objects", *first)
    _settle(member, argosy)
    turns = [(_counted(member, argosy), _counted(member, kubectl)) for _ in range(rounds)]
    _tell(f"{count} unchanged objects", [turn[0] for turn in turns], [turn[1] for turn in turns])
    turns = []
    for turn in range(rounds + 1):
        changed = {"templates/1.yaml": {**manifest(ours, 1), "data": {"turn": str(turn)}}}
        Repository(folder / "fleet").commit(changed)
        turns.append((_counted(member, argosy), _counted(member, kubectl)))
    # The first of them fills caches of what it reads.
    _tell(f"1 of {count} objects changed", [turn[0] for turn in turns[1:]], [turn[1] for turn in turns[1:]])


def _argosy(member: Member, folder: Path, space: str, count: int) -> list[str]:
    """Return the command of a pass over a fleet of so many templates."""
    placement = {"clusterAffinity": {"clusterNames": [member.name]}}
    policy = a_policy("all", namespace=space, selectors=SELECTORS, placement=placement)
    fleet = Repository.create(folder)
    fleet.commit({"clusters/member.yaml": a_cluster(member.name), "policy.yaml": policy, **_templates(space, count)})
    fleet.git("repack", "-adq")
    command = [sys.executable, "-m", "reconciler", "-q", "-C", str(folder), "reconcile"]
    return [*command, "--kubeconfig", str(member.kubeconfig)]


def _templates(space: str, count: int) -> dict[str, Any]:
    """Return the files of so many templates; kubectl applies them in order, so their namespace is the first."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
    templates = {f"templates/{number}.yaml": manifest(space, number) for number in range(count)}
    return {"templates/-namespace.yaml": namespace, **templates}


def _settle(member: Member, argosy: list[str]) -> None:
    """Run the passes that record what the first one left; the last of them writes nothing and remembers that."""
    whole = _counted(member, argosy)
    print(f"  a whole pass over them that writes nothing: {whole[0].wall:.2f} s ({whole[0].cpu:.2f} s CPU)")


def _counted(member: Member, command: list[str]) -> tuple[Cost, int]:
    before = _requests(member)
    cost = cost_of(command)
    return cost, _requests(member) - before - 1


def _requests(member: Member) -> int:
    """Return how many requests the server has answered, that for its metrics included."""
    lines = member.kubectl("get", "--raw", "/metrics").splitlines()
    return sum(int(float(line.rpartition(" ")[2])) for line in lines if line.startswith("apiserver_request_total{"))


def _tell(what: str, ours: list[tuple[Cost, int]], theirs: list[tuple[Cost, int]]) -> None:
    wall, cpu, requests = _medians(ours)
    other_wall, other_cpu, other_requests = _medians(theirs)
    print(f"{what}: argosy reconcile {wall:.2f} s ({cpu:.2f} s CPU, {requests:.0f} requests), ", end="")
    print(f"kubectl {other_wall:.2f} s ({other_cpu:.2f} s CPU, {other_requests:.0f} requests): ", end="")
    print(f"{other_wall / wall:.1f} times as fast, {other_cpu / cpu:.1f} times less CPU", flush=True)


def _medians(costs: list[tuple[Cost, int]]) -> tuple[float, float, float]:
    return (
        statistics.median(cost.wall for cost, _ in costs),
        statistics.median(cost.cpu for cost, _ in costs),
        statistics.median(requests for _, requests in costs),
    )
