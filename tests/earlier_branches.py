"""Branches as an earlier version of Argosy wrote them: ``python -m tests.earlier_branches CHECKOUT NAME`` records some.

A checkout of that version runs passes over a small fleet whose members are served from memory: it begins, replicas
move, and a member stops to answer. What ``git fast-export`` prints of the source and of the branches that the passes
wrote goes to ``tests/vectors/branches/NAME.export``. One is recorded for each release.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.build import AUTHOR, Repository, a_cluster, a_config_map, a_deployment, a_policy, on_clusters, weighted
from tests.fakes import FakeCluster
from tests.memory_fleet import add_node, settle
from tests.served import serving_members
from tests.waiting import SECONDS

RECORDED = Path(__file__).parent / "vectors" / "branches"
MEMBERS = ("berlin", "oregon", "paris")
BY_ROOM = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
IMAGES = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "OverridePolicy",
    "metadata": {"name": "images", "namespace": "default"},
    "spec": {
        "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
        "overrideRules": [
            {
                "targetCluster": {"clusterNames": ["oregon"]},
                "overriders": {"imageOverrider": [{"component": "Tag", "operator": "replace", "value": "canary"}]},
            }
        ],
    },
}


def source(*, oregon: int = 1, replicas: int = 8) -> dict[str, object]:
    """Return the files of the fleet; ``oregon`` is the weight of that cluster for the Deployment ``web``."""
    deployments = [[{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}] for name in ("web", "api")]
    maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    weights = weighted(berlin=1, oregon=oregon, paris=2)
    return {
        **{f"clusters/{name}.yaml": a_cluster(name) for name in MEMBERS},
        "web.yaml": a_deployment("web", replicas=replicas),
        "api.yaml": a_deployment("api", replicas=5),
        "settings.yaml": a_config_map("settings", color="blue"),
        "former.yaml": a_config_map("former", color="red"),
        "policies.yaml": [
            a_policy("web", selectors=deployments[0], placement=on_clusters(*MEMBERS, replicaScheduling=weights)),
            a_policy("api", selectors=deployments[1], placement=on_clusters(*MEMBERS, replicaScheduling=BY_ROOM)),
            a_policy("maps", selectors=maps, placement=on_clusters(*MEMBERS)),
        ],
        "images.yaml": IMAGES,
    }


def members() -> list[FakeCluster]:
    """Return the members, each with a node of its own size."""
    found = [FakeCluster(name=name) for name in MEMBERS]
    for number, member in enumerate(found):
        add_node(member, "node-1", cpu=str(4 + 4 * number), memory="32Gi", pods="110")
    return found


def restored(name: str, folder: Path) -> Repository:
    """Return a repository with the source and the branches of a recorded version."""
    repository = Repository.create(folder)
    content = (RECORDED / f"{name}.export").read_bytes()
    subprocess.run(
        ["git", "-C", str(folder), "fast-import", "--quiet", "--force"], input=content, check=True, timeout=SECONDS
    )
    repository.git("reset", "--hard", "--quiet", "main")
    return repository


def main(arguments: Sequence[str]) -> None:
    """Record the branches of a checkout."""
    checkout, name = Path(arguments[0]).resolve(), arguments[1]
    with tempfile.TemporaryDirectory() as folder:
        fleet, configs = Repository.create(Path(folder) / "fleet"), Path(folder) / "kubeconfigs"
        fleet.commit(source())
        found = members()
        with serving_members(found, configs):
            run_pass(checkout, fleet, configs, "--bootstrap")
            for member in found:
                settle(member)
            run_pass(checkout, fleet, configs)
            fleet.commit(source(oregon=5))
            run_pass(checkout, fleet, configs)
        with serving_members([each for each in found if each.name != "paris"], configs):
            run_pass(checkout, fleet, configs)
        RECORDED.mkdir(exist_ok=True)
        exported = subprocess.run(
            ["git", "-C", str(fleet.path), "fast-export", "--all"], capture_output=True, check=True, timeout=SECONDS
        )
        (RECORDED / f"{name}.export").write_bytes(exported.stdout)


def run_pass(checkout: Path, fleet: Repository, kubeconfigs: Path, *words: str) -> None:
    """Run a pass of the version that is checked out, and say how it ended."""
    command = [sys.executable, "-m", "reconciler", "-C", str(fleet.path), "reconcile", *words]
    environment = {**os.environ, **AUTHOR, "PYTHONPATH": str(checkout)}
    with suppress(subprocess.CalledProcessError):  # a member that does not answer makes the code 7
        subprocess.run(
            [*command, "--kubeconfigs", str(kubeconfigs)], env=environment, cwd=checkout, check=True, timeout=SECONDS
        )


if __name__ == "__main__":
    main(sys.argv[1:])
