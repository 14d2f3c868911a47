"""The capacity a decision was based on: its origin, its resources, and the replicas that were placed before."""

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from render.binding import Binding
from render.cluster import ResourceSummary
from render.scheduling.capacity import PODS, Capacity
from render.scheduling.explanation import Candidate, Explanation
from render.scheduling.requests import request_of_replica, request_of_set, units_of_quantity
from render.scheduling.state import PassState


class CapacityOrigin(StrEnum):
    """The origin of a cluster's capacity: its file, an observation of the member, or nowhere."""

    DECLARED = "declared"
    OBSERVED = "observed"
    UNKNOWN = "unknown"


class ResourceRoom(Struct, frozen=True, kw_only=True):
    """One resource of a cluster in its units (thousandths of a CPU, ones of all else), and how many replicas fit it.

    ``request`` is that of one replica, or of a full set of components.
    """

    resource: str
    request: int
    allocatable: int
    used: int
    fits: int


class ClusterRoom(Struct, frozen=True, kw_only=True):
    """The room of a candidate: what its summary holds, less what this pass placed before, plus what it held already.

    It counts replicas, or full sets of the components that go to one cluster together.

    ``room`` is ``by_summary - taken + held``, unless that is negative. ``by_grades``: a resource model makes
    ``by_summary`` another number than what fits the scarcest resource, for it counts node by node, by their grades.
    """

    cluster: str
    origin: CapacityOrigin
    by_summary: int
    taken: int
    held: int
    room: int
    resources: tuple[ResourceRoom, ...]
    by_grades: bool = False


def room_in_each_candidate(binding: Binding, decision: Explanation, state: PassState) -> tuple[ClusterRoom, ...]:
    """Return the room of every candidate of the last attempt, where the placement asked for it."""
    candidates = decision.attempts[-1].candidates if decision.attempts else ()
    if not binding.is_workload or (binding.components and not _is_for_one_cluster(binding)):
        return ()
    capacity = Capacity(state.index, uses_models=state.options.uses_resource_models)
    is_set = bool(binding.components)
    before = capacity.component_sets(binding.components) if is_set else capacity.replicas(binding.requirements)
    return tuple(
        _room_in_cluster(each, each.room, before[state.index.index_by_name[each.cluster]], binding, state)
        for each in candidates
        if each.room is not None
    )


def _is_for_one_cluster(binding: Binding) -> bool:
    return binding.placement is not None and binding.placement.asks_for_one_cluster


def _room_in_cluster(candidate: Candidate, room: int, before: int, binding: Binding, state: PassState) -> ClusterRoom:
    summary = state.index.clusters[state.index.index_by_name[candidate.cluster]].resource_summary
    held, resources = candidate.held or 0, tuple(_room_by_resource(summary, binding))
    return ClusterRoom(
        cluster=candidate.cluster,
        origin=origin_of_capacity(summary),
        by_summary=before,
        taken=before + held - room,
        held=held,
        room=room,
        resources=resources,
        by_grades=bool(resources) and before != min(each.fits for each in resources),
    )


def origin_of_capacity(summary: ResourceSummary | None) -> CapacityOrigin:
    """Return the origin of a cluster's summary."""
    if summary is None:
        return CapacityOrigin.UNKNOWN
    return CapacityOrigin.DECLARED if summary.is_declared else CapacityOrigin.OBSERVED


def _room_by_resource(summary: ResourceSummary | None, binding: Binding) -> Iterator[ResourceRoom]:
    if summary is None:
        return
    request_of_all, pods = request_of_set(binding.components)
    asked = request_of_all if binding.components else request_of_replica(binding.requirements)
    for resource, request in ((PODS, max(pods, 1)), *asked):
        allocatable = units_of_quantity(resource, summary.allocatable.get(resource, "0"))
        parts = (summary.allocated, summary.allocating, summary.reserved)
        used = sum(units_of_quantity(resource, part[resource]) for part in parts if resource in part)
        fits = max(allocatable - used, 0) // request
        yield ResourceRoom(resource=resource, request=request, allocatable=allocatable, used=used, fits=fits)
