"""Failover by what is observed of members: one goes down and comes back, and a workload does not become healthy."""

from pathlib import Path
from typing import Any

from render.documents import parse_documents

from .build import a_deployment, a_policy, weighted
from .memory_fleet import MemoryFleet, settle
from .test_failover import DOWN, FIVE_MINUTES, TOLERATED, WEB, a_failing_policy, a_fleet

ROOMY = {"cpu": "8", "memory": "16Gi", "pods": "110"}
MEMBERS = {"oslo": (1, ROOMY), "paris": (1, ROOMY), "rome": (1, ROOMY)}
BINDING = "bindings/default/Deployment.apps/web.yaml"


def run(fleet: MemoryFleet, seconds: float = 60.0) -> None:
    """One pass, before which every member that answers did what it was told."""
    for name in fleet.members.keys() - fleet.down:
        settle(fleet.members[name])
    fleet.run(seconds)


def spec(fleet: MemoryFleet) -> dict[str, Any]:
    found: dict[str, Any] = parse_documents(fleet.repository.show(BINDING).encode())[0].value["spec"]
    return found


def targets(fleet: MemoryFleet) -> dict[str, int]:
    return {each["name"]: each.get("replicas", 0) for each in spec(fleet)["clusters"]}


def has_web(fleet: MemoryFleet, name: str) -> bool:
    return ("deployments.apps", "default", "web") in fleet.members[name].objects


def test_a_member_that_is_down_is_left_and_loses_its_copy_when_it_is_back(tmp_path: Path) -> None:
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
    files = {
        "argosy.yaml": a_fleet(featureGates={"Failover": True}),
        "down.yaml": DOWN,
        "web.yaml": a_deployment("web", replicas=6),
        "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", MEMBERS, files)
    run(fleet)
    run(fleet)
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    fleet.down = {"paris"}
    run(fleet)  # begins to fail
    run(fleet)  # is not ready, and so tainted
    tainted = fleet.repository.git("rev-parse", "argosy/rendered")
    run(fleet, 299)
    assert fleet.repository.git("rev-parse", "argosy/rendered") == tainted
    run(fleet, 1)
    assert targets(fleet) == {"oslo": 3, "rome": 3}
    assert [task["fromCluster"] for task in spec(fleet)["gracefulEvictionTasks"]] == ["paris"]
    run(fleet)  # the others are healthy, which this pass records and the next one goes by
    run(fleet)
    assert "gracefulEvictionTasks" not in spec(fleet)
    assert has_web(fleet, "paris")
    fleet.down = set()
    run(fleet)
    run(fleet)
    assert not has_web(fleet, "paris")
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_a_workload_that_does_not_become_healthy_fails_over(tmp_path: Path) -> None:
    files = {"web.yaml": a_deployment("web", replicas=6), "policy.yaml": a_failing_policy(FIVE_MINUTES)}
    fleet = MemoryFleet.create(tmp_path / "fleet", MEMBERS, files)
    fleet.run()
    fleet.run(60)
    assert targets(fleet) == {"paris": 6}
    fleet.run(240)
    assert targets(fleet) == {"paris": 6}
    fleet.run(1)
    assert targets(fleet) == {"rome": 6}
    run(fleet)
    run(fleet)
    assert "gracefulEvictionTasks" not in spec(fleet)
    assert (has_web(fleet, "paris"), has_web(fleet, "rome")) == (False, True)
