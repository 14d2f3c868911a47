"""The rule of each federation that a remark is about: a stable name, which reports have and the guides explain."""

from collections.abc import Mapping

RULES: Mapping[str, str] = {
    "unknown-cluster": "KF-02",
    "nowhere": "KF-05",
    "namespace-not-federated": "KF-09",
    "override-fails": "KF-11",
    "override-identity": "KF-12",
    "template-annotations-dropped": "KF-13",
    "template-finalizers-dropped": "KF-13",
    "ftc-unknown-kind": "KF-16",
    "rsp-read": "KF-18",
    "rsp-pinned": "KF-20",
    "rsp-intersect-empty": "KF-22",
    "gt-lt-frozen": "F1-07",
    "cluster-selector-unreadable": "F1-09",
    "replicas-pinned": "F1-10",
    "preferences-unparsable-default-used": "F1-11",
    "preferences-without-clusters-schedule-nothing": "F1-12",
    "job-pinned": "F1-13",
    "hpa-divided": "F1-15",
    "hpa-controlled": "F1-15",
    "selector-derived": "F1-16",
    "subscription-read": "CN-01",
    "union-frozen": "CN-02",
    "union-needs-clusters": "CN-02",
    "shares-pinned": "CN-05",
    "dynamic-by-room": "CN-09",
    "dynamic-pinned": "CN-11",
    "overrides-frozen": "CN-12",
    "clusternet-override-fails": "CN-13",
    "chart-by-flux": "CN-16",
    "subgroup-frozen": "CN-17",
    "binpack": "CN-19",
}
"""The rule by the code of a remark; codes that are about no rule of one federation are not there."""
