"""The plans of objects that need nothing, for objects of other members that are equal to them.

Most members of a fleet hold the same objects, as the same controllers completed them. Where one is as it has to be, so
is each that is equal to it: in everything but what tells one incarnation from another (its UID, version, generation and
times), what its cluster allocated to it (``allocated_fields``) and its status, of which no plan asks anything. Equality
is cheaper to see than to find again that nothing differs. What needs something is planned by itself.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from reconciler.members.masking import ConcealedManifest
from render.model import Manifest

from .allocated_fields import live_without_allocated_fields
from .context import PlanContext
from .model import Action, PlannedObject
from .object import plan_object
from .retention import RetainFailed

_BESIDE = frozenset({"metadata", "status"})
_TIME = frozenset({"time"})
_OWN = frozenset({"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})


class PlansOfEquals:
    """The plans of one apply so far, from all of its threads; options and rules are the same for all of its members."""

    def __init__(self) -> None:
        self._known: dict[object, PlannedObject] = {}

    def plan(self, live: Manifest | None, context: PlanContext) -> PlannedObject:
        """Return the plan for one object, as ``plan_object`` makes it."""
        manifest = context.desired.manifest
        digest = _digest_beside_incarnation(live, manifest) if live is not None and not context.is_changed else None
        if live is None or digest is None or isinstance(manifest, ConcealedManifest):
            return plan_object(live, context)
        key = digest, _inputs_beside_live_object(context)
        known = self._known.get(key)
        if known is not None and known.desired == context.desired:
            metadata = live["metadata"]
            uid, version = metadata.get("uid", ""), metadata.get("resourceVersion", "")
            return replace(known, live=live, uid=uid, resource_version=version)
        planned = plan_object(live, context)
        if _needs_nothing(planned, context):
            self._known[key] = planned
        return planned


def _inputs_beside_live_object(context: PlanContext) -> object:
    """Return what an object is planned by, beside itself and its manifest, as far as that differs between members."""
    options = context.options
    return (
        id(context.desired.manifest),
        context.resource,
        (context.is_autoscaled, context.are_scalers_known, context.is_held),
        (options.applyset.parent, options.take_from, options.migrate_from, options.remove_foreign),
        options.field_rules,
    )


def _needs_nothing(planned: PlannedObject, context: PlanContext) -> bool:
    """Return whether a plan says that an object is as it has to be, and nothing that is true of it alone.

    Not where a rule of the source keeps fields of it: that sees its status as well.
    """
    plain = PlannedObject(
        ref=planned.ref,
        action=Action.UNCHANGED,
        reason="UpToDate",
        resource=planned.resource,
        manifest=planned.manifest,
        desired=planned.desired,
        live=planned.live,
        uid=planned.uid,
        resource_version=planned.resource_version,
    )
    return planned == plain and "status" not in context.desired.manifest and _is_without_rule(planned.live, context)


def _is_without_rule(live: Manifest | None, context: PlanContext) -> bool:
    manifest = context.desired.manifest
    try:
        return context.options.retain(manifest, live or {}) is manifest
    except RetainFailed:
        return False


def _digest_beside_incarnation(live: Manifest, want: Manifest) -> bytes | None:
    """Return a digest of all in a live object that a plan asks about; None where it cannot be written as JSON.

    It is of bytes: in Python ``True`` equals 1, which a server may hold in its place.
    """
    metadata = live["metadata"]
    owners = [_without(entry, _TIME) for entry in metadata.get("managedFields") or ()]
    try:
        asked = _without(live_without_allocated_fields(live, want), _BESIDE)
        content = encode((asked, _without(metadata, _OWN), owners))
    except (TypeError, ValueError, OverflowError):
        return None
    return sha256(content).digest()


def _without(value: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name not in names}
