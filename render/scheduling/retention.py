"""Duplicated workloads and non-workloads keep their places: selection by spread constraints only ever adds to them.

They are looked at on every pass, and Karmada would choose their clusters anew, by free capacity among other things.
With ``rescheduling: Source`` the clusters they are in stay as long as the source allows them and the constraints hold;
clusters are added where the constraints leave room.
"""

from collections.abc import Mapping, Sequence

from render.cluster_index import ClusterIndex
from render.placement import SpreadConstraint, SpreadField

from .spread import ANY


def retained(
    held: Sequence[int],
    candidates: Sequence[int],
    spread: Mapping[SpreadField | None, SpreadConstraint],
    index: ClusterIndex,
) -> list[int] | None:
    """Return the clusters held and those to add, best first; None if the constraints do not hold for the held ones."""
    cluster = spread.get(SpreadField.CLUSTER, ANY)
    region = spread.get(SpreadField.REGION)
    most, pool = cluster.max_groups, candidates
    if region is not None:
        regions = {index.clusters[each].region for each in held}
        if not region.min_groups <= len(regions) <= region.max_groups:
            return None
        most = max(most, len(regions))
        pool = [each for each in candidates if index.clusters[each].region in regions]
    elif SpreadField.CLUSTER not in spread:
        return None
    if not cluster.min_groups <= len(held) <= most:
        return None
    return [*held, *[each for each in pool if each not in set(held)][: most - len(held)]]
