"""Whatever is unwell in a fleet: for how long, where, and whose it is.

An object that is unwell for one reason in many clusters is told once. What is not applied comes before what is
unhealthy, and then what has been so for longest.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconciler.record.cluster_files import ObjectReason
from reconciler.rendering.problems import EXPECTED
from reconciler.repository import Repository
from reconciler.status.branches import RecordedFleet
from reconciler.status.fleet_views import objects_not_healthy
from render.binding import Binding
from render.errors import GitError
from render.model import ObjectRef
from render.timing import epoch_text

from .owners import ObjectOwner, Owners

MOST_SHOWN = 100
"""The most objects that are told of one by one; the others are counted."""


class UnwellObject(Struct, frozen=True, kw_only=True):
    """An object that is unwell for one reason: in which clusters ("no cluster": none), since when, and whose it is.

    ``is_applied`` is false where it is not in the clusters as it must be, or nobody knows that it is.
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


def unwell_objects(branches: RecordedFleet, owners: Owners) -> Unwell:
    """Return what is unwell, the worst and the oldest first, each with its owner."""
    found = [
        *_objects_with_problems(owners.repository, branches.fleet.bindings),
        *_grouped(objects_not_healthy(branches)),
    ]
    found.sort(key=lambda each: (each.is_applied, each.since or "~", each.object, each.reason))
    ref_by_name = {str(each.ref): each.ref for each in branches.fleet.bindings}
    shown = found[:MOST_SHOWN]
    known = owners.owners_of(dict.fromkeys(ref_by_name[each.object] for each in shown if each.object in ref_by_name))
    return Unwell(
        first=tuple(_with_owner(each, ref_by_name.get(each.object), known) for each in shown),
        count=len({each.object for each in found}),
        reasons=len(found),
    )


def _with_owner(each: UnwellObject, ref: ObjectRef | None, known: dict[ObjectRef, ObjectOwner]) -> UnwellObject:
    return replace(each, owner=known[ref]) if ref is not None and ref in known else each


def _objects_with_problems(repository: Repository, bindings: Iterable[Binding]) -> Iterator[UnwellObject]:
    """Yield the objects that no pass could place or build as their policies ask, since the source that led to it."""
    times: dict[str, str] = {"": ""}
    for binding in bindings:
        for each in binding.conditions:
            if each.status == "False" and each.reason not in EXPECTED:
                if each.since not in times:
                    times[each.since] = _time_of_commit(repository, each.since)
                yield UnwellObject(
                    object=str(binding.ref),
                    clusters=each.clusters,
                    reason=each.reason,
                    message=each.message,
                    since=times[each.since],
                    is_applied=False,
                )


def _time_of_commit(repository: Repository, commit: str) -> str:
    """Return the time of a source commit; an empty text where it is not here."""
    try:
        return epoch_text(repository.commit_info(commit).time)
    except GitError:
        return ""


def _grouped(reasons: Iterable[ObjectReason]) -> Iterator[UnwellObject]:
    """Yield what is unwell, once for the clusters that have a reason in common, since the first of them."""
    groups: dict[tuple[str, str, str, bool], list[ObjectReason]] = {}
    for each in reasons:
        groups.setdefault((each.object, each.reason, each.message, each.is_applied), []).append(each)
    for (name, reason, message, is_applied), several in groups.items():
        yield UnwellObject(
            object=name,
            clusters=tuple(each.cluster for each in several),
            reason=reason,
            message=message,
            since=min((each.since for each in several if each.since), default=""),
            is_applied=is_applied,
        )
