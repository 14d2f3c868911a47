"""The filter of clusters by their taints."""

from collections.abc import Iterator, Sequence

from render.bits import Mask
from render.cluster import first_untolerated_taint
from render.cluster_index import ClusterIndex
from render.placement import Placement
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task
from render.settings.switches import Rescheduling
from render.words import first_few

from .filter import Filter, PlacementRule
from .unmet import Unmet


def _tolerated_clusters_and_stayers(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    """Return the clusters without untolerated taints, and the current targets that may stay in spite of theirs.

    Karmada exempts current targets from all taints. With ``rescheduling: Source`` a NoExecute taint ends that, unless
    the rules of failover take care of such taints.
    """
    options, rules, targets = state.options, task.rules, task.current.clusters
    by_source = options.rescheduling is Rescheduling.SOURCE and not options.evicts_over_time
    return rules.tolerated | (targets & rules.stays if by_source else targets)


def _rejected_by_untolerated_taint(
    placement: Placement, rejected: Mask, index: ClusterIndex
) -> Iterator[tuple[str, Mask]]:
    """Yield the clusters by their first untolerated taint."""
    for taints, clusters in index.clusters_by_taints().items():
        taint = first_untolerated_taint(taints, placement.cluster_tolerations) if clusters & rejected else None
        if taint is not None:
            yield f"cluster(s) had untolerated taint {{{taint}}}", clusters & rejected


def _clusters_tolerated_by_placement(placement: Placement, index: ClusterIndex) -> Mask:
    return index.clusters_tolerated_by(placement.cluster_tolerations)


def _unmet_tolerations(
    placement: Placement, index: ClusterIndex, selected: Sequence[Mask], path: str
) -> Iterator[Unmet]:
    """Yield that every cluster that is selected has a taint that the placement does not tolerate."""
    if any(mask & _clusters_tolerated_by_placement(placement, index) for mask in selected):
        return
    taints = (
        first_untolerated_taint(taints, placement.cluster_tolerations)
        for taints, mask in index.clusters_by_taints().items()
        if any(mask & each for each in selected)
    )
    names = sorted({str(taint) for taint in taints if taint is not None})
    message = f"every cluster that is selected has a taint that is not tolerated: {first_few(names)}"
    yield Unmet(field=path, message=message, hint="tolerate it under clusterTolerations")


TAINT_TOLERATION = Filter(
    name="TaintToleration",
    meaning="The cluster has a taint that `clusterTolerations` of the policy does not tolerate.",
    passing=_tolerated_clusters_and_stayers,
    exempts_targets=False,
    reasons=_rejected_by_untolerated_taint,
    placement_rule=PlacementRule(passing=_clusters_tolerated_by_placement, unmet=_unmet_tolerations),
    last_copy_part=lambda placement, _group: placement.cluster_tolerations,
)
