"""Events of one pass: evictions, and objects that change in all clusters at once though a rollout's objects name them.

A ConfigMap that no rollout policy selects reaches every cluster in one pass, also those in which the Deployment that
names it is still the version before. People are told of it where both change in one pass.
"""

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from reconciler.pipeline.former_splits import unrestored_lines, unrestored_shares
from reconciler.pipeline.pass_values import Built
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from render.binding import Binding
from render.interpreter.needs import NamedObject, named_objects
from render.layout import object_path
from render.model import ObjectRef, Template
from render.rollouts.state import RolloutState
from render.words import counted_noun


class ChangeBesideRollout(Struct, frozen=True, kw_only=True, order=True):
    """An object that changes in all clusters at once, and the one that names it and goes out by a rollout."""

    rollout: str
    ref: ObjectRef
    named_by: ObjectRef

    def __str__(self) -> str:
        return (
            f"{self.ref} changes in all clusters at once, and not by {self.rollout}: {self.named_by} names it, and no"
            " rollout policy selects it"
        )


def lines_of_events(built: Built, templates: Collection[Template], previous: Previous | None) -> Iterator[str]:
    """Yield what is evicted, descheduled or not restored in a pass, and what changes at once beside a rollout."""
    for ref, clusters in sorted(built.failover.left.items()):
        yield f"{ref} is evicted from {', '.join(clusters)}"
    for ref, taken in sorted(built.descheduling.replicas_lost_by_object.items()):
        places = (f"{counted_noun(each.replicas, 'replica')} of {each.name}" for each in taken.clusters)
        yield f"{ref} takes {', '.join(places)}, where no node takes them, elsewhere"
    yield from unrestored_lines(unrestored_shares(built.schedule))
    yield from map(str, changes_beside_rollouts(built, templates, previous))


def changes_beside_rollouts(
    built: Built, templates: Collection[Template], previous: Previous | None
) -> tuple[ChangeBesideRollout, ...]:
    """Return what changes at once in a pass that begins, or has wait, a change of objects that name it."""
    if previous is None or not built.rolled.states:
        return ()
    before = rollout_states_of_tree(previous.tree)
    begun = {name: state for name, state in built.rolled.states.items() if _is_new(before.get(name), state)}
    if not begun:
        return ()
    rolled = {each.ref: each for each in built.bindings if each.rollout is not None}
    changed = {ref for ref in built.works if ref not in rolled and _is_changed(ref, built, previous)}
    found = _named_by_rolled_objects(begun, rolled, templates) if changed else ()
    return tuple(
        sorted(
            ChangeBesideRollout(rollout=rollout, ref=ref, named_by=naming)
            for rollout, naming, names in found
            for ref in changed
            if any(_means_object(name, ref) for name in names)
        )
    )


def _is_new(before: RolloutState | None, state: RolloutState) -> bool:
    """Say whether a change has begun in the pass, or one that has to wait has come."""
    if state.plan.is_of_fleet:
        return False
    known = (before.change, *(each.digest for each in before.queue)) if before is not None else ()
    changes = () if state.is_completed else (state.change, *(each.digest for each in state.queue))
    return any(change not in known for change in changes)


def _is_changed(ref: ObjectRef, built: Built, previous: Previous) -> bool:
    """Say whether an object is another one in a cluster that had it before."""
    works, index = built.works[ref], built.index.index_by_name
    among = sum(1 << number for number in index.values())
    before = {each.id: each.clusters for each in previous.tree.variants(object_path(ref), index, among)}
    had = 0
    for clusters in before.values():
        had |= clusters
    return any(each.clusters & had & ~before.get(each.id, 0) for each in works.variants)


def _named_by_rolled_objects(
    states: Mapping[str, RolloutState], rolled: Mapping[ObjectRef, Binding], templates: Collection[Template]
) -> Iterator[tuple[str, ObjectRef, frozenset[NamedObject]]]:
    """Yield what each object of some rollouts names, with its rollout."""
    waiting = {ref for state in states.values() for each in state.queue for ref, _ in each.versions}
    for template in templates:
        binding = rolled.get(template.ref)
        rollout = binding.rollout if binding is not None else None
        if rollout is None or rollout.name not in states:
            continue
        if rollout.is_under_way or template.ref in waiting:
            yield rollout.name, template.ref, named_objects(template.manifest)


def _means_object(name: NamedObject, ref: ObjectRef) -> bool:
    is_kind = name.kind == ref.kind and name.group in {None, ref.group}
    return is_kind and name.name == ref.name and (not ref.namespace or name.namespace == ref.namespace)
