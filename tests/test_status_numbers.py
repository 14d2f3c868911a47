"""The numbers that ``argosy status`` shows: as they were last seen, or with their age."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import a_deployment, a_policy, on_clusters
from .memory_fleet import MemoryFleet, add_node, settle

MORE_KINDS = (
    ("v1", "ResourceQuota", "resourcequotas", True),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", True),
    ("batch/v1", "CronJob", "cronjobs", True),
)
NODES = {"member1": (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})}
STATUSES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "PodDisruptionBudget": (
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"},
        [
            {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0},
            {"currentHealthy": 2, "desiredHealthy": 1, "disruptionsAllowed": 1, "expectedPods": 2},
        ],
    ),
    "HorizontalPodAutoscaler": (
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"},
        [{"currentReplicas": 3, "desiredReplicas": 3}, {"currentReplicas": 3, "desiredReplicas": 12}],
    ),
    "ResourceQuota": (
        {"apiVersion": "v1", "kind": "ResourceQuota"},
        [{"used": {"requests.cpu": "100m"}}, {"used": {"requests.cpu": "200m"}}],
    ),
    "CronJob": (
        {"apiVersion": "batch/v1", "kind": "CronJob"},
        [
            {"lastScheduleTime": "2027-01-15T08:00:00Z"},
            {"lastScheduleTime": "2027-01-15T08:01:00Z"},
        ],
    ),
}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
SPECS: dict[str, dict[str, Any]] = {
    "PodDisruptionBudget": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1},
    "HorizontalPodAutoscaler": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 20,
    },
    "ResourceQuota": {"hard": {"requests.cpu": "1"}},
    "CronJob": {
        "schedule": "* * * * *",
        "jobTemplate": {
            "spec": {
                "template": {
                    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36"}]}
                }
            }
        },
    },
}


def a_fleet_of(folder: Path, kind: str) -> MemoryFleet:
    head = STATUSES[kind][0]
    template = {**head, "metadata": {"name": "web", "namespace": "default"}, "spec": SPECS[kind]}
    selector = {"apiVersion": head["apiVersion"], "kind": kind}
    files = {"web.yaml": template, "policy.yaml": a_policy(selectors=[selector], placement=on_clusters("member1"))}
    fleet = MemoryFleet.create(folder / "fleet", NODES, files)
    fleet.members["member1"].more_kinds = MORE_KINDS
    fleet.run()
    return fleet


def live(fleet: MemoryFleet) -> dict[str, Any]:
    member = fleet.members["member1"]
    found: dict[str, Any] = next(each for (_, _, name), each in member.objects.items() if name == "web")
    return found


def shown(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str], subject: str, later: float = 0.0) -> dict[str, Any]:
    value = json.loads(fleet.status(capsys, subject, output="json", later=later).out)
    (found,) = value["clusters"]
    return dict(found)


@pytest.mark.parametrize("kind", STATUSES)
def test_a_status_of_any_kind_is_shown_as_it_was_last_seen(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, all kinds but four were recorded every ten minutes at most, and nothing told their age."""
    fleet = a_fleet_of(tmp_path, kind)
    for status in STATUSES[kind][1]:
        live(fleet)["status"] = status
        fleet.run(20)
        found = shown(fleet, capsys, f"{kind}/web")
        assert {name: found["status"].get(name) for name in status} == status
        assert "unsettledSince" not in found


def test_numbers_that_move_at_every_look_are_shown_with_their_age(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet_of(tmp_path, "HorizontalPodAutoscaler")
    commits = len(fleet.status_commits())
    for number in range(80):
        live(fleet)["status"] = {"currentReplicas": 1, "desiredReplicas": number + 1}
        fleet.run(15)
        found = shown(fleet, capsys, "hpa/web")
        assert found["status"]["desiredReplicas"] == number + 1 or found["unsettledSince"]
    assert len(fleet.status_commits()) - commits <= 12
    ended = fleet.status(capsys, "hpa/web", later=60)
    header, row = ended.out.splitlines()[-2:]
    assert header.split()[-1] == "SEEN"
    assert row.split()[-1] == "ago"
    fleet.run(300)
    fleet.run(420)
    found = shown(fleet, capsys, "hpa/web")
    assert (found["status"]["desiredReplicas"], found.get("unsettledSince")) == (80, None)
    assert "SEEN" not in fleet.status(capsys, "hpa/web").out


def test_numbers_of_a_workload_on_its_way_are_shown_with_their_age(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "web.yaml": a_deployment("web", replicas=3),
        "policy.yaml": a_policy(selectors=[DEPLOYMENT], placement=on_clusters("member1")),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", NODES, files)
    fleet.run()
    for ready in (1, 2):
        live(fleet)["status"] = {"replicas": 3, "updatedReplicas": 3, "readyReplicas": ready, "observedGeneration": 1}
        fleet.run(10)
    found = shown(fleet, capsys, "deploy/web")
    assert (found["status"]["readyReplicas"], bool(found["unsettledSince"])) == (1, True)
    assert "SEEN" in fleet.status(capsys, "deploy/web").out
    fleet.run(60)
    assert shown(fleet, capsys, "deploy/web")["status"]["readyReplicas"] == 2
    settle(fleet.members["member1"])
    fleet.run(10)
    found = shown(fleet, capsys, "deploy/web")
    assert (found["status"]["readyReplicas"], found.get("unsettledSince")) == (3, None)


def test_the_room_of_a_cluster_is_shown_with_its_age(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is that of the facts, which small moves of free room do not change for ten minutes."""
    fleet = a_fleet_of(tmp_path, "ResourceQuota")
    add_node(fleet.members["member1"], "node-1", cpu="8", memory="16Gi", pods="110")
    fleet.run(60)
    ended = fleet.status(capsys, "cluster/member1", later=240)
    assert "room as it was 4m ago; by now it may differ" in ended.out
    value = json.loads(fleet.status(capsys, "cluster/member1", output="json").out)
    assert value["capacityRecordedAt"] == "2027-01-15T08:01:00Z"


def test_jobs_that_have_ended_have_no_replicas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36"}]}}
    jobs = {
        name: {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"parallelism": 2, "completions": 2, "template": pod},
        }
        for name in ("done", "failed", "running")
    }
    selector = {"apiVersion": "batch/v1", "kind": "Job"}
    policy = a_policy(selectors=[selector], placement=on_clusters("member1"))
    files = {**{f"{name}.yaml": job for name, job in jobs.items()}, "policy.yaml": policy}
    fleet = MemoryFleet.create(tmp_path / "fleet", NODES, files)
    fleet.run()

    def replicas() -> int:
        value = json.loads(fleet.status(capsys, output="json").out)
        return int(value["clusters"]["member1"]["replicas"])

    assert replicas() == 6
    objects = fleet.members["member1"].objects
    for name, word in (("done", "Complete"), ("failed", "Failed")):
        objects["jobs.batch", "default", name]["status"] = {"conditions": [{"type": word, "status": "True"}]}
    objects["jobs.batch", "default", "running"]["status"] = {"active": 2}
    fleet.run(60)
    assert replicas() == 2
    assert fleet.status(capsys).out.splitlines()[4].split()[5] == "2"


@pytest.mark.parametrize("by_agent", [False, True])
def test_an_agent_tells_every_turn_of_health_for_rules_that_it_does_not_know(by_agent: bool, tmp_path: Path) -> None:
    files = {
        "web.yaml": a_deployment("web", replicas=2),
        "policy.yaml": a_policy(selectors=[DEPLOYMENT], placement=on_clusters("member1")),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", NODES, files, by_agent=by_agent)
    fleet.run()
    reasons = []
    for number in range(12):
        settle(fleet.members["member1"])
        live(fleet)["status"]["readyReplicas"] = 1 + number % 2
        fleet.run(15)
        work = fleet.recorded("works/member1/default/Deployment.apps/web.yaml")
        reasons.append(work["status"]["conditions"][1]["reason"])
    assert ("Flapping" in reasons) != by_agent
    assert reasons[-2:] == (["ReplicasMissing", "Healthy"] if by_agent else ["Flapping", "Flapping"])
