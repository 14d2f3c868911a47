"""The filter of clusters that a binding is being evicted from."""

from render.bits import Mask
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .filter import Filter, reasons_of_single_text


def _clusters_not_being_left(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    tasks = task.binding.eviction_tasks
    return ~state.index.clusters_named(each.from_cluster for each in tasks) if tasks else -1


CLUSTER_EVICTION = Filter(
    name="ClusterEviction",
    meaning="The object is being evicted from the cluster.",
    passing=_clusters_not_being_left,
    exempts_targets=False,
    reasons=reasons_of_single_text("cluster(s) is in the process of eviction"),
)
