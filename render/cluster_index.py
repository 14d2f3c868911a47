"""The member clusters of a pass as bits: every selector becomes an integer mask, found once.

Bit i is the i-th cluster in name order (byte order, as Karmada compares names), so ascending bits are ascending names.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TypeVar

from .bits import Mask, indexes_of_mask, mask_of, mask_where
from .cluster import BLOCKING_EFFECTS, Cluster, Taint
from .placement import SpreadField, Toleration
from .selectors import ClusterAffinity, LabelSelector, Requirement, has_valid_values
from .taint_index import TaintIndex

MaskByValue = Mapping[str, Mask]
Key = TypeVar("Key")


class LabelIndex:
    """Things by their labels, as bits in the order they were given; all labels are looked at once."""

    __slots__ = ("_labels", "_places", "all")

    def __init__(self, labels: Iterable[Mapping[str, str]]) -> None:
        self._labels = list(labels)
        self._places: dict[str, dict[str, list[int]]] | None = None
        self.all = (1 << len(self._labels)) - 1

    def indexes_with_labels(self, selector: LabelSelector) -> Mask:
        """Return the things whose labels satisfy a selector."""
        mask = self.all
        for key, value in selector.match_labels:
            mask &= mask_of(self._indexes_by_value_of(key).get(value, ()))
        for requirement in selector.match_expressions:
            mask &= self._indexes_meeting(requirement)
        return mask

    def _indexes_meeting(self, requirement: Requirement) -> Mask:
        if not has_valid_values(requirement):
            return 0
        places, operator = self._indexes_by_value_of(requirement.key), requirement.operator
        values = places if operator in {"Exists", "DoesNotExist"} else dict.fromkeys(requirement.values)
        chosen = mask_of(place for value in values for place in places.get(value, ()))
        return chosen if operator in {"In", "Exists"} else self.all & ~chosen

    def _indexes_by_value_of(self, key: str) -> Mapping[str, list[int]]:
        if self._places is None:
            self._places = {}
            for place, labels in enumerate(self._labels):
                for each, value in labels.items():
                    self._places.setdefault(each, {}).setdefault(value, []).append(place)
        return self._places.get(key, {})


class ClusterIndex:
    """Clusters by name and by bit, with the masks of selectors; answers are kept for the life of a pass."""

    __slots__ = (
        "_affinities",
        "_by_group",
        "_labels",
        "_members",
        "_served",
        "_taint_index",
        "_taints",
        "_tolerated",
        "clusters",
        "index_by_name",
        "names",
    )

    def __init__(self, clusters: Iterable[Cluster]) -> None:
        self.clusters = tuple(sorted(clusters, key=lambda cluster: cluster.name))
        self.names = tuple(cluster.name for cluster in self.clusters)
        self.index_by_name = {name: index for index, name in enumerate(self.names)}
        self._labels = LabelIndex(cluster.labels for cluster in self.clusters)
        self._by_group: dict[SpreadField, MaskByValue] = {}
        self._affinities: dict[ClusterAffinity, Mask] = {}
        self._members: dict[Mask, Sequence[int]] = {}
        self._served: dict[tuple[str, str], Mask] = {}
        self._tolerated: dict[tuple[tuple[Toleration, ...], frozenset[str]], Mask] = {}
        self._taint_index = TaintIndex(cluster.taints for cluster in self.clusters)
        self._taints = _masks_by_key((cluster.taints, index) for index, cluster in enumerate(self.clusters))

    @property
    def all(self) -> Mask:
        """Every cluster."""
        return (1 << len(self.clusters)) - 1

    def indexes_in_mask(self, mask: Mask) -> Sequence[int]:
        """Return the indexes of the clusters of a mask, ascending."""
        known = self._members.get(mask)
        if known is None:
            known = self._members[mask] = indexes_of_mask(mask)
        return known

    def clusters_named(self, names: Iterable[str]) -> Mask:
        """Return the clusters with these names; names of no cluster are ignored."""
        positions = self.index_by_name
        return mask_of({positions[name] for name in names if name in positions})

    def clusters_matching_affinity(self, affinity: ClusterAffinity) -> Mask:
        """Return the clusters an affinity selects; its ``exclude`` wins over everything else."""
        known = self._affinities.get(affinity)
        if known is None:
            known = self._affinities[affinity] = self._clusters_matching(affinity)
        return known

    def clusters_with_labels(self, selector: LabelSelector) -> Mask:
        """Return the clusters whose labels satisfy a selector."""
        return self._labels.indexes_with_labels(selector)

    def clusters_by_spread_value(self, field: SpreadField) -> MaskByValue:
        """Return the clusters of each region, zone or provider; a cluster without one is in no group."""
        known = self._by_group.get(field)
        if known is None:
            known = self._by_group[field] = _masks_by_key(
                (value, index)
                for index, cluster in enumerate(self.clusters)
                for value in regions_zones_or_providers_of(cluster, field)
            )
        return known

    def clusters_in_any_group(self, field: SpreadField) -> Mask:
        """Return the clusters that are in some region, zone or provider; every one is a cluster."""
        return (
            self.all if field is SpreadField.CLUSTER else _union_of_masks(self.clusters_by_spread_value(field).values())
        )

    def clusters_tolerated_by(
        self, tolerations: tuple[Toleration, ...], *, effects: frozenset[str] = BLOCKING_EFFECTS
    ) -> Mask:
        """Return the clusters all of whose taints with these effects are tolerated."""
        known = self._tolerated.get((tolerations, effects))
        if known is None:
            known = self._tolerated[tolerations, effects] = self._taint_index.clusters_tolerated_by(
                tolerations, effects
            )
        return known

    def clusters_by_taints(self) -> Mapping[tuple[Taint, ...], Mask]:
        """Return the clusters by their taints."""
        return self._taints

    def clusters_serving_kind(self, api_version: str, kind: str) -> Mask:
        """Return the clusters whose recorded APIs include a kind."""
        api = (api_version, kind)
        known = self._served.get(api)
        if known is None:
            known = self._served[api] = mask_where(api in (each.api_enablements or ()) for each in self.clusters)
        return known

    def clusters_without_recorded_apis(self) -> Mask:
        """Return the clusters of which no APIs are recorded."""
        return mask_where(cluster.api_enablements is None for cluster in self.clusters)

    def terminating_clusters(self) -> Mask:
        """Return the clusters that are being deleted."""
        return mask_where(cluster.is_terminating for cluster in self.clusters)

    def _clusters_matching(self, affinity: ClusterAffinity) -> Mask:
        mask = self.clusters_named(affinity.cluster_names) if affinity.cluster_names else self.all
        if affinity.label_selector is not None:
            mask &= self.clusters_with_labels(affinity.label_selector)
        for requirement in affinity.field_selector or ():
            mask &= self._clusters_by_field_expression(requirement)
        return mask & ~self.clusters_named(affinity.exclude)

    def _clusters_by_field_expression(self, requirement: Requirement) -> Mask:
        if requirement.key == SpreadField.ZONE:
            return self._indexes_meeting(requirement, self.clusters_by_spread_value(SpreadField.ZONE))
        if not has_valid_values(requirement):
            return 0
        is_known = requirement.key in {SpreadField.PROVIDER, SpreadField.REGION}
        return self._indexes_meeting(
            requirement, self.clusters_by_spread_value(SpreadField(requirement.key)) if is_known else {}
        )

    def _indexes_meeting(self, requirement: Requirement, masks: MaskByValue) -> Mask:
        if requirement.operator in {"Exists", "DoesNotExist"}:
            chosen = _union_of_masks(masks.values())
        else:
            chosen = _union_of_masks(masks.get(value, 0) for value in requirement.values)
        if requirement.operator in {"In", "Exists"}:
            return chosen
        return self.all & ~chosen if requirement.operator in {"NotIn", "DoesNotExist"} else 0


def regions_zones_or_providers_of(cluster: Cluster, field: SpreadField) -> Iterable[str]:
    """Return the regions, zones or providers that a cluster is in; there may be none."""
    match field:
        case SpreadField.REGION:
            return filter(None, (cluster.region,))
        case SpreadField.PROVIDER:
            return filter(None, (cluster.provider,))
        case SpreadField.ZONE:
            return set(cluster.zones)
    return (cluster.name,)


def _masks_by_key(pairs: Iterable[tuple[Key, int]]) -> dict[Key, Mask]:
    indexes: defaultdict[Key, list[int]] = defaultdict(list)
    for key, index in pairs:
        indexes[key].append(index)
    return {key: mask_of(members) for key, members in indexes.items()}


def _union_of_masks(masks: Iterable[Mask]) -> Mask:
    return reduce(or_, masks, 0)
