"""ResourceBinding and ClusterResourceBinding: their schema, and what is said of those that another gate placed."""

from typing import Any

from .findings import Findings
from .policy_warnings import WITHOUT_COMPONENTS
from .schema import INT32, INT64, Anything, Flag, ListOf, MapOf, Node, Quantity, Record, Text, Whole
from .shared_schema import (
    CONFLICT_RESOLUTION,
    FAILOVER,
    FORMER_PURGE_MODES,
    INTEGER32,
    LABELS,
    PLACEMENT,
    POINTER32,
    POINTER_FLAG,
    SUSPENDED_FIELDS,
    TEXT,
    TEXTS,
    TOLERATIONS,
)

_NODE_CLAIM = Record({"hardNodeAffinity": Anything(), "nodeSelector": LABELS, "tolerations": TOLERATIONS})
_REQUIREMENTS: dict[str, Node] = {
    "nodeClaim": _NODE_CLAIM,
    "resourceRequest": MapOf(Quantity()),
    "namespace": TEXT,
    "priorityClassName": TEXT,
}
_TARGETS = ListOf(
    Record(
        {
            "name!": TEXT,
            "replicas": INTEGER32,
            "components": ListOf(Record({"name!": TEXT, "replicas!": INTEGER32})),
        }
    )
)

_EVICTION_TASK = Record(
    {
        "fromCluster!": TEXT,
        "purgeMode": Text(choices=("Directly", "Gracefully", "Never"), former=FORMER_PURGE_MODES),
        "replicas": POINTER32,
        "reason!": TEXT,
        "message": TEXT,
        "producer!": TEXT,
        "gracePeriodSeconds": POINTER32,
        "suppressDeletion": POINTER_FLAG,
        "preservedLabelState": LABELS,
        "creationTimestamp": TEXT,
        "clustersBeforeFailover": TEXTS,
    }
)

BINDING_SPEC = Record(
    {
        "resource!": Record(
            {
                "apiVersion!": TEXT,
                "kind!": TEXT,
                "namespace": TEXT,
                "name!": TEXT,
                "uid": TEXT,
                "resourceVersion": TEXT,
            }
        ),
        "propagateDeps": Flag(),
        "replicaRequirements": Record(_REQUIREMENTS),
        "replicas": INTEGER32,
        "components": ListOf(
            Record(
                {
                    "name!": Text(max_length=32),
                    "replicas!": INTEGER32,
                    "replicaRequirements": Record(_REQUIREMENTS),
                }
            )
        ),
        "clusters": _TARGETS,
        "placement": PLACEMENT,
        "gracefulEvictionTasks": ListOf(_EVICTION_TASK),
        "requiredBy": ListOf(Record({"namespace": TEXT, "name!": TEXT, "clusters": _TARGETS})),
        "schedulerName": TEXT,
        "failover": FAILOVER,
        "conflictResolution": CONFLICT_RESOLUTION,
        "rescheduleTriggeredAt": TEXT,
        "suspension": Record({**SUSPENDED_FIELDS, "scheduling": POINTER_FLAG}),
        "preserveResourcesOnDeletion": POINTER_FLAG,
        "schedulePriority": Record({"priority": Whole(INT32, default=0, keep=True)}),
        "workloadAffinityGroups": Record({"affinityGroup": TEXT, "antiAffinityGroup": TEXT}),
    }
)

BINDING_STATUS = Record(
    {
        "appliedOverrides": ListOf(Anything()),
        "schedulerObservedGeneration": Whole(INT64),
        "schedulerObservingAffinityName": TEXT,
        "lastScheduledTime": TEXT,
        "conditions": ListOf(
            Record(
                {
                    "type!": TEXT,
                    "status!": Text(choices=("True", "False", "Unknown")),
                    "reason": TEXT,
                    "message": TEXT,
                    "lastTransitionTime": TEXT,
                    "since": TEXT,
                    "observedGeneration": Whole(INT64),
                }
            )
        ),
        "aggregatedStatus": ListOf(Anything()),
    }
)


def warn_of_components_placed_together(binding: dict[str, Any], findings: Findings) -> None:
    """Warn of components that a control plane placed together, and that would be placed as replicas here."""
    if binding["spec"].get("components"):
        hint = "turn it on, as in the control plane that placed them, or the object is scheduled anew"
        findings.warning("spec.components", f"count for nothing {WITHOUT_COMPONENTS}", hint=hint)
