"""Schemas that several kinds share: selectors, affinities, placements, failover, suspension."""

from .schema import INT32, INT64, Flag, ListOf, MapOf, Node, Record, Text, Whole

TEXT = Text()
TEXTS = ListOf(TEXT)
LABELS = MapOf(TEXT)
INTEGER32 = Whole(INT32)
POINTER32 = Whole(INT32, keep=True)
POINTER_FLAG = Flag(keep=True)

_EXPRESSIONS = ListOf(Record({"key!": TEXT, "operator!": TEXT, "values": TEXTS}))
_AFFINITY_NAME = Text(min_length=1, max_length=32)

LABEL_SELECTOR = Record({"matchLabels": LABELS, "matchExpressions": _EXPRESSIONS})

RESOURCE_SELECTOR = Record(
    {"apiVersion!": TEXT, "kind!": TEXT, "namespace": TEXT, "name": TEXT, "labelSelector": LABEL_SELECTOR}
)

_AFFINITY_FIELDS: dict[str, Node] = {
    "labelSelector": LABEL_SELECTOR,
    "fieldSelector": Record({"matchExpressions": _EXPRESSIONS}),
    "clusterNames": TEXTS,
    "exclude": TEXTS,
}

CLUSTER_AFFINITY = Record(_AFFINITY_FIELDS)

_NAMED_AFFINITY: dict[str, Node] = {"affinityName!": _AFFINITY_NAME, **_AFFINITY_FIELDS}

TOLERATIONS = ListOf(
    Record(
        {
            "key": TEXT,
            "operator": TEXT,
            "value": TEXT,
            "effect": TEXT,
            "tolerationSeconds": Whole(INT64, keep=True),
        }
    )
)

_WEIGHT_PREFERENCE = Record(
    {
        "staticWeightList": ListOf(Record({"targetCluster!": CLUSTER_AFFINITY, "weight!": Whole(INT64, minimum=1)})),
        "dynamicWeight": Text(choices=("AvailableReplicas",)),
    }
)

_GROUP_BY = Record({"groupByLabelKey!": TEXT})

PLACEMENT = Record(
    {
        "clusterAffinity": CLUSTER_AFFINITY,
        "clusterAffinities": ListOf(Record({**_NAMED_AFFINITY, "overflowAffinities": ListOf(Record(_NAMED_AFFINITY))})),
        "clusterTolerations": TOLERATIONS,
        "spreadConstraints": ListOf(
            Record(
                {
                    "spreadByField": Text(choices=("cluster", "region", "zone", "provider")),
                    "spreadByLabel": TEXT,
                    "maxGroups": Whole(INT64),
                    "minGroups": Whole(INT64),
                }
            )
        ),
        "replicaScheduling": Record(
            {
                "replicaSchedulingType": Text(choices=("Duplicated", "Divided"), default="Divided"),
                "replicaDivisionPreference": Text(choices=("Aggregated", "Weighted")),
                "weightPreference": _WEIGHT_PREFERENCE,
            }
        ),
        "workloadAffinity": Record({"affinity": _GROUP_BY, "antiAffinity": _GROUP_BY}),
    }
)

FORMER_PURGE_MODES = (("Immediately", "Directly"), ("Graciously", "Gracefully"))
"""The words that Karmada had for purge modes before, and takes up to 1.16."""

_STATE_PRESERVATION = Record({"rules!": ListOf(Record({"aliasLabelName!": TEXT, "jsonPath!": TEXT}))})

FAILOVER = Record(
    {
        "application": Record(
            {
                "decisionConditions!": Record({"tolerationSeconds": Whole(INT32, default=300, keep=True)}),
                "purgeMode": Text(
                    choices=("Directly", "Gracefully", "Never"), default="Gracefully", former=FORMER_PURGE_MODES
                ),
                "gracePeriodSeconds": POINTER32,
                "statePreservation": _STATE_PRESERVATION,
            }
        ),
        "cluster": Record(
            {
                "purgeMode": Text(choices=("Directly", "Gracefully"), default="Gracefully"),
                "statePreservation": _STATE_PRESERVATION,
            }
        ),
    }
)

SUSPENDED_FIELDS: dict[str, Node] = {
    "dispatching": POINTER_FLAG,
    "dispatchingOnClusters": Record({"clusterNames": TEXTS}),
}

CONFLICT_RESOLUTION = Text(choices=("Abort", "Overwrite"), default="Abort")
