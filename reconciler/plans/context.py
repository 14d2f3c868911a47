"""The values that an object is planned by, and what is sent of it by them."""

from collections.abc import Container
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.discovery import Resource
from render.model import Manifest, ObjectRef
from render.policy import ConflictResolution
from render.settings.field_rules import FieldRule
from render.template_annotations import CONFLICT_RESOLUTION

from .admission import Admission
from .adoption import is_entry_replaceable
from .conflicts import OwnershipClaims
from .expected_fields import fields_kept_and_not_kept_by_rules
from .field_paths import Path
from .field_rules import claims_of_field_rules, field_rules_of_object, manifest_with_rules
from .model import DesiredObject, PlanOptions
from .ownership import Fields, Owner, fields_of_other_managers
from .payload import manifest_as_sent
from .retention import (
    fields_handed_over,
    fields_left_to_owners,
    manifest_with_live_replicas,
    manifest_with_retained_fields,
)


class PlanContext(Struct, frozen=True, kw_only=True):
    """The values that an object is planned by, beside the live object.

    ``resource``: its kind as served. ``is_autoscaled``: something else sets its replicas, as far as the autoscalers
    of the cluster are known (``are_scalers_known``: all of them). ``is_converged``: this very
    manifest was applied before, so that whatever differs is drift. ``is_held``: a commit that the cluster was given
    names the object. ``answered`` are digests of what the server answered before, ``admission`` is that of what
    intercepts writes there.
    """

    desired: DesiredObject
    resource: Resource
    options: PlanOptions
    is_autoscaled: bool = False
    are_scalers_known: bool = False
    is_converged: bool = False
    is_held: bool = False
    answered: frozenset[str] = frozenset()
    admission: Admission = field(default_factory=Admission)

    @property
    def is_changed(self) -> bool:
        """True where the cluster may hold the object by another manifest, so that it is sent whatever it looks like."""
        changed, desired = self.options.changed, self.desired
        return bool(changed) and (desired.ref in changed or ObjectRef.of(desired.manifest) in changed)

    @property
    def rules(self) -> tuple[FieldRule, ...]:
        """The field rules about the object."""
        return field_rules_of_object(self.desired.manifest, self.desired.ref, self.options.field_rules)

    @property
    def overwrites(self) -> bool:
        """True where foreign objects and fields may be taken over; the object's annotation beats its policy."""
        annotations = self.desired.manifest["metadata"].get("annotations") or {}
        resolution = str(annotations.get(CONFLICT_RESOLUTION) or "").lower()
        if resolution in {"overwrite", "abort"}:
            return resolution == "overwrite"
        return self.desired.conflict_resolution is ConflictResolution.OVERWRITE

    @property
    def handed_over(self) -> frozenset[Path]:
        """The fields that are for others to set where the manifest, or what is sent of it, leaves them out."""
        return fields_handed_over(self.resource, self.desired.manifest, autoscaled=self.is_autoscaled)

    @property
    def claims(self) -> OwnershipClaims:
        """The claims of the object's policy and rules on fields that others own."""
        is_unscaled = self.are_scalers_known and not self.is_autoscaled
        claims = claims_of_field_rules(self.rules, overwrite=self.overwrites)
        return replace(claims, is_unscaled=is_unscaled, replaced=self.options.migrate_from)


def ruled_manifest(
    asked: dict[str, Any], live: Manifest, fields: Fields, context: PlanContext, ours: Container[str]
) -> dict[str, Any]:
    """Return what to send for an existing object by the field rules, and without what its cluster decides."""
    want, rules = _manifest_with_retained_fields(asked, live, fields, context), context.rules
    return manifest_with_rules(asked, want, live, ours, rules) if rules else want


def _manifest_with_retained_fields(
    want: dict[str, Any], live: Manifest, fields: Fields, context: PlanContext
) -> dict[str, Any]:
    """Return what to send for an existing object, some fields of which are the cluster's to decide."""
    kept = context.options.retain(want, live)
    if kept is not want:
        sent = manifest_as_sent(kept, context.resource, context.options.applyset.id)
        want = fields_left_to_owners(want, sent, live, fields)
    want = manifest_with_retained_fields(context.desired.ref, want, live, fields, autoscaled=context.is_autoscaled)
    return manifest_with_live_replicas(want, live, fields) if context.handed_over else want


def replaced_managers(want: Manifest, live: Manifest, context: PlanContext) -> tuple[str, ...]:
    """Return the managers whose fields become ours before we apply: those we replace, and people's if so wished."""
    options = context.options
    wanted = options.migrate_from
    if options.remove_foreign:
        beyond = fields_of_other_managers(want, live, options.applyset.manager, context.handed_over)
        foreign, _ = fields_kept_and_not_kept_by_rules(beyond, live, context.desired, options.retain)
        wanted |= {owner.manager for owner, _ in foreign if owner.is_person}
    if not wanted:
        return ()
    owners = [
        Owner(str(entry.get("manager") or ""))
        for entry in live["metadata"].get("managedFields") or ()
        if is_entry_replaceable(entry)
    ]
    return tuple(dict.fromkeys(owner.manager for owner in owners if owner.manager in wanted))
