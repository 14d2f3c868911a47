"""The fields that a template loses before it is rendered."""

from copy import deepcopy
from typing import Any, NamedTuple

from render.interpreter.pruning import manifest_without_pruned_fields

from .tables import each_row


class Loss(NamedTuple):
    why: str
    manifest: dict[str, Any]
    want: dict[str, Any]


def a(kind: str, name: str = "x", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}


def annotated(kind: str, *annotations: str) -> dict[str, Any]:
    return {**a(kind), "metadata": {"name": "x", "annotations": dict.fromkeys(annotations, "1")}}


OWN = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name")
TOKEN = "kubernetes.io/service-account-token"
LOSSES = [
    Loss("what stays, stays", a("ConfigMap", data={"status": "1"}), a("ConfigMap", data={"status": "1"})),
    Loss("the status", a("Widget", status={"phase": "Ready"}), a("Widget")),
    Loss(
        "what its API server says about it",
        {
            **a("ConfigMap"),
            "metadata": {
                "name": "x",
                "labels": {"uid": "kept"},
                **dict.fromkeys(("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"), "t"),
                **dict.fromkeys(("generation", "managedFields", "resourceVersion", "selfLink", "uid"), 1),
                "ownerReferences": [],
                "finalizers": [],
            },
        },
        {**a("ConfigMap"), "metadata": {"name": "x", "labels": {"uid": "kept"}}},
    ),
    Loss(
        "a deployment's revision",
        annotated("Deployment", "deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history", "b"),
        annotated("Deployment", "b"),
    ),
    Loss(
        "another kind's annotation of that name",
        annotated("ReplicaSet", "deployment.kubernetes.io/revision"),
        annotated("ReplicaSet", "deployment.kubernetes.io/revision"),
    ),
    Loss(
        "a job's own labels and its time to live",
        a(
            "Job",
            spec={
                "ttlSecondsAfterFinished": 60,
                "selector": {"matchLabels": dict.fromkeys(OWN[:2], "1")},
                "template": {"metadata": {"labels": {**dict.fromkeys(OWN, "1"), "app": "x"}}},
            },
        ),
        a("Job", spec={"selector": {"matchLabels": {}}, "template": {"metadata": {"labels": {"app": "x"}}}}),
    ),
    Loss(
        "with a selector of one's own, only the time to live",
        a(
            "Job",
            spec={"manualSelector": True, "ttlSecondsAfterFinished": 60, "selector": {"matchLabels": {OWN[0]: "1"}}},
        ),
        a("Job", spec={"manualSelector": True, "selector": {"matchLabels": {OWN[0]: "1"}}}),
    ),
    Loss(
        "a service account's token",
        {**annotated("Secret", "kubernetes.io/service-account.uid", "b"), "type": TOKEN, "data": {"token": "x"}},
        {**annotated("Secret", "b"), "type": TOKEN, "data": None},
    ),
    Loss("no other secret", a("Secret", type="Opaque", data={"a": "x"}), a("Secret", type="Opaque", data={"a": "x"})),
    Loss(
        "a service account's generated secrets",
        a("ServiceAccount", "foo", secrets=[{"name": "foo-token-abc"}, {"name": "other"}]),
        a("ServiceAccount", "foo", secrets=[{"name": "other"}]),
    ),
    Loss(
        "of two side by side only the first, as in Karmada",
        a("ServiceAccount", "foo", secrets=[{"name": "foo-token-a"}, {"name": "foo-token-b"}, {"name": "x"}]),
        a("ServiceAccount", "foo", secrets=[{"name": "foo-token-b"}, {"name": "x"}]),
    ),
    Loss(
        "a service's addresses",
        a("Service", spec={"clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5"], "ports": [{"nodePort": 30080}]}),
        a("Service", spec={"ports": [{"nodePort": 30080}]}),
    ),
    Loss("even an empty one", a("Service", spec={"clusterIP": "", "clusterIPs": []}), a("Service", spec={})),
    Loss(
        "but not that it has none",
        a("Service", spec={"clusterIP": "None", "clusterIPs": ["None"]}),
        a("Service", spec={"clusterIP": "None", "clusterIPs": ["None"]}),
    ),
    Loss(
        "nor addresses without an address",
        a("Service", spec={"clusterIPs": ["10.0.0.5"]}),
        a("Service", spec={"clusterIPs": ["10.0.0.5"]}),
    ),
    Loss(
        "the node a claim's volume is on",
        annotated("PersistentVolumeClaim", "volume.kubernetes.io/selected-node"),
        {**a("PersistentVolumeClaim"), "metadata": {"name": "x", "annotations": {}}},
    ),
    Loss(
        "nothing more where a list of objects has none",
        a("ServiceAccount", "foo", secrets=[{"name": "foo-token-a"}, "x"], status={}),
        a("ServiceAccount", "foo", secrets=[{"name": "foo-token-a"}, "x"]),
    ),
    Loss("nothing more where an object is a text", a("Service", spec="x", status={}), a("Service", spec="x")),
]


@each_row("case", LOSSES, ids=lambda case: case.why)
def test_pruning(case: Loss) -> None:
    before = deepcopy(case.manifest)
    assert manifest_without_pruned_fields(case.manifest) == case.want
    assert case.manifest == before
    assert manifest_without_pruned_fields(
        manifest_without_pruned_fields(case.manifest)
    ) == case.want or case.why.startswith("of two")
