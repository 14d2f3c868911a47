"""The adoption of objects that nobody of ours applied: their server is asked first, by dry runs, which write nothing.

Of what would be sent (``plans.adoption``), and of what kubectl's fields leave behind once they are ours, a dry run must
change no value.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from reconciler.members.exchange import JSON_PATCH, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import read_object
from reconciler.members.parallel import results_in_parallel
from reconciler.plans.adoption import KUBECTL, kubectl_managers, manifest_without_paths
from reconciler.plans.answers import changed_values
from reconciler.plans.applyset import PART_OF
from reconciler.plans.conflicts import field_change
from reconciler.plans.context import PlanContext
from reconciler.plans.field_paths import Path
from reconciler.plans.first_contact import decide_adoption, fields_that_vanish, plan_of_different_object
from reconciler.plans.model import Action, FieldChange, Plan, PlannedObject
from reconciler.plans.object import plan_object
from reconciler.plans.ownership import OWNED_METADATA, DifferenceKind, FieldDifference, Owner, owners_at
from reconciler.plans.payload import LAST_APPLIED
from render.model import Manifest

from .equal_versions import with_equal_versions
from .questions import send_dry_run

_OUR_MARKS: tuple[Path, ...] = (("metadata", "labels", PART_OF), ("metadata", "annotations", LAST_APPLIED))
_TRIES = 5
_RACE_PAUSE = 0.05
_CHANGED = frozenset({FailureKind.RACE, FailureKind.NOT_FOUND})
_REFUSALS = frozenset(
    {FailureKind.INVALID, FailureKind.IMMUTABLE, FailureKind.MANIFEST, FailureKind.BAD_REQUEST, FailureKind.TOO_LARGE}
)
_OF_THE_OBJECT = _REFUSALS | {FailureKind.FORMER_VERSION}
"""The failures of a dry run that lie in the object: whoever overwrites it need not know what is in it."""


def context_of_planning(plan: Plan, planned: PlannedObject) -> PlanContext:
    """Return the values that an object of a plan was planned by."""
    assert planned.desired is not None
    assert planned.resource is not None
    return PlanContext(
        desired=planned.desired,
        resource=planned.resource,
        options=plan.options,
        is_autoscaled=planned.ref in plan.autoscaled,
        are_scalers_known=plan.are_scalers_known,
        is_converged=plan.is_converged,
        is_held=planned.ref in plan.held_objects,
        answered=plan.answered,
        admission=plan.admission,
    )


def plan_without_doubts(client: Client, plan: Plan) -> Plan:
    """Return a plan in which no object is in doubt any more."""
    doubtful = [item for item in plan.objects if item.in_doubt]
    if not doubtful:
        return plan
    answers = results_in_parallel(
        lambda item: plan_object_by_asking(client, item, context_of_planning(plan, item)),
        doubtful,
        limit=client.concurrency,
    )
    certain_by_ref = {item.ref: item for item in answers}
    return replace(plan, objects=tuple(certain_by_ref.get(item.ref, item) for item in plan.objects))


def plan_object_by_asking(client: Client, planned: PlannedObject, context: PlanContext) -> PlannedObject:
    """Ask the server about an object in doubt, and return its plan by the answer.

    An object that changes meanwhile is planned and asked about again.
    """
    for attempt in range(_TRIES):
        outcome = _plan_after_asking_server(client, planned, context)
        if not isinstance(outcome, Failure):
            return outcome
        is_last = outcome.kind not in _CHANGED or attempt == _TRIES - 1
        live = outcome if is_last else read_object(client, context.resource, planned.ref)
        if isinstance(live, Failure) or not client.wait(_RACE_PAUSE * 2**attempt):
            return _plan_without_answer(planned, outcome, context)
        planned = plan_object(live, context)
        if not planned.in_doubt:
            break
    return planned


def _plan_after_asking_server(client: Client, planned: PlannedObject, context: PlanContext) -> PlannedObject | Failure:
    manager = context.options.applyset.manager
    answer = send_dry_run(client, planned, manager, is_forced=True)
    if isinstance(answer, Failure):
        return answer
    planned = _with_equal_versions(client, _with_first_owner(planned, answer.body, context), context)
    changes = _changes_made_by_answer(planned, answer.body)
    # What goes of an object that is left alone anyhow need not be known.
    vanishing = () if changes and not context.overwrites else fields_that_vanish(planned, context)
    if not vanishing:
        return decide_adoption(planned, changes, context)
    dropped = _changes_if_fields_were_dropped(client, planned, vanishing, manager)
    if isinstance(dropped, Failure):
        return dropped
    known = {each.path for each in planned.changes or changes}
    added = tuple(each for each in dropped if each.path not in known)
    if planned.changes:
        planned = replace(planned, changes=(*planned.changes, *added))
    return decide_adoption(planned, (*changes, *added), context)


def _changes_made_by_answer(planned: PlannedObject, answer: Manifest) -> tuple[FieldChange, ...]:
    """Return the values that an answer has otherwise than the live object, but for our marks and kubectl's note."""
    live = manifest_without_paths(planned.live or {}, _OUR_MARKS)
    return changed_values(live, manifest_without_paths(answer, _OUR_MARKS), planned.manifest)


def _with_first_owner(planned: PlannedObject, answer: Manifest, context: PlanContext) -> PlannedObject:
    """Return the plan for an object without recorded owners as if the server had recorded them already.

    With the first apply it records everything that was there before as a manager's of its own.
    """
    live, manager = planned.live, context.options.applyset.manager
    if live is None or planned.manifest is None or live["metadata"].get("managedFields"):
        return planned
    entries = [entry for entry in answer["metadata"].get("managedFields") or () if entry.get("manager") != manager]
    owned = {**live, "metadata": {**live["metadata"], "managedFields": entries}}
    names = kubectl_managers(owned, planned.manifest, planned.ref, autoscaled=context.is_autoscaled)
    return replace(planned, live=owned, takeover=names)


def _with_equal_versions(client: Client, planned: PlannedObject, context: PlanContext) -> PlannedObject:
    """Return the plan for an object whose fields kubectl owns in another version that reads the same."""
    if planned.live is None or planned.manifest is None:
        return planned
    live = with_equal_versions(client, planned.live, context.resource, planned.ref, KUBECTL)
    names = kubectl_managers(live, planned.manifest, planned.ref, autoscaled=context.is_autoscaled)
    return replace(planned, live=live, takeover=names)


def _changes_if_fields_were_dropped(
    client: Client, planned: PlannedObject, paths: tuple[Path, ...], manager: str
) -> tuple[FieldChange, ...] | Failure:
    """Ask what changes where an object loses some fields, and return the values that do not come back."""
    assert planned.resource is not None
    live = planned.live or {}
    request = Request(
        method="PATCH",
        path=planned.resource.path(planned.ref),
        expects=Expected.OBJECT,
        query={"fieldManager": manager, "dryRun": "All"},
        body=[_patch_test_of_version(live), *_json_patch_between(live, manifest_without_paths(live, paths))],
        content_type=JSON_PATCH,
    )
    answer = client.send(request)
    if not isinstance(answer, Failure):
        return _changes_made_by_answer(planned, answer.body)
    # A server that refuses the object without these fields would refuse the next apply as well.
    return _changes_to_dropped_fields(planned, paths) if answer.kind in _REFUSALS else answer


def _changes_to_dropped_fields(planned: PlannedObject, paths: tuple[Path, ...]) -> tuple[FieldChange, ...]:
    live, want = planned.live or {}, planned.manifest or {}
    owners = (next(iter(owners_at(live, path, frozenset())), Owner("")) for path in paths)
    return tuple(
        field_change(want, live, FieldDifference(path, DifferenceKind.DROPPED), owner)
        for path, owner in zip(paths, owners, strict=True)
    )


def _patch_test_of_version(live: Manifest) -> dict[str, Any]:
    return {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]}


def _json_patch_between(live: Manifest, after: Manifest) -> Iterator[dict[str, Any]]:
    """Yield the steps of a JSON patch from one object to another that has less in it."""
    names = [name for name in live if name not in {"apiVersion", "kind", "metadata", "status"}]
    yield from _patch_steps_for_fields(live, after, names, "")
    yield from _patch_steps_for_fields(
        live["metadata"], after.get("metadata") or {}, OWNED_METADATA & {*live["metadata"]}, "/metadata"
    )


def _patch_steps_for_fields(
    live: Mapping[str, Any], after: Mapping[str, Any], names: Any, place: str
) -> Iterator[dict[str, Any]]:
    for name in sorted(names):
        path = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in after:
            yield {"op": "remove", "path": path}
        elif after[name] != live[name]:
            yield {"op": "replace", "path": path, "value": after[name]}


def _plan_without_answer(planned: PlannedObject, failure: Failure, context: PlanContext) -> PlannedObject:
    """Return the plan for an object that the server did not tell of: it is left alone, unless it may be overwritten."""
    is_other = failure.kind is FailureKind.IMMUTABLE or planned.changes
    is_its_own = failure.kind in _OF_THE_OBJECT
    planned = planned if failure.kind in _REFUSALS else replace(planned, answer_id="")
    if is_other or (is_its_own and (context.overwrites or planned.migrate)):
        return plan_of_different_object(planned, planned.changes, context)
    hint = failure.hint or "see to what refuses the dry run"
    return replace(
        planned,
        action=Action.BLOCKED,
        reason=failure.kind,
        message=f"whether it is as wanted could not be asked: {failure.message}",
        hint=f"{hint}, or set conflictResolution: Overwrite in its policy" if is_its_own else hint,
        takeover=(),
        in_doubt=False,
        answer_id="",
    )
