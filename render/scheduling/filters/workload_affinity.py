"""The filter of clusters by the other workloads of an affinity group, which are kept together."""

from render.bits import Mask
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .filter import Filter, reasons_of_single_text


def _clusters_of_affinity_group(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    is_grouped = task.binding.affinity_group and state.options.honours_workload_affinity
    return state.workload_groups.clusters_of_affinity_group(task.binding) if is_grouped else -1


WORKLOAD_AFFINITY = Filter(
    name="WorkloadAffinity",
    meaning="Other workloads of the object's affinity group are placed, and not in the cluster.",
    passing=_clusters_of_affinity_group,
    exempts_targets=True,
    reasons=reasons_of_single_text("ResourceBinding with the same affinity group does not target this cluster"),
)
