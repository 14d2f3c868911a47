"""One object applied with one server-side apply, and the answer to each way a server can refuse it."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.exchange import Answer, Client, Failure, FailureKind
from reconciler.members.listing import item_with_kind, read_object
from reconciler.plans.admission import Admission
from reconciler.plans.answers import (
    UNKNOWN_ANSWER,
    UNPROVEN,
    answer_digest,
    applied_digest,
    changed_values,
    differences_to_report,
    plan_to_leave_as_it_is,
    rewritten_fields,
)
from reconciler.plans.conflicts import (
    Decision,
    decide_on_foreign_field,
    field_change,
    field_changes,
    hint_about_conflict,
)
from reconciler.plans.context import PlanContext
from reconciler.plans.field_paths import parse_path, path_with_names_of_value, value_without_path
from reconciler.plans.fixed_fields import fixed_message
from reconciler.plans.model import WRITES, Action, Plan, PlannedObject
from reconciler.plans.object import plan_object
from reconciler.plans.ownership import (
    DifferenceKind,
    FieldDifference,
    Owner,
    differences_from_wanted,
    managed_fields_entry,
)
from render.model import Manifest, ObjectRef

from .adoption import context_of_planning, plan_object_by_asking
from .former_versions import entries_in_former_versions, move_entries_to_served_version, with_served_versions
from .ownership import take_ownership
from .questions import REFUSALS, apply_request
from .recreation import hint_for_immutable_field, is_recreation_allowed, recreate_object
from .results import ApplySettings, ObjectResult, failed_result, object_result

_TRIES = 5
_RACE_PAUSE = 0.05
_APPEAR_PAUSE = 0.1
_REPLANNED = frozenset({FailureKind.CONFLICT, FailureKind.RACE, FailureKind.NOT_FOUND, FailureKind.FORMER_VERSION})
_COMPLETED_AT_CREATION = frozenset({"Node", "Pod"})
"""The kinds to whose new objects a server's own admission adds items in lists that are one piece: taints, tolerations.
"""
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
        return context_of_planning(self.plan, planned)


def apply_object(context: ApplyContext, planned: PlannedObject) -> ObjectResult:
    """Carry out the plan for one object, planning it again when it changed meanwhile."""
    result = _apply_planned(context, planned)
    if not (planned.fixed and result.reason in REFUSALS):
        return result
    return replace(
        result,
        action=Action.FAILED,
        reason=FailureKind.IMMUTABLE,
        message=fixed_message(planned.fixed),
        hint=hint_for_immutable_field(planned.ref),
        changes=planned.fixed,
    )


def _apply_planned(context: ApplyContext, planned: PlannedObject) -> ObjectResult:
    for attempt in range(_TRIES):
        ready = _plan_ready_to_send(context, planned)
        if isinstance(ready, ObjectResult):
            return ready
        planned = ready
        outcome = _answer_to_apply(context, planned)
        if isinstance(outcome, Answer):
            return _result_of_sent_apply(context, planned, outcome)
        again = _plan_after_change(context, planned, outcome, attempt)
        if again is None:
            return _result_of_refusal(context, planned, outcome)
        planned = again
    return _result_of_ever_changing_object(planned)


def _result_of_ever_changing_object(planned: PlannedObject) -> ObjectResult:
    return replace(
        object_result(planned),
        action=Action.FAILED,
        reason=FailureKind.RACE,
        message="it keeps changing while it is applied",
        hint="see which other tool writes it",
    )


def _result_of_sent_apply(context: ApplyContext, planned: PlannedObject, answer: Answer) -> ObjectResult:
    if context.settings.dry_run:
        return _dry_run_result(planned, answer, context.plan.admission)
    return _result_of_answer(planned, answer, context)


def _plan_ready_to_send(context: ApplyContext, planned: PlannedObject) -> PlannedObject | ObjectResult:
    """Return the plan for an object once it can be sent: no question is open, and what is to become ours is ours."""
    for attempt in range(_TRIES):
        if planned.in_doubt:
            planned = plan_object_by_asking(context.client, planned, context.plan_context(planned))
        if planned.action not in WRITES:
            return object_result(planned)
        if context.settings.dry_run or not (planned.migrate or planned.takeover):
            return planned
        migrated = _plan_after_migration(context, planned)
        if isinstance(migrated, ObjectResult):
            return migrated
        is_changed = migrated.in_doubt or migrated.migrate
        planned = migrated
        if is_changed and not context.client.wait(_RACE_PAUSE * 2**attempt):
            break
    return _result_of_ever_changing_object(planned)


def _answer_to_apply(context: ApplyContext, planned: PlannedObject) -> Answer | Failure:
    """Apply, waiting a while for a namespace or kind this pass created and the server does not know of yet."""
    request = apply_request(planned, context.manager, dry_run=context.settings.dry_run)
    outcome = context.client.send(request)
    waited, pause = 0.0, _APPEAR_PAUSE
    while isinstance(outcome, Failure) and outcome.kind in _LATE and _is_just_created(context, planned.ref):
        if waited >= context.settings.settle_seconds or not context.client.wait(pause):
            break
        waited, pause = waited + pause, min(pause * 2, 2.0)
        outcome = context.client.send(request)
    if context.settings.dry_run and _is_conflict_with_replaced_managers(planned, outcome):
        # Their fields would be ours by then, which a dry run does not make them.
        outcome = context.client.send(apply_request(replace(planned, force=True), context.manager, dry_run=True))
    return outcome


def _is_conflict_with_replaced_managers(planned: PlannedObject, outcome: Answer | Failure) -> bool:
    if not isinstance(outcome, Failure) or outcome.kind is not FailureKind.CONFLICT or not outcome.causes:
        return False
    return {cause.manager for cause in outcome.causes} <= {*planned.migrate, *planned.takeover}


def _is_just_created(context: ApplyContext, ref: ObjectRef) -> bool:
    return ref.group_kind in context.just_created or ref.namespace in context.just_created


def _plan_after_migration(context: ApplyContext, planned: PlannedObject) -> PlannedObject | ObjectResult:
    """Take over the fields of managers we replace, then plan again by the new managed fields."""
    assert planned.resource is not None
    live = read_object(context.client, planned.resource, planned.ref)
    if isinstance(live, Failure):
        return failed_result(planned, live)
    is_seen = live is not None and live["metadata"]["resourceVersion"] == planned.resource_version
    # What the server was asked about is no longer there: it is asked again.
    if live is None or (planned.takeover and not is_seen):
        return plan_object(live, context.plan_context(planned))
    # Owners that nobody recorded are known from the server's answer.
    owned = planned.live if is_seen and planned.live is not None else live
    owned = with_served_versions(owned, planned.resource, context.plan.discovery)
    is_autoscaled = planned.ref in context.plan.autoscaled
    answer = take_ownership(context.client, planned, owned, context.manager, autoscaled=is_autoscaled)
    if isinstance(answer, Failure):
        if answer.kind is FailureKind.RACE:
            return planned
        return failed_result(planned, answer)
    again = plan_object(item_with_kind(planned.resource, answer.body), context.plan_context(planned))
    if again.action not in WRITES:
        return again
    # Of what was taken over no value changes; the server's answer says so.
    changes = planned.changes or (() if planned.takeover else again.changes)
    return _with_words_of_first_plan(replace(again, migrate=(), takeover=(), changes=changes), planned)


def _with_words_of_first_plan(again: PlannedObject, planned: PlannedObject) -> PlannedObject:
    """Return a new plan for an object that became ours in this very pass, by the words of the plan before."""
    force = again.force or planned.force
    return replace(again, action=planned.action, reason=planned.reason, message=planned.message, force=force)


def _plan_after_change(
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
        return _plan_after_moving_entries(context, planned, failure, live)
    again = plan_object(live, context.plan_context(planned))
    if planned.action is Action.ADOPTED and again.action is Action.CONFIGURED:
        again = _with_words_of_first_plan(again, planned)
    is_same = (again.action, again.force, again.manifest) == (planned.action, planned.force, planned.manifest)
    if failure.kind is FailureKind.CONFLICT and is_same and not again.in_doubt:
        return _plan_after_conflict_on_server(context, again, failure)
    return again if context.client.wait(_RACE_PAUSE * 2**attempt) else None


def _plan_after_moving_entries(
    context: ApplyContext, planned: PlannedObject, failure: Failure, live: Manifest | None
) -> PlannedObject | None:
    """Move the managed fields that keep an object from being applied; None where that does not help."""
    assert planned.resource is not None
    if live is None:
        return plan_object(None, context.plan_context(planned))
    found = entries_in_former_versions(live, planned.resource, context.plan.discovery, failure, context.manager)
    if found is None:
        return None
    answer = move_entries_to_served_version(context.client, planned.ref, live, found)
    if isinstance(answer, Failure):
        return planned if answer.kind is FailureKind.RACE else None
    again = plan_object(item_with_kind(planned.resource, answer.body), context.plan_context(planned))
    stated = "; ".join(filter(None, (planned.message, found.sentence_about_foreign_entries)))
    if again.action not in WRITES:
        return replace(again, message=stated or again.message)
    return replace(again, message=stated, changes=planned.changes or again.changes, reason=planned.reason)


def _plan_after_conflict_on_server(
    context: ApplyContext, planned: PlannedObject, failure: Failure
) -> PlannedObject | None:
    """Decide a conflict that only the server sees, for it knows more of a schema than managed fields show."""
    assert planned.manifest is not None
    claims = context.plan_context(planned).claims
    want: Any = planned.manifest
    decisions, yielded = set(), list(planned.yielded)
    for cause in failure.causes:
        owner = Owner(cause.manager, cause.subresource)
        path = path_with_names_of_value(parse_path(cause.field), planned.manifest)
        decision = decide_on_foreign_field(owner, path, claims)
        if decision is Decision.YIELD:
            want = value_without_path(want, path)
            lost = FieldDifference(path, DifferenceKind.LOST)
            yielded.append(field_change(planned.manifest, planned.live or {}, lost, owner))
        decisions.add(decision)
    if Decision.FAIL in decisions or planned.force:
        return None
    return replace(planned, manifest=want, force=Decision.OVERWRITE in decisions, yielded=tuple(yielded))


def _result_of_answer(planned: PlannedObject, answer: Answer, context: ApplyContext) -> ObjectResult:
    assert planned.resource is not None
    live = item_with_kind(planned.resource, answer.body)
    result = _result_with_answer_remembered(
        replace(object_result(planned), warnings=answer.warnings, live=live), planned, live, context
    )
    if answer.status == HTTPStatus.CREATED:
        # What rewrites objects at their creation alone makes another answer of applying them once more: some webhooks
        # do, and servers themselves with some kinds.
        is_rewritten = planned.ref.group_kind in _COMPLETED_AT_CREATION
        is_final = not (is_rewritten or context.plan.admission.may_change(planned.resource))
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


def _result_with_answer_remembered(
    result: ObjectResult, planned: PlannedObject, live: Manifest, context: ApplyContext
) -> ObjectResult:
    """Return a result with what is to be remembered of the server's answer, and a line for what it wrote otherwise."""
    assert planned.manifest is not None
    desired = planned.desired.manifest if planned.desired else planned.manifest
    fields = (managed_fields_entry(live, context.manager) or {}).get("fieldsV1") or {}
    applied = applied_digest(desired, live, fields)
    # What still differs right after it was applied is rewritten by the server, and would differ after every apply.
    found = differences_from_wanted(planned.manifest, live, fields)
    if not found:
        return replace(result, applied=applied)
    changes = field_changes(planned.manifest, live, differences_to_report(planned.manifest, found), {context.manager})
    return replace(
        result,
        applied=applied,
        answer_id=answer_digest(planned.manifest, live, found, context.plan.admission, desired),
        yielded=(*result.yielded, *rewritten_fields(changes, planned.resource, context.plan.admission)),
    )


def _dry_run_result(planned: PlannedObject, answer: Answer, admission: Admission) -> ObjectResult:
    """Return the result that the server says applying would have; it is not told of fields that become ours first."""
    changed = changed_values(planned.live, answer.body, planned.manifest)
    known = {each.path for each in changed}
    dropped = (each for each in planned.changes if planned.takeover and each.change == DifferenceKind.DROPPED)
    changes = (*changed, *(each for each in dropped if each.path not in known))
    result = replace(object_result(planned), warnings=answer.warnings, changes=changes)
    if not result.changes:
        unchanged = object_result(plan_to_leave_as_it_is(planned, admission))
        return replace(unchanged, warnings=answer.warnings, reason="NoEffect", message=planned.message)
    return result


def _result_of_refusal(context: ApplyContext, planned: PlannedObject, failure: Failure) -> ObjectResult:
    if failure.kind is FailureKind.IMMUTABLE and is_recreation_allowed(planned) and not context.settings.dry_run:
        return recreate_object(context.client, planned, failure, again=_function_that_creates(context))
    if failure.kind is FailureKind.CONFLICT:
        hint = hint_about_conflict(cause.manager for cause in failure.causes)
        return replace(failed_result(planned, failure), action=Action.CONFLICT, hint=hint)
    if failure.kind is FailureKind.IMMUTABLE:
        return replace(failed_result(planned, failure), hint=hint_for_immutable_field(planned.ref))
    if failure.kind is FailureKind.FORMER_VERSION and context.settings.dry_run:
        message = f"not verified: {failure.message}, and are moved to the version of its manifest when it is applied"
        return replace(object_result(planned), message=message)
    return failed_result(planned, failure)


def _function_that_creates(context: ApplyContext) -> Callable[[PlannedObject], ObjectResult]:
    """Return the function that creates an object which was deleted to be recreated."""

    def create_object(planned: PlannedObject) -> ObjectResult:
        outcome = _answer_to_apply(context, planned)
        if isinstance(outcome, Failure):
            return failed_result(planned, outcome)
        return _result_of_answer(planned, outcome, context)

    return create_object
