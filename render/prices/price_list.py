"""PriceLists: what clusters charge for each resource and hour, and (an experiment) the carbon that it takes."""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct, field

from render.selectors import ClusterAffinity

Rates = Mapping[str, Fraction]
"""An exact amount for an hour of a core, a GiB of memory or storage, or one of any other resource, by its name."""


class PriceEntry(Struct, frozen=True, kw_only=True):
    """The prices of the clusters that an affinity selects, and the grams of CO2e; either is empty where it is not said.

    An empty affinity selects every cluster.
    """

    cluster_affinity: ClusterAffinity = field(default_factory=ClusterAffinity)
    per_hour: Rates = field(default_factory=dict)
    carbon: Rates = field(default_factory=dict)


class PriceList(Struct, frozen=True, kw_only=True):
    """A list of prices in one currency; of its entries, the first that selects a cluster counts for it."""

    name: str
    currency: str
    entries: tuple[PriceEntry, ...]
    path: str = ""
    document: int = 0
