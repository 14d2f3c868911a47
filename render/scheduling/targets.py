"""Target clusters from shares, equal ones shared: a pass makes each (cluster, replicas) and each list of them once."""

from array import array
from collections.abc import Sequence
from itertools import chain

from render.cluster_index import ClusterIndex
from render.model import TargetCluster

Share = tuple[int, int]
TargetList = tuple[TargetCluster, ...]


class Targets:
    """The target clusters of a pass."""

    __slots__ = ("_compared", "_copies", "_each", "_lists", "_names")

    def __init__(self, index: ClusterIndex) -> None:
        self._names = index.names
        self._each: dict[Share, TargetCluster] = {}
        self._lists: dict[bytes, TargetList] = {}
        self._copies: dict[tuple[int, int], tuple[Sequence[int], TargetList]] = {}
        self._compared: dict[tuple[int, int], tuple[TargetList, TargetList, bool]] = {}

    def of(self, shares: Sequence[Share]) -> TargetList:
        """Return the target clusters of shares, in their order."""
        # Numbers side by side take an eighth of what pairs take, and there may be a million of them.
        key = array("q", chain.from_iterable(shares)).tobytes()
        known = self._lists.get(key)
        if known is None:
            known = self._lists[key] = tuple(map(self._target, shares))
        return known

    def copies(self, positions: Sequence[int], shares: Sequence[Share]) -> TargetList:
        """Return the target clusters of shares that are all the same; of positions that bindings share, once."""
        replicas = shares[0][1] if shares else 0
        known = self._copies.get((id(positions), replicas))
        if known is None:
            known = self._copies[id(positions), replicas] = (positions, self.of(shares))
        return known[1]

    def are_equal(self, one: TargetList, other: TargetList) -> bool:
        """Compare two lists, which many bindings share, once."""
        known = self._compared.get((id(one), id(other)))
        if known is None:  # kept alive by what is remembered of them, so that their identities name them
            known = self._compared[id(one), id(other)] = (one, other, one == other)
        return known[2]

    def _target(self, share: Share) -> TargetCluster:
        known = self._each.get(share)
        if known is None:
            known = self._each[share] = TargetCluster(self._names[share[0]], share[1])
        return known


def with_empty(shares: Sequence[Share], selected: Sequence[int]) -> list[Share]:
    """Return shares with the selected clusters that got nothing added."""
    present = {position for position, _ in shares}
    return [*shares, *((position, 0) for position in selected if position not in present)]
