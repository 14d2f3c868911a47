"""Failover by what is observed of members: one goes down and comes back, and a workload does not become healthy."""

import io
import os
from pathlib import Path
from typing import Any

import pytest

from reconciler.console.log import Log
from reconciler.members.exchange import Failure, FailureKind
from reconciler.passes.agent_pass import Agent, AgentOptions, AgentPass, run_agent_pass
from reconciler.repository import open_repository_for_branches
from render.documents import parse_documents
from render.errors import ClusterError

from .build import AUTHOR, a_deployment, a_policy, argosy, weighted
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
    found: dict[str, Any] = parse_binding(fleet)["spec"]
    return found


def targets(fleet: MemoryFleet) -> dict[str, int]:
    return {each["name"]: each.get("replicas", 0) for each in spec(fleet)["clusters"]}


def has_web(fleet: MemoryFleet, name: str) -> bool:
    return ("deployments.apps", "default", "web") in fleet.members[name].objects


def parse_binding(fleet: MemoryFleet) -> dict[str, Any]:
    found: dict[str, Any] = parse_documents(fleet.repository.show(BINDING).encode())[0].value
    return found


def notes(fleet: MemoryFleet) -> list[tuple[str, str, str]]:
    """Return the conditions of a binding about evictions: status, reason and message."""
    found = parse_binding(fleet).get("status", {}).get("conditions", ())
    return [(each["status"], each["reason"], each["message"]) for each in found if each["type"] == "Evicted"]


def a_tainted_fleet(folder: Path) -> MemoryFleet:
    """Three members with two replicas each, which leave what has been down for five minutes."""
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
    files = {
        "argosy.yaml": a_fleet(featureGates={"Failover": True}),
        "down.yaml": DOWN,
        "web.yaml": a_deployment("web", replicas=6),
        "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
    }
    fleet = MemoryFleet.create(folder / "fleet", MEMBERS, files)
    run(fleet)
    run(fleet)
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    return fleet


def test_a_member_that_is_down_is_left_and_loses_its_copy_when_it_is_back(tmp_path: Path) -> None:
    fleet = a_tainted_fleet(tmp_path)
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


def heartbeat(fleet: MemoryFleet, name: str) -> AgentPass:
    """Let the agent of a member say that it lives, over a clone of its own."""
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(fleet.repository.path.parent / "cache"), **AUTHOR}
    options = AgentOptions(cluster=name, heartbeat=60, only_heartbeat=True)
    with open_repository_for_branches(
        fleet.repository.path.as_uri(), f"agent {name}", environment=environment
    ) as branches:
        agent = Agent(
            repository=branches,
            options=options,
            open_client=lambda name, _deadline: fleet.members[name],
            clock=lambda: fleet.now,
        )
        return run_agent_pass(agent, Log(stream=io.StringIO()))


def test_a_member_whose_agent_still_reports_is_not_left_for_our_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is left once the agent is silent, too; a word from before the outage keeps nothing."""
    fleet = a_tainted_fleet(tmp_path)
    heartbeat(fleet, "paris")
    fleet.down = {"paris"}
    run(fleet)
    run(fleet)
    assert notes(fleet) == []
    heartbeat(fleet, "paris")
    run(fleet)
    since = fleet.recorded("clusters/paris.yaml")["status"]["conditions"][0]["lastTransitionTime"]
    message = f"stays in paris, which has not answered us since {since}: its own agent still reports"
    assert notes(fleet) == [("False", "ClusterReports", message)]
    assert message in argosy(fleet.repository, capsys, "explain", "deploy/web").out
    assert message in argosy(fleet.repository, capsys, "status").out
    held = fleet.repository.git("rev-parse", "argosy/rendered")
    for _ in range(4):
        heartbeat(fleet, "paris")
        run(fleet, 300)
    assert fleet.repository.git("rev-parse", "argosy/rendered") == held
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    run(fleet, 301)  # 601 seconds after the last word
    assert (targets(fleet), notes(fleet)) == ({"oslo": 3, "rome": 3}, [])
    verified = argosy(fleet.repository, capsys, "verify", "-n", "3")
    assert (verified.code, verified.out.count("equal")) == (0, 3)


def test_a_member_that_answers_again_is_no_longer_said_to_report(tmp_path: Path) -> None:
    fleet = a_tainted_fleet(tmp_path)
    fleet.down = {"paris"}
    run(fleet)
    run(fleet)
    heartbeat(fleet, "paris")
    run(fleet)
    assert [reason for _, reason, _ in notes(fleet)] == ["ClusterReports"]
    fleet.down = set()
    run(fleet)
    types = [each["type"] for each in fleet.recorded("clusters/paris.yaml")["status"]["conditions"]]
    assert (types, notes(fleet)) == (["Ready", "CompleteAPIEnablements"], [])


def test_an_agent_says_nothing_of_a_member_that_is_not_healthy(tmp_path: Path) -> None:
    fleet = a_tainted_fleet(tmp_path)
    fleet.members["paris"] = Failure(kind=FailureKind.UNREACHABLE, message="refuses connections", hint="look at it")
    with pytest.raises(ClusterError) as caught:
        heartbeat(fleet, "paris")
    assert str(caught.value) == "paris is not healthy: Unreachable: refuses connections\n  hint: look at it"
    assert fleet.repository.git("for-each-ref", "refs/heads/argosy/agent") == ""


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
