"""A filter of the scheduler as one value: the clusters that pass it, and the words for those that do not."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.placement import Placement
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .unmet import Unmet

Passing = Callable[[PassState, Task, AffinityGroup], Mask]
Reasons = Callable[[Placement, Mask, ClusterIndex], Iterator[tuple[str, Mask]]]


class PlacementRule(Struct, frozen=True, kw_only=True):
    """The part of a filter that a placement decides by itself, whatever is placed.

    ``unmet`` yields what a placement asks for in vain, given the clusters that each of its affinities and the filters
    before leave, and the field of the placement.
    """

    passing: Callable[[Placement, ClusterIndex], Mask]
    unmet: Callable[[Placement, ClusterIndex, Sequence[Mask], str], Iterator[Unmet]]


PlacementPart = Callable[[Placement, str], object]
"""Return a part of a placement, given the name of the affinity group in use."""


class Filter(Struct, frozen=True, kw_only=True):
    """A filter that a cluster must pass to be a candidate.

    ``meaning`` is the sentence of ``argosy help policy-tests``. ``passing`` returns the clusters that pass; with
    ``exempts_targets`` the current targets of a binding pass in any case. ``reasons`` yields those that are rejected
    by their reason, each cluster once. ``last_copy_part``: the part of a placement by which the filter judges labels,
    properties and taints of clusters. While nobody edits that part, a change of a cluster takes away no last copy
    (None: the filter is about something else).
    """

    name: str
    meaning: str
    passing: Passing
    exempts_targets: bool
    reasons: Reasons
    placement_rule: PlacementRule | None = None
    last_copy_part: PlacementPart | None = None


def reasons_of_single_text(text: str) -> Reasons:
    """Return the reasons of a filter that rejects every cluster for the same one."""
    return lambda _placement, rejected, _index: iter(((text, rejected),))
