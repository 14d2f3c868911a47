"""The status of WorkloadRebalancers: what became of their workloads, when, and until when their files should stay."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents
from render.parsing.bindings import ANSWERED_REQUESTS
from render.rebalancers.finished import recorded_request_status

from .build import a_deployment, a_policy
from .memory_fleet import MemoryFleet
from .tables import each_row
from .test_failover import WEB

ROOM = (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})
PATH = "rebalancers/move.yaml"


def a_rebalancer(*names: str) -> dict[str, Any]:
    workloads = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": name} for name in names
    ]
    return {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": "move"},
        "spec": {"workloads": workloads, "ttlSecondsAfterFinished": 3600},
    }


def results(fleet: MemoryFleet) -> dict[str, str]:
    observed = fleet.recorded(PATH)["status"]["observedWorkloads"]
    return {each["workload"]["name"]: each.get("reason") or each["result"] for each in observed}


def test_a_rebalancer_is_recorded_until_its_file_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    selectors = [WEB, {**WEB, "name": "api"}]
    files = {
        "web.yaml": a_deployment("web"),
        "policy.yaml": a_policy("all", selectors=selectors, placement={}),
        "move.yaml": a_rebalancer("web", "api"),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": ROOM}, files)
    fleet.run()
    assert results(fleet) == {"api": "ReferencedBindingNotFound", "web": "Successful"}
    first = fleet.recorded(PATH)
    assert first["status"]["finishTime"] == "2027-01-15T08:00:00Z"
    fleet.run(60)
    assert fleet.recorded(PATH) == first
    fleet.repository.commit({"api.yaml": a_deployment("api")})
    fleet.run(60)
    assert results(fleet) == {"api": "Successful", "web": "Successful"}
    assert fleet.recorded(PATH)["status"]["finishTime"] == "2027-01-15T08:02:00Z"
    early, late = (fleet.status(capsys, later=later).out for later in (3599, 3600))
    assert "its time is over" not in early
    row = "move         2 of 2        2027-01-15T08:02:00Z   its time is over: delete move.yaml"
    assert row in late.splitlines()
    value = parse_documents(fleet.status(capsys, output="json").out.encode())[0].value
    assert value["rebalancers"][0]["expires"] == "2027-01-15T09:02:00Z"
    fleet.repository.commit({"move.yaml": None})
    fleet.run(60)
    assert PATH not in fleet.repository.files("argosy/status")


STATUS = {
    "observedGeneration": 2,
    "finishTime": "2027-01-01T00:00:00Z",
    "observedWorkloads": [
        {"workload": each, "result": "Successful"} for each in a_rebalancer("web", "api")["spec"]["workloads"]
    ],
}


def test_a_rebalancer_that_karmada_has_answered_asks_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its file is what ``kubectl get -o yaml`` prints; only what was added to it after it finished is rescheduled."""
    selectors = [WEB, {**WEB, "name": "api"}, {**WEB, "name": "new"}]
    finished, grown = a_rebalancer("web", "api"), a_rebalancer("web", "api", "new")
    grown["metadata"] = {"name": "grown", "generation": 3}
    files = {
        **{f"{name}.yaml": a_deployment(name) for name in ("web", "api", "new")},
        "policy.yaml": a_policy("all", selectors=selectors, placement={}),
        "move.yaml": {**finished, "status": STATUS},
        "grown.yaml": {**grown, "status": STATUS},
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": ROOM}, files)
    fleet.run()
    answered = {
        name: fleet.recorded(f"bindings/default/Deployment.apps/{name}.yaml", "argosy/rendered")["metadata"]
        .get("annotations", {})
        .get(ANSWERED_REQUESTS)
        for name in ("web", "new")
    }
    assert answered == {"web": None, "new": "grown"}
    assert fleet.recorded(PATH)["status"]["finishTime"] == "2027-01-01T00:00:00Z"
    assert results(fleet) == {"api": "Successful", "web": "Successful"}
    assert fleet.recorded("rebalancers/grown.yaml")["status"]["finishTime"] == "2027-01-15T08:00:00Z"
    rows = [line.split() for line in fleet.status(capsys).out.splitlines() if line.startswith(("move ", "grown "))]
    assert [row[:5] for row in rows] == [
        ["grown", "3", "of", "3", "2027-01-15T08:00:00Z"],
        ["move", "2", "of", "2", "2027-01-01T00:00:00Z"],
    ]


class Recorded(NamedTuple):
    """The status in a file whose spec of generation 2 names web and api, and what is done with by it."""

    why: str
    status: Mapping[str, Any]
    done: Mapping[str, str]


def answered(name: str, **said: str) -> dict[str, Any]:
    return {"workload": a_rebalancer(name)["spec"]["workloads"][0], **said}


WEB_DONE, API_GONE = answered("web", result="Successful"), answered("api", result="Failed", reason="NotFound")
BOTH = {"web": "Successful", "api": "Successful"}
END = {"finishTime": "2027-01-01T00:00:00Z"}
RECORDED = [
    Recorded("nothing is said", {}, {}),
    Recorded("one is answered", {"observedWorkloads": [WEB_DONE]}, {"web": "Successful"}),
    Recorded(
        "the other is named without an answer",
        {"observedWorkloads": [WEB_DONE, answered("api")]},
        {"web": "Successful"},
    ),
    Recorded("one is not found", {"observedWorkloads": [API_GONE]}, {"api": "Failed"}),
    Recorded("a word that is no answer", {"observedWorkloads": [answered("web", result="Maybe")]}, {}),
    Recorded("all of it is finished", END, BOTH),
    Recorded("it finished, and one failed", {**END, "observedWorkloads": [API_GONE]}, {**BOTH, "api": "Failed"}),
    Recorded("another spec finished", {**END, "observedGeneration": 1}, {}),
]


@each_row("case", RECORDED)
def test_the_workloads_of_a_status_are_done_with_as_far_as_it_says_so(case: Recorded) -> None:
    rebalancer = a_rebalancer("web", "api")
    rebalancer["metadata"] = {"name": "move", "generation": 2}
    status = recorded_request_status({**rebalancer, "status": case.status})
    assert {each.workload.name: str(each.outcome) for each in status.observed} == case.done
