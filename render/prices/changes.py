"""The costs of a change of places: the difference of a month alone, for thousands of changes of the same objects.

It is the difference that ``costs`` would find between all that is placed before and after, without adding up what stays
where it is. What is unknown on either side is counted, and in no sum.
"""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct, field

from render.binding import Binding
from render.model import ObjectRef

from .cluster_prices import ClusterPrices
from .costs import (
    HOURS_OF_MONTH,
    OVERRIDDEN,
    SCALE,
    Requests,
    amount_of_requests,
    is_of_uncountable_pods,
    reasons_not_to_know,
    requests_of_binding,
)
from .price_list import Rates

ReplicaChanges = Mapping[str, int]
"""The replicas that an object gets or gives up, by cluster: 0 where it comes or goes without any."""


class CostOfChange(Struct, frozen=True, kw_only=True):
    """The amount by which a month costs more, in parts of a unit of currency; ``is_unknown``: some of it is unknown."""

    parts: int = 0
    is_unknown: bool = False

    @property
    def amount(self) -> Fraction:
        """The amount by which a month costs more, as far as that is known; less is negative."""
        return Fraction(self.parts * HOURS_OF_MONTH, SCALE)


class _Profile(Struct, frozen=True, kw_only=True):
    """The requests of one replica, or of ``whole`` components together, and the clusters in which nobody knows them.

    ``is_uncountable``: nobody knows how many pods there are anywhere. ``is_overridden``: an override may
    change it in a cluster that did not have the object.
    """

    requests: Requests
    whole: int
    reasons: Mapping[str, str]
    clusters: frozenset[str]
    is_uncountable: bool
    is_overridden: bool

    def is_unknown_in(self, cluster: str) -> bool:
        """Say whether nobody knows what the object takes in a cluster."""
        return self.is_uncountable or cluster in self.reasons or (self.is_overridden and cluster not in self.clusters)


class PricedChanges(Struct, frozen=True, kw_only=True):
    """The prices of clusters, and what was found out of the objects that were asked about."""

    prices: ClusterPrices
    _profiles: dict[ObjectRef, _Profile] = field(default_factory=dict)
    _amounts: dict[tuple[Requests, int], int | None] = field(default_factory=dict)

    def cost_of(self, binding: Binding, changes: ReplicaChanges) -> CostOfChange:
        """Return what it costs that an object has so many replicas more or less in some clusters.

        The binding is the one before the change: where it has replicas, its requests are known, or why not.
        """
        profile = self._profile(binding)
        requests, whole, parts, is_unknown = profile.requests, profile.whole, 0, False
        if not requests and not profile.is_uncountable:
            return CostOfChange()
        for cluster, more in changes.items():
            amount = None
            if not profile.is_unknown_in(cluster) and more % whole == 0:
                amount = self._amount(requests, self.prices.by_cluster.get(cluster))
            if amount is not None:
                parts += amount * (more // whole)
            elif more or profile.is_uncountable:
                is_unknown = True
        return CostOfChange(parts=parts, is_unknown=is_unknown)

    def _profile(self, binding: Binding) -> _Profile:
        known = self._profiles.get(binding.ref)
        if known is None:
            reasons = reasons_not_to_know(binding)
            known = self._profiles[binding.ref] = _Profile(
                requests=requests_of_binding(binding),
                whole=max(binding.asked_replicas, 1) if binding.components else 1,
                reasons=reasons,
                clusters=frozenset(target.name for target in binding.targets),
                is_uncountable=is_of_uncountable_pods(binding.ref),
                is_overridden=OVERRIDDEN in reasons.values(),
            )
        return known

    def _amount(self, requests: Requests, rates: Rates | None) -> int | None:
        if rates is None:
            return None
        key = requests, id(rates)
        if key not in self._amounts:
            self._amounts[key] = amount_of_requests(requests, rates)
        return self._amounts[key]
