"""The checks that ask a member: for a value of a live object, or for a Job that runs there and has to succeed.

A Job is begun once for each question, looked at until it has ended, and removed afterwards. Its name is made of the
question, so that a pass that was killed finds the Job that it began. One that has succeeded is removed once that is
recorded; one that has failed stays for people to read its log, until its time to live is over, as what nobody asks
about any more does. One of another question of the same check is removed before this one begins.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec.json import encode

from reconciler.members.discovery import Resource, discover_served_kinds
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from render.model import ObjectRef, group_of
from render.rollouts.checks import CheckQuestion, JobSource, ObjectSource

from .answers import CheckReply, NoAnswer
from .values import is_condition_met, text_at_path

LABEL = "argosy.dev/check"
"""The label of the Jobs of a check; its value is a digest of the rollout and the check."""
_JOBS = Resource(group="batch", version="v1", kind="Job", plural="jobs", is_namespaced=True)
_LONGEST_NAME, _DIGEST_LENGTH = 40, 16
_DAY, _HOUR = 24 * 3600, 3600


def ask_live_object(source: ObjectSource, client: Client) -> CheckReply:
    """Return what a live object says; NoAnswer where there is none, or its cluster does not tell."""
    kinds = discover_served_kinds(client)
    if isinstance(kinds, Failure):
        raise NoAnswer(kinds.message)
    resource = kinds.resource(source.api_version, source.kind)
    if resource is None:
        raise NoAnswer(f"the cluster serves no {source.kind} in {source.api_version}")
    ref = ObjectRef(group_of(source.api_version), source.kind, source.namespace or "default", source.name)
    answer = client.send(Request(method="GET", path=resource.path(ref), expects=Expected.OBJECT, tries=1))
    if isinstance(answer, Failure):
        raise NoAnswer(f"there is no {ref}" if answer.kind is FailureKind.NOT_FOUND else answer.message)
    return _reply_of_object(source, answer)


def _reply_of_object(source: ObjectSource, answer: Answer) -> CheckReply:
    value = text_at_path(answer.body, source.json_path)
    is_met = is_condition_met(value, equals=source.equals, matches=source.matches)
    return CheckReply.of_content(encode(answer.body), value, is_met=is_met)


def ask_job(question: CheckQuestion, source: JobSource, client: Client) -> CheckReply:
    """Return how the Job of a question has ended, beginning it where there is none; NoAnswer while it runs."""
    ref = _job_of_question(question, source)
    answer = client.send(Request(method="GET", path=_JOBS.path(ref), expects=Expected.OBJECT, tries=1))
    if isinstance(answer, Answer):
        return _reply_of_job(ref, answer.body)
    if answer.kind is not FailureKind.NOT_FOUND:
        raise NoAnswer(answer.message)
    _remove_jobs_of_other_questions(question, source, client)
    body = job_manifest(question, source)
    begun = client.send(
        Request(method="POST", path=_JOBS.collection(ref.namespace), expects=Expected.OBJECT, body=body, tries=1)
    )
    if isinstance(begun, Failure):
        raise NoAnswer(begun.message)
    raise NoAnswer(f"Job {ref.namespace}/{ref.name} runs")


def job_manifest(question: CheckQuestion, source: JobSource) -> dict[str, Any]:
    """Return the Job of a question: within an hour at most, and gone a day after its end, unless its spec says."""
    ref = _job_of_question(question, source)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "labels": {LABEL: _label_of_check(question), "app.kubernetes.io/managed-by": "argosy"},
            "annotations": {
                "argosy.dev/rollout": question.rollout,
                "argosy.dev/change": question.change,
            },
        },
        "spec": {"activeDeadlineSeconds": _HOUR, "ttlSecondsAfterFinished": _DAY, **source.spec},
    }


def remove_job(question: CheckQuestion, source: JobSource, client: Client) -> Failure | None:
    """Remove the Job of a question and its pods; a failure where that cannot be done, and its time to live remains."""
    return _remove_job(_job_of_question(question, source), client)


def _job_of_question(question: CheckQuestion, source: JobSource) -> ObjectRef:
    return ObjectRef("batch", "Job", source.namespace, f"{question.check.name[:_LONGEST_NAME]}-{question.id}")


def _label_of_check(question: CheckQuestion) -> str:
    text = f"{question.rollout}\0{question.check.name}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def _reply_of_job(ref: ObjectRef, job: Mapping[str, Any]) -> CheckReply:
    status = job.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for each in conditions if isinstance(conditions, list) else ():
        if not isinstance(each, dict) or each.get("status") != "True":
            continue
        if each.get("type") == "Complete":
            return CheckReply(is_met=True, value=f"Job {ref.namespace}/{ref.name} has succeeded")
        if each.get("type") == "Failed":
            return CheckReply(is_met=False, value=f"Job {ref.namespace}/{ref.name} has failed")
    raise NoAnswer(f"Job {ref.namespace}/{ref.name} runs")


def _remove_jobs_of_other_questions(question: CheckQuestion, source: JobSource, client: Client) -> None:
    """Remove the Jobs of a check that other questions began; those that cannot be removed have a time to live."""
    query = {"labelSelector": f"{LABEL}={_label_of_check(question)}"}
    path = _JOBS.collection(source.namespace)
    answer = client.send(Request(method="GET", path=path, expects=Expected.LIST, query=query, tries=1))
    if isinstance(answer, Failure):
        return
    for each in answer.body.get("items") or ():
        name = (each.get("metadata") or {}).get("name")
        if isinstance(name, str):
            _remove_job(ObjectRef("batch", "Job", source.namespace, name), client)


def _remove_job(ref: ObjectRef, client: Client) -> Failure | None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    answer = client.send(Request(method="DELETE", path=_JOBS.path(ref), expects=Expected.JSON, body=options, tries=1))
    return answer if isinstance(answer, Failure) and answer.kind is not FailureKind.NOT_FOUND else None
