"""The descheduler: replicas that a member cannot start for a while go where there is room, and nowhere else."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler.ledger.health import HealthFile
from render.documents import parse_documents
from render.model import ObjectRef
from render.rescheduling.descheduling import PendingPods, PendingReplicas
from render.timing import instant_text

from .build import a_deployment, a_policy, argosy
from .memory_fleet import MemoryFleet
from .pending import add_pods, add_replica_set
from .test_failover import WEB, a_fleet

BINDING = "bindings/default/Deployment.apps/web.yaml"
BY_ROOM = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "10"}


def a_descheduling_fleet(path: Path, **rooms: dict[str, str]) -> MemoryFleet:
    """Members of a node each with so much room, over which six replicas are divided."""
    files = {
        "argosy.yaml": a_fleet(descheduler={"enabled": True}),
        "web.yaml": a_deployment("web", replicas=6),
        "policy.yaml": a_policy("web", selectors=[WEB], placement={"replicaScheduling": BY_ROOM}),
    }
    fleet = MemoryFleet.create(path, {name: (1, room) for name, room in rooms.items()}, files)
    fleet.run()
    return fleet


def binding(fleet: MemoryFleet) -> dict[str, Any]:
    value: dict[str, Any] = parse_documents(fleet.repository.show(BINDING).encode())[0].value
    return value


def targets(fleet: MemoryFleet) -> dict[str, int]:
    return {each["name"]: each.get("replicas", 0) for each in binding(fleet)["spec"]["clusters"]}


def stuck(fleet: MemoryFleet, name: str, *, ready: int, waiting: int) -> str:
    """From now on no node of a member takes pods of the workload; return the time."""
    since = written_now(fleet)
    add_pods(fleet.members[name], add_replica_set(fleet.members[name], "web", 1), ready=ready, since=(since,) * waiting)
    return since


def written_now(fleet: MemoryFleet) -> str:
    return instant_text(datetime.fromtimestamp(fleet.now, UTC))


def test_replicas_that_no_node_takes_for_five_minutes_go_where_there_is_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_descheduling_fleet(tmp_path / "fleet", oslo=ROOM, paris=ROOM)
    assert targets(fleet) == {"oslo": 3, "paris": 3}
    since = stuck(fleet, "paris", ready=1, waiting=2)
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.run(10)
    recorded = HealthFile.read("", fleet.repository.show("facts/_health.yaml", "argosy/status").encode()).health
    assert recorded.pending == {
        ObjectRef("apps", "Deployment", "default", "web"): (
            PendingReplicas(cluster="paris", ready=1, pending=(PendingPods(since=since, pods=2),)),
        )
    }
    known = fleet.repository.git("rev-parse", "argosy/status")
    fleet.run(290)
    assert fleet.repository.git("rev-parse", "argosy/rendered", "argosy/status").split() == [before, known]
    fleet.run(1)
    assert targets(fleet) == {"oslo": 5, "paris": 1}
    assert binding(fleet)["status"]["descheduled"] == {
        "at": written_now(fleet),
        "clusters": [{"name": "paris", "replicas": 2}],
    }
    assert argosy(fleet.repository, capsys, "verify").code == 0
    add_pods(fleet.members["paris"], "web-1", ready=1)
    fleet.run(10)
    assert "facts/_health.yaml" not in fleet.repository.files("argosy/status")


def test_a_cluster_that_was_just_left_gets_no_replicas_of_it_for_a_while(tmp_path: Path) -> None:
    fleet = a_descheduling_fleet(tmp_path / "fleet", oslo=ROOM, paris=ROOM)
    stuck(fleet, "paris", ready=1, waiting=2)
    fleet.run(301)
    add_pods(fleet.members["paris"], "web-1", ready=1)
    fleet.repository.commit({"web.yaml": a_deployment("web", replicas=8)})
    fleet.run(119)
    assert targets(fleet) == {"oslo": 7, "paris": 1}
    fleet.repository.commit({"web.yaml": a_deployment("web", replicas=12)})
    fleet.run(1)
    assert targets(fleet)["paris"] > 1


def test_replicas_stay_and_say_so_where_no_other_cluster_has_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_descheduling_fleet(tmp_path / "fleet", oslo={**ROOM, "pods": "3"}, paris={**ROOM, "pods": "3"})
    stuck(fleet, "paris", ready=1, waiting=2)
    fleet.run(301)
    assert targets(fleet) == {"oslo": 3, "paris": 3}
    notes = [each for each in binding(fleet)["status"]["conditions"] if each["type"] == "Descheduled"]
    said = "no node takes 2 replicas in paris, and no other cluster has room"
    assert notes == [
        {
            "type": "Descheduled",
            "status": "False",
            "reason": "NoRoomElsewhere",
            "message": said,
            "clusters": ["paris"],
        }
    ]
    held = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.run(600)
    assert fleet.repository.git("rev-parse", "argosy/rendered") == held
    assert said in argosy(fleet.repository, capsys, "status").out
    assert f"NoRoomElsewhere   {said}" in argosy(fleet.repository, capsys, "explain", "deploy/web").out


def test_without_a_descheduler_nothing_of_it_is_recorded_or_done(tmp_path: Path) -> None:
    fleet = a_descheduling_fleet(tmp_path / "fleet", oslo=ROOM, paris=ROOM)
    fleet.repository.commit({"argosy.yaml": a_fleet()})
    stuck(fleet, "paris", ready=1, waiting=2)
    fleet.run(301)
    fleet.run(301)
    assert targets(fleet) == {"oslo": 3, "paris": 3}
    assert "facts/_health.yaml" not in fleet.repository.files("argosy/status")
