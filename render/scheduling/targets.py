"""Target clusters from shares, equal ones shared: a pass makes each (cluster, replicas) and each list of them once."""

from array import array
from collections.abc import Sequence
from itertools import chain

from render.cluster_index import ClusterIndex
from render.model import TargetCluster

Share = tuple[int, int]


class Targets:
    """The target clusters of a pass."""

    __slots__ = ("_each", "_lists", "_names")

    def __init__(self, index: ClusterIndex) -> None:
        self._names = index.names
        self._each: dict[Share, TargetCluster] = {}
        self._lists: dict[bytes, tuple[TargetCluster, ...]] = {}

    def of(self, shares: Sequence[Share]) -> tuple[TargetCluster, ...]:
        """Return the target clusters of shares, in their order."""
        # Numbers side by side take an eighth of what pairs take, and there may be a million of them.
        key = array("q", chain.from_iterable(shares)).tobytes()
        known = self._lists.get(key)
        if known is None:
            known = self._lists[key] = tuple(map(self._target, shares))
        return known

    def _target(self, share: Share) -> TargetCluster:
        known = self._each.get(share)
        if known is None:
            known = self._each[share] = TargetCluster(self._names[share[0]], share[1])
        return known


def with_empty(shares: Sequence[Share], selected: Sequence[int]) -> list[Share]:
    """Return shares with the selected clusters that got nothing added."""
    present = {position for position, _ in shares}
    return [*shares, *((position, 0) for position in selected if position not in present)]
