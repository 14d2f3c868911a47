"""The schema of argosy.yaml, a Fleet of argosy.dev/v1alpha1; the defaults are those of the values."""

from .schema import INT32, Record, Sequence, Text, Whole
from .shared_schema import POINTER_FLAG, TEXT, TEXTS

_COUNT = Whole(INT32, minimum=0, keep=True)
_BUDGET = Record({"replicas": _COUNT, "percent": _COUNT})
_PERMISSION = Text(choices=("Allow", "Refuse"))

FLEET_SPEC = Record(
    {
        "source": Record({"paths": TEXTS, "ignore": TEXTS}),
        "rendered": Record({"remote": TEXT, "branch": TEXT}),
        "mirrors": TEXTS,
        "defaultNamespace": TEXT,
        "kinds": Sequence(Record({"group": TEXT, "kind!": TEXT, "scope!": Text(choices=("Namespaced", "Cluster"))})),
        "namespaces": Text(choices=("Needed", "All", "Explicit")),
        "skippedAPIs": TEXTS,
        "skippedNamespaces": TEXTS,
        "compatibility": Text(choices=("Argosy", "Karmada")),
        "claims": Text(choices=("Pure", "Sticky")),
        "rescheduling": Text(choices=("Source", "Karmada")),
        "reserveCapacity": POINTER_FLAG,
        "tieBreak": Text(choices=("Identity", "Name")),
        "requireRecordedAPIs": POINTER_FLAG,
        "onPolicyRemoval": Text(choices=("Keep", "Remove")),
        "secrets": _PERMISSION,
        "removalGuard": Record({"count": _COUNT, "percent": _COUNT, "whole": _COUNT}),
        "movementGuard": Record(
            {
                "fleet": _BUDGET,
                "workload": _BUDGET,
                "minimumClusters": _COUNT,
                "minimumRegions": _COUNT,
                "pinned": Sequence(
                    Record({"group": TEXT, "kind": TEXT, "namespace": TEXT, "name": TEXT, "clusters": TEXTS})
                ),
            }
        ),
        "clusters": Sequence(Record({"name!": TEXT, "context": TEXT, "kubeconfig": TEXT})),
        "kubeconfigs": TEXT,
    }
)
