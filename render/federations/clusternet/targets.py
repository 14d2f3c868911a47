"""The clusters that a subscription is bound to with their replicas, and new shares merged into old ones."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from .dividing import int32


class Targets(Struct, frozen=True, kw_only=True):
    """Clusters as ``namespace/name``, and replicas by feed in their order; None where nothing is divided."""

    clusters: tuple[str, ...] = ()
    replicas: Mapping[str, tuple[int, ...]] | None = None

    def in_order(self) -> "Targets":
        """Return them in the order of names; a list of another length stays as it is."""
        order = sorted(range(len(self.clusters)), key=lambda place: self.clusters[place])
        replicas = self.replicas
        if replicas is not None:
            replicas = {
                feed: tuple(counts[place] for place in order) if len(counts) == len(order) else counts
                for feed, counts in replicas.items()
            }
        return Targets(clusters=tuple(self.clusters[place] for place in order), replicas=replicas)

    def with_feed(self, feed: str, clusters: Sequence[str], shares: Sequence[int]) -> "Targets":
        """Add the shares of one feed to what it has; clusters that are new join at the end, with 0 of other feeds."""
        if not clusters:
            return self
        names = list(self.clusters)
        replicas = {each: list(counts) for each, counts in (self.replicas or {}).items()}
        replicas.setdefault(feed, [0] * len(names) if shares else [])
        for cluster, share in zip(clusters, shares, strict=False):
            if cluster in names:
                self._add(replicas, feed, len(names), names.index(cluster), share)
                continue
            names.append(cluster)
            for each, counts in replicas.items():
                if each == feed:
                    counts.append(share)
                elif counts:
                    counts.append(0)
        return Targets(clusters=tuple(names), replicas={each: tuple(counts) for each, counts in replicas.items()})

    @staticmethod
    def _add(replicas: dict[str, list[int]], feed: str, length: int, place: int, share: int) -> None:
        """Add a share to a place; a list that does not fit the clusters begins anew."""
        if len(replicas[feed]) == length:
            replicas[feed][place] = int32(replicas[feed][place] + share)
        else:
            replicas[feed] = [share if each == place else 0 for each in range(length)]
