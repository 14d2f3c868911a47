"""Stateful sets, whose pods have names and claims of their own."""

from render.interpretation.fields import objects_at, text_at
from render.interpretation.progress import (
    OLD_REPLICAS,
    LiveState,
    Progress,
    counter_in_status,
    state_of_missing_replicas,
    state_of_old_replicas,
    status_of,
    wanted_replicas,
)
from render.model import Manifest
from render.resources import DependentObject

from .kind import BuiltInKind
from .pod_defaults import POD_DEFAULTS, defaults_below_path
from .workloads import POD_TEMPLATE, Counters, aggregation_of_counters, scaled_dependencies, scaled_interpretation

STATEFUL_SET = Counters(
    summed=("availableReplicas", "currentReplicas", "readyReplicas", "replicas", "updatedReplicas"),
    required=("replicas", "availableReplicas"),
    # Karmada does not collect observedGeneration of stateful sets.
    reflected=("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
)


def stateful_dependencies(workload: Manifest) -> set[DependentObject]:
    """Return the same, without the claims that the stateful set makes for itself."""
    own = {text_at(claim, "metadata", "name") for claim in objects_at(workload, "spec", "volumeClaimTemplates")}
    return {
        needed
        for needed in scaled_dependencies(workload)
        if needed.kind != "PersistentVolumeClaim" or needed.name not in own
    }


def stateful_set_progress(live: Manifest) -> LiveState | None:
    """Return how far a stateful set is rolled out; one that is updated by hand is never waited for."""
    strategy = (live.get("spec") or {}).get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return None
    status, wanted = status_of(live), wanted_replicas(live)
    for counter in ("replicas", "readyReplicas"):
        if counter_in_status(status, counter) < wanted:
            return state_of_missing_replicas(counter, counter_in_status(status, counter), wanted)
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    least, updated = wanted - partition, counter_in_status(status, "updatedReplicas")
    if updated < least:
        return state_of_old_replicas("updatedReplicas", updated, least)
    if not partition and status.get("currentRevision") != status.get("updateRevision"):
        return LiveState(Progress.IN_PROGRESS, OLD_REPLICAS, "replicas of an older revision are still there")
    return None


KINDS = (
    BuiltInKind(
        group="apps",
        kind="StatefulSet",
        version="v1",
        is_namespaced=True,
        defaults={
            ("spec", "podManagementPolicy"): "OrderedReady",
            ("spec", "revisionHistoryLimit"): 10,
            ("spec", "updateStrategy", "rollingUpdate", "partition"): 0,
            ("spec", "updateStrategy", "type"): "RollingUpdate",
            ("spec", "persistentVolumeClaimRetentionPolicy"): {"whenDeleted": "Retain", "whenScaled": "Retain"},
            ("spec", "volumeClaimTemplates", "*", "spec", "volumeMode"): "Filesystem",
            **defaults_below_path(POD_TEMPLATE, POD_DEFAULTS),
        },
        filled_in=tuple(("spec", "volumeClaimTemplates", "*", name) for name in ("status", "apiVersion", "kind")),
        pod_spec=POD_TEMPLATE,
        has_edited_containers=True,
        is_scaled=True,
        counts=("replicas",),
        is_recreatable=True,
        progress=stateful_set_progress,
        short_names=("sts",),
        interpretation=scaled_interpretation(
            STATEFUL_SET,
            aggregate=aggregation_of_counters(STATEFUL_SET, by_member=True),
            dependencies=stateful_dependencies,
        ),
        has_no="retained clean prune stage takes_others_along maps is_transient pruned_fields",
    ),
)
"""The kind of workloads whose pods are distinguished."""
