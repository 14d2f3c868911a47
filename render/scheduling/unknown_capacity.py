"""Clusters of which no capacity is known: to whatever is divided by room, they are full.

Karmada gives them no replicas and says nothing. Each is named here, with what it gets none of.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from render.binding import Binding
from render.bits import Mask, indexes_of_mask, mask_where
from render.cluster_index import ClusterIndex
from render.placement import Placement
from render.words import first_few

from .filters import FILTERS
from .filters.affinity import affinities_with_fields
from .rules import Strategy, strategy_of_scheduling


class UnknownCapacity(Struct, frozen=True, kw_only=True):
    """A cluster of which no capacity is known, and the objects whose replicas are divided by room.

    ``others`` are more clusters of which the same is to be said, where that is said once.
    """

    cluster: str
    divided: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def names(self) -> str:
        """The clusters, of many the first few."""
        return first_few((self.cluster, *self.others))

    @property
    def message(self) -> str:
        """The consequence for what is divided by room."""
        verb = "is" if len(self.divided) == 1 else "are"
        gets = "they get" if self.others else "it gets"
        return (
            f"no capacity is known of {self.names}, so that {gets} no new replicas of"
            f" {first_few(self.divided)}, which {verb} divided by room"
        )

    @property
    def hint(self) -> str:
        """The way out."""
        return hint_to_make_capacity_known(self.cluster)

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}"


def hint_to_make_capacity_known(cluster: str) -> str:
    """Return how the capacity of a cluster becomes known."""
    command = f"argosy cluster set {cluster} --cpu 64 --memory 256Gi --pods 500"
    return f"declare it, such as: {command}; or have it observed, by passes or an agent"


def clusters_of_unknown_capacity(index: ClusterIndex) -> Mask:
    """Return the clusters of which no capacity is known, and which are there to stay."""
    return mask_where(each.resource_summary is None for each in index.clusters) & ~index.terminating_clusters()


def clusters_of_unknown_room(placement: Placement, index: ClusterIndex, unknown: Mask) -> tuple[str, ...]:
    """Return those of the ``unknown`` clusters that a placement selects, and whose room it asks for."""
    if not unknown or not divides_by_room(placement):
        return ()
    selected: Mask = 0
    affinities = list(affinities_with_fields(placement, ""))
    for _, affinity in affinities:
        selected |= index.clusters_matching_affinity(affinity)
    selected = unknown & (selected if affinities else index.all)
    for rule in (each.placement_rule for each in FILTERS):
        if rule is not None and selected:
            selected &= rule.passing(placement, index)
    return tuple(index.names[position] for position in indexes_of_mask(selected))


def divides_by_room(placement: Placement) -> bool:
    """Say whether a placement gives clusters replicas by their room: as a weight, the fewest that fit, or tiers."""
    is_tiered = any(term.overflow for term in placement.cluster_affinities)
    return is_tiered or strategy_of_scheduling(placement.replica_scheduling) in {
        Strategy.AGGREGATED,
        Strategy.DYNAMIC_WEIGHT,
    }


def clusters_of_unknown_capacity_by_use(
    placements: Iterable[tuple[str, Placement]], index: ClusterIndex
) -> tuple[UnknownCapacity, ...]:
    """Return the clusters of unknown capacity, each with the names of what has one of these placements."""
    unknown, known = clusters_of_unknown_capacity(index), dict[int, tuple[Placement, tuple[str, ...]]]()
    divided: dict[str, list[str]] = defaultdict(list)
    for name, placement in placements:
        if id(placement) not in known:  # objects of one policy share it, and the memo keeps it alive
            known[id(placement)] = placement, clusters_of_unknown_room(placement, index, unknown)
        for cluster in known[id(placement)][1]:
            divided[cluster].append(name)
    return tuple(UnknownCapacity(cluster=name, divided=tuple(found)) for name, found in sorted(divided.items()))


def unknown_capacities_joined(found: Iterable[UnknownCapacity]) -> tuple[UnknownCapacity, ...]:
    """Return what is to be said of clusters, once for those of which it is the same: a fleet may have a thousand."""
    clusters_by_divided: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for each in found:
        clusters_by_divided[each.divided].append(each.cluster)
    return tuple(
        UnknownCapacity(cluster=first, others=tuple(others), divided=divided)
        for divided, (first, *others) in clusters_by_divided.items()
    )


def placements_with_replicas(bindings: Iterable[Binding]) -> Iterator[tuple[str, Placement]]:
    """Yield the objects that ask for replicas, with their placements."""
    for each in sorted(bindings, key=lambda binding: binding.ref):
        if each.placement is not None and each.replicas > 0:
            yield str(each.ref), each.placement
