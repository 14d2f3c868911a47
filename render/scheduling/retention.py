"""Duplicated workloads and non-workloads keep their places: selection by spread constraints only ever adds to them.

They are looked at on every pass, and Karmada would choose their clusters anew, by free capacity among other things.
With ``rescheduling: Source`` the clusters they are in stay as long as the source allows them and the constraints hold;
clusters are added where the constraints leave room.
"""

from collections.abc import Mapping
from typing import NamedTuple

from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.placement import SpreadConstraint, SpreadField

from .spread import ANY


class Extension(NamedTuple):
    """How many clusters may be added to those held, and which ones come into question."""

    most: int
    pool: Mask


def extension_of(
    held: Mask, feasible: Mask, spread: Mapping[SpreadField | None, SpreadConstraint], index: ClusterIndex
) -> Extension | None:
    """Return what may be added to the clusters held; None if the constraints do not hold for them as they are."""
    cluster = spread.get(SpreadField.CLUSTER, ANY)
    region = spread.get(SpreadField.REGION)
    most, pool, count = cluster.max_groups, feasible & ~held, held.bit_count()
    if region is not None:
        regions = [mask for mask in index.in_groups(SpreadField.REGION).values() if mask & held]
        if not region.min_groups <= len(regions) <= region.max_groups:
            return None
        # Each region chosen gives one cluster, even beyond the maximum of clusters.
        most = max(most, len(regions))
        pool &= sum(regions)
    elif SpreadField.CLUSTER not in spread:
        return None
    return Extension(most - count, pool) if cluster.min_groups <= count <= most else None
