"""Every cluster of a fleet: where it is, what it can hold, how it is seen, and the states of the objects in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from reconciler.status.branches import RecordedFleet
from render.cluster import Cluster
from render.quantity import parse_quantity

from .objects import UsualStates
from .states import StateReason, SurveyedState

_PARTS = ("allocatable", "allocated", "allocating")


class RoomOfResource(Struct, frozen=True, kw_only=True):
    """One resource of a cluster, in Kubernetes' notation, and the share of it that is taken (None: nobody knows)."""

    resource: str
    allocatable: str
    allocated: str = ""
    allocating: str = ""
    share: float | None = None


class SurveyedCluster(Struct, frozen=True, kw_only=True):
    """A cluster of the fleet; ``counts`` say how many objects in it are in which state, ``hint`` what to do about it.

    ``room`` is its capacity, ``facts_at`` the time at which that was recorded ("": it is declared, or nobody knows).
    """

    name: str
    state: StateReason
    is_connected: bool = True
    hint: str = ""
    member: Cluster | None = None
    version: str = ""
    converged: str = ""
    outcome: str = ""
    objects: int = 0
    replicas: int = 0
    counts: Mapping[SurveyedState, int]
    room: tuple[RoomOfResource, ...] = ()
    facts_at: str = ""


def surveyed_clusters(
    branches: RecordedFleet,
    usual: UsualStates,
    counts: Mapping[str, Mapping[SurveyedState, int]],
) -> tuple[SurveyedCluster, ...]:
    """Return every cluster, by name."""
    fleet, recorded = branches.fleet, branches.recorded
    facts, records = (recorded.facts(), recorded.clusters()) if recorded.files else ({}, {})
    found = []
    for name in fleet.clusters:
        record, progress, member = records.get(name), branches.progress.get(name), fleet.members.get(name)
        found.append(
            SurveyedCluster(
                name=name,
                state=usual.reasons[name],
                is_connected=member is not None,
                hint=progress.hint if progress is not None and recorded.files else "",
                member=member,
                version=(record.version if record else "") or (member.kubernetes_version if member is not None else ""),
                converged=recorded.converged_commit(name) if record is not None else "",
                outcome=record.outcome if record is not None else "",
                objects=fleet.objects.get(name, 0),
                replicas=branches.replicas.get(name, 0),
                counts=counts.get(name) or {},
                room=room_of_cluster(name, branches),
                facts_at=facts[name].observed_at if name in facts else "",
            )
        )
    return tuple(found)


def room_of_cluster(name: str, branches: RecordedFleet) -> tuple[RoomOfResource, ...]:
    """Return the capacity of a cluster: as it was recorded, else as its file declares it."""
    record, member = branches.recorded.cluster(name), branches.fleet.members.get(name)
    recorded = (record.state.status.get("resourceSummary") if record is not None else None) or {}
    if recorded:
        return tuple(_rooms(recorded))
    summary = member.resource_summary if member is not None else None
    return tuple(_rooms({part: getattr(summary, part) for part in _PARTS})) if summary is not None else ()


def _rooms(summary: Mapping[str, Any]) -> Iterator[RoomOfResource]:
    allocatable, allocated, allocating = (summary.get(part) or {} for part in _PARTS)
    for resource, amount in sorted(allocatable.items()):
        taken = [str(part[resource]) for part in (allocated, allocating) if resource in part]
        yield RoomOfResource(
            resource=resource,
            allocatable=str(amount),
            allocated=str(allocated.get(resource, "")),
            allocating=str(allocating.get(resource, "")),
            share=_share(str(amount), taken),
        )


def _share(whole: str, parts: list[str]) -> float | None:
    """Return how much of an amount some parts take; None where no part is known, or the whole is nothing.

    >>> _share("4", ["1500m", "500m"]), _share("4", []), _share("0", ["1"])
    (0.5, None, None)
    """
    try:
        total, taken = parse_quantity(whole), [parse_quantity(part) for part in parts]
    except ValueError:
        return None
    return round(float(sum(taken)) / float(total), 3) if taken and total else None
