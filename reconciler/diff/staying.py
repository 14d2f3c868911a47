"""The objects that a change leaves in clusters for others' sake, and those for which no cluster is left."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from reconciler.pipeline.eviction_notes import NOTES_OF_NO_PROBLEM
from reconciler.pipeline.need_notes import STILL_NEEDED
from render.binding import Binding
from render.model import ObjectRef
from render.words import first_few

from .difference import StayNote, Unplaced

_NOTES = NOTES_OF_NO_PROBLEM | {STILL_NEEDED}
"""The reasons to stay that are no problem; all others are told as problems."""


def new_stays(before: Iterable[Binding], after: Iterable[Binding]) -> tuple[StayNote, ...]:
    """Return the objects that stay where they would leave, and did not say so before."""
    known = set(_stay_notes(before))
    return tuple(each for each in _stay_notes(after) if each not in known)


def _stay_notes(bindings: Iterable[Binding]) -> Iterator[StayNote]:
    for binding in bindings:
        for each in binding.conditions:
            if each.status == "False" and each.reason in _NOTES:
                yield StayNote(ref=binding.ref, reason=each.reason, message=each.message, clusters=each.clusters)


def newly_unplaced(
    before: Mapping[ObjectRef, Binding], after: Mapping[ObjectRef, Binding], templates: Collection[ObjectRef]
) -> tuple[Unplaced, ...]:
    """Return the templates that had clusters before and have none afterwards."""
    return tuple(_newly_unplaced(before, after, templates))


def _newly_unplaced(
    before: Mapping[ObjectRef, Binding], after: Mapping[ObjectRef, Binding], templates: Collection[ObjectRef]
) -> Iterator[Unplaced]:
    for ref, binding in sorted(after.items()):
        old = before.get(ref)
        if ref in templates and old is not None and not _clusters_of(binding) and (clusters := _clusters_of(old)):
            yield Unplaced(ref=ref, clusters=clusters)


def _clusters_of(binding: Binding) -> tuple[str, ...]:
    """Return the clusters that an object is placed in, by itself or as others require it."""
    required = (target.name for snapshot in binding.required_by for target in snapshot.clusters)
    return tuple(sorted({*(target.name for target in binding.targets), *required}))


def unplaced_words(unplaced: Unplaced, it: str = "it") -> str:
    """Return which clusters an object leaves, and that no other one takes it."""
    return f"{'leaves' if it == 'it' else 'leave'} {first_few(unplaced.clusters)}, and no cluster takes {it}"
