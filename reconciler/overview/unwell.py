"""Whatever is unwell in a fleet, as the survey has it: for how long, where, and whose it is.

An object that is unwell for one reason in many clusters is told once. What is not applied comes before what is
unhealthy, and then what has been so for longest.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconciler.status.fleet import conditions_at_fault
from reconciler.survey.objects import SurveyedObject
from reconciler.survey.states import StateReason, SurveyedState
from reconciler.survey.surveying import Survey
from render.model import ObjectRef

from .owners import ObjectOwner, Owners

MOST_SHOWN = 100
"""The most objects that are told of one by one; the others are counted."""


class UnwellObject(Struct, frozen=True, kw_only=True):
    """An object that is unwell for one reason: in which clusters ("no cluster": none), since when, and whose it is.

    ``is_applied`` is false where it is not in the clusters as it must be.
    """

    object: str
    clusters: tuple[str, ...]
    reason: str
    message: str
    since: str
    is_applied: bool = True
    owner: ObjectOwner = ObjectOwner()


class Unwell(Struct, frozen=True, kw_only=True):
    """The first objects that are unwell, one for each reason; how many reasons, and how many objects there are."""

    first: tuple[UnwellObject, ...]
    count: int
    reasons: int


def unwell_objects(survey: Survey, owners: Owners) -> Unwell:
    """Return what is unwell, the worst and the oldest first, each with its owner."""
    unwell = [each for each in survey.objects if each.worst.state is SurveyedState.UNWELL]
    found = [
        *_objects_with_problems(survey),
        *(reason for each in unwell for reason in _reasons_of_object(each)),
    ]
    found.sort(key=lambda each: (each.is_applied, each.since or "~", each.object, each.reason))
    ref_by_name = {str(each.ref): each.ref for each in unwell}
    shown = found[:MOST_SHOWN]
    known = owners.owners_of(dict.fromkeys(ref_by_name[each.object] for each in shown if each.object in ref_by_name))
    return Unwell(
        first=tuple(_with_owner(each, ref_by_name.get(each.object), known) for each in shown),
        count=len({each.object for each in found}),
        reasons=len(found),
    )


def _with_owner(each: UnwellObject, ref: ObjectRef | None, known: dict[ObjectRef, ObjectOwner]) -> UnwellObject:
    return replace(each, owner=known[ref]) if ref is not None and ref in known else each


def _objects_with_problems(survey: Survey) -> Iterator[UnwellObject]:
    """Yield the objects that no pass could place or build as their policies ask, since the source that led to it."""
    for binding in survey.branches.fleet.bindings:
        for each in conditions_at_fault(binding):
            yield UnwellObject(
                object=str(binding.ref),
                clusters=each.clusters,
                reason=each.reason,
                message=each.message,
                since=survey.branches.fault_times.get((binding.ref, each.type), ""),
                is_applied=False,
            )


def _reasons_of_object(each: SurveyedObject) -> Iterator[UnwellObject]:
    """Yield the reasons for which an object is unwell, each once for its clusters, since the first of them."""
    groups: dict[tuple[str, str, bool], dict[str, StateReason]] = {}
    for name, cell in sorted(each.cells.items()):
        if cell.state is SurveyedState.UNWELL:
            groups.setdefault((cell.reason, cell.message, cell.is_applied), {})[name] = cell
    for (reason, message, is_applied), cells in groups.items():
        yield UnwellObject(
            object=str(each.ref),
            clusters=tuple(cells),
            reason=reason,
            message=message,
            since=min((cell.since for cell in cells.values() if cell.since), default=""),
            is_applied=is_applied,
        )
