"""Status against real control planes with simulated nodes: placement by what clusters hold, and what ails workloads."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.build import Ended, Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from tests.clusters import Member
from tests.waiting import eventually

pytestmark = pytest.mark.cluster

BEHAVIOUR = "tests.argosy.dev/behaviour"
DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}


class Fleet(NamedTuple):
    repository: Repository
    kubeconfigs: Path
    capsys: pytest.CaptureFixture[str]

    def argosy(self, *words: str) -> Ended:
        return argosy(self.repository, self.capsys, *words)

    def apply(self) -> Ended:
        return self.argosy("apply", "--kubeconfigs", str(self.kubeconfigs))

    def reconcile(self) -> Ended:
        return self.argosy("reconcile", "--bootstrap", "--kubeconfigs", str(self.kubeconfigs))


@pytest.fixture
def fleet(simulated: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in simulated:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({f"clusters/{member.name}.yaml": a_cluster(member.name) for member in simulated})
    return Fleet(repository, folder, capsys)


def a_workload(name: str, *, cpu: str = "", behaviour: str = "", **known: Any) -> dict[str, Any]:
    made = a_deployment(name, namespace="shop", **known)
    pod = made["spec"]["template"]
    pod["metadata"]["labels"] = {**pod["metadata"]["labels"], **({BEHAVIOUR: behaviour} if behaviour else {})}
    if cpu:
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made


def policy(name: str, *clusters: str, **placement: Any) -> dict[str, Any]:
    selectors = [{**DEPLOYMENTS, "name": name}]
    return a_policy(name, namespace="shop", selectors=selectors, placement=on_clusters(*clusters, **placement))


def placed(fleet: Fleet, name: str) -> dict[str, int]:
    shown = json.loads(fleet.argosy("status", f"deploy/{name}", "-n", "shop", "-o", "json").out)
    return {each["cluster"]: each.get("replicas", 0) for each in shown["clusters"]}


def test_a_deployment_is_divided_by_what_clusters_can_hold(fleet: Fleet, simulated: tuple[Member, ...]) -> None:
    names = [member.name for member in simulated]
    assert fleet.reconcile().code == 0
    files = {
        "web.yaml": a_workload("web", replicas=12, cpu="4"),
        "web-policy.yaml": policy("web", *names, replicaScheduling=DYNAMIC),
    }
    fleet.repository.commit(files)
    assert fleet.reconcile().code == 0
    assert placed(fleet, "web") == {"big": 6, "middle": 4, "small": 2}

    def healthy() -> bool:
        fleet.apply()
        return fleet.argosy("status", "deploy/web", "-n", "shop").code == 0

    eventually(healthy, "every binding is healthy")
    assert fleet.argosy("wait", "deploy/web", "-n", "shop", "--for", "healthy", "--timeout", "1s").code == 0
    shown = json.loads(fleet.argosy("status", "cluster/small", "-o", "json").out)["status"]
    assert shown["nodeSummary"] == {"totalNum": 1, "readyNum": 1}
    assert shown["resourceSummary"]["allocatable"] == {"cpu": "32", "memory": "256Gi", "pods": "200"}
    assert shown["resourceSummary"]["allocated"] == {"cpu": "8", "pods": "2"}

    # Nothing moves what has a place; what comes now goes where there is room: 18, 12 and 6 replicas of 4 CPUs.
    simulated[0].kubectl("delete", "node", "node-2")
    fleet.apply()
    late = {
        "late.yaml": a_workload("late", replicas=9, cpu="4"),
        "late-policy.yaml": policy("late", *names, replicaScheduling=DYNAMIC),
    }
    fleet.repository.commit(late)
    assert fleet.reconcile().code == 0
    assert placed(fleet, "web") == {"big": 6, "middle": 4, "small": 2}
    assert placed(fleet, "late")["big"] < 5


class Ailment(NamedTuple):
    workload: dict[str, Any]
    want: str

    @property
    def name(self) -> str:
        return str(self.workload["metadata"]["name"])

    @property
    def space(self) -> str:
        return str(self.workload["metadata"]["namespace"])


CRASH = "back-off restarting failed container; last exit code 1 (Error)"
FULL = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate,"
    " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)
REFUSED = "is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0"
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": "tight"}}
AILMENTS = [
    Ailment(
        a_workload("crash", replicas=1, behaviour="crash-loop"),
        f"CrashLoopBackOff\n  Pod crash-*-*, container crash: CrashLoopBackOff: {CRASH}\n",
    ),
    Ailment(
        a_workload("pull", replicas=1, behaviour="image-pull"),
        "ImagePullBackOff\n  Pod pull-*-*, container pull: ImagePullBackOff: back-off pulling image\n",
    ),
    Ailment(a_workload("huge", replicas=1, cpu="100"), f"Unschedulable\n  Pod huge-*-*: Unschedulable: {FULL}\n"),
    Ailment(
        a_deployment("blocked", replicas=1, namespace="tight"),
        f'FailedCreate\n  ReplicaSet blocked-*: FailedCreate: Error creating: pods "blocked-*-*" {REFUSED}\n',
    ),
]


def test_status_says_why_a_workload_is_not_well(fleet: Fleet, simulated: tuple[Member, ...]) -> None:
    files: dict[str, Any] = {f"{each.name}.yaml": each.workload for each in AILMENTS}
    placement = on_clusters("middle")
    selectors = [DEPLOYMENTS, {"apiVersion": "v1", "kind": "ResourceQuota"}]
    for space in ("shop", "tight"):
        files[f"{space}.yaml"] = a_policy(space, namespace=space, selectors=selectors, placement=placement)
    fleet.repository.commit({**files, "quota.yaml": {**QUOTA, "spec": {"hard": {"pods": "0"}}}})
    assert fleet.reconcile().code == 0

    def told() -> bool:
        fleet.apply()
        return [said(fleet, each) for each in AILMENTS] == [each.want for each in AILMENTS]

    eventually(told, "status says what ails the workloads")
    page = fleet.repository.show("README.md", "argosy/status")
    assert [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| Deployment")] == [
        "FailedCreate" if each.name == "blocked" else each.want.partition("\n")[0]
        for each in sorted(AILMENTS, key=lambda each: (each.space, each.name))
    ]
    assert simulated[1].read("/apis/apps/v1/namespaces/tight/deployments/blocked")


def said(fleet: Fleet, ailment: Ailment) -> str:
    """Return the words of status about troubled workloads, without the parts of names that differ in every run."""
    shown = fleet.argosy("status", f"deploy/{ailment.name}", "-n", ailment.space)
    chain = shown.out.partition("\nmiddle: ")[2]
    return re.sub(rf"(?<={ailment.name}-)[0-9a-z]{{8,10}}\b(-[0-9a-z]{{5}}\b)?", _starred, chain)


def _starred(match: re.Match[str]) -> str:
    return "*-*" if match.group(1) else "*"
