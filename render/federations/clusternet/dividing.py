"""Replicas divided as Clusternet's assigners do it, and the clusters that a subscription is bound to with their shares.

The numbers are Go's, of 32 bits, which overflow.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct


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
                self._add_share_to_place(replicas, feed, len(names), names.index(cluster), share)
                continue
            names.append(cluster)
            for each, counts in replicas.items():
                if each == feed:
                    counts.append(share)
                elif counts:
                    counts.append(0)
        return Targets(clusters=tuple(names), replicas={each: tuple(counts) for each, counts in replicas.items()})

    @staticmethod
    def _add_share_to_place(replicas: dict[str, list[int]], feed: str, length: int, place: int, share: int) -> None:
        """Add a share to a place; a list that does not fit the clusters begins anew."""
        if len(replicas[feed]) == length:
            replicas[feed][place] = wrapped_to_int32(replicas[feed][place] + share)
        else:
            replicas[feed] = [share if each == place else 0 for each in range(length)]


def shares_by_static_weights(replicas: int, weights: Sequence[int]) -> list[int] | None:
    """Divide replicas by weights, the rest one by one to the heaviest; None if all weights are 0."""
    total = sum(weights)
    if total == 0:
        return None
    shares = [_quotient_towards_zero(weight * replicas, total) for weight in weights]
    heaviest = sorted(range(len(weights)), key=lambda place: -weights[place])
    for place in heaviest[: max(replicas - sum(shares), 0)]:
        shares[place] += 1
    return shares


def shares_in_proportion_to_weights(replicas: int, weights: Sequence[int]) -> list[int]:
    """Divide replicas, or take them away if negative, in proportion to weights, the rest by the largest fractions.

    Each place gets its whole weight where more is wished for than there is.
    """
    total = wrapped_to_int32(sum(weights))
    if total == 0 or replicas > total:
        return list(weights)
    products = [wrapped_to_int32(weight * replicas) for weight in weights]
    shares = [wrapped_to_int32(_quotient_towards_zero(product, total)) for product in products]
    rest = wrapped_to_int32(replicas - sum(shares))
    fractions = [abs(product / total - share) for product, share in zip(products, shares, strict=True)]
    largest = sorted(range(len(weights)), key=lambda place: -fractions[place])
    for place in largest[: abs(rest)]:
        shares[place] = wrapped_to_int32(shares[place] + (1 if rest > 0 else -1))
    return shares


def wrapped_to_int32(number: int) -> int:
    """Return a number as 32 bits hold it."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _quotient_towards_zero(numerator: int, denominator: int) -> int:
    """Return a quotient cut towards zero, as Go divides."""
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient
