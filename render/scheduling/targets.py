"""Lists of target clusters: made from shares, and read as bits and numbers, each equal list once a pass."""

from array import array
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct

from render.bits import Mask, mask_of
from render.cluster_index import ClusterIndex
from render.model import TargetCluster

Share = tuple[int, int]
TargetList = tuple[TargetCluster, ...]


class IndexedTargets(Struct, frozen=True, kw_only=True):
    """A list of targets by cluster index: as a mask, and replicas by index in the list's order.

    ``departed`` targets are no members any more: ``replicas`` leave them out, ``total`` counts them.
    """

    targets: TargetList
    clusters: Mask
    replicas: dict[int, int]
    total: int
    departed: tuple[str, ...]


class TargetLists:
    """The lists of targets of a pass; bindings that share one list share all that is derived from it."""

    __slots__ = ("_compared", "_copies", "_each", "_gained", "_index", "_indexed", "_lists", "_names")

    def __init__(self, index: ClusterIndex) -> None:
        self._index = index
        self._names = index.names
        self._indexed: dict[int, IndexedTargets] = {}
        self._each: dict[Share, TargetCluster] = {}
        self._lists: dict[bytes, TargetList] = {}
        self._copies: dict[tuple[int, int | None], tuple[Sequence[int], TargetList]] = {}
        self._compared: dict[tuple[int, int], tuple[TargetList, TargetList, bool]] = {}
        self._gained: dict[tuple[int, int, bool], dict[int, int]] = {}

    def of(self, shares: Sequence[Share]) -> TargetList:
        """Return the target clusters of shares, in their order."""
        # Numbers side by side take an eighth of what pairs take, and there may be a million of them.
        key = array("q", chain.from_iterable(shares)).tobytes()
        known = self._lists.get(key)
        if known is None:
            known = self._lists[key] = tuple(map(self._target_of_share, shares))
        return known

    def target_list_of_copies(self, positions: Sequence[int], shares: Sequence[Share]) -> TargetList:
        """Return the target clusters of shares that are all the same; of positions that bindings share, once."""
        # Where copies of no replicas go nowhere, what has no replicas to copy goes everywhere all the same.
        replicas = shares[0][1] if shares else None
        known = self._copies.get((id(positions), replicas))
        if known is None:
            known = self._copies[id(positions), replicas] = (positions, self.of(shares))
        return known[1]

    def are_equal(self, one: TargetList, other: TargetList) -> bool:
        """Compare two lists, which many bindings share, once."""
        known = self._compared.get((id(one), id(other)))
        if known is None:  # kept alive by this memo, so that their identities name them
            known = self._compared[id(one), id(other)] = (one, other, one == other)
        return known[2]

    def indexed_targets(self, targets: TargetList) -> IndexedTargets:
        """Return targets by cluster index; the value keeps the list alive, so its identity names it."""
        known = self._indexed.get(id(targets))
        if known is None:
            known = self._indexed[id(targets)] = indexed_targets(targets, self._index)
        return known

    def gained_replicas(self, before: TargetList, after: TargetList, *, are_sets: bool) -> dict[int, int]:
        """Return the replicas by which clusters gain from one list to another, which many bindings share, once.

        ``are_sets``: every cluster of a list has one set of components, whatever number of replicas stands there.
        """
        key = (id(before), id(after), are_sets)
        known = self._gained.get(key)
        if known is None:  # the lists themselves are kept alive by what is known of their indexes
            had, wanted = self.indexed_targets(before).replicas, self.indexed_targets(after).replicas
            if are_sets:
                had, wanted = dict.fromkeys(had, 1), dict.fromkeys(wanted, 1)
            known = self._gained[key] = _gained_replicas(had, wanted)
        return known

    def _target_of_share(self, share: Share) -> TargetCluster:
        known = self._each.get(share)
        if known is None:
            known = self._each[share] = TargetCluster(self._names[share[0]], share[1])
        return known


def shares_with_empty_clusters(shares: Sequence[Share], selected: Sequence[int]) -> list[Share]:
    """Return shares with the selected clusters that got nothing added."""
    present = {position for position, _ in shares}
    return [*shares, *((position, 0) for position in selected if position not in present)]


def indexed_targets(targets: TargetList, index: ClusterIndex) -> IndexedTargets:
    """Return targets by cluster index."""
    counts = [each.replicas for each in targets]
    found = [index.index_by_name.get(each.name) for each in targets]
    replicas = {position: count for position, count in zip(found, counts, strict=True) if position is not None}
    return IndexedTargets(
        targets=targets,
        clusters=mask_of(replicas),
        replicas=replicas,
        total=sum(counts),
        departed=tuple(each.name for each, position in zip(targets, found, strict=True) if position is None)
        if None in found
        else (),
    )


def _gained_replicas(before: dict[int, int], after: dict[int, int]) -> dict[int, int]:
    if not before:
        return after
    more = ((position, replicas - before.get(position, 0)) for position, replicas in after.items())
    return {position: count for position, count in more if count > 0 or position not in before}
