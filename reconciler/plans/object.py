"""What to do with one object: the manifest against what is live, field by field where both have a say.

1. Nothing there: create it. Something that is going away: wait.
2. Something there that we never applied: adopt it when it already is what we want, take it over when the binding says
   ``Overwrite``, leave it alone otherwise - and in any case when another tool claims it.
3. Ours: compare; nothing differs, nothing is sent. A field another manager now owns is overwritten, left to it, or a
   conflict (``plan_conflicts``).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reconciler.members.discovery import Resource
from render.model import Manifest
from render.policy import ConflictResolution

from .applyset import PART_OF, member_of
from .conflicts import Contest, contest, field_changes, foreign_changes, value_differences
from .containment import contained
from .field_paths import MISSING, without
from .model import Action, DesiredObject, FieldChange, PlannedObject, PlanOptions
from .ownership import Fields, Owner, differences, foreign_fields, own_entry, owned_part
from .payload import as_sent
from .retention import RetainFailed, left_to_owners, retained

CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution"
_TOOLS = {
    "helm": "meta.helm.sh/release-name",
    "argocd": "argocd.argoproj.io/tracking-id",
    "flux": "kustomize.toolkit.fluxcd.io/name",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """What an object is planned by beside what is live.

    ``resource``: its kind as served. ``is_autoscaled``: something else sets its replicas. ``is_converged``: this very
    manifest was applied before, so that whatever differs is drift.
    """

    desired: DesiredObject
    resource: Resource
    options: PlanOptions
    is_autoscaled: bool = False
    is_converged: bool = False

    @property
    def overwrites(self) -> bool:
        """Whether foreign objects and fields may be taken over; the object's annotation beats its policy."""
        annotations = self.desired.manifest["metadata"].get("annotations") or {}
        said = str(annotations.get(CONFLICT_RESOLUTION) or "").lower()
        if said in {"overwrite", "abort"}:
            return said == "overwrite"
        return self.desired.conflict_resolution is ConflictResolution.OVERWRITE


def plan_object(live: Manifest | None, given: PlanContext) -> PlannedObject:
    """Return what to do with one object of a served kind, and why."""
    desired, options = given.desired, given.options
    if (desired.manifest["metadata"].get("labels") or {}).get(PART_OF) not in {None, options.applyset.id}:
        return planned(
            desired,
            Action.BLOCKED,
            "OtherApplySet",
            message=f"its template carries the label {PART_OF} of another set",
            hint="take the label out of the template",
        )
    want = as_sent(desired.manifest, given.resource, options.applyset.id)
    if live is not None and live["metadata"].get("deletionTimestamp"):
        return _terminating(_base(given, want, live), live)
    if desired.is_suspended:
        base = _base(given, want, live, action=Action.KEPT, reason="SuspendDispatching")
        return replace(base, message="its dispatch is suspended")
    if live is None:
        return _base(given, want, None)
    try:
        return _plan_existing(want, live, given)
    except RetainFailed as error:
        base = _base(given, want, live, action=Action.BLOCKED, reason="InterpreterFailed")
        return replace(base, message=str(error), hint="correct its Retain rule, or see to its webhook")


def _base(
    given: PlanContext,
    want: Mapping[str, Any],
    live: Manifest | None,
    *,
    action: Action = Action.CREATED,
    reason: str = "Missing",
) -> PlannedObject:
    metadata = live["metadata"] if live is not None else {}
    return PlannedObject(
        ref=given.desired.ref,
        action=action,
        reason=reason,
        resource=given.resource,
        manifest=want,
        desired=given.desired,
        live=live,
        uid=metadata.get("uid", ""),
        resource_version=metadata.get("resourceVersion", ""),
    )


def planned(desired: DesiredObject, action: Action, reason: str, *, message: str = "", hint: str = "") -> PlannedObject:
    """Return a planned object before anything is known of its kind."""
    return PlannedObject(ref=desired.ref, action=action, reason=reason, message=message, hint=hint, desired=desired)


def _plan_existing(want: dict[str, Any], live: Manifest, given: PlanContext) -> PlannedObject:
    options = given.options
    if member_of(live) not in {"", options.applyset.id} and "applyset" not in options.take_from:
        return _other_tool(_base(given, want, live), "another ApplySet")
    entry = own_entry(live)
    if entry is not None:
        return _own_object(want, live, entry, given)
    marks = live["metadata"].get("annotations") or {}
    tool = next((name for name, mark in _TOOLS.items() if mark in marks), "")
    if tool and tool not in options.take_from:
        return _other_tool(_base(given, want, live), tool)
    return _first_contact(_base(given, want, live), want, live, given)


def _terminating(base: PlannedObject, live: Manifest) -> PlannedObject:
    finalizers = ", ".join(map(str, live["metadata"].get("finalizers") or ())) or "none"
    return replace(
        base,
        action=Action.BLOCKED,
        reason="Terminating",
        message=f"it is being deleted since {live['metadata']['deletionTimestamp']} (finalizers: {finalizers})",
        hint="it is created again once it is gone; if it hangs, see what its finalizers wait for",
    )


def _other_tool(base: PlannedObject, tool: str) -> PlannedObject:
    return replace(
        base,
        action=Action.CONFLICT,
        reason="OtherTool",
        message=f"it belongs to {tool}",
        hint="remove it there first, or allow taking objects from that tool",
    )


def _first_contact(base: PlannedObject, want: dict[str, Any], live: Manifest, given: PlanContext) -> PlannedObject:
    """Decide about an object we never applied."""
    want = _with_retained(want, live, {}, given)
    base = replace(base, manifest=want, migrate=_migrating(live, given.options))
    unlabelled = without(want, ("metadata", "labels", PART_OF))
    if all(contained(value, live.get(name, MISSING), (name,)) for name, value in unlabelled.items()):
        return replace(base, action=Action.ADOPTED, reason="Equal", message="it was there already, as wanted")
    base = replace(base, changes=field_changes(want, live, tuple(value_differences(unlabelled, live))))
    if given.overwrites or base.migrate:
        reason = "Overwrite" if given.overwrites else "Migrated"
        message = "it was there already, different"
        return replace(base, action=Action.ADOPTED, reason=reason, message=message, force=given.overwrites)
    owners = sorted({str(entry.get("manager")) for entry in live["metadata"].get("managedFields") or ()})
    return replace(
        base,
        action=Action.CONFLICT,
        reason="NotOurs",
        message=f"it is in the cluster already, different and not ours (managers: {', '.join(owners) or 'unknown'})",
        hint="delete or rename it there, or set conflictResolution: Overwrite in its policy",
    )


def _with_retained(want: dict[str, Any], live: Manifest, fields: Fields, given: PlanContext) -> dict[str, Any]:
    """Return what to send for an existing object, of which some is the cluster's to decide."""
    kept = given.options.retain(want, live)
    if kept is not want:
        sent = as_sent(kept, given.resource, given.options.applyset.id)
        want = left_to_owners(want, sent, live, fields)
    return retained(given.desired.ref, want, live, fields, autoscaled=given.is_autoscaled)


def _own_object(want: dict[str, Any], live: Manifest, entry: Mapping[str, Any], given: PlanContext) -> PlannedObject:
    """Decide about an object we applied before."""
    options, fields = given.options, entry.get("fieldsV1") or {}
    want = _with_retained(want, live, fields, given)
    found, outcome = differences(want, live, fields), Contest(want=want)
    if found:
        outcome = contest(want, live, found, overwrite=given.overwrites)
        found = differences(outcome.want, live, fields) if outcome.yielded else found
    base = _base(given, outcome.want, live, action=Action.UNCHANGED, reason="UpToDate")
    foreign, migrate = foreign_changes(outcome.want, live), _migrating(live, options)
    if foreign or outcome.yielded:
        base = replace(base, foreign=foreign, yielded=outcome.yielded)
    if not (found or migrate or outcome.lost) and entry.get("apiVersion") == want["apiVersion"]:
        return base
    base = replace(base, changes=field_changes(outcome.want, live, found), migrate=migrate)
    if outcome.lost:
        return _lost(base, outcome.lost)
    if not migrate and options.server_forms.get(base.ref) == server_form_digest(outcome.want, live):
        return replace(base, reason="Settled", message=_KEPT_IN_OTHER_FORM)
    is_drift = given.is_converged or any(change.manager for change in base.changes)
    return replace(base, action=Action.CONFIGURED, reason="Drifted" if is_drift else "Changed", force=bool(outcome.won))


_KEPT_IN_OTHER_FORM = "the cluster keeps some fields in a form of its own, and would again"


def _lost(base: PlannedObject, lost: tuple[FieldChange, ...]) -> PlannedObject:
    return replace(
        base,
        action=Action.CONFLICT,
        reason="FieldManagerConflict",
        message="; ".join(f"field manager {change.manager!r} owns {change.path}" for change in lost),
        hint="drop that manager's change, or set conflictResolution: Overwrite in its policy",
    )


def _migrating(live: Manifest, options: PlanOptions) -> tuple[str, ...]:
    """Return the managers whose fields become ours before we apply: those we replace, and people's if so wished."""
    wanted = options.migrate_from
    if options.remove_foreign:
        wanted |= {owner.manager for owner, _ in foreign_fields(live)}
    if not wanted:
        return ()
    owners = [
        Owner(str(entry.get("manager") or ""))
        for entry in live["metadata"].get("managedFields") or ()
        if entry.get("operation") == "Update" and not entry.get("subresource")
    ]
    return tuple(dict.fromkeys(owner.manager for owner in owners if owner.manager in wanted))


def server_form_digest(want: Mapping[str, Any], live: Manifest) -> str:
    """Return the digest of what is wanted and what of it is there: equal digests, equal outcome of applying."""
    fields = (own_entry(live) or {}).get("fieldsV1") or {}
    parts = [want, fields, owned_part(live, fields)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
