"""The filters a cluster must pass to be a candidate, and the reasons of those that fail.

Karmada runs its filters in no fixed order; here they run as listed, so that the first reason is always the same. A
cluster that is being deleted is no candidate and gets no reason.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from render.bits import Mask
from render.cluster import first_untolerated
from render.cluster_index import ClusterIndex
from render.placement import Placement, SpreadField, Toleration

from .decisions import Refusal, ScheduledReason

NOT_SERVED = "cluster(s) did not have the API resource"
NOT_MATCHED = "cluster(s) did not match the placement cluster affinity constraint"
NOT_MADE = "cluster(s) for which the object is not made"
NOT_PROVEN = "cluster(s) of which nobody knows that they are well"
EVICTING = "cluster(s) is in the process of eviction"
NOT_WITH_AFFINITY_GROUP = "ResourceBinding with the same affinity group does not target this cluster"
WITH_ANTI_AFFINITY_GROUP = "cluster already has workload with the same anti-affinity group"
PROPERTY_WORDS = {
    SpreadField.PROVIDER: "provider property",
    SpreadField.REGION: "region property",
    SpreadField.ZONE: "zones property",
}


class Filters(Struct, frozen=True, kw_only=True):
    """The clusters each filter lets pass, for one binding and one affinity group.

    ``candidates`` are the clusters that are not being deleted; exemptions of current targets are part of the masks.
    """

    placement: Placement
    candidates: Mask
    serving: Mask
    tolerated: Mask
    matching: Mask
    has_properties: Mask
    not_evicting: Mask
    with_affinity_group: Mask
    without_anti_affinity_group: Mask
    made: Mask = -1
    proven: Mask = -1

    @property
    def feasible(self) -> Mask:
        """The clusters that pass every filter."""
        return (
            self.candidates
            & self.serving
            & self.tolerated
            & self.matching
            & self.has_properties
            & self.not_evicting
            & self.with_affinity_group
            & self.without_anti_affinity_group
            & self.made
            & self.proven
        )


PLUGINS = frozenset(
    (
        "APIEnablement",
        "TaintToleration",
        "ClusterAffinity",
        "SpreadConstraint",
        "ClusterEviction",
        "WorkloadAffinity",
        "WorkloadAntiAffinity",
        "Values",
        "ClusterHealth",
    )
)
"""The names of the filters."""


class Rejection(Struct, frozen=True):
    """Clusters that one filter rejects for one reason."""

    plugin: str
    reason: str
    clusters: Mask


def rejections(filters: Filters, index: ClusterIndex) -> tuple[Rejection, ...]:
    """Return the rejections filter by filter; each filter rejects a cluster once."""
    placement = filters.placement
    found = [
        Rejection("APIEnablement", NOT_SERVED, ~filters.serving),
        *_by_taint(placement.cluster_tolerations, ~filters.tolerated, index),
        Rejection("ClusterAffinity", NOT_MATCHED, ~filters.matching),
        *_by_property(placement, index),
        Rejection("ClusterEviction", EVICTING, ~filters.not_evicting),
        Rejection("WorkloadAffinity", NOT_WITH_AFFINITY_GROUP, ~filters.with_affinity_group),
        Rejection("WorkloadAntiAffinity", WITH_ANTI_AFFINITY_GROUP, ~filters.without_anti_affinity_group),
        Rejection("Values", NOT_MADE, ~filters.made),
        Rejection("ClusterHealth", NOT_PROVEN, ~filters.proven),
    ]
    among = (Rejection(each.plugin, each.reason, each.clusters & filters.candidates) for each in found)
    return tuple(each for each in among if each.clusters)


def no_cluster_fits(rejected: Sequence[Rejection], total: int) -> Refusal:
    """Return Karmada's refusal when nothing is feasible: the number of clusters that fail by their first reason.

    ``total`` counts the clusters that are being deleted as well.
    """
    count_by_reason: dict[str, int] = {}
    seen = 0
    for each in rejected:
        fresh = each.clusters & ~seen
        seen |= fresh
        if fresh:
            count_by_reason[each.reason] = count_by_reason.get(each.reason, 0) + fresh.bit_count()
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in count_by_reason.items()))
    message = f"0/{total} clusters are available: {reasons or 'no cluster exists'}."
    return Refusal(ScheduledReason.NO_CLUSTER_FIT, message)


def _by_taint(tolerations: tuple[Toleration, ...], rejected: Mask, index: ClusterIndex) -> Iterator[Rejection]:
    """Yield the clusters by their first untolerated taint."""
    for taints, clusters in index.tainted().items():
        taint = first_untolerated(taints, tolerations) if clusters & rejected else None
        if taint is not None:
            yield Rejection("TaintToleration", f"cluster(s) had untolerated taint {{{taint}}}", clusters & rejected)


def _by_property(placement: Placement, index: ClusterIndex) -> Iterator[Rejection]:
    """Yield the clusters by the first property they lack, in the order of the constraints."""
    seen = 0
    for constraint in placement.spread_constraints:
        field = constraint.spread_by_field
        if field in PROPERTY_WORDS:
            lacking = index.all & ~index.having(field) & ~seen
            seen |= lacking
            yield Rejection("SpreadConstraint", f"cluster(s) did not have {PROPERTY_WORDS[field]}", lacking)
