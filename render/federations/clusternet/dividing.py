"""The division of replicas as Clusternet's assigners do it, in Go's numbers of 32 bits, which overflow."""

from collections.abc import Sequence


def statically_divided(replicas: int, weights: Sequence[int]) -> list[int] | None:
    """Divide replicas by weights, the rest one by one to the heaviest; None if all weights are 0."""
    total = sum(weights)
    if total == 0:
        return None
    shares = [_quotient(weight * replicas, total) for weight in weights]
    heaviest = sorted(range(len(weights)), key=lambda place: -weights[place])
    for place in heaviest[: max(replicas - sum(shares), 0)]:
        shares[place] += 1
    return shares


def dynamically_divided(replicas: int, weights: Sequence[int]) -> list[int]:
    """Divide replicas, or take them away if negative, in proportion to weights, the rest by the largest fractions.

    Each place gets its whole weight where more is wished for than there is.
    """
    total = int32(sum(weights))
    if total == 0 or replicas > total:
        return list(weights)
    products = [int32(weight * replicas) for weight in weights]
    shares = [int32(_quotient(product, total)) for product in products]
    rest = int32(replicas - sum(shares))
    fractions = [abs(product / total - share) for product, share in zip(products, shares, strict=True)]
    largest = sorted(range(len(weights)), key=lambda place: -fractions[place])
    for place in largest[: abs(rest)]:
        shares[place] = int32(shares[place] + (1 if rest > 0 else -1))
    return shares


def int32(number: int) -> int:
    """Return a number as 32 bits hold it."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _quotient(numerator: int, denominator: int) -> int:
    """Return a quotient cut towards zero, as Go divides."""
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient
