"""Questions that only a server can answer: what it would make of an object, asked by a dry run of applying it.

A plan marks the objects that looking does not decide about (``PlannedObject.is_asked``). Whoever writes sends those of
ours: a server-side apply that changes nothing is the answer, too. Whoever only looks has them asked here, and gets a
plan that says of each what the server said.

``send_dry_run`` asks about one object, and ``plans.answers.changed_values`` compares the answer with the live object by
equality. A plan that may only go ahead where nothing changes - the adoption of an object that is not ours - asks in the
same way, with ``is_forced``, before it writes.
"""

from msgspec.structs import replace

from reconciler.members.exchange import APPLY, Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import item_with_kind
from reconciler.members.parallel import results_in_parallel
from reconciler.plans.answers import plan_by_answer_of_server
from reconciler.plans.fixed_fields import fixed_message
from reconciler.plans.model import Action, Plan, PlannedObject

from .recreation import hint_for_immutable_field

REFUSALS = frozenset({FailureKind.IMMUTABLE, FailureKind.INVALID, FailureKind.CONFLICT})
"""The answers to an object that states a fixed field otherwise; whoever owns the field may be told of first."""
_APPLY_SECONDS = 35.0
"""Longer than a server waits for an admission webhook, so that it is the server which says that this one hangs."""


def plan_with_answers(client: Client, plan: Plan) -> Plan:
    """Return a plan in which nothing is left to be asked; one that could not be asked says so."""
    open_questions = [item for item in plan.objects if item.is_asked]
    if plan.refusal or not open_questions:
        return plan
    answered = results_in_parallel(
        lambda item: plan_by_dry_run(client, item, plan), open_questions, limit=client.concurrency
    )
    by_ref = {item.ref: item for item in answered}
    return replace(plan, objects=tuple(by_ref.get(item.ref, item) for item in plan.objects))


def plan_by_dry_run(client: Client, planned: PlannedObject, plan: Plan) -> PlannedObject:
    """Return the plan for an object by what the server says that applying would make of it."""
    answer = send_dry_run(client, planned, plan.options.applyset.manager)
    if isinstance(answer, Failure):
        if planned.fixed and answer.kind in REFUSALS:
            return _plan_blocked_by_immutable_field(planned)
        return replace(planned, is_asked=False, message=f"not verified: {_reason_for_no_answer(answer)}")
    assert planned.resource is not None
    return plan_by_answer_of_server(planned, item_with_kind(planned.resource, answer.body), plan.admission)


def _plan_blocked_by_immutable_field(planned: PlannedObject) -> PlannedObject:
    """Return the plan for an object that states what the server refuses; the rest of it would be applied."""
    return replace(
        planned,
        action=Action.BLOCKED,
        reason=FailureKind.IMMUTABLE,
        message=fixed_message(planned.fixed),
        hint=hint_for_immutable_field(planned.ref),
        is_asked=False,
    )


def send_dry_run(client: Client, planned: PlannedObject, manager: str, *, is_forced: bool = False) -> Answer | Failure:
    """Ask the server what it would make of a planned object; nothing is written.

    ``is_forced``: as if all fields of others that differ were taken over.
    """
    asked = replace(planned, force=True) if is_forced else planned
    return client.send(apply_request(asked, manager, dry_run=True))


def apply_request(planned: PlannedObject, manager: str, *, dry_run: bool = False) -> Request:
    """Return the server-side apply of a planned object.

    The uid locks it to the object that was planned for: one deleted meanwhile is not created again by accident. What
    overwrites the fields of others, or adopts their object, carries the resourceVersion as well, so that only the
    values seen are overwritten.
    """
    assert planned.resource is not None
    assert planned.manifest is not None
    locks = {"uid": planned.uid} if planned.uid else {}
    if planned.force and planned.resource_version:
        locks["resourceVersion"] = planned.resource_version
    query = {"fieldManager": manager, "fieldValidation": "Strict"}
    query |= {"force": "true"} if planned.force else {}
    query |= {"dryRun": "All"} if dry_run else {}
    manifest = dict(planned.manifest)
    manifest["metadata"] = {**manifest["metadata"], **locks}
    return Request(
        method="PATCH",
        path=planned.resource.path(planned.ref),
        expects=Expected.OBJECT,
        query=query,
        body=manifest,
        content_type=APPLY,
        timeout=_APPLY_SECONDS,
    )


def _reason_for_no_answer(failure: Failure) -> str:
    if failure.kind is FailureKind.BAD_REQUEST and "dry run" in failure.message.lower():
        return "an admission webhook does not support dry runs"
    return failure.message
