"""The filter of clusters by the kinds that they serve."""

from render.bits import Mask
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task

from .filter import Filter, reasons_of_single_text


def _clusters_serving_kind(state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    return state.clusters_serving_kind(task.binding)


API_ENABLEMENT = Filter(
    name="APIEnablement",
    meaning="The cluster does not serve the kind of the object.",
    passing=_clusters_serving_kind,
    exempts_targets=True,
    reasons=reasons_of_single_text("cluster(s) did not have the API resource"),
)
