"""Daemon sets, which run a pod on each node."""

from render.interpretation.fields import count_at, mapping_at
from render.interpretation.operations import Interpretation
from render.interpretation.progress import (
    NOT_OBSERVED,
    LiveState,
    Progress,
    counter_in_status,
    state_of_missing_replicas,
    state_of_old_replicas,
    status_of,
)
from render.model import Manifest

from .kind import NO_DELIVERY_RULES, BuiltInKind
from .pod_defaults import POD_DEFAULTS, defaults_below_path
from .workloads import (
    POD_TEMPLATE,
    Counters,
    aggregation_of_counters,
    is_newest_generation_observed,
    reflection_of_counters,
    template_dependencies,
)

DAEMON_COUNTERS = (
    "currentNumberScheduled",
    "desiredNumberScheduled",
    "numberAvailable",
    "numberMisscheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberUnavailable",
)
DAEMON_SET = Counters(
    summed=DAEMON_COUNTERS,
    is_scaled=False,
    required=("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"),
    reflected=(*DAEMON_COUNTERS, "observedGeneration"),
)


def is_daemon_set_available(observed: Manifest) -> bool:
    """Say whether the controller has seen the daemon set, every node is updated, and every updated one available."""
    status = mapping_at(observed, "status")
    updated = count_at(status, "updatedNumberScheduled")
    return (
        is_newest_generation_observed(observed)
        and updated >= count_at(status, "desiredNumberScheduled")
        and count_at(status, "numberAvailable") >= updated
    )


def daemon_set_progress(live: Manifest) -> LiveState | None:
    """Return how far a daemon set is rolled out."""
    status = status_of(live)
    if "observedGeneration" not in status:
        return LiveState(Progress.IN_PROGRESS, NOT_OBSERVED, "its controller has not seen it yet")
    wanted = counter_in_status(status, "desiredNumberScheduled")
    for counter in ("currentNumberScheduled", "numberReady", "numberAvailable"):
        if counter_in_status(status, counter) < wanted:
            return state_of_missing_replicas(counter, counter_in_status(status, counter), wanted)
    counter = "updatedNumberScheduled"
    updated = counter_in_status(status, counter)
    return None if updated >= wanted else state_of_old_replicas(counter, updated, wanted)


KINDS = (
    BuiltInKind(
        group="apps",
        kind="DaemonSet",
        version="v1",
        is_namespaced=True,
        defaults={
            ("spec", "revisionHistoryLimit"): 10,
            ("spec", "updateStrategy", "rollingUpdate", "maxSurge"): 0,
            ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"): 1,
            ("spec", "updateStrategy", "type"): "RollingUpdate",
            **defaults_below_path(POD_TEMPLATE, POD_DEFAULTS),
        },
        filled_in=(("metadata", "annotations", "deprecated.daemonset.template.generation"),),
        pod_spec=POD_TEMPLATE,
        has_edited_containers=True,
        progress=daemon_set_progress,
        short_names=("ds",),
        interpretation=Interpretation(
            aggregate=aggregation_of_counters(DAEMON_SET),
            reflect=reflection_of_counters(DAEMON_SET),
            health=is_daemon_set_available,
            dependencies=template_dependencies,
        ),
        has_no=f"{NO_DELIVERY_RULES} retained is_scaled counts clean prune pruned_fields",
    ),
)
"""The kind of workloads that nodes have, and nobody counts."""
