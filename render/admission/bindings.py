"""ResourceBinding and ClusterResourceBinding: their schema."""

from .schema import INT32, INT64, Anything, Flag, ListOf, MapOf, Node, Quantity, Struct, Text, Whole
from .shared_schema import (
    CONFLICT_RESOLUTION,
    FAILOVER,
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

_NODE_CLAIM = Struct({"hardNodeAffinity": Anything(), "nodeSelector": LABELS, "tolerations": TOLERATIONS})
_REQUIREMENTS: dict[str, Node] = {
    "nodeClaim": _NODE_CLAIM,
    "resourceRequest": MapOf(Quantity()),
    "namespace": TEXT,
    "priorityClassName": TEXT,
}
_TARGETS = ListOf(
    Struct(
        {
            "name!": TEXT,
            "replicas": INTEGER32,
            "components": ListOf(Struct({"name!": TEXT, "replicas!": INTEGER32})),
        }
    )
)

_EVICTION_TASK = Struct(
    {
        "fromCluster!": TEXT,
        "purgeMode": Text(choices=("Directly", "Gracefully", "Never")),
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

BINDING_SPEC = Struct(
    {
        "resource!": Struct(
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
        "replicaRequirements": Struct(_REQUIREMENTS),
        "replicas": INTEGER32,
        "components": ListOf(
            Struct(
                {
                    "name!": Text(max_length=32),
                    "replicas!": INTEGER32,
                    "replicaRequirements": Struct(_REQUIREMENTS),
                }
            )
        ),
        "clusters": _TARGETS,
        "placement": PLACEMENT,
        "gracefulEvictionTasks": ListOf(_EVICTION_TASK),
        "requiredBy": ListOf(Struct({"namespace": TEXT, "name!": TEXT, "clusters": _TARGETS})),
        "schedulerName": TEXT,
        "failover": FAILOVER,
        "conflictResolution": CONFLICT_RESOLUTION,
        "rescheduleTriggeredAt": TEXT,
        "suspension": Struct({**SUSPENDED_FIELDS, "scheduling": POINTER_FLAG}),
        "preserveResourcesOnDeletion": POINTER_FLAG,
        "schedulePriority": Struct({"priority": Whole(INT32, default=0, keep=True)}),
        "workloadAffinityGroups": Struct({"affinityGroup": TEXT, "antiAffinityGroup": TEXT}),
    }
)

BINDING_STATUS = Struct(
    {
        "appliedOverrides": ListOf(Anything()),
        "schedulerObservedGeneration": Whole(INT64),
        "schedulerObservingAffinityName": TEXT,
        "lastScheduledTime": TEXT,
        "conditions": ListOf(
            Struct(
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
