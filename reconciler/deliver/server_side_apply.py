"""One object applied with one server-side apply, and the answer to each way a server can refuse it."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.exchange import APPLY, Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import named_kind, read_object
from reconciler.plans.answers import (
    NOTHING_INTERCEPTS,
    UNKNOWN_ANSWER,
    UNPROVEN,
    answer_digest,
    applied_digest,
    changed_values,
    left_as_it_is,
    rewritten,
    rewritten_fields,
)
from reconciler.plans.conflicts import Decision, conflict_hint, decide, field_change, field_changes
from reconciler.plans.field_paths import as_named, parse_path, without
from reconciler.plans.fixed_fields import fixed_message
from reconciler.plans.model import WRITES, Action, Plan, PlannedObject
from reconciler.plans.object import PlanContext, plan_object
from reconciler.plans.ownership import (
    DifferenceKind,
    FieldDifference,
    Owner,
    certain_differences,
    differences,
    own_entry,
)
from render.model import Manifest, ObjectRef

from .former_versions import former_entries, move_entries
from .ownership import take_ownership
from .recreation import immutable_hint, may_recreate, recreate
from .results import ApplySettings, ObjectResult, failed_result, object_result

_TRIES = 5
_APPLY_SECONDS = 35.0
"""Longer than a server waits for an admission webhook, so that it is the server which says that this one hangs."""
_RACE_PAUSE = 0.05
_APPEAR_PAUSE = 0.1
_REPLANNED = frozenset({FailureKind.CONFLICT, FailureKind.RACE, FailureKind.NOT_FOUND, FailureKind.FORMER_VERSION})
REFUSALS = frozenset({FailureKind.IMMUTABLE, FailureKind.INVALID, FailureKind.CONFLICT})
"""The answers to an object that states a fixed field otherwise; whoever owns the field may be told of first."""
_LATE = frozenset({FailureKind.NOT_SERVED, FailureKind.NAMESPACE_MISSING})


class ApplyContext(Struct, frozen=True, kw_only=True):
    """The context that a cluster's objects are applied in: its client, its plan and the settings.

    ``just_created``: namespaces and kinds (``Widget.example.com``) created in this apply, which a server may learn of
    late: with several API servers, some lag by seconds.
    """

    client: Client
    plan: Plan
    settings: ApplySettings = field(default_factory=ApplySettings)
    just_created: frozenset[str] = frozenset()

    @property
    def manager(self) -> str:
        """The fleet's field manager."""
        return self.plan.options.applyset.manager

    def plan_context(self, planned: PlannedObject) -> PlanContext:
        """Return the values to plan an object by, should it have to be planned again."""
        assert planned.desired is not None
        assert planned.resource is not None
        return PlanContext(
            desired=planned.desired,
            resource=planned.resource,
            options=self.plan.options,
            is_autoscaled=planned.ref in self.plan.autoscaled,
            are_scalers_known=self.plan.are_scalers_known,
            is_converged=self.plan.is_converged,
            is_held=planned.ref in self.plan.held,
            answered=self.plan.answered,
            admission=self.plan.admission,
        )


def apply_object(context: ApplyContext, planned: PlannedObject) -> ObjectResult:
    """Carry out the plan for one object, planning it again when it changed meanwhile."""
    result = _applied(context, planned)
    if not (planned.fixed and result.reason in REFUSALS):
        return result
    return replace(
        result,
        action=Action.FAILED,
        reason=FailureKind.IMMUTABLE,
        message=fixed_message(planned.fixed),
        hint=immutable_hint(planned.ref),
        changes=planned.fixed,
    )


def _applied(context: ApplyContext, planned: PlannedObject) -> ObjectResult:
    for attempt in range(_TRIES):
        if planned.action not in WRITES:
            return object_result(planned)
        if planned.migrate and not context.settings.dry_run:
            migrated = _migrated(context, planned)
            if isinstance(migrated, ObjectResult):
                return migrated
            planned = migrated
            continue
        outcome = _sent(context, planned)
        if isinstance(outcome, Answer):
            return _result_of(context, planned, outcome)
        again = _planned_again(context, planned, outcome, attempt)
        if again is None:
            return _refused(context, planned, outcome)
        planned = again
    return replace(
        object_result(planned),
        action=Action.FAILED,
        reason=FailureKind.RACE,
        message="it keeps changing while it is applied",
        hint="see which other tool writes it",
    )


def _result_of(context: ApplyContext, planned: PlannedObject, answer: Answer) -> ObjectResult:
    if context.settings.dry_run:
        return _dry_run_result(planned, answer, context.plan.admission)
    return _accepted(planned, answer, context)


def apply_request(planned: PlannedObject, manager: str, *, dry_run: bool = False) -> Request:
    """Return the server-side apply of a planned object.

    The uid locks it to the object that was planned for: one deleted meanwhile is not created again by accident. What
    overwrites the fields of others carries the resourceVersion as well, so that only the values seen are overwritten.
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


def _sent(context: ApplyContext, planned: PlannedObject) -> Answer | Failure:
    """Apply, waiting a while for a namespace or kind this pass created and the server does not know of yet."""
    request = apply_request(planned, context.manager, dry_run=context.settings.dry_run)
    outcome = context.client.send(request)
    waited, pause = 0.0, _APPEAR_PAUSE
    while isinstance(outcome, Failure) and outcome.kind in _LATE and _is_just_created(context, planned.ref):
        if waited >= context.settings.settle_seconds or not context.client.wait(pause):
            break
        waited, pause = waited + pause, min(pause * 2, 2.0)
        outcome = context.client.send(request)
    return outcome


def _is_just_created(context: ApplyContext, ref: ObjectRef) -> bool:
    return ref.group_kind in context.just_created or ref.namespace in context.just_created


def _migrated(context: ApplyContext, planned: PlannedObject) -> PlannedObject | ObjectResult:
    """Take over the fields of managers we replace, then plan again by the new managed fields."""
    assert planned.resource is not None
    live = read_object(context.client, planned.resource, planned.ref)
    if isinstance(live, Failure):
        return failed_result(planned, live)
    if live is None:
        return plan_object(None, context.plan_context(planned))
    answer = take_ownership(context.client, planned, live, context.manager)
    if isinstance(answer, Failure):
        if answer.kind is FailureKind.RACE:
            return planned
        return failed_result(planned, answer)
    again = plan_object(named_kind(planned.resource, answer.body), context.plan_context(planned))
    if again.action not in WRITES:
        return again
    changes = planned.changes or again.changes
    return replace(again, migrate=(), action=planned.action, reason=planned.reason, changes=changes)


def _planned_again(
    context: ApplyContext, planned: PlannedObject, failure: Failure, attempt: int
) -> PlannedObject | None:
    """Return a new plan for an object that changed meanwhile; None when reading it again would not help."""
    if failure.kind not in _REPLANNED or context.settings.dry_run:
        return None
    assert planned.resource is not None
    live = read_object(context.client, planned.resource, planned.ref)
    if isinstance(live, Failure):
        return None
    if failure.kind is FailureKind.FORMER_VERSION:
        return _with_entries_moved(context, planned, failure, live)
    again = plan_object(live, context.plan_context(planned))
    is_same = (again.action, again.force, again.manifest) == (planned.action, planned.force, planned.manifest)
    if failure.kind is FailureKind.CONFLICT and is_same:
        return _decided_by_server(context, again, failure)
    return again if context.client.wait(_RACE_PAUSE * 2**attempt) else None


def _with_entries_moved(
    context: ApplyContext, planned: PlannedObject, failure: Failure, live: Manifest | None
) -> PlannedObject | None:
    """Move the managed fields that keep an object from being applied; None where that does not help."""
    assert planned.resource is not None
    if live is None:
        return plan_object(None, context.plan_context(planned))
    found = former_entries(live, planned.resource, context.plan.discovery, failure, context.manager)
    if found is None:
        return None
    answer = move_entries(context.client, planned.ref, live, found)
    if isinstance(answer, Failure):
        return planned if answer.kind is FailureKind.RACE else None
    again = plan_object(named_kind(planned.resource, answer.body), context.plan_context(planned))
    stated = "; ".join(filter(None, (planned.message, found.statement)))
    if again.action not in WRITES:
        return replace(again, message=stated or again.message)
    return replace(again, message=stated, changes=planned.changes or again.changes, reason=planned.reason)


def _decided_by_server(context: ApplyContext, planned: PlannedObject, failure: Failure) -> PlannedObject | None:
    """Decide a conflict that only the server sees, for it knows more of a schema than managed fields show."""
    assert planned.manifest is not None
    claims = context.plan_context(planned).claims
    want: Any = planned.manifest
    decisions, yielded = set(), list(planned.yielded)
    for cause in failure.causes:
        owner = Owner(cause.manager, cause.subresource)
        path = as_named(parse_path(cause.field), planned.manifest)
        decision = decide(owner, path, claims)
        if decision is Decision.YIELD:
            want = without(want, path)
            lost = FieldDifference(path, DifferenceKind.LOST)
            yielded.append(field_change(planned.manifest, planned.live or {}, lost, owner))
        decisions.add(decision)
    if Decision.FAIL in decisions or planned.force:
        return None
    return replace(planned, manifest=want, force=Decision.OVERWRITE in decisions, yielded=tuple(yielded))


def _accepted(planned: PlannedObject, answer: Answer, context: ApplyContext) -> ObjectResult:
    assert planned.resource is not None
    live = named_kind(planned.resource, answer.body)
    result = _with_answer(replace(object_result(planned), warnings=answer.warnings, live=live), planned, live, context)
    if answer.status == HTTPStatus.CREATED:
        # Some webhooks rewrite objects at their creation alone, so that applying once more may have another answer.
        is_final = context.plan.admission == NOTHING_INTERCEPTS and not rewritten(result.yielded)
        answer_id = result.answer_id if is_final else result.answer_id and UNKNOWN_ANSWER
        return replace(result, action=Action.CREATED, answer_id=answer_id)
    if planned.action is Action.CREATED:
        return replace(result, action=Action.CONFIGURED, reason="AppearedMeanwhile")
    if live["metadata"]["resourceVersion"] == planned.resource_version:
        reason = "NoEffect" if planned.changes else "UpToDate"
        return replace(result, action=Action.UNCHANGED, reason=reason, changes=())
    if not planned.changes:
        changes = changed_values(planned.live, live, planned.manifest)
        return replace(result, changes=changes, reason="Changed" if result.reason == UNPROVEN else result.reason)
    return result


def _with_answer(result: ObjectResult, planned: PlannedObject, live: Manifest, context: ApplyContext) -> ObjectResult:
    """Return a result with what is to be remembered of the server's answer, and a line for what it wrote otherwise."""
    assert planned.manifest is not None
    desired = planned.desired.manifest if planned.desired else planned.manifest
    fields = (own_entry(live, context.manager) or {}).get("fieldsV1") or {}
    applied = applied_digest(desired, live, fields)
    # What still differs right after it was applied is rewritten by the server, and would differ after every apply.
    found = differences(planned.manifest, live, fields)
    if not found:
        return replace(result, applied=applied)
    changes = field_changes(planned.manifest, live, certain_differences(found), {context.manager})
    return replace(
        result,
        applied=applied,
        answer_id=answer_digest(planned.manifest, live, found, context.plan.admission, desired),
        yielded=(*result.yielded, *rewritten_fields(changes, context.plan.admission)),
    )


def _dry_run_result(planned: PlannedObject, answer: Answer, admission: str) -> ObjectResult:
    """Return the result that the server says applying would have."""
    result = replace(
        object_result(planned),
        warnings=answer.warnings,
        changes=changed_values(planned.live, answer.body, planned.manifest),
    )
    if not result.changes:
        unchanged = object_result(left_as_it_is(planned, admission))
        return replace(unchanged, warnings=answer.warnings, reason="NoEffect", message=planned.message)
    return result


def _refused(context: ApplyContext, planned: PlannedObject, failure: Failure) -> ObjectResult:
    if failure.kind is FailureKind.IMMUTABLE and may_recreate(planned) and not context.settings.dry_run:
        return recreate(context.client, planned, failure, again=_creation(context))
    if failure.kind is FailureKind.CONFLICT:
        hint = conflict_hint(cause.manager for cause in failure.causes)
        return replace(failed_result(planned, failure), action=Action.CONFLICT, hint=hint)
    if failure.kind is FailureKind.IMMUTABLE:
        return replace(failed_result(planned, failure), hint=immutable_hint(planned.ref))
    if failure.kind is FailureKind.FORMER_VERSION and context.settings.dry_run:
        message = f"not verified: {failure.message}, and are moved to the version of its manifest when it is applied"
        return replace(object_result(planned), message=message)
    return failed_result(planned, failure)


def _creation(context: ApplyContext) -> Callable[[PlannedObject], ObjectResult]:
    """Return the function that creates an object which was deleted to be recreated."""

    def create(planned: PlannedObject) -> ObjectResult:
        outcome = _sent(context, planned)
        if isinstance(outcome, Failure):
            return failed_result(planned, outcome)
        return _accepted(planned, outcome, context)

    return create
