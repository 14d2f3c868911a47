"""The division of a HorizontalPodAutoscaler over clusters that have none yet, as Federation v1's controller does it.

It walks a map in random order; here clusters take their turn by name.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from render.model import Manifest

_LEAST_STEP = 2


class Bounds(Struct, frozen=True):
    """The bounds of the autoscaler in one cluster."""

    min_replicas: int
    max_replicas: int


def divided_bounds(autoscaler: Manifest, clusters: Sequence[str]) -> dict[str, Bounds]:
    """Return the bounds of each cluster that gets an autoscaler."""
    names, spec = sorted(clusters), autoscaler.get("spec") or {}
    if not names:
        return {}
    most, least = _count(spec.get("maxReplicas"), 0), _count(spec.get("minReplicas"), 1)
    most_by_cluster = _dealt(most, max(_LEAST_STEP, most // len(names)), dict.fromkeys(names, most))
    least_by_cluster = _dealt(least, max(1, least // len(names)), most_by_cluster)
    return {name: Bounds(max(least_by_cluster[name], 1), count) for name, count in most_by_cluster.items() if count > 0}


def _dealt(total: int, step: int, limits: dict[str, int]) -> dict[str, int]:
    """Deal a total in rounds of a step, none getting more than its limit."""
    dealt, remaining = dict.fromkeys(limits, 0), total
    while remaining > 0 and any(dealt[name] < limit for name, limit in limits.items()):
        for name, limit in limits.items():
            share = min(step, remaining, limit - dealt[name])
            dealt[name] += share
            remaining -= share
    return dealt


def _count(plain: Any, default: int) -> int:
    return plain if isinstance(plain, int) else default
