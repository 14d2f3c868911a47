"""Remedy: what conditions of members call for, on the status branch and in status, until they are well again."""

from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .build import a_deployment, a_policy
from .memory_fleet import MemoryFleet
from .test_failover import WEB

ROOM = (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})


def a_remedy(name: str, *clusters: str, **match: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"actions": ["TrafficControl"], "decisionMatches": [{"clusterConditionMatch": match}]}
    if clusters:
        spec["clusterAffinity"] = {"clusterNames": list(clusters)}
    return {"apiVersion": "remedy.karmada.io/v1alpha1", "kind": "Remedy", "metadata": {"name": name}, "spec": spec}


NOT_READY = {"conditionType": "Ready", "operator": "NotEqual", "conditionStatus": "True"}


def actions(fleet: MemoryFleet) -> dict[str, list[str]]:
    found = {name: fleet.recorded(f"clusters/{name}.yaml")["status"] for name in fleet.members}
    return {name: status["remedyActions"] for name, status in found.items() if "remedyActions" in status}


def test_a_member_that_is_not_ready_calls_for_its_remedies_until_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "web.yaml": a_deployment("web"),
        "policy.yaml": a_policy("web", selectors=[WEB], placement={}),
        "down.yaml": a_remedy("down", **NOT_READY),
        "other.yaml": {**a_remedy("other", "oslo", **NOT_READY)},
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": ROOM, "paris": ROOM}, files)
    fleet.run()
    assert actions(fleet) == {}
    fleet.down = {"paris"}
    fleet.run(10)
    fleet.run(60)
    assert actions(fleet) == {"paris": ["TrafficControl"]}
    assert "remedy: TrafficControl" in fleet.status(capsys).out
    value = parse_documents(fleet.status(capsys, output="json").out.encode())[0].value
    assert {name: each.get("remedyActions") for name, each in value["clusters"].items()} == {
        "oslo": None,
        "paris": ["TrafficControl"],
    }
    known = fleet.repository.git("rev-parse", "argosy/status")
    fleet.run(60)
    assert fleet.repository.git("rev-parse", "argosy/status") == known
    fleet.repository.commit({"down.yaml": None})
    fleet.run(10)
    assert actions(fleet) == {}
    fleet.repository.commit({"down.yaml": a_remedy("down", **NOT_READY)})
    fleet.run(10)
    fleet.down = set()
    fleet.run(60)
    assert actions(fleet) == {}
