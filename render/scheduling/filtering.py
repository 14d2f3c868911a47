"""All filters run for one binding, and the reasons of the clusters that fail some.

A cluster that is being deleted is no candidate and gets no reason.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.placement import Placement

from .decisions import Refusal, ScheduledReason
from .filters import FILTERS
from .rules import AffinityGroup
from .state import PassState, Task

# The filters of every binding and affinity group: attributes that are looked up for each would be a tenth of a pass.
_FILTERS = tuple((each.passing, -1 if each.exempts_targets else 0) for each in FILTERS)
_OF_LAST_COPIES = tuple(number for number, each in enumerate(FILTERS) if each.last_copy_part is not None)


class FilterResult(Struct, frozen=True, kw_only=True):
    """The clusters that the filters let pass, for one binding and one affinity group, of ``total`` that there are.

    ``candidates`` are the clusters that are not being deleted, ``passing`` those that each of ``FILTERS`` lets pass in
    their order, and ``feasible`` those that pass all. They are kept because an explanation must see the filters as the
    decision saw them: later decisions of a pass change what some let pass.
    """

    placement: Placement
    total: int
    candidates: Mask
    passing: Sequence[Mask]
    feasible: Mask


class Rejection(Struct, frozen=True):
    """Clusters that one filter rejects for one reason."""

    plugin: str
    reason: str
    clusters: Mask


def filter_clusters(state: PassState, task: Task, group: AffinityGroup) -> FilterResult:
    """Run every filter for a binding and one affinity group."""
    targets, feasible = task.current.clusters, state.candidates
    passing = [each(state, task, group) | (targets & exempt) for each, exempt in _FILTERS]
    if task.binding.staying:
        staying = state.index.clusters_named(task.binding.staying)
        for number in _OF_LAST_COPIES:
            passing[number] |= staying
    for mask in passing:
        feasible &= mask
    return FilterResult(
        placement=task.rules.placement,
        total=state.total,
        candidates=state.candidates,
        passing=passing,
        feasible=feasible,
    )


def rejections_by_filter(result: FilterResult, index: ClusterIndex) -> Iterator[Rejection]:
    """Yield the rejections filter by filter; each filter rejects a cluster once."""
    for each, passing in zip(FILTERS, result.passing, strict=True):
        rejected = result.candidates & ~passing
        for reason, clusters in each.reasons(result.placement, rejected, index) if rejected else ():
            yield Rejection(each.name, reason, clusters)


def refusal_of_no_fitting_cluster(result: FilterResult, index: ClusterIndex) -> Refusal:
    """Return Karmada's refusal when nothing is feasible: the number of clusters that fail by their first reason.

    The total counts the clusters that are being deleted as well, and none that is lost.
    """
    count_by_reason: dict[str, int] = {}
    seen = 0
    for each in rejections_by_filter(result, index):
        fresh = each.clusters & ~seen
        seen |= fresh
        if fresh:
            count_by_reason[each.reason] = count_by_reason.get(each.reason, 0) + fresh.bit_count()
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in count_by_reason.items()))
    message = f"0/{result.total} clusters are available: {reasons or 'no cluster exists'}."
    return Refusal(ScheduledReason.NO_CLUSTER_FIT, message)
