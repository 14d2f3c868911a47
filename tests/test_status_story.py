"""A fleet of real control planes over an afternoon: one fills up, one loses a node, one dies and comes back.

What is seen moves no replica that has a place; what is placed next goes by it. Both histories tell of all that.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member
from .waiting import eventually

pytestmark = pytest.mark.cluster

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
EVERYWHERE = ("big", "middle", "small")
UNTOLERATED = "0/3 clusters are available: 1 cluster(s) had untolerated taint {cluster.karmada.io/not-ready:NoSchedule}"


class Story:
    """A fleet, its members, and passes over it until something came true."""

    def __init__(self, folder: Path, members: tuple[Member, ...], capsys: pytest.CaptureFixture[str]) -> None:
        self.members = {member.name: member for member in members}
        self.capsys = capsys
        self.kubeconfigs = folder / "kubeconfigs"
        self.kubeconfigs.mkdir()
        for member in members:
            (self.kubeconfigs / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
        self.repository = Repository.create(folder / "fleet")

    def run(self, *words: str) -> Ended:
        return argosy(self.repository, self.capsys, *words)

    def reconcile(self) -> int:
        return self.run("reconcile", "--bootstrap", "--kubeconfigs", str(self.kubeconfigs)).code

    def reconcile_until(self, true: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
        def look() -> bool:
            self.reconcile()
            return true()

        eventually(look, what, seconds=seconds)

    def add(self, name: str, replicas: int, *clusters: str, **placement: Any) -> None:
        """Commit a workload whose replicas ask for 4 CPUs each."""
        made = a_deployment(name, namespace="shop", replicas=replicas)
        made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
        selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}]
        policy = a_policy(name, namespace="shop", selectors=selectors, placement=on_clusters(*clusters, **placement))
        self.repository.commit({f"{name}.yaml": made, f"{name}-policy.yaml": policy}, f"Run {replicas} of {name}")

    def placed(self, name: str) -> dict[str, int]:
        spec = self._file("argosy/rendered", f"bindings/shop/Deployment.apps/{name}.yaml")["spec"]
        return {each["name"]: each.get("replicas", 0) for each in spec.get("clusters") or ()}

    def is_healthy(self, name: str) -> bool:
        return self.run("status", f"deploy/{name}", "-n", "shop").code == 0

    def ready(self, cluster: str) -> tuple[str, str]:
        """The status and the reason of a cluster's Ready condition."""
        ready = self.seen(cluster)["conditions"]["Ready"]
        return ready["status"], ready["reason"]

    def seen(self, cluster: str) -> dict[str, Any]:
        """The status of a cluster on the status branch, its conditions by type."""
        status: dict[str, Any] = self._file("argosy/status", f"clusters/{cluster}.yaml")["status"]
        return {**status, "conditions": {each["type"]: each for each in status["conditions"]}}

    def capacity(self, cluster: str) -> tuple[str, str]:
        """The CPUs a render goes by: allocatable, and taken or about to be."""
        summary = self._file("argosy/status", f"facts/{cluster}.yaml")["status"]["resourceSummary"]
        return summary["allocatable"]["cpu"], summary["allocated"].get("cpu", "0")

    def taints(self, cluster: str) -> list[str]:
        """The taints of a cluster as the last decision went by them."""
        return list(json.loads(self.run("explain", f"cluster/{cluster}", "-o", "json").out).get("taints", ()))

    def subjects(self, branch: str) -> list[str]:
        return self.repository.git("log", "--reverse", "--format=%s", branch).splitlines()

    def _file(self, branch: str, path: str) -> Any:
        return parse_documents((self.repository.show(path, branch) + "\n").encode())[0].value


@pytest.fixture
def story(simulated: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Story:
    return Story(tmp_path, simulated, capsys)


def test_placement_follows_what_becomes_of_the_clusters(story: Story) -> None:
    """One story, for each part begins where the one before left the clusters."""
    a_workload_is_divided_by_what_clusters_can_hold(story)
    one_fills_up(story)
    one_loses_a_node(story)
    one_dies(story)
    it_comes_back(story)
    histories_tell(story)


def a_workload_is_divided_by_what_clusters_can_hold(story: Story) -> None:
    story.repository.commit({f"clusters/{name}.yaml": a_cluster(name) for name in EVERYWHERE}, "Join three")
    assert story.reconcile() == 0
    story.add("web", 12, *EVERYWHERE, replicaScheduling=DYNAMIC)
    assert (story.reconcile(), story.placed("web")) == (0, {"big": 6, "middle": 4, "small": 2})
    story.reconcile_until(lambda: story.is_healthy("web"), "web is healthy")


def one_fills_up(story: Story) -> None:
    fill(story.members["big"], pods=18)
    story.reconcile_until(lambda: story.capacity("big") == ("96", "96"), "big has all of its 96 CPUs taken")
    assert story.placed("web") == {"big": 6, "middle": 4, "small": 2}
    story.add("late", 6, *EVERYWHERE, replicaScheduling=DYNAMIC)
    assert (story.reconcile(), story.placed("late")) == (0, {"middle": 4, "small": 2})
    story.reconcile_until(lambda: story.is_healthy("late"), "late is healthy")


def one_loses_a_node(story: Story) -> None:
    """The node's pods find place on the other, which is full then."""
    story.members["middle"].kubectl("delete", "node", "node-1")
    story.reconcile_until(
        lambda: nodes_of_pods(story.members["middle"]) == ["node-0"] * 8, "all pods of middle on its last node"
    )
    story.reconcile_until(lambda: story.capacity("middle") == ("32", "32"), "middle has all of its 32 CPUs taken")
    assert story.seen("middle")["nodeSummary"] == {"totalNum": 1, "readyNum": 1}
    assert story.placed("web") == {"big": 6, "middle": 4, "small": 2}
    story.add("web", 15, *EVERYWHERE, replicaScheduling=DYNAMIC)
    assert (story.reconcile(), story.placed("web")) == (0, {"big": 6, "middle": 4, "small": 5})
    story.reconcile_until(lambda: story.capacity("small") == ("32", "28"), "small has 28 of its 32 CPUs taken")


def one_dies(story: Story) -> None:
    story.members["small"].stop_server()
    assert story.reconcile() == 7
    assert story.ready("small") == ("True", "ClusterReady")
    story.reconcile_until(lambda: story.ready("small") == ("False", "ClusterNotReachable"), "small is told unreachable")
    story.add("here", 1, "small")
    assert (story.reconcile(), story.placed("here"), story.placed("web")["small"]) == (7, {}, 5)
    assert story.taints("small") == ["cluster.karmada.io/not-ready:NoSchedule"]
    assert UNTOLERATED in story.run("status").out


def it_comes_back(story: Story) -> None:
    story.members["small"].start_server()
    story.reconcile_until(lambda: story.ready("small") == ("True", "ClusterReady"), "small is told ready")
    story.reconcile_until(lambda: story.is_healthy("here"), "here is healthy")
    assert story.taints("small") == []
    assert (story.placed("here"), story.placed("web")) == ({"small": 1}, {"big": 6, "middle": 4, "small": 5})


def fill(member: Member, *, pods: int) -> None:
    """Let somebody else run pods of 4 CPUs in a member."""
    made = a_deployment("filler", replicas=pods)
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
    status, answer = member.request("POST", "/apis/apps/v1/namespaces/default/deployments", made)
    assert status == 201, answer


def nodes_of_pods(member: Member) -> list[str]:
    """The nodes of the shop's pods, "" for those that have none yet."""
    return [pod["spec"].get("nodeName", "") for pod in member.read("/api/v1/namespaces/shop/pods")["items"]]


def histories_tell(story: Story) -> None:
    """A rendered commit for every outcome, and a status commit for whatever became of a cluster."""
    repository = story.repository
    sources = repository.git("log", "--reverse", "--format=%h: %s", "--abbrev=12").splitlines()
    assert story.subjects("argosy/rendered") == [f"Render {source}" for source in (*sources, sources[-1])]
    told = [subject.partition(": ")[2].split(", ") for subject in story.subjects("argosy/status")]
    turns = [parts[:2] for parts in told if parts[0].endswith(("ready", "Unreachable"))]
    assert turns == [
        ["3 clusters ready", "facts of 3 clusters"],
        ["small Unreachable"],
        ["small not ready", "facts of small"],
        ["small ready", "facts of small"],
    ]
