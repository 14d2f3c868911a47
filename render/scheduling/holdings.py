"""What a binding's target clusters come to as bits and numbers, found once per list of targets."""

from dataclasses import dataclass

from render.bits import Mask, mask_of
from render.cluster_index import ClusterIndex
from render.model import TargetCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The clusters a binding is in: as a mask, and replicas by index in the binding's order.

    ``departed`` targets are no members any more: ``replicas`` leave them out, ``total`` counts them.
    """

    targets: tuple[TargetCluster, ...]
    clusters: Mask
    replicas: dict[int, int]
    total: int
    departed: tuple[str, ...]


def holding_of(targets: tuple[TargetCluster, ...], index: ClusterIndex) -> Holding:
    """Return what targets hold in the clusters of an index."""
    counts = [each.replicas for each in targets]
    found = [index.index_by_name.get(each.name) for each in targets]
    replicas = {position: count for position, count in zip(found, counts, strict=True) if position is not None}
    return Holding(
        targets=targets,
        clusters=mask_of(replicas),
        replicas=replicas,
        total=sum(counts),
        departed=tuple(each.name for each, position in zip(targets, found, strict=True) if position is None)
        if None in found
        else (),
    )


class Holdings:
    """The holdings of a pass; bindings that share one list of targets share one holding."""

    __slots__ = ("_index", "_known")

    def __init__(self, index: ClusterIndex) -> None:
        self._index = index
        self._known: dict[int, Holding] = {}

    def of(self, targets: tuple[TargetCluster, ...]) -> Holding:
        """Return what targets hold; the holding keeps the list alive, so its identity names it."""
        known = self._known.get(id(targets))
        if known is None:
            known = self._known[id(targets)] = holding_of(targets, self._index)
        return known
