"""Deletions: whatever a cluster's inventory says it may hold, minus what it must hold - and many reasons to wait.

An object is deleted only if all agree that it is ours: a commit the cluster was given names it, it carries our set's
label, and our field manager applied it. Kinds that take others with them need confirmation, one by one. What may not
be deleted is *kept*, with the reason; nothing is ever deleted because something could not be read.

Objects that intercept the writes or reads of others leave whatever else is wrong, for they may be what is wrong.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.inventory import HeldObject, Inventory
from render.model import Manifest, ObjectRef
from render.settings.removal_guard import FEW, is_worth_guarding
from render.template_annotations import PRUNE
from render.words import counted_noun

from .membership import fleet_or_set_that_claims, is_labelled, is_member, managed_fields_of_fleet
from .model import DELETIONS, Action, ObservedCluster, PlannedObject, PlanOptions
from .object import deletion_message
from .stages import confirmation_of, deletion_wave, is_interceptor, needs_confirmation

NO_MEMBER = frozenset({"LabelLost", "NotOurs"})
"""The reasons of what is kept because it is not in our set any more."""

UNKNOWN = "Unknown"
"""The reason of what is kept because its state is not known."""

LAST_COPY = "LastCopy"
"""The reason of what stays in a cluster that went back, as no other cluster would have it."""

DRAINED = "Drained"
"""The reason of a Namespace that a drained cluster keeps: nobody need confirm anything, nor delete it."""

EMPTYING = "the cluster would hold nothing"
_HELM_POLICY = "helm.sh/resource-policy"


def forbids_pruning(manifest: Manifest) -> bool:
    """Return whether a manifest forbids that its object is pruned."""
    annotations = manifest["metadata"].get("annotations") or {}
    return str(annotations.get(PRUNE)).lower() == "false" or annotations.get(_HELM_POLICY) == "keep"


class PruneHold(Struct, frozen=True, kw_only=True):
    """A reason for which nothing may be pruned ("": there is none), and whether interceptors leave all the same."""

    reason: str = ""
    spares_interceptors: bool = False

    def reason_for(self, ref: ObjectRef) -> str:
        """Return why an object may not be pruned; empty where this does not hold it."""
        return "" if self.spares_interceptors and is_interceptor(ref) else self.reason


def plan_deletions(
    wanted: frozenset[ObjectRef], observed: ObservedCluster, inventory: Inventory, options: PlanOptions, hold: PruneHold
) -> tuple[PlannedObject, ...]:
    """Return what is deleted, handed off or kept, in the order of deletion."""
    wanted_uids = {observed.live[ref]["metadata"]["uid"] for ref in wanted if ref in observed.live}
    candidates = [
        _plan_for_candidate(ref, observed.live[ref], inventory.held_objects.get(ref), options)
        for ref in _candidate_refs(wanted, observed, inventory, options)
        # A server may serve one object in two API groups: what is wanted by one name must not be deleted by the other.
        if observed.live[ref]["metadata"]["uid"] not in wanted_uids
    ]
    candidates = _with_last_copies_kept(candidates, observed.cluster, options)
    guard = _reason_not_to_empty_cluster(candidates, wanted, options) or _reason_of_too_many_deletions(
        candidates, observed, inventory, options
    )
    hint = _hint_to_allow_deletions(candidates, observed.cluster) if guard and options.prune else ""
    candidates = [_plan_held_back(item, hold.reason_for(item.ref), guard, hint) for item in candidates]
    unknown = (
        _plan_to_keep_unknown(held_object, observed)
        for ref, held_object in inventory.held_objects.items()
        if _is_ownership_unknown(ref, wanted, observed)
    )
    return tuple(sorted([*candidates, *unknown], key=lambda item: (deletion_wave(item.ref), item.ref)))


def _plan_held_back(item: PlannedObject, hold: str, guard: str, hint: str) -> PlannedObject:
    if hold:
        return _plan_to_keep_object(item, hold, "")
    return _plan_to_keep_object(item, guard, hint) if guard else item


def _candidate_refs(
    wanted: frozenset[ObjectRef], observed: ObservedCluster, inventory: Inventory, options: PlanOptions
) -> Iterator[ObjectRef]:
    """Yield what is live and unwanted: of the inventory, or in our set though no commit names it."""
    for ref, live in observed.live.items():
        if ref in wanted or ref == options.applyset.parent:
            continue
        if ref in inventory.held_objects or is_member(live, options.applyset, is_held=False):
            yield ref


def _is_ownership_unknown(ref: ObjectRef, wanted: frozenset[ObjectRef], observed: ObservedCluster) -> bool:
    return ref not in wanted and observed.failure_to_see(ref) is not None


def _plan_to_keep_unknown(held_object: HeldObject, observed: ObservedCluster) -> PlannedObject:
    failure = observed.failure_to_see(held_object.ref)
    assert failure is not None
    return PlannedObject(
        ref=held_object.ref, action=Action.KEPT, reason=UNKNOWN, message=failure.message, hint=failure.hint
    )


def _plan_for_candidate(
    ref: ObjectRef, live: Manifest, held_object: HeldObject | None, options: PlanOptions
) -> PlannedObject:
    metadata = live["metadata"]
    base = PlannedObject(
        ref=ref,
        action=Action.PRUNE,
        reason="NotWanted",
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
    )
    if not is_labelled(live, options.applyset, is_held=held_object is not None):
        claim = fleet_or_set_that_claims(live, options.applyset, is_held=held_object is not None)
        message = f"it belongs to {claim} now" if claim else "it no longer carries our set's label"
        return replace(base, action=Action.KEPT, reason="LabelLost", message=message)
    if managed_fields_of_fleet(live, options.applyset, is_held=held_object is not None) is None:
        return replace(base, action=Action.KEPT, reason="NotOurs", message="our field manager no longer owns any of it")
    if metadata.get("deletionTimestamp"):
        return replace(base, action=Action.KEPT, reason="Terminating", message=deletion_message(live))
    protection = _reason_of_protection(ref, live, held_object, options)
    if protection:
        reason, message, hint = protection
        return replace(base, action=Action.KEPT, reason=reason, message=message, hint=hint)
    if held_object is not None and held_object.preserve:
        return replace(base, action=Action.HAND_OFF, reason="PreserveResourcesOnDeletion")
    return base


def _reason_of_protection(
    ref: ObjectRef, live: Manifest, held_object: HeldObject | None, options: PlanOptions
) -> tuple[str, str, str] | None:
    """Return reason, message and hint for keeping an object; None when nothing protects it.

    The annotation counts where the live object or the last manifest has it: whoever removes it from one of them may
    not know of the other.
    """
    if forbids_pruning(live) or (held_object is not None and held_object.keep):
        return "PruneDisabled", "an annotation of its own forbids pruning it", "delete it by hand if it should go"
    owner = next((item for item in live["metadata"].get("ownerReferences") or () if item.get("controller")), None)
    if owner:
        return "Controlled", f"it belongs to {owner.get('kind')} {owner.get('name')!r}", ""
    word = confirmation_of(ref)
    if awaited := options.awaited_in(ref):
        return "Held", awaited, "it leaves once the hold has ended"
    is_unconfirmed = needs_confirmation(ref) and not (options.confirm_all or word in options.confirmed)
    if held_object is None and ref not in options.orphans:
        means = f"--orphans --confirm {word}" if is_unconfirmed else "--orphans"
        hint = f"{means} deletes it if this fleet once rendered it here; otherwise delete it by hand"
        return "Orphan", "no commit this cluster was given names it", hint
    # What is preserved stays in any case, and only leaves our set.
    if is_unconfirmed and not (held_object is not None and held_object.preserve):
        return _reason_of_lacking_confirmation(ref, options)
    return None


def _reason_of_lacking_confirmation(ref: ObjectRef, options: PlanOptions) -> tuple[str, str, str]:
    word = confirmation_of(ref)
    if options.is_drained and ref.group_kind == "Namespace":
        return DRAINED, "the cluster is drained, which deletes no Namespace", f"to delete it: --confirm {word}"
    return "NeedsConfirmation", "deleting it may delete much more", f"confirm it: --confirm {word}"


def _with_last_copies_kept(candidates: list[PlannedObject], cluster: str, options: PlanOptions) -> list[PlannedObject]:
    """Return what may leave a cluster that went back: its last copies stay, unless so many removals are allowed."""
    count = sum(item.action is Action.PRUNE and item.ref in options.last_copies for item in candidates)
    if not count or (options.allowed_removals is not None and count <= options.allowed_removals):
        return candidates
    message = "it came here since, and would be in no cluster"
    hint = f"it stays while the cluster is held; if it is to go: --allow-removal {cluster}={count}"
    return [
        replace(item, action=Action.KEPT, reason=LAST_COPY, message=message, hint=hint)
        if item.action is Action.PRUNE and item.ref in options.last_copies
        else item
        for item in candidates
    ]


def _reason_not_to_empty_cluster(
    candidates: Iterable[PlannedObject], wanted: frozenset[ObjectRef], options: PlanOptions
) -> str:
    """Return why a cluster that nothing is wanted in must not be emptied yet.

    What is kept in any case, and what is confirmed by name, does not count.
    """
    if wanted or options.allowed_removals is not None:
        return ""
    leaving = [item.ref for item in candidates if item.action in DELETIONS and not needs_confirmation(item.ref)]
    is_guarded = leaving and is_worth_guarding(
        _namespaces_and_kinds(leaving), leaves_last_copy=_leave_last_copy(leaving, options)
    )
    return EMPTYING if is_guarded else ""


def _leave_last_copy(refs: Iterable[ObjectRef], options: PlanOptions) -> bool:
    """Say whether some of the objects may be in no other cluster."""
    return not all(map(options.is_elsewhere, refs))


def _reason_of_too_many_deletions(
    candidates: Iterable[PlannedObject], observed: ObservedCluster, inventory: Inventory, options: PlanOptions
) -> str:
    """Return why so much must not be deleted at once, empty when it may: the removal guard against the live cluster."""
    removed = _refs_to_remove(candidates)
    if not options.prune:
        return "pruning is switched off"
    if not removed or (options.allowed_removals is not None and len(removed) <= options.allowed_removals):
        return ""
    ours = [
        ref
        for ref, live in observed.live.items()
        if is_labelled(live, options.applyset, is_held=ref in inventory.held_objects)
    ]
    guarded = [ref for ref in ours if not needs_confirmation(ref)]
    leaves_last_copy = len(guarded) >= FEW or _leave_last_copy(removed, options)
    broken = options.guard.limits_broken_by(
        _namespaces_and_kinds(removed), _namespaces_and_kinds(guarded), leaves_last_copy=leaves_last_copy
    )
    return f"{len(removed)} of {counted_noun(len(guarded), 'object')} would go ({broken[0]})" if broken else ""


def _refs_to_remove(candidates: Iterable[PlannedObject]) -> list[ObjectRef]:
    return [item.ref for item in candidates if item.action is Action.PRUNE and not needs_confirmation(item.ref)]


def _hint_to_allow_deletions(candidates: Iterable[PlannedObject], cluster: str) -> str:
    return f"if it is meant: argosy apply --allow-removal {cluster}={len(_refs_to_remove(candidates))}"


def _namespaces_and_kinds(refs: Iterable[ObjectRef]) -> list[tuple[str, str]]:
    return [(ref.namespace, ref.group_kind) for ref in refs]


def _plan_to_keep_object(item: PlannedObject, reason: str, hint: str) -> PlannedObject:
    if item.action not in {Action.PRUNE, Action.HAND_OFF}:
        return item
    return replace(item, action=Action.KEPT, reason="Held", message=reason, hint=hint)
