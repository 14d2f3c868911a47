"""Choose clusters by spread constraints: so many clusters, or so many regions and clusters in them.

Constraints over zones, providers and labels only filter: Karmada selects by cluster and by region.

Duplicated workloads and non-workloads keep their places: for them a selection only ever adds clusters (``Extension``).
They are scheduled on every pass, and Karmada would choose their clusters again, by free capacity among other things.
With ``rescheduling: Source`` the clusters they are in stay as long as the source allows them and the constraints are
met; clusters are added where the constraints leave room.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.placement import SpreadConstraint, SpreadField

from .decisions import Refusal, ScheduledReason
from .region_groups import Group, heaviest_combination_of_groups, score_of_group

UNSUPPORTED = "just support cluster and region spread constraint"
TOO_FEW_CLUSTERS = "the number of feasible clusters is less than spreadConstraint.MinGroups"
TOO_FEW_REGIONS = "the number of feasible region is less than spreadConstraint.MinGroups"
TOO_FEW_IN_REGIONS = "the number of clusters is less than the cluster spreadConstraint.MinGroups"
ANY = SpreadConstraint()


class ClusterSelection(Struct, frozen=True, kw_only=True):
    """The candidates of a selection, and the replicas that must fit into it.

    ``candidates`` are cluster indexes, best first, ``available`` is room by cluster index (current replicas count as
    room), ``scores`` the clusters' scores. ``replicas`` must find room; ``is_duplicated``: in every cluster, so that a
    total does not matter. ``needed`` is the number that must fit in the clusters together (None: any number).
    """

    candidates: Sequence[int]
    available: Sequence[int]
    scores: Mapping[int, int]
    replicas: int
    is_duplicated: bool
    needed: int | None


class Region(Struct, frozen=True):
    """The candidates of one region, best first, and their score as a group."""

    name: str
    clusters: tuple[int, ...]
    score: int


def select_clusters(
    selection: ClusterSelection, spread: Mapping[SpreadField | None, SpreadConstraint], index: ClusterIndex
) -> list[int] | Refusal:
    """Choose among the candidates by the constraints; the result is in the order of selection."""
    if SpreadField.REGION in spread:
        return _selection_by_region(selection, spread[SpreadField.REGION], spread.get(SpreadField.CLUSTER, ANY), index)
    if SpreadField.CLUSTER in spread:
        return _selection_by_cluster(selection, spread[SpreadField.CLUSTER])
    return Refusal(ScheduledReason.SCHEDULER_ERROR, UNSUPPORTED)


def scored_regions(
    selection: ClusterSelection, region: SpreadConstraint, cluster: SpreadConstraint, index: ClusterIndex
) -> tuple[Region, ...]:
    """Return the regions of the candidates with their scores, in order of their best candidates."""
    clusters_by_region: dict[str, list[int]] = {}
    for candidate in selection.candidates:
        clusters_by_region.setdefault(index.clusters[candidate].region, []).append(candidate)
    return tuple(
        Region(name, tuple(clusters), score_of_group(clusters, selection, region.min_groups, cluster.min_groups))
        for name, clusters in clusters_by_region.items()
    )


def _selection_by_cluster(selection: ClusterSelection, constraint: SpreadConstraint) -> list[int] | Refusal:
    """Take the best ``maxGroups``; where replicas must fit, trade the worst for roomier ones until they do."""
    total = len(selection.candidates)
    if total < constraint.min_groups:
        return Refusal(ScheduledReason.SCHEDULER_ERROR, TOO_FEW_CLUSTERS)
    count = min(total, constraint.max_groups)
    chosen, rest = list(selection.candidates[:count]), list(selection.candidates[count:])
    if selection.needed is None:
        return chosen
    available = selection.available
    room = sum(available[each] for each in chosen)
    for position in reversed(range(count)):
        if room >= selection.needed:
            break
        best = max(range(len(rest)), key=lambda place: available[rest[place]], default=None)
        if best is not None and available[rest[best]] > available[chosen[position]]:
            room += available[rest[best]] - available[chosen[position]]
            chosen[position], rest[best] = rest[best], chosen[position]
    if not chosen or room < selection.needed:
        return Refusal(ScheduledReason.SCHEDULER_ERROR, f"no enough resource when selecting {count} clusters")
    return chosen


def _selection_by_region(
    selection: ClusterSelection, region: SpreadConstraint, cluster: SpreadConstraint, index: ClusterIndex
) -> list[int] | Refusal:
    """Take the best cluster of each chosen region, then the best of the others up to the cluster maximum."""
    regions = scored_regions(selection, region, cluster, index)
    if len(regions) < region.min_groups:
        return Refusal(ScheduledReason.SCHEDULER_ERROR, TOO_FEW_REGIONS)
    groups = [Group(each.name, len(each.clusters), each.score) for each in regions]
    names = heaviest_combination_of_groups(groups, region.min_groups, region.max_groups, cluster.min_groups)
    if not names:
        return Refusal(ScheduledReason.SCHEDULER_ERROR, TOO_FEW_IN_REGIONS)
    clusters_by_region = {each.name: each.clusters for each in regions}
    leaders = [clusters_by_region[name][0] for name in names]
    pool = {member for name in names for member in clusters_by_region[name][1:]}
    room = min(len(leaders) + len(pool), cluster.max_groups) - len(leaders)
    rest = [candidate for candidate in selection.candidates if candidate in pool]
    return leaders + rest[: max(room, 0)]


class Extension(NamedTuple):
    """The number of clusters that may be added to the current ones (``most``), and those to choose from (``pool``)."""

    most: int
    pool: Mask


def clusters_addable_to_current(
    targets_now: Mask, feasible: Mask, spread: Mapping[SpreadField | None, SpreadConstraint], index: ClusterIndex
) -> Extension | None:
    """Return the clusters that may be added to the current ones; None if those alone do not meet the constraints."""
    cluster = spread.get(SpreadField.CLUSTER, ANY)
    region = spread.get(SpreadField.REGION)
    most, pool, count = cluster.max_groups, feasible & ~targets_now, targets_now.bit_count()
    if region is not None:
        regions = [mask for mask in index.clusters_by_spread_value(SpreadField.REGION).values() if mask & targets_now]
        if not region.min_groups <= len(regions) <= region.max_groups:
            return None
        # Each region chosen gives one cluster, even beyond the maximum of clusters.
        most = max(most, len(regions))
        pool &= sum(regions)
    elif SpreadField.CLUSTER not in spread:
        return None
    return Extension(most - count, pool) if cluster.min_groups <= count <= most else None
