"""The last copies of a pass: targets that a change of clusters would empty though no other cluster takes the object.

A taint, a label or a region that is gone from a cluster rejects it, and so does an edit of the policy. Only the former
is about the cluster: what such a change takes away stays, as long as nothing else fits the object. So a filter keeps a
target for the last copy's sake only where the part of the placement that the filter goes by is the one last applied.
A drain that says so takes the last copy as well.
"""

from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.cluster import loses_last_copies

from .decisions import ScheduledReason, SchedulingDecision
from .filtering import filter_clusters
from .filters import FILTERS
from .filters.filter import PlacementPart
from .scheduler import affinity_groups_to_try
from .state import PassState


def targets_kept_from_emptying(state: PassState, binding: Binding, decision: SchedulingDecision) -> tuple[str, ...]:
    """Return the targets that a binding keeps, for a decision would empty it because of what they have become."""
    condition = decision.condition
    if condition is None or condition.reason != ScheduledReason.NO_CLUSTER_FIT or not binding.targets:
        return ()
    task = state.task(binding)
    result = filter_clusters(state, task, affinity_groups_to_try(task)[0])
    staying: Mask = task.current.clusters & result.candidates
    for each, passing in zip(FILTERS, result.passing, strict=True):
        if each.last_copy_part is None or _is_placement_part_edited(binding, each.last_copy_part):
            staying &= passing
    found = (state.index.clusters[position] for position in indexes_of_mask(staying))
    return tuple(cluster.name for cluster in found if not loses_last_copies(cluster))


def _is_placement_part_edited(binding: Binding, part: PlacementPart) -> bool:
    """Say whether a part of the placement is another one than when the binding was last scheduled."""
    now, applied, group = binding.placement, binding.applied_placement, binding.observed_affinity
    return now is None or applied is None or part(now, group) != part(applied, group)
