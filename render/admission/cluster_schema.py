"""The types of a Cluster: it has no CRD, so nothing is required or restricted before the rules of its registry."""

from .schema import INT64, Anything, Flag, Quantity, Record, Sequence, Table, Whole
from .shared_schema import INTEGER32, LABELS, TEXT, TEXTS

_SECRET = Record({"namespace!": TEXT, "name!": TEXT})
_QUANTITIES = Table(Quantity())
_GRADE = Whole(INT64, minimum=0)

CLUSTER_SPEC = Record(
    {
        "id": TEXT,
        "syncMode!": TEXT,
        "apiEndpoint": TEXT,
        "secretRef": _SECRET,
        "impersonatorSecretRef": _SECRET,
        "insecureSkipTLSVerification": Flag(),
        "proxyURL": TEXT,
        "proxyHeader": LABELS,
        "provider": TEXT,
        "region": TEXT,
        "zone": TEXT,
        "zones": TEXTS,
        "taints": Sequence(Record({"key!": TEXT, "value": TEXT, "effect!": TEXT, "timeAdded": TEXT})),
        "resourceModels": Sequence(
            Record(
                {
                    "grade!": _GRADE,
                    "ranges": Sequence(Record({"name!": TEXT, "min!": Quantity(), "max!": Quantity()})),
                }
            )
        ),
    }
)

CLUSTER_STATUS = Record(
    {
        "kubernetesVersion": TEXT,
        "apiEnablements": Sequence(
            Record({"groupVersion!": TEXT, "resources": Sequence(Record({"name!": TEXT, "kind!": TEXT}))})
        ),
        "conditions": Sequence(Anything()),
        "nodeSummary": Record({"totalNum": INTEGER32, "readyNum": INTEGER32}),
        "resourceSummary": Record(
            {
                "allocatable": _QUANTITIES,
                "allocating": _QUANTITIES,
                "allocated": _QUANTITIES,
                "allocatableModelings": Sequence(Record({"grade!": _GRADE, "count!": Whole(INT64)})),
            }
        ),
        "remedyActions": TEXTS,
    }
)
