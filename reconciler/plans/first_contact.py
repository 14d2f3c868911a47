"""The plan for a live object that nobody of ours applied: adopted, taken over, or left alone.

``adoption`` says which fields of others become ours with it. One that seems to be as wanted is in doubt until its
server was asked (``decide_adoption``).
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from render.model import Manifest

from .adoption import (
    fields_removed_by_first_apply,
    fields_taken_over,
    is_entry_replaceable,
    kubectl_managers,
)
from .answers import stranger_digest
from .applyset import PART_OF
from .conflicts import field_changes, left_fields, value_differences
from .context import PlanContext, replaced_managers, ruled_manifest
from .field_paths import MISSING, Path, value_at, value_without_path
from .model import Action, FieldChange, PlannedObject
from .payload import manifest_as_sent


def plan_of_another(base: PlannedObject, want: dict[str, Any], live: Manifest, context: PlanContext) -> PlannedObject:
    """Return the plan for an object we never applied; one that seems to be as wanted is in doubt."""
    ours = {context.options.applyset.manager}
    asked, want = want, ruled_manifest(want, live, {}, context, ours)
    left = left_fields(asked, want, live, ours)
    base = replace(base, manifest=want, migrate=replaced_managers(want, live, context), yielded=left)
    different = tuple(value_differences(value_without_path(want, ("metadata", "labels", PART_OF)), live, live))
    changes = field_changes(want, live, different, ours)
    if any(_do_differ_to_every_server(value_at(want, each.path), value_at(live, each.path)) for each in different):
        found = plan_of_different_object(base, changes, context)
        # What goes with the first apply is shown before, and only the server knows what it fills in again.
        return replace(found, in_doubt=bool(found.takeover and fields_that_vanish(found, context)))
    kubectl = kubectl_managers(live, want, context.desired.ref, autoscaled=context.is_autoscaled)
    base = replace(base, takeover=kubectl)
    answer_id = stranger_digest(base, context.admission)
    # Whoever only looks asks again, to show what would change.
    is_known = answer_id in context.answered and not context.options.is_observing
    if is_known and not (context.overwrites or base.migrate):
        return plan_of_different_object(replace(base, answer_id=answer_id), changes, context)
    message = "it was there already, as wanted"
    base = replace(base, changes=changes, in_doubt=True, answer_id=answer_id)
    return replace(base, action=Action.ADOPTED, reason="Equal", message=message)


def _do_differ_to_every_server(wanted: Any, present: Any) -> bool:
    """Return whether two values that differ do so to every server: of pieces, and of what is empty, it drops some."""
    return bool(wanted) and not any(value is MISSING or isinstance(value, dict | list) for value in (wanted, present))


def plan_of_different_object(
    base: PlannedObject, changes: tuple[FieldChange, ...], context: PlanContext
) -> PlannedObject:
    """Return the plan for an object we never applied and that applying would change.

    ``changes`` are the values, as far as they are known. The server's answer is remembered of one that stays as it is.
    """
    assert base.live is not None
    entries = base.live["metadata"].get("managedFields") or ()
    base = replace(base, changes=changes, takeover=(), in_doubt=False)
    if context.overwrites or base.migrate:
        takeover = _managers_whose_fields_become_ours(base, context) if context.overwrites else ()
        base = replace(base, takeover=takeover)
        reason = "Overwrite" if context.overwrites else "Migrated"
        message = "it was there already, different"
        base = replace(base, answer_id="", force=context.overwrites)
        return replace(base, action=Action.ADOPTED, reason=reason, message=message)
    owners = sorted({str(entry.get("manager")) for entry in entries})
    replaceable = dict.fromkeys(str(each.get("manager")) for each in entries if is_entry_replaceable(each))
    return replace(
        base,
        action=Action.CONFLICT,
        reason="NotOurs",
        message=f"it is in the cluster already, different and not ours (managers: {', '.join(owners) or 'unknown'})",
        hint=_hint_about_another(replaceable),
    )


def _managers_whose_fields_become_ours(base: PlannedObject, context: PlanContext) -> tuple[str, ...]:
    """Return kubectl's managers of an object that is overwritten: what they alone own would stay for ever."""
    assert base.live is not None
    assert base.manifest is not None
    return kubectl_managers(base.live, base.manifest, base.ref, autoscaled=context.is_autoscaled)


def _hint_about_another(managers: Iterable[str]) -> str:
    """Return what to do about an object that others made; ``managers`` are those whose fields can become ours."""
    options = " ".join(f"--migrate-from {manager}" for manager in managers)
    migrated = f", or take its fields over once: argosy apply {options}" if options else ""
    return f"delete or rename it there, or set conflictResolution: Overwrite in its policy{migrated}"


def decide_adoption(planned: PlannedObject, changes: tuple[FieldChange, ...], context: PlanContext) -> PlannedObject:
    """Return the plan for an object in doubt, by the values that its server says would change.

    Where none does it is sent with force: what others state of a field that is one piece is the same to a server only
    once it has filled in its defaults, and so a conflict before.
    """
    if changes:
        return plan_of_different_object(planned, planned.changes or changes, context)
    return replace(planned, changes=(), in_doubt=False, force=True, answer_id="")


def fields_that_vanish(planned: PlannedObject, context: PlanContext) -> tuple[Path, ...]:
    """Return the live fields of an object to adopt that its first apply removes; the server may fill them in again."""
    desired, live = context.desired, planned.live
    assert planned.manifest is not None
    assert live is not None
    managers = {*planned.takeover, *planned.migrate}
    entries = live["metadata"].get("managedFields") or ()
    taken = fields_taken_over(entries, managers, planned.manifest, desired.ref, autoscaled=context.is_autoscaled)
    if not taken.fields:
        return ()
    asked = manifest_as_sent(desired.manifest, context.resource, context.options.applyset.id)
    ours = {context.options.applyset.manager, *managers}
    return fields_removed_by_first_apply(ruled_manifest(asked, live, taken.fields, context, ours), live, taken)
