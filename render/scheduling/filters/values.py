"""The filter of clusters for which an object is not made: a chart is rendered with other values there."""

from render.bits import Mask
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .filter import Filter, reasons_of_single_text


def _clusters_in_which_it_is_made(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    absent = task.binding.absent_in
    return ~state.index.clusters_named(absent) if absent else -1


VALUES = Filter(
    name="Values",
    meaning="A chart, rendered with the values of the cluster, does not make the object.",
    passing=_clusters_in_which_it_is_made,
    exempts_targets=False,
    reasons=reasons_of_single_text("cluster(s) for which the object is not made"),
)
