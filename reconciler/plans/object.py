"""The plan for one object: its manifest against the live object, field by field where several managers own fields.

1. No live object: create it. One that is being deleted: wait.
2. A live object we never applied: adopt it when the server says that no value changes by that (``adoption``), take it
   over when the binding says ``Overwrite``, leave it alone otherwise - and in any case when another tool claims it.
3. A live object of ours: compare; where nothing differs nothing is sent. A field that another manager owns now is
   overwritten, left to that manager, or a conflict (``decide_conflicts``).
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from reconciler.members.masking import HIDDEN, ConcealedManifest
from render.model import Manifest

from .answers import UNPROVEN, answer_digest, applied_digest, differences_to_report, plan_to_leave_as_it_is
from .applyset import PART_OF, ApplySet, applyset_id_of_member
from .conflicts import (
    DecidedConflicts,
    decide_conflicts,
    field_changes,
    foreign_changes,
    hint_about_conflict,
    left_fields,
)
from .containment import is_contained_in
from .context import PlanContext, replaced_managers, ruled_manifest
from .expected_fields import fields_kept_and_not_kept_by_rules
from .field_paths import MISSING, value_without_path
from .first_contact import plan_of_another
from .fixed_fields import with_fixed_fields
from .membership import OTHER_SET, fleet_or_set_that_claims, managed_fields_of_fleet, other_managers
from .model import (
    SUSPENDED,
    SUSPENDED_AND_DIFFERENT,
    SUSPENDED_AND_MISSING,
    Action,
    DesiredObject,
    FieldChange,
    PlannedObject,
)
from .ownership import (
    DifferenceKind,
    FieldDifference,
    certain_differences,
    differences_from_wanted,
    fields_of_other_managers,
    managed_fields_entry,
)
from .payload import manifest_as_sent
from .retention import RetainFailed

# Annotations that other tools leave on what they manage: taking such an object would only start a fight over it.
_TOOLS = {
    "helm": "meta.helm.sh/release-name",
    "argocd": "argocd.argoproj.io/tracking-id",
    "flux": "kustomize.toolkit.fluxcd.io/name",
}
TAKEN_FROM = (*_TOOLS, "applyset")
"""The tools that --take-from may name."""
_OWNERS_LOST = "the cluster no longer knew who owns its fields"


def plan_object(live: Manifest | None, context: PlanContext) -> PlannedObject:
    """Return the plan for one object of a served kind; of one that was encrypted it shows no value."""
    found = _plan_of_live_object(live, context)
    return _plan_without_secrets(found) if isinstance(context.desired.manifest, ConcealedManifest) else found


def _plan_without_secrets(found: PlannedObject) -> PlannedObject:
    return replace(
        found,
        manifest=None if found.manifest is None else ConcealedManifest(found.manifest),
        changes=tuple(map(_masked_change, found.changes)),
        yielded=tuple(map(_masked_change, found.yielded)),
        foreign=tuple(map(_masked_change, found.foreign)),
        expected=tuple(map(_masked_change, found.expected)),
    )


def _masked_change(change: FieldChange) -> FieldChange:
    return replace(change, live=change.live and HIDDEN, want=change.want and HIDDEN)


def _plan_of_live_object(live: Manifest | None, context: PlanContext) -> PlannedObject:
    desired, options = context.desired, context.options
    if (desired.manifest["metadata"].get("labels") or {}).get(PART_OF) not in {None, options.applyset.id}:
        return plan_of_unserved_object(
            desired,
            Action.BLOCKED,
            "OtherApplySet",
            message=f"its template carries the label {PART_OF} of another set",
            hint="take the label out of the template",
        )
    want = manifest_as_sent(desired.manifest, context.resource, options.applyset.id)
    if live is not None and live["metadata"].get("deletionTimestamp"):
        return _plan_of_terminating_object(_plan_before_comparison(context, want, live), live)
    if desired.is_suspended:
        return _plan_of_suspended_object(want, live, context)
    if live is None:
        return _plan_before_comparison(context, want, None)
    try:
        return _plan_existing(want, live, context)
    except RetainFailed as error:
        base = _plan_before_comparison(context, want, live, action=Action.BLOCKED, reason="InterpreterFailed")
        return replace(base, message=str(error), hint="correct its Retain rule, or see to its webhook")


def _plan_of_suspended_object(want: dict[str, Any], live: Manifest | None, context: PlanContext) -> PlannedObject:
    """Return a plan that writes nothing, and says whether the object is missing or differs meanwhile."""
    base = _plan_before_comparison(context, want, live, action=Action.KEPT, reason="SuspendDispatching")
    if live is None:
        return replace(base, message=SUSPENDED_AND_MISSING)
    try:
        compared = _plan_existing(want, live, context)
    except RetainFailed:
        return replace(base, message=SUSPENDED)
    is_different = compared.action is Action.CONFIGURED and bool(compared.changes)
    message = SUSPENDED_AND_DIFFERENT if is_different else SUSPENDED
    return replace(base, message=message, changes=compared.changes if is_different else ())


def _plan_before_comparison(
    context: PlanContext,
    want: Mapping[str, Any],
    live: Manifest | None,
    *,
    action: Action = Action.CREATED,
    reason: str = "Missing",
) -> PlannedObject:
    """Return a plan with everything that is known before the decision; without more it creates the object."""
    metadata = live["metadata"] if live is not None else {}
    return PlannedObject(
        ref=context.desired.ref,
        action=action,
        reason=reason,
        resource=context.resource,
        manifest=want,
        desired=context.desired,
        live=live,
        uid=metadata.get("uid", ""),
        resource_version=metadata.get("resourceVersion", ""),
    )


def plan_of_unserved_object(
    desired: DesiredObject, action: Action, reason: str, *, message: str = "", hint: str = ""
) -> PlannedObject:
    """Return the plan for an object of which not even the kind is known."""
    return PlannedObject(ref=desired.ref, action=action, reason=reason, message=message, hint=hint, desired=desired)


def _plan_existing(want: dict[str, Any], live: Manifest, context: PlanContext) -> PlannedObject:
    options = context.options
    claim = fleet_or_set_that_claims(live, options.applyset, is_held=context.is_held)
    if claim and "applyset" not in options.take_from:
        return _conflict_with_claim(_plan_before_comparison(context, want, live), claim, live)
    entry = managed_fields_of_fleet(live, options.applyset, is_held=context.is_held)
    if entry is None and claim:
        taken = next(other_managers(live, options.applyset), options.applyset.former.manager)
        entry = managed_fields_entry(live, taken)
    if entry is not None:
        return _plan_of_own_object(want, live, entry, context)
    if context.is_held and _is_forgotten(live, options.applyset):
        base = _plan_before_comparison(context, want, live, action=Action.CONFIGURED, reason="OwnersLost")
        return replace(base, migrate=(options.applyset.manager,), force=True, message=_OWNERS_LOST)
    annotations = live["metadata"].get("annotations") or {}
    tool = next((name for name, annotation in _TOOLS.items() if annotation in annotations), "")
    if tool and tool not in options.take_from:
        return _plan_of_object_of_other_tool(_plan_before_comparison(context, want, live), tool)
    return plan_of_another(_plan_before_comparison(context, want, live), want, live, context)


def _is_forgotten(live: Manifest, applyset: ApplySet) -> bool:
    """Return whether a server no longer knows who owns the fields of an object in our set.

    It forgets that of an object that somebody writes while a managed field is recorded in a version that is gone.
    """
    return applyset_id_of_member(live) == applyset.id and not live["metadata"].get("managedFields")


def _plan_of_terminating_object(base: PlannedObject, live: Manifest) -> PlannedObject:
    return replace(
        base,
        action=Action.BLOCKED,
        reason="Terminating",
        message=deletion_message(live),
        hint="it is created again once it is gone; if it hangs, see what its finalizers wait for",
    )


def deletion_message(live: Manifest) -> str:
    """Return since when an object is being deleted, and what it waits for: of a Namespace, what is left in it."""
    since = f"it is being deleted since {live['metadata']['deletionTimestamp']}"
    if finalizers := live["metadata"].get("finalizers"):
        return f"{since} and waits for its finalizers {', '.join(map(str, finalizers))}"
    conditions = (live.get("status") or {}).get("conditions") or () if live.get("kind") == "Namespace" else ()
    left = [str(each.get("message")) for each in conditions if each.get("status") == "True"]
    return f"{since}: {'; '.join(left)}" if left else since


def _conflict_with_claim(base: PlannedObject, claim: str, live: Manifest) -> PlannedObject:
    """Return the plan for an object in another set; fleets share Namespaces that ask for nothing of their own."""
    fleets_own = claim != OTHER_SET and base.ref.group_kind == "Namespace"
    unlabelled = value_without_path(dict(base.manifest or {}), ("metadata", "labels", PART_OF))
    if fleets_own and all(
        is_contained_in(value, live.get(name, MISSING), (name,)) for name, value in unlabelled.items()
    ):
        message = f"it belongs to {claim} and is as wanted"
        return replace(base, action=Action.UNCHANGED, reason="OtherFleet", message=message)
    conflict = _plan_of_object_of_other_tool(base, claim)
    if claim == OTHER_SET:
        return conflict
    hint = "let one fleet deliver it, or take it over with --take-from applyset"
    return replace(conflict, reason="OtherFleet", hint=hint)


def _plan_of_object_of_other_tool(base: PlannedObject, tool: str) -> PlannedObject:
    return replace(
        base,
        action=Action.CONFLICT,
        reason="OtherTool",
        message=f"it belongs to {tool}",
        hint="remove it there first, or allow taking objects from that tool",
    )


def _plan_of_own_object(
    want: dict[str, Any], live: Manifest, entry: Mapping[str, Any], context: PlanContext
) -> PlannedObject:
    """Return the plan for an object we applied before, which states all that its manifest does."""
    rest = _own_object_as_far_as_it_can_change(want, live, entry, context)
    ours = {str(entry["manager"]), context.options.applyset.manager}
    return with_fixed_fields(rest, want, live, entry.get("fieldsV1") or {}, ours)


def _own_object_as_far_as_it_can_change(
    want: dict[str, Any], live: Manifest, entry: Mapping[str, Any], context: PlanContext
) -> PlannedObject:
    options, fields = context.options, entry.get("fieldsV1") or {}
    manager = str(entry["manager"])
    ours = {manager, options.applyset.manager}
    asked, want = want, ruled_manifest(want, live, fields, context, ours)
    left = left_fields(asked, want, live, ours)
    found, decided = differences_from_wanted(want, live, fields), DecidedConflicts(want=want)
    if certain := certain_differences(found):
        decided = decide_conflicts(want, live, certain, context.claims, ours)
        found = differences_from_wanted(decided.want, live, fields) if decided.yielded else found
    base = _plan_before_comparison(context, decided.want, live, action=Action.UNCHANGED, reason="UpToDate")
    beyond = fields_of_other_managers(decided.want, live, manager, context.handed_over)
    added, kept = fields_kept_and_not_kept_by_rules(beyond, live, context.desired, options.retain)
    foreign, expected = (foreign_changes(decided.want, live, each) for each in (added, kept))
    migrate = replaced_managers(decided.want, live, context)
    if manager != options.applyset.manager:
        migrate = (manager, *migrate)
    if beyond or decided.yielded or left:
        base = replace(base, foreign=foreign, expected=expected, yielded=(*left, *decided.yielded))
    # Managed fields are kept by API version: an entry of another version says nothing about the fields of this one.
    is_readable = not migrate and entry.get("apiVersion") == want["apiVersion"]
    if is_readable and not decided.failed:
        applied = applied_digest(context.desired.manifest, live, fields) if context.is_changed else ""
        is_applied = not context.is_changed or applied in context.answered
        base = replace(base, applied=applied if is_applied else "")
        if is_applied and (known := _plan_by_remembered_answer(base, found, context)):
            return known
    changes = field_changes(decided.want, live, certain_differences(found), ours)
    base = replace(base, changes=changes, migrate=migrate)
    if decided.failed:
        return _plan_of_conflicting_object(base, decided.failed)
    certain = certain_differences(found)
    is_asked = is_readable and (len(certain) < len(found) or (context.is_changed and not certain))
    reason = _reason_of_differences(base, found, manager, context)
    return replace(
        base, action=Action.CONFIGURED, reason=reason, force=bool(decided.overwritten), is_asked=is_asked, applied=""
    )


def _plan_by_remembered_answer(
    base: PlannedObject, found: tuple[FieldDifference, ...], context: PlanContext
) -> PlannedObject | None:
    """Return the plan for an object that nothing is to be sent for; None where something is, or that is not known."""
    if not found:
        return base
    assert base.live is not None
    want = base.manifest or {}
    answer_id = answer_digest(want, base.live, found, context.admission, context.desired.manifest)
    if answer_id not in context.answered:
        return None
    ours = {context.options.applyset.manager}
    changes = field_changes(want, base.live, differences_to_report(want, found), ours)
    return plan_to_leave_as_it_is(replace(base, changes=changes), context.admission, answer_id)


def _reason_of_differences(
    base: PlannedObject, found: tuple[FieldDifference, ...], manager: str, context: PlanContext
) -> str:
    if manager in base.migrate:
        return "Migrated"
    if found and not base.changes and not context.is_changed:
        return UNPROVEN
    is_drift = context.is_converged or any(_is_changed_by_others(change, context) for change in base.changes)
    return "Drifted" if is_drift else "Changed"


def _is_changed_by_others(change: FieldChange, context: PlanContext) -> bool:
    """Return whether another manager made a difference; one that only owns the field beside us has not changed it."""
    return bool(change.manager) and (change.change == DifferenceKind.LOST or not context.is_changed)


def _plan_of_conflicting_object(base: PlannedObject, conflicts: tuple[FieldChange, ...]) -> PlannedObject:
    return replace(
        base,
        action=Action.CONFLICT,
        reason="FieldManagerConflict",
        message="; ".join(f"field manager {change.manager!r} owns {change.path}" for change in conflicts),
        hint=hint_about_conflict(change.manager for change in conflicts),
    )
