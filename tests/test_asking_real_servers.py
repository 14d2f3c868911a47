"""Checks that ask a real API server: a value of a live object, and a Job from its beginning to its removal."""

from collections.abc import Iterator

import pytest

from reconciler.asking.questions import Sources
from reconciler.members.visits import MemberReach
from render.rollouts.checks import CheckQuestion, JobSource, ObjectSource

from .applying import client_of
from .clusters import Member
from .fakes import MERGE_PATCH
from .test_asking_members import SMOKE, a_question, said

pytestmark = pytest.mark.cluster

BEGAN, ENDED = "2026-03-01T09:00:00Z", "2026-03-01T09:01:00Z"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


@pytest.fixture(scope="module")
def oslo() -> Iterator[Member]:
    """An API server without controllers: nothing runs Jobs, and their status is what is written here."""
    with Member("oslo") as member:
        yield member


def sources_of(member: Member) -> Sources:
    return Sources(reach=MemberReach(open_client=lambda _name, _deadline: client_of(member)))


def name_of_job(question: CheckQuestion) -> str:
    return f"{JOBS}/smoke-{question.id}"


def test_a_value_of_a_live_object(oslo: Member) -> None:
    phase = ObjectSource(
        api_version="v1", kind="Namespace", name="default", json_path="{.status.phase}", equals="Active"
    )
    assert said(sources_of(oslo), a_question(phase)) == ("met", "Active")


def test_a_job_from_its_beginning_to_its_removal(oslo: Member) -> None:
    sources, question = sources_of(oslo), a_question(SMOKE)
    assert said(sources, question)[0] == "no answer"
    job = oslo.read(name_of_job(question))
    assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "smoke:1"
    conditions = [{"type": each, "status": "True"} for each in ("SuccessCriteriaMet", "Complete")]
    status = {"startTime": BEGAN, "completionTime": ENDED, "succeeded": 1, "conditions": conditions}
    code, answer = oslo.request(
        "PATCH", f"{name_of_job(question)}/status", {"status": status}, content_type=MERGE_PATCH
    )
    assert code == 200, answer
    assert said(sources, question) == ("met", f"Job default/smoke-{question.id} has succeeded")
    sources.remove_what_has_ended(question, 30)
    assert oslo.read(name_of_job(question)) is None


def test_a_job_of_an_earlier_question_makes_way(oslo: Member) -> None:
    sources, earlier, later = sources_of(oslo), a_question(SMOKE, change="1"), a_question(SMOKE, change="2")
    for question in (earlier, later):
        assert said(sources, question)[0] == "no answer"
    assert oslo.read(name_of_job(earlier)) is None
    assert oslo.read(name_of_job(later)) is not None


def test_a_job_that_the_server_refuses_is_no_answer_that_says_why(oslo: Member) -> None:
    refused = a_question(JobSource(namespace="nowhere", spec=SMOKE.spec))
    kind, reason = said(sources_of(oslo), refused)
    assert kind == "no answer"
    assert "nowhere" in reason
