"""A placement read once against the clusters of a pass: its affinity groups, tolerations and weights as masks."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.placement import (
    ClusterAffinityTerm,
    Placement,
    ReplicaDivisionPreference,
    ReplicaScheduling,
    ReplicaSchedulingType,
    SpreadConstraint,
    SpreadField,
)

BEYOND_OVERFLOW = 1000


class Strategy(StrEnum):
    """The ways to assign replicas to the selected clusters; ``Undivided`` is for objects without one number of them."""

    DUPLICATED = "Duplicated"
    STATIC_WEIGHT = "StaticWeight"
    DYNAMIC_WEIGHT = "DynamicWeight"
    AGGREGATED = "Aggregated"
    UNDIVIDED = "Undivided"
    UNSUPPORTED = "Unsupported"


class AffinityGroup(Struct, frozen=True, kw_only=True):
    """The clusters of one affinity: its primary ones, then those of its overflow in order (None: it has none)."""

    name: str
    primary: Mask
    overflow: tuple[Mask, ...] | None = None

    def clusters(self, *, overflows: bool) -> Mask:
        """Return the clusters a binding may use; only workloads overflow."""
        mask = self.primary
        for more in (self.overflow or ()) if overflows else ():
            mask |= more
        return mask

    def tiers(self) -> tuple[tuple[int, Mask], ...]:
        """Return the clusters by the order in which they fill up, each once."""
        tiers, seen = [(0, self.primary)], self.primary
        for position, mask in enumerate(self.overflow or ()):
            tiers.append((1 + position, mask & ~seen))
            seen |= mask
        return (*tiers, (BEYOND_OVERFLOW, ~seen))


class PlacementRules(Struct, frozen=True, kw_only=True):
    """A placement's rules as masks.

    ``groups`` are its affinity groups in order (one nameless group without ``clusterAffinities``). ``tolerated`` are
    the clusters whose taints it tolerates, ``stays`` those whose NoExecute taints it tolerates. ``spread`` maps a
    field to its constraint; None when spread constraints do not matter. ``weights`` are the static weights by cluster
    index, 0 for a cluster no rule names; empty when there is no rule.
    """

    placement: Placement
    groups: tuple[AffinityGroup, ...]
    tolerated: Mask
    stays: Mask
    has_properties: Mask
    strategy: Strategy
    spread: dict[SpreadField | None, SpreadConstraint] | None
    weights: Sequence[int]

    @property
    def is_grouped(self) -> bool:
        """Say whether the placement has several affinity groups to fall back on (``clusterAffinities``)."""
        return self.placement.cluster_affinity is None and bool(self.placement.cluster_affinities)


def rules_of_placement(placement: Placement, index: ClusterIndex) -> PlacementRules:
    """Read a placement against the clusters of an index."""
    strategy = strategy_of_scheduling(placement.replica_scheduling)
    return PlacementRules(
        placement=placement,
        groups=_affinity_groups_of_placement(placement, index),
        tolerated=index.clusters_tolerated_by(placement.cluster_tolerations),
        stays=index.clusters_tolerated_by(placement.cluster_tolerations, effects=frozenset({"NoExecute"})),
        has_properties=clusters_with_properties(placement, index),
        strategy=strategy,
        spread=None
        if selects_all_feasible_clusters(placement)
        else {each.spread_by_field: each for each in placement.spread_constraints},
        weights=_static_weight_of_each_cluster(placement.replica_scheduling, index)
        if strategy is Strategy.STATIC_WEIGHT
        else (),
    )


def strategy_of_scheduling(scheduling: ReplicaScheduling | None) -> Strategy:
    """Return the strategy a ``replicaScheduling`` asks for; a missing one duplicates."""
    if scheduling is None or scheduling.type is ReplicaSchedulingType.DUPLICATED:
        return Strategy.DUPLICATED
    if scheduling.division_preference is ReplicaDivisionPreference.AGGREGATED:
        return Strategy.AGGREGATED
    if scheduling.division_preference is not ReplicaDivisionPreference.WEIGHTED:
        return Strategy.UNSUPPORTED
    weights = scheduling.weight_preference
    return Strategy.DYNAMIC_WEIGHT if weights and weights.dynamic_weight else Strategy.STATIC_WEIGHT


def strategy_for_binding(binding: Binding, rules: PlacementRules) -> Strategy:
    """Return the strategy for a binding's replicas: its placement's, if there is one number to assign."""
    has_replicas = binding.replicas > 0 or binding.requirements is not None
    return rules.strategy if has_replicas and len(binding.components) <= 1 else Strategy.UNDIVIDED


def selects_all_feasible_clusters(placement: Placement) -> bool:
    """Say whether all feasible clusters are selected: without constraints, and by static weights.

    A weight preference with an empty list is Karmada's exception: it divides equally, yet honours the constraints.
    """
    if not placement.spread_constraints:
        return True
    scheduling = placement.replica_scheduling
    if strategy_of_scheduling(scheduling) is not Strategy.STATIC_WEIGHT or scheduling is None:
        return False
    return scheduling.weight_preference is None or bool(scheduling.weight_preference.static_weight_list)


def clusters_with_properties(placement: Placement, index: ClusterIndex) -> Mask:
    """Return the clusters that have the property of each spread constraint."""
    mask = index.all
    for constraint in placement.spread_constraints:
        if constraint.spread_by_field is not None:
            mask &= index.clusters_in_any_group(constraint.spread_by_field)
    return mask


def _affinity_groups_of_placement(placement: Placement, index: ClusterIndex) -> tuple[AffinityGroup, ...]:
    if placement.cluster_affinity is not None:
        return (AffinityGroup(name="", primary=index.clusters_matching_affinity(placement.cluster_affinity)),)
    if not placement.cluster_affinities:
        return (AffinityGroup(name="", primary=index.all),)
    return tuple(_group_of_affinity_term(term, index) for term in placement.cluster_affinities)


def _group_of_affinity_term(term: ClusterAffinityTerm, index: ClusterIndex) -> AffinityGroup:
    overflow = None
    if term.overflow is not None:
        overflow = tuple(index.clusters_matching_affinity(each.affinity) for each in term.overflow)
    return AffinityGroup(name=term.name, primary=index.clusters_matching_affinity(term.affinity), overflow=overflow)


def _static_weight_of_each_cluster(scheduling: ReplicaScheduling | None, index: ClusterIndex) -> Sequence[int]:
    """Return each cluster's heaviest weight."""
    preference = scheduling.weight_preference if scheduling else None
    if preference is None or not preference.static_weight_list:
        return ()
    weights = [0] * len(index.clusters)
    for rule in sorted(preference.static_weight_list, key=lambda rule: rule.weight):
        for position in indexes_of_mask(index.clusters_matching_affinity(rule.target_cluster)):
            weights[position] = max(rule.weight, 0)
    return weights
