"""The filter of clusters of which nobody knows that they are well, when something is moved."""

from render.bits import Mask
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .filter import Filter, reasons_of_single_text


def _clusters_known_healthy_or_current(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    unproven = task.binding.unproven
    return ~state.index.clusters_named(unproven) if unproven else -1


CLUSTER_HEALTH = Filter(
    name="ClusterHealth",
    meaning="The object is moved, and nobody knows that the cluster is well.",
    passing=_clusters_known_healthy_or_current,
    exempts_targets=True,
    reasons=reasons_of_single_text("cluster(s) of which nobody knows that they are well"),
)
