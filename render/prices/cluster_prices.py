"""The prices that count in each cluster: those of the first entry of all lists that selects it.

The lists are read in the order of their names. A cluster that no entry selects has no price, which is not a price of 0;
nor has a resource that its entry does not name.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from render.cluster_index import ClusterIndex

from .price_list import PriceEntry, PriceList, Rates


class ClusterPrices(Struct, frozen=True, kw_only=True):
    """The prices of the clusters of a fleet by their names, and the grams of CO2e; a cluster without any is in neither.

    ``members`` are all clusters. Those of the same prices share them.
    """

    currency: str = ""
    members: frozenset[str] = frozenset()
    by_cluster: Mapping[str, Rates] = field(default_factory=dict)
    carbon_by_cluster: Mapping[str, Rates] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Say whether nothing has a price, nor takes any carbon."""
        return not self.by_cluster and not self.carbon_by_cluster


def currency_of_price_lists(price_lists: Iterable[PriceList]) -> str:
    """Return the currency that counts: that of the first list by name; empty without any."""
    return min(((each.name, each.currency) for each in price_lists), default=("", ""))[1]


def prices_of_clusters(price_lists: Iterable[PriceList], index: ClusterIndex) -> ClusterPrices:
    """Return the prices of clusters; where the lists are of several currencies, those of the first one count."""
    lists = sorted(price_lists, key=lambda each: each.name)
    currency = currency_of_price_lists(lists)
    entries = [entry for each in lists if each.currency == currency for entry in each.entries]
    return ClusterPrices(
        currency=currency,
        members=frozenset(index.names),
        by_cluster=_rates_of_first_entries(((each, each.per_hour) for each in entries), index),
        carbon_by_cluster=_rates_of_first_entries(((each, each.carbon) for each in entries), index),
    )


def _rates_of_first_entries(entries: Iterable[tuple[PriceEntry, Rates]], index: ClusterIndex) -> dict[str, Rates]:
    """Return the rates of each cluster by the first entry that selects it and states any."""
    left, found = index.all, dict[str, Rates]()
    for entry, rates in entries:
        if rates:
            mask = index.clusters_matching_affinity(entry.cluster_affinity) & left
            left &= ~mask
            found.update((index.names[each], rates) for each in index.indexes_in_mask(mask))
    return found
