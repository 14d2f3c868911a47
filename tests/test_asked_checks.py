"""Whole passes of a rollout that asks a Prometheus: when it is asked, what is recorded, and what goes on by it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .asked import AskedSource, a_fleet_asking, asked_source
from .build import Ended, Repository, a_cluster, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import add_node, settle
from .rolling import WEB, a_rollout_policy, a_wave, web
from .served import Served, serving_members

BEGIN = datetime(2040, 3, 1, 9, tzinfo=UTC)
"""After any time at which members are observed, which has a clock of its own."""
CHECKS = "facts/_checks.yaml"
BRANCHES = ("argosy/rendered", "argosy/status")


class Fleet:
    """Members behind HTTP with the Deployment web, and a Prometheus that a check asks every minute."""

    def __init__(self, folder: Path, served: Served, members: list[FakeCluster], source: AskedSource) -> None:
        self.members, self.source, self.served, self.now = members, source, served, BEGIN
        prometheus = {"address": source.address, "query": "errors", "is": "< 0.01"}
        checks = [{"name": "errors", "interval": "1m", "prometheus": prometheus}]
        waves = [a_wave("canary", "oslo", gate={"checks": checks}), a_wave("rest")]
        self.repository = Repository.create(folder / "fleet")
        self.repository.commit(
            {
                **{f"clusters/{each.name}.yaml": a_cluster(each.name) for each in members},
                "web.yaml": web(1),
                "policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters()),
                "rollout.yaml": a_rollout_policy(waves=waves),
                "argosy.yaml": a_fleet_asking(source.address),
            }
        )

    def reconcile(self, capsys: pytest.CaptureFixture[str], seconds: int = 0, *more: str, code: int = 0) -> Ended:
        """One pass, after which all Deployments become as they should be."""
        self.now += timedelta(seconds=seconds)
        time = f"{self.now:%Y-%m-%dT%H:%M:%SZ}"
        way = ("--kubeconfigs", str(self.served.kubeconfigs))
        ended = argosy(self.repository, capsys, "reconcile", *way, "--now", time, *more)
        assert ended.code == code, ended.err
        for member in self.members:
            settle(member)
        return ended

    def versions(self) -> str:
        """The version of each member, by the image of its Deployment."""
        live = (each.objects["deployments.apps", "default", "web"] for each in self.members)
        return "".join(each["spec"]["template"]["spec"]["containers"][0]["image"][-1] for each in live)

    def tips(self) -> list[str]:
        return [self.repository.git("rev-parse", each) for each in BRANCHES]

    def recorded(self, branch: str) -> Any:
        """The answers on a branch, without what differs from run to run."""
        content = self.repository.show(CHECKS, branch)
        checks = parse_documents(f"{content}\n".encode())[0].value["checks"]
        return [{name: value for name, value in each.items() if name not in {"question", "change"}} for each in checks]


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    members = [FakeCluster(name=name) for name in ("oslo", "paris")]
    for member in members:
        add_node(member, "node", cpu="8", pods="20")
    with asked_source() as source, serving_members(members, tmp_path / "kubeconfigs") as served:
        fleet = Fleet(tmp_path, served, members, source)
        fleet.reconcile(capsys, 0, "--bootstrap")
        fleet.reconcile(capsys)
        assert source.asked == []
        yield fleet


def begin_rollout(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Give oslo the second version, and let passes see that it is well there."""
    fleet.repository.commit({"web.yaml": web(2)})
    for _ in range(3):
        fleet.reconcile(capsys)
    assert fleet.versions() == "21"


def test_a_wave_waits_for_a_good_answer_and_nothing_is_committed_meanwhile(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.source.answer_with_numbers("0.5")
    begin_rollout(fleet, capsys)
    assert len(fleet.source.asked) == 1
    tips = fleet.tips()
    for seconds, number in ((59, "0.5"), (1, "0.6"), (60, "0.7"), (3600, "0.8")):
        fleet.source.answer_with_numbers(number)
        fleet.reconcile(capsys, seconds)
    assert (len(fleet.source.asked), fleet.tips(), fleet.versions()) == (4, tips, "21")
    shown = argosy(fleet.repository, capsys, "rollout", "status", "web").out
    assert "next: waits for check errors of wave canary (0.5)\n" in shown
    assert shown.splitlines()[-2:] == [
        "CHECK    ABOUT         ANSWER    VALUE   SINCE",
        "errors   wave canary   not met   0.5     2040-03-01T09:00:00Z",
    ]
    about = {"policy": "RolloutPolicy default/web", "check": "errors", "wave": "canary"}
    told = json.loads(argosy(fleet.repository, capsys, "rollout", "status", "-o", "json").out)["checks"]
    assert told == [{**about, "answer": "notMet", "value": "0.5", "since": "2040-03-01T09:00:00Z"}]
    fleet.source.answer_with_numbers("0.001")
    fleet.reconcile(capsys, 59)
    assert (len(fleet.source.asked), fleet.versions()) == (4, "21")
    fleet.reconcile(capsys, 1)
    assert (len(fleet.source.asked), fleet.versions()) == (5, "22")


def test_answers_are_recorded_and_the_commits_are_made_again_without_their_source(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.source.status = 503
    begin_rollout(fleet, capsys)
    about = {"rollout": "RolloutPolicy default/web", "wave": "canary", "check": "errors"}
    silence = "no answer: it answers with status 503, and not as Prometheus does"
    at = {"since": "2040-03-01T09:00:00Z"}
    assert fleet.recorded("argosy/status") == [{**about, **at, "met": False, "answered": False, "value": silence}]
    fleet.source.status = 200
    fleet.source.answer_with_numbers("0.001")
    fleet.reconcile(capsys, 60)
    at = {"since": "2040-03-01T09:01:00Z"}
    (answer,) = fleet.recorded("argosy/status")
    assert {**answer, "digest": ""} == {**about, **at, "met": True, "value": "0.001", "digest": ""}
    assert fleet.recorded("argosy/rendered") == [answer]
    for _ in range(4):
        fleet.reconcile(capsys)
    assert fleet.versions() == "22"
    assert "Completed" in argosy(fleet.repository, capsys, "rollout", "status").out
    assert CHECKS not in fleet.repository.files("argosy/status")
    asked = len(fleet.source.asked)
    fleet.reconcile(capsys, 3600)
    assert argosy(fleet.repository, capsys, "verify", "-n", "20").code == 0
    assert len(fleet.source.asked) == asked


def test_a_dry_run_asks_nobody(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.source.answer_with_numbers("0.001")
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.reconcile(capsys)
    for _ in range(2):
        fleet.reconcile(capsys, 0, "--dry-run")
    assert (fleet.versions(), fleet.source.asked) == ("21", [])


def test_an_answer_that_nobody_gave_for_long_is_asked_for_before_anything_goes_by_it(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """A good answer of an hour ago is not taken for one that was good all the hour."""
    policy = parse_documents(f"{fleet.repository.show('rollout.yaml', 'HEAD')}\n".encode())[0].value
    policy["spec"]["waves"][0]["gate"]["checks"][0]["for"] = "1h"
    fleet.repository.commit({"rollout.yaml": policy})
    fleet.source.answer_with_numbers("0.001")
    begin_rollout(fleet, capsys)
    fleet.source.answer_with_numbers("0.5")
    fleet.reconcile(capsys, 3600)
    assert fleet.versions() == "21"
    fleet.source.answer_with_numbers("0.001")
    fleet.reconcile(capsys, 3600)
    fleet.reconcile(capsys, 3599)
    assert fleet.versions() == "21"
    fleet.reconcile(capsys, 1)
    assert fleet.versions() == "22"


def test_a_rollout_goes_on_by_its_checks_while_the_newest_source_is_refused(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.source.answer_with_numbers("0.5")
    begin_rollout(fleet, capsys)
    fleet.repository.commit({"broken.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: [\n"})
    fleet.reconcile(capsys, 60, code=3)
    assert (len(fleet.source.asked), fleet.versions()) == (2, "21")
    fleet.source.answer_with_numbers("0.001")
    fleet.reconcile(capsys, 60, code=3)
    assert (len(fleet.source.asked), fleet.versions()) == (3, "22")


def give_check(fleet: Fleet, **check: Any) -> None:
    """Give all waves another check instead of that of the canary."""
    policy = a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")], gate={"checks": [check]})
    fleet.repository.commit({"rollout.yaml": policy})


def test_a_live_object_of_each_cluster_is_asked_in_that_cluster(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    live = {"apiVersion": "v1", "kind": "Node", "name": "node", "jsonPath": "{.metadata.labels.ready}", "equals": "yes"}
    give_check(fleet, name="ready", object=live)
    begin_rollout(fleet, capsys)
    shown = argosy(fleet.repository, capsys, "rollout", "status", "web").out
    reason = "no answer: there is nothing at {.metadata.labels.ready}"
    assert f"next: waits for oslo to come through the gate, and for check ready of oslo ({reason})\n" in shown
    for member, versions in zip(fleet.members, ("22", "22"), strict=True):
        member.objects["nodes.", "", "node"]["metadata"]["labels"] = {"ready": "yes"}
        for _ in range(3):
            fleet.reconcile(capsys, 60)
        assert fleet.versions() == versions
    assert "Completed" in argosy(fleet.repository, capsys, "rollout", "status").out
    assert argosy(fleet.repository, capsys, "verify", "-n", "20").code == 0


def test_a_job_runs_in_each_cluster_once_and_is_removed_when_that_is_recorded(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    pods = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "smoke:1"}]}}
    give_check(fleet, name="smoke", job={"namespace": "default", "spec": {"template": pods}})
    begin_rollout(fleet, capsys)

    def jobs() -> list[dict[str, Any]]:
        found = (each.objects.items() for each in fleet.members)
        return [live for items in found for (plural, _, _), live in items if plural == "jobs.batch"]

    for seen in ("22", "22"):
        fleet.reconcile(capsys, 60)
        (job,) = jobs()
        job["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
        for _ in range(3):
            fleet.reconcile(capsys, 60)
        assert fleet.versions() == seen
    assert jobs() == []
    begun = [each for each in fleet.served.written if each.startswith("POST") and each.endswith("/jobs")]
    assert len(begun) == 2
    assert "Completed" in argosy(fleet.repository, capsys, "rollout", "status").out
    assert argosy(fleet.repository, capsys, "verify", "-n", "20").code == 0
