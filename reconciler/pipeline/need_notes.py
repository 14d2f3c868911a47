"""The notes in bindings about what stays in clusters because something that stays there needs it."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding, BindingSnapshot, Condition
from render.bits import Mask, indexes_of_mask
from render.model import Manifest, ObjectRef, TargetCluster
from render.tree import Variant, clusters_of_variants
from render.words import first_few

from .dependencies import NOT_SCHEDULED, binding_name
from .rendered_condition import with_condition

REMOVED = "Removed"
STILL_NEEDED = "StillNeeded"
_LISTED = 3
_MOST = 10

Variants = tuple[Variant, ...]
"""The clusters that hold an object, by its bytes."""


class NeededObject(Struct, frozen=True, kw_only=True):
    """An object of the previous commit that stays in clusters because of what stays there, with the bytes it had."""

    ref: ObjectRef
    manifest: Manifest
    variants: Variants
    owners: Mapping[ObjectRef, Mask]

    @property
    def clusters(self) -> Mask:
        """The clusters in which it stays."""
        return clusters_of_variants(self.variants)


def with_needed_bindings(
    bindings: Iterable[Binding],
    needed: Iterable[NeededObject],
    before: Mapping[ObjectRef, Binding],
    names: Sequence[str],
    source: str,
) -> tuple[Binding, ...]:
    """Return bindings that say what stays for others' sake, also of objects that the source does not have any more."""
    found = {each.ref: each for each in needed}
    made = {each.ref: _without_note(each) for each in bindings}
    for ref, each in found.items():
        binding = made.get(ref) or _attached_binding_of(each, before.get(ref))
        made[ref] = with_condition(_with_required_by(binding, each, names), _note_of_need(each, names), before, source)
    return tuple(made[ref] for ref in sorted(made))


def _attached_binding_of(needed: NeededObject, before: Binding | None) -> Binding:
    """Return the binding of an object that nothing but what stays asks for."""
    plain = Binding(ref=needed.ref, api_version=str(needed.manifest.get("apiVersion", "")), conditions=(NOT_SCHEDULED,))
    if before is None:
        return plain
    return replace(
        plain,
        uid=before.uid,
        conflict_resolution=before.conflict_resolution,
        preserve_resources_on_deletion=before.preserve_resources_on_deletion,
    )


def _note_of_need(needed: NeededObject, names: Sequence[str]) -> Condition:
    clusters = tuple(sorted(names[position] for position in indexes_of_mask(needed.clusters)))
    owners = first_few([str(ref) for ref in sorted(needed.owners)], _LISTED)
    verbs = "stays there and needs" if len(needed.owners) == 1 else "stay there and need"
    message = f"stays in {first_few(clusters)} as it was: {owners} {verbs} it"
    return Condition(type=REMOVED, status="False", reason=STILL_NEEDED, message=message, clusters=clusters)


def _with_required_by(binding: Binding, needed: NeededObject, names: Sequence[str]) -> Binding:
    """Return a binding that is required by the objects that need it, in the clusters in which they do."""
    required = {(each.namespace, each.name): each for each in binding.required_by}
    for owner, mask in needed.owners.items():
        key = owner.namespace, binding_name(owner)
        more = tuple(TargetCluster(name) for name in sorted(names[position] for position in indexes_of_mask(mask)))
        clusters_before = required[key].clusters if key in required else ()
        known = {target.name for target in clusters_before}
        added = (*clusters_before, *(target for target in more if target.name not in known))
        required[key] = BindingSnapshot(namespace=key[0], name=key[1], clusters=added)
    return replace(binding, required_by=tuple(required[key] for key in sorted(required)))


def _without_note(binding: Binding) -> Binding:
    if not is_needed(binding):
        return binding
    return replace(binding, conditions=tuple(each for each in binding.conditions if each.type != REMOVED))


def needed_notes(binding: Binding) -> tuple[Condition, ...]:
    """Return the conditions of a binding which say that its object stays for others' sake."""
    return tuple(each for each in binding.conditions if each.type == REMOVED)


def is_needed(binding: Binding) -> bool:
    """Say whether an object stays in a cluster because something that stays there needs it."""
    return bool(needed_notes(binding))


def needed_lines(bindings: Iterable[Binding]) -> tuple[str, ...]:
    """Return a line for each object that stays for others' sake; of many, the first few."""
    lines = [f"{each.ref} {note.message}" for each in bindings for note in needed_notes(each)]
    more = len(lines) - _MOST
    return (*lines[:_MOST], f"and {more} more that others need") if more > 0 else tuple(lines)
