"""The filter of clusters by the other workloads of an anti-affinity group, which are kept apart."""

from render.bits import Mask
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .filter import Filter, reasons_of_single_text


def _clusters_without_anti_affinity_group(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    is_grouped = task.binding.anti_affinity_group and state.options.honours_workload_affinity
    return state.workload_groups.clusters_free_of_anti_affinity_group(task.binding) if is_grouped else -1


WORKLOAD_ANTI_AFFINITY = Filter(
    name="WorkloadAntiAffinity",
    meaning="Another workload of the object's anti-affinity group is in the cluster.",
    passing=_clusters_without_anti_affinity_group,
    exempts_targets=True,
    reasons=reasons_of_single_text("cluster already has workload with the same anti-affinity group"),
)
