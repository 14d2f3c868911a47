"""Losses: the clusters that go together when a cluster, a region, a zone or a provider is lost, or two of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from render.cluster import Cluster
from render.placement import SpreadField
from render.words import first_few, words_in_sentence


class Loss(Struct, frozen=True, kw_only=True):
    """The loss of one or several clusters, regions, zones or providers by name, and the clusters that go with them."""

    field: SpreadField
    names: tuple[str, ...]
    clusters: frozenset[str]

    def __str__(self) -> str:
        """Return the loss in words, such as ``zones a and b``."""
        many = self.field.value if len(self.names) == 1 else f"{self.field.value}s"
        return f"{many} {words_in_sentence(self.names)}"


def clusters_lost_together(clusters: Iterable[Cluster], field: SpreadField) -> Mapping[str, frozenset[str]]:
    """Return the clusters that are lost with each cluster, region, zone or provider, by its name.

    A cluster of several zones is lost with each of them, one without any with none.
    """
    found: dict[str, set[str]] = {}
    for cluster in clusters:
        for name in _places_of_cluster(cluster, field):
            found.setdefault(name, set()).add(cluster.name)
    return {name: frozenset(found[name]) for name in sorted(found)}


def losses_of_fleet(together: Mapping[str, frozenset[str]], field: SpreadField, count: int) -> Iterator[Loss]:
    """Yield the loss of any ``count`` of the places that are lost together; of all, where there are no more."""
    for names in combinations(together, min(count, len(together))) if together else ():
        yield Loss(field=field, names=names, clusters=frozenset().union(*(together[name] for name in names)))


def words_of_clusters_never_lost(names: Sequence[str], field: SpreadField) -> str:
    """Return what is to be said of clusters of which no region or the like is known, so that they are never lost.

    >>> words_of_clusters_never_lost(["oslo"], SpreadField.REGION)
    'no region is known of oslo, so no loss of a region takes what is there'
    """
    return f"no {field} is known of {first_few(names)}, so no loss of a {field} takes what is there"


def _places_of_cluster(cluster: Cluster, field: SpreadField) -> tuple[str, ...]:
    match field:
        case SpreadField.CLUSTER:
            return (cluster.name,)
        case SpreadField.ZONE:
            return cluster.zones
        case SpreadField.REGION:
            return (cluster.region,) if cluster.region else ()
        case SpreadField.PROVIDER:
            return (cluster.provider,) if cluster.provider else ()
