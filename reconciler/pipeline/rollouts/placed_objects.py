"""Objects that are placed otherwise than was decided, by waves or a rollback: before a step, and after it."""

from collections.abc import Container, Iterable

from msgspec.structs import replace

from render.binding import Binding, binding_with_final_targets
from render.rollouts.policy import RolloutPolicy

from .objects import RolledObject, VersionedObject
from .placements import PlacementInRollout, asks_for_placements, digest_of_placement
from .versions import ObjectVersion


def version_with_placement(
    version: ObjectVersion, binding: Binding, policies: Iterable[RolloutPolicy], *, is_covered: bool
) -> ObjectVersion:
    """Return a version that is another one with another placement, where its policy or the calendar may hold that."""
    if not is_covered and not any(map(asks_for_placements, policies)):
        return version
    return replace(version, placement=digest_of_placement(binding.placement))


def object_with_placement(each: VersionedObject, placement: PlacementInRollout) -> VersionedObject:
    """Return an object with the clusters that it is in, or is to be in; its newest version is for what was decided."""
    contexts, decided = each.contexts, binding_with_final_targets(each.binding)
    names = (target.name for target in each.binding.targets)
    return replace(
        each,
        binding=decided,
        works=contexts.works_of_version(each.newest, each.newest, decided),
        placement=placement,
        placed=contexts.index.clusters_named(names),
    )


def object_with_unrecorded_placement(
    each: VersionedObject, placement: PlacementInRollout, before: Binding
) -> VersionedObject:
    """Return an object whose placement a freeze holds that comes with it: it is at a version with the former one."""
    found = object_with_placement(each, placement.of_unrecorded_version(each.written.digest))
    former = replace(each.newest, placement=digest_of_placement(before.placement))
    return found.with_other_versions({each.written.digest: former}, each.newest)


def object_with_split_of_before(each: VersionedObject) -> VersionedObject:
    """Return an object that a rollback has given former replicas: its newest version is for what was decided."""
    decided = binding_with_final_targets(each.binding)
    works = each.contexts.works_of_version(each.newest, each.newest, decided)
    return replace(each, binding=decided, works=works, given=each.binding.targets)


def binding_after_step(
    binding: Binding, rolled: RolledObject, active: Container[str], placement: PlacementInRollout | None
) -> Binding:
    """Return the binding of an object after a step, with the targets that its clusters have by it."""
    found = replace(binding, rollout=rolled.rollout_by_policy(active))
    if placement is None:
        return found
    return placement.binding_with(found, placement.decided if rolled.targets is None else rolled.targets)
