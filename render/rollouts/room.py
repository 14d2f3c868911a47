"""The room that limits of a wave leave: how many of its clusters may be under way at once, also in each region."""

from collections.abc import Collection, Iterator, Sequence

from render.cluster_index import ClusterIndex, regions_zones_or_providers_of
from render.placement import SpreadField

from .policy import LimitByField
from .waves import WaveOfClusters


def clusters_with_room(
    each: WaveOfClusters, waiting: Sequence[str], under_way: Collection[str], fleet: ClusterIndex
) -> Iterator[str]:
    """Yield the clusters of a wave, of those that wait in their order, for which there is room beside others."""
    busy, limit = set(under_way), each.wave.max_concurrent
    most = None if limit is None else limit.of_total(len(each.clusters), at_least=1)
    for name in waiting:
        if most is not None and len(busy) >= most:
            return
        if all(_has_room_by_field(by_field, name, each, busy, fleet) for by_field in each.wave.max_concurrent_by_field):
            busy.add(name)
            yield name


def _has_room_by_field(
    by_field: LimitByField, name: str, each: WaveOfClusters, busy: Collection[str], fleet: ClusterIndex
) -> bool:
    """Say whether another cluster may begin in each region, zone or provider of a cluster; it may be in none."""
    for value in _values_of_cluster(name, by_field.field, fleet):
        there = [other for other in each.clusters if value in _values_of_cluster(other, by_field.field, fleet)]
        begun = sum(1 for other in busy if value in _values_of_cluster(other, by_field.field, fleet))
        if begun >= by_field.limit.of_total(len(there), at_least=1):
            return False
    return True


def _values_of_cluster(name: str, field: SpreadField, fleet: ClusterIndex) -> frozenset[str]:
    """Return the regions, zones or providers of a cluster."""
    return frozenset(regions_zones_or_providers_of(fleet.clusters[fleet.index_by_name[name]], field))
