"""Objects that leave wave by wave, where their rollout policy asks for it: nothing in the source wants them any more.

Their template was deleted, or the policy that placed them. The newest version of such an object is that it is absent;
each cluster keeps the version that it stands at until its wave is due. Until it is gone everywhere the binding stays.
"""

from collections.abc import Collection, Container, Iterable, Mapping

from msgspec.structs import replace

from reconciler.pipeline.cluster_removals import Departures, Paths
from render.binding import Binding
from render.layout import object_path
from render.model import ObjectRef
from render.object_rollout import ABSENT
from render.rollouts.policy import GradualAction, RolloutPolicy

from .objects import ReadVersion, RolledObject, VersionedObject
from .versions import ObjectVersion, WrittenVersion
from .works import NO_WORKS, VersionContexts, clusters_of_works


def asks_for_removals(policies: Iterable[RolloutPolicy]) -> bool:
    """Say whether any policy lets removals out wave by wave."""
    return any(GradualAction.REMOVAL in each.also_for for each in policies)


def refs_that_leave(
    before: Mapping[ObjectRef, Binding], among: frozenset[ObjectRef] | None, known: Collection[ObjectRef]
) -> list[ObjectRef]:
    """Return the objects of the previous commit that nothing asks for any more; ``known`` are those that it does.

    ``among`` are those that the pass looks at (None: all).
    """
    return sorted(frozenset(before if among is None else among & before.keys()).difference(known))


def leaves_wave_by_wave(before: Binding, policies: Iterable[RolloutPolicy], under_way: Container[str]) -> bool:
    """Say whether an object that nothing asks for any more leaves its clusters one wave after the other.

    One that has begun to leave goes on while its rollout is ``under_way``, whatever its policy asks for by now.
    """
    rollout = before.rollout
    if rollout is None or not rollout.has_gates or not version_in_use(before):
        return False
    is_begun = ABSENT in {rollout.target, *rollout.waiting} and rollout.name in under_way
    return is_begun or any(str(each) == rollout.policy and asks_for_removals([each]) for each in policies)


def version_in_use(before: Binding) -> str:
    """Return a version that some cluster of an object may stand at; "" where none has any."""
    rollout = before.rollout
    used = () if rollout is None else (rollout.completed, *(each.version for each in rollout.clusters))
    return next((version for version in used if version != ABSENT), "")


def leaving_object(
    before: Binding, version: ObjectVersion, contexts: VersionContexts, read: ReadVersion
) -> VersionedObject:
    """Return an object that is to leave; ``version`` is one that it has, with what overrides it by now.

    What its policy suspended holds it no longer: that policy does not reach it, so nobody could let it go on.
    """
    assert before.rollout is not None, "only what was rolled out leaves so"
    required = (target.name for snapshot in before.required_by for target in snapshot.clusters)
    return VersionedObject(
        binding=replace(before, suspension=None),
        newest=version,
        written=WrittenVersion(digest=ABSENT, content=b""),
        works=NO_WORKS,
        before=before.rollout,
        contexts=contexts,
        read=read,
        placed=contexts.index.clusters_named((*(target.name for target in before.targets), *required)),
    )


def departures_of_objects(objects: Iterable[VersionedObject], after: Mapping[ObjectRef, RolledObject]) -> Departures:
    """Return the paths that leave clusters by removals which begin in a pass, and those that leave now by earlier ones.

    Guards judge a removal once, when it begins, and a rollback of a first delivery takes away what just came.
    """
    begun: dict[str, set[tuple[str, ...]]] = {}
    ended: dict[str, set[tuple[str, ...]]] = {}
    for each in objects:
        if each.placement is not None and not each.is_leaving:
            _add_clusters_left(each, after[each.ref], begun, ended)
        elif each.before.splits and each.splits is not None and not each.is_leaving:  # what a freeze held is let out
            had = {target.name for target in each.splits.before[each.ref].targets}
            _add_path(each.ref, had - {target.name for target in each.binding.targets}, ended)
        if not each.is_leaving and each.before.completed != ABSENT:
            continue
        there = clusters_of_works(after[each.ref].works)
        is_beginning = each.is_leaving and not each.before.is_leaving
        found, mask = (begun, there) if is_beginning else (ended, each.clusters_having_it & ~there)
        for place in each.index.indexes_in_mask(mask):
            found.setdefault(each.index.names[place], set()).add(tuple(object_path(each.ref)))
    return Departures(expected=_frozen_paths(ended), begun=_frozen_paths(begun))


def _add_clusters_left(
    each: VersionedObject,
    after: RolledObject,
    begun: dict[str, set[tuple[str, ...]]],
    ended: dict[str, set[tuple[str, ...]]],
) -> None:
    """Add the path of an object in clusters that its placement begins to leave, or that have lost it now."""
    assert each.placement is not None
    given = {target.name for target in each.placement.given}
    there = {target.name for target in (each.placement.decided if after.targets is None else after.targets)}
    if each.placement.is_new:
        _add_path(each.ref, there - {target.name for target in each.placement.decided}, begun)
    else:
        _add_path(each.ref, given - there, ended)


def _add_path(ref: ObjectRef, clusters: Iterable[str], found: dict[str, set[tuple[str, ...]]]) -> None:
    for name in clusters:
        found.setdefault(name, set()).add(tuple(object_path(ref)))


def _frozen_paths(found: Mapping[str, set[tuple[str, ...]]]) -> Mapping[str, Paths]:
    return {name: frozenset(paths) for name, paths in found.items()}
