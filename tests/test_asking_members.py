"""Checks that ask members and the forge: live objects, Jobs that run there, and statuses of commits."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler.asking.questions import Sources, ask_all
from reconciler.forge.address import Forge
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.visits import MemberReach
from render.errors import ConfigError
from render.rollouts.checks import (
    CheckQuestion,
    CheckSource,
    CommitStatusSource,
    GateCheck,
    JobSource,
    ObjectSource,
)
from render.settings.rendered import ForgeKind

from .asked import asked_source
from .fakes import FakeCluster

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
COMMIT = "5" * 40
SPEC = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "smoke:1"}]}}}
SMOKE = JobSource(namespace="default", spec=SPEC)


def a_question(source: CheckSource, cluster: str = "oslo", **fields: Any) -> CheckQuestion:
    check = GateCheck(name="smoke", source=source, timeout=5, is_of_cluster=True)
    defaults = {"rollout": "web", "change": "1", "wave": "canary", "since": SINCE, "check": check}
    return CheckQuestion(**{**defaults, "cluster": cluster, "commits": ("4" * 40, COMMIT), **fields})


def sources_of(member: FakeCluster) -> Sources:
    def open_client(name: str, _deadline: float) -> Client | Failure:
        assert name == "oslo"
        return member

    return Sources(reach=MemberReach(open_client=open_client))


def said(sources: Sources, question: CheckQuestion) -> tuple[str, str]:
    reply = ask_all([question], sources.ask)[question.id]
    return ("met" if reply.is_met else "not met" if reply.is_answer else "no answer", reply.value)


def a_value(**fields: Any) -> ObjectSource:
    named = {"api_version": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"}
    return ObjectSource(**{**named, "json_path": "{.status.readyReplicas}", "equals": "2", **fields})


OBJECTS: tuple[tuple[dict[str, Any], tuple[str, str]], ...] = (
    ({}, ("met", "2")),
    ({"equals": "3"}, ("not met", "2")),
    ({"equals": None, "matches": "[1-9]"}, ("met", "2")),
    ({"namespace": ""}, ("met", "2")),
    ({"json_path": "{.status.none}"}, ("no answer", "no answer: there is nothing at {.status.none}")),
    ({"name": "none"}, ("no answer", "no answer: there is no Deployment.apps default/none")),
    ({"api_version": "x.io/v1"}, ("no answer", "no answer: the cluster serves no Deployment in x.io/v1")),
)


def test_a_live_object_answers_by_a_value_of_it() -> None:
    member = FakeCluster(name="oslo")
    live = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
    member.objects["deployments.apps", "default", "web"] = {**live, "status": {"readyReplicas": 2}}
    found = [(fields, said(sources_of(member), a_question(a_value(**fields)))) for fields, _ in OBJECTS]
    assert found == list(OBJECTS)


def test_a_member_that_is_not_reached_gives_no_answer() -> None:
    assert said(Sources(), a_question(a_value())) == ("no answer", "no answer: no pass reaches the cluster")
    down = Failure(kind=FailureKind.UNREACHABLE, message="oslo refuses connections")
    sources = Sources(reach=MemberReach(open_client=lambda _name, _deadline: down))
    assert said(sources, a_question(SMOKE)) == ("no answer", "no answer: oslo refuses connections")


def jobs_of(member: FakeCluster) -> dict[str, Any]:
    return {name: live for (plural, _, name), live in member.objects.items() if plural == "jobs.batch"}


def end_job(member: FakeCluster, condition: str) -> None:
    (job,) = jobs_of(member).values()
    job["status"] = {"conditions": [{"type": "Suspended", "status": "False"}, {"type": condition, "status": "True"}]}


def test_a_job_is_begun_once_and_answers_when_it_has_ended() -> None:
    member, question = FakeCluster(name="oslo"), a_question(SMOKE)
    sources = sources_of(member)
    name = f"smoke-{question.id}"
    runs = ("no answer", f"no answer: Job default/{name} runs")
    assert [said(sources, question) for _ in range(2)] == [runs, runs]
    (job,) = jobs_of(member).values()
    assert job["metadata"]["name"] == name
    assert {key: job["spec"][key] for key in ("activeDeadlineSeconds", "ttlSecondsAfterFinished")} == {
        "activeDeadlineSeconds": 3600,
        "ttlSecondsAfterFinished": 86400,
    }
    assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "smoke:1"
    end_job(member, "Complete")
    assert said(sources, question) == ("met", f"Job default/{name} has succeeded")
    sources.remove_what_has_ended(question, 5)
    assert jobs_of(member) == {}


def test_a_job_that_has_failed_is_an_answer_and_stays_for_its_log() -> None:
    member, question = FakeCluster(name="oslo"), a_question(SMOKE)
    said(sources_of(member), question)
    end_job(member, "Failed")
    assert said(sources_of(member), question) == ("not met", f"Job default/smoke-{question.id} has failed")
    assert len(jobs_of(member)) == 1


def test_a_job_of_an_earlier_question_makes_way_and_other_jobs_stay() -> None:
    member, later = FakeCluster(name="oslo"), a_question(SMOKE, change="2")
    sources = sources_of(member)
    said(sources, a_question(SMOKE))
    member.objects["jobs.batch", "default", "other"] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "other", "namespace": "default", "uid": "1"},
    }
    said(sources, later)
    assert sorted(jobs_of(member)) == ["other", f"smoke-{later.id}"]


def test_a_job_whose_status_is_nonsense_still_runs() -> None:
    member, question = FakeCluster(name="oslo"), a_question(SMOKE)
    said(sources_of(member), question)
    for status in ("x", {"conditions": {"type": "Complete"}}, {"conditions": ["Complete", {"type": "Complete"}]}):
        (job,) = jobs_of(member).values()
        job["status"] = status
        assert said(sources_of(member), question)[0] == "no answer", status


def test_a_question_is_the_same_whatever_the_order_of_keys() -> None:
    turned = JobSource(namespace="default", spec={"backoffLimit": 0, **SPEC})
    assert a_question(turned).id == a_question(JobSource(namespace="default", spec={**SPEC, "backoffLimit": 0})).id
    assert a_question(turned).id != a_question(SMOKE).id


STATUSES: dict[ForgeKind, tuple[str, str, str]] = {
    ForgeKind.GITHUB: (f"/repos/team/fleet/commits/{COMMIT}/statuses", "context", "state"),
    ForgeKind.GITLAB: (f"/projects/team%2Ffleet/repository/commits/{COMMIT}/statuses", "name", "status"),
    ForgeKind.GITEA: (f"/repos/team/fleet/commits/{COMMIT}/statuses", "context", "status"),
}


@pytest.mark.parametrize("kind", ForgeKind)
def test_a_forge_tells_the_newest_status_of_the_newest_commit(kind: ForgeKind, tmp_path: Path) -> None:
    path, name, state = STATUSES[kind]
    (tmp_path / "token").write_text("s3cret")
    with asked_source() as source:
        forge = Forge(kind=kind, api=source.address, project="team/fleet", token_file=tmp_path / "token")
        sources, question = Sources(forge=lambda: forge), a_question(CommitStatusSource(context="ci"), cluster="")
        found = []
        for listed in ([], ["pending"], ["success"], ["failure", "success"], ["failed"], ["running", "success"]):
            others = [{name: "other", state: "success"}]
            source.by_path[path] = json.dumps([*others, *({name: "ci", state: each} for each in listed)]).encode()
            found.append(said(sources, question))
        assert found == [
            ("no answer", f"no answer: commit {COMMIT[:12]} has no status ci"),
            ("no answer", f"no answer: the status of commit {COMMIT[:12]} is pending"),
            ("met", "success"),
            ("not met", "failure"),
            ("not met", "failure"),
            ("no answer", f"no answer: the status of commit {COMMIT[:12]} is pending"),
        ]
        runs = json.dumps({"check_runs": [{"name": "ci", "conclusion": "success"}]}).encode()
        source.by_path |= {path: b"[]", f"/repos/team/fleet/commits/{COMMIT}/check-runs": runs}
        assert (said(sources, question)[0] == "met") == (kind is ForgeKind.GITHUB)
        source.status = 403
        refused = said(sources, question)
    assert refused[0] == "no answer"
    assert "answers GET" in refused[1]
    assert "s3cret" not in refused[1]


def test_without_a_forge_there_is_no_answer() -> None:
    def no_forge() -> Forge:
        raise ConfigError("there is no remote whose forge has statuses of commits")

    question = a_question(CommitStatusSource(context="ci"), cluster="")
    assert said(Sources(), question) == ("no answer", "no answer: there is no forge to ask")
    reason = "no answer: there is no remote whose forge has statuses of commits"
    assert said(Sources(forge=no_forge), question) == ("no answer", reason)
