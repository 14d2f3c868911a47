"""The schema of PropagationPolicy and ClusterPropagationPolicy."""

from .schema import INT32, Flag, Record, Sequence, Text, Whole
from .shared_schema import (
    CONFLICT_RESOLUTION,
    FAILOVER,
    PLACEMENT,
    POINTER_FLAG,
    RESOURCE_SELECTOR,
    SUSPENDED_FIELDS,
    TEXT,
    TEXTS,
)

PROPAGATION_SPEC = Record(
    {
        "resourceSelectors!": Sequence(RESOURCE_SELECTOR, min_items=1),
        "association": Flag(),
        "propagateDeps": Flag(),
        "placement": PLACEMENT,
        "priority": Whole(INT32, default=0, keep=True),
        "preemption": Text(choices=("Always", "Never"), default="Never"),
        "dependentOverrides": TEXTS,
        "schedulerName": Text(default="default-scheduler"),
        "failover": FAILOVER,
        "conflictResolution": CONFLICT_RESOLUTION,
        "activationPreference": Text(choices=("Lazy",)),
        "suspension": Record(SUSPENDED_FIELDS),
        "preserveResourcesOnDeletion": POINTER_FLAG,
        "schedulePriority": Record(
            {"priorityClassSource!": Text(choices=("KubePriorityClass",)), "priorityClassName!": TEXT}
        ),
    }
)
