"""The state of a live object: a row per rule, and objects that a laxer rule would take for fine."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from reconciler.observe.progress import progress_of_live_object
from render.interpretation.progress import LiveState, Progress

from .tables import each_row

CURRENT = LiveState(Progress.CURRENT)


class Case(NamedTuple):
    why: str
    kind: str
    spec: dict[str, Any]
    status: dict[str, Any]
    want: LiveState
    metadata: Mapping[str, Any] = MappingProxyType({})


def going(reason: str, message: str = "") -> LiveState:
    return LiveState(Progress.IN_PROGRESS, reason, message)


def broken(reason: str, message: str = "") -> LiveState:
    return LiveState(Progress.FAILED, reason, message)


def condition(kind: str, status: str, reason: str = "R", message: str = "M") -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, "reason": reason, "message": message}]}


FULL = {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3, "observedGeneration": 1}
STATEFUL = {**FULL, "currentRevision": "a", "updateRevision": "a"}
DAEMON = {
    "observedGeneration": 1,
    "desiredNumberScheduled": 2,
    "currentNumberScheduled": 2,
    "updatedNumberScheduled": 2,
    "numberAvailable": 2,
    "numberReady": 2,
}
PAUSED = "it is paused (spec.paused), so nothing is rolled out"
OLD = going("OldReplicas", "replicas of an older revision are still there")
UNSEEN = going("NotObserved", "its controller has not seen it yet")
CASES = [
    Case(
        "whatever is deleted is going",
        "v1 ConfigMap",
        {},
        {},
        LiveState(Progress.TERMINATING, "Terminating", "it is being deleted"),
        {"deletionTimestamp": "now"},
    ),
    Case(
        "an old generation's status proves nothing",
        "apps/v1 Deployment",
        {"replicas": 3},
        FULL,
        going("NotObserved", "its controller has not seen the newest generation"),
        {"generation": 2},
    ),
    Case("stalled is broken, of any kind", "x.io/v1 Thing", {}, condition("Stalled", "True"), broken("R", "M")),
    Case(
        "reconciling is under way, of any kind", "x.io/v1 Thing", {}, condition("Reconciling", "True"), going("R", "M")
    ),
    Case("a custom resource that is not ready", "x.io/v1 Thing", {}, condition("Ready", "False"), going("R", "M")),
    Case(
        "a custom resource of which that is unknown",
        "x.io/v1 Thing",
        {},
        condition("Ready", "Unknown", ""),
        going("NotReady", "M"),
    ),
    Case("a custom resource without a status", "x.io/v1 Thing", {}, {}, CURRENT),
    Case("conditions that are no list say nothing", "x.io/v1 Thing", {}, {"conditions": {"Ready": "False"}}, CURRENT),
    Case("a config map has nothing to wait for", "v1 ConfigMap", {}, {}, CURRENT),
    Case("a deployment with all replicas", "apps/v1 Deployment", {"replicas": 3}, FULL, CURRENT),
    Case(
        "one that is paused rolls nothing out, which is no lack of room",
        "apps/v1 Deployment",
        {"replicas": 3, "paused": True},
        {**FULL, "updatedReplicas": 0},
        going("Paused", f"{PAUSED}; updatedReplicas: 0 of 3"),
    ),
    Case(
        "one that was paused in the middle of it",
        "apps/v1 Deployment",
        {"replicas": 3, "paused": True},
        {**FULL, "replicas": 4},
        going("Paused", f"{PAUSED}; replicas of an older revision are still there"),
    ),
    Case(
        "one that is paused and complete is well", "apps/v1 Deployment", {"replicas": 3, "paused": True}, FULL, CURRENT
    ),
    Case(
        "one replica is meant where none is said",
        "apps/v1 Deployment",
        {},
        {**FULL, "updatedReplicas": 0},
        going("OldReplicas", "updatedReplicas: 0 of 1"),
    ),
    Case("a deployment nobody has looked at", "apps/v1 Deployment", {"replicas": 0}, {}, UNSEEN),
    Case(
        "a deployment that lacks a ready replica",
        "apps/v1 Deployment",
        {"replicas": 3},
        {**FULL, "readyReplicas": 2},
        going("ReplicasMissing", "readyReplicas: 2 of 3"),
    ),
    Case(
        "a deployment of which nothing is ready, and not all of it is new",
        "apps/v1 Deployment",
        {"replicas": 3},
        {**FULL, "readyReplicas": 0, "availableReplicas": 0, "updatedReplicas": 2},
        going("ReplicasMissing", "readyReplicas: 0 of 3"),
    ),
    Case(
        "a daemon set of which nothing is ready, and not all of it is new",
        "apps/v1 DaemonSet",
        {},
        {**DAEMON, "numberReady": 0, "numberAvailable": 0, "updatedNumberScheduled": 1},
        going("ReplicasMissing", "numberReady: 0 of 2"),
    ),
    Case("old replicas that still run", "apps/v1 Deployment", {"replicas": 3}, {**FULL, "replicas": 4}, OLD),
    Case(
        "a deadline that is over, although old replicas are available",
        "apps/v1 Deployment",
        {"replicas": 3},
        {**FULL, **condition("Progressing", "False", "ProgressDeadlineExceeded")},
        broken("ProgressDeadlineExceeded", "M"),
    ),
    Case(
        "replicas that cannot be made",
        "apps/v1 Deployment",
        {"replicas": 3},
        condition("ReplicaFailure", "True", "FailedCreate"),
        broken("FailedCreate", "M"),
    ),
    Case(
        "a replica set that cannot make its pods",
        "apps/v1 ReplicaSet",
        {"replicas": 3},
        condition("ReplicaFailure", "True", "FailedCreate"),
        broken("FailedCreate", "M"),
    ),
    Case("a replica set with all of them", "apps/v1 ReplicaSet", {"replicas": 3}, FULL, CURRENT),
    Case("a stateful set of one revision", "apps/v1 StatefulSet", {"replicas": 3}, STATEFUL, CURRENT),
    Case(
        "a stateful set between revisions",
        "apps/v1 StatefulSet",
        {"replicas": 3},
        {**STATEFUL, "updateRevision": "b"},
        OLD,
    ),
    Case(
        "above a partition the old revision may stay",
        "apps/v1 StatefulSet",
        {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}},
        {**STATEFUL, "updateRevision": "b", "updatedReplicas": 1},
        CURRENT,
    ),
    Case(
        "who updates by hand is left to it",
        "apps/v1 StatefulSet",
        {"replicas": 3, "updateStrategy": {"type": "OnDelete"}},
        {},
        CURRENT,
    ),
    Case("a daemon set on every node", "apps/v1 DaemonSet", {}, DAEMON, CURRENT),
    Case(
        "a daemon set that misses a node",
        "apps/v1 DaemonSet",
        {},
        {**DAEMON, "numberAvailable": 1},
        going("ReplicasMissing", "numberAvailable: 1 of 2"),
    ),
    Case("a daemon set nobody has looked at", "apps/v1 DaemonSet", {}, {}, UNSEEN),
    Case(
        "a running job is not done", "batch/v1 Job", {}, {"active": 1}, going("JobRunning", "it has not completed yet")
    ),
    Case("a job that is done", "batch/v1 Job", {}, condition("Complete", "True"), CURRENT),
    Case("a job that waits on purpose", "batch/v1 Job", {}, condition("Suspended", "True"), CURRENT),
    Case(
        "a job that failed",
        "batch/v1 Job",
        {},
        condition("Failed", "True", "BackoffLimitExceeded"),
        broken("BackoffLimitExceeded", "M"),
    ),
    Case(
        "a pod that failed is not current",
        "v1 Pod",
        {},
        {"phase": "Failed"},
        broken("PodFailed", "it ended in failure"),
    ),
    Case(
        "a running pod that is not ready",
        "v1 Pod",
        {},
        {"phase": "Running"},
        going("PodNotReady", "its phase is Running"),
    ),
    Case(
        "a load balancer without an address",
        "v1 Service",
        {"type": "LoadBalancer"},
        {},
        going("NoAddress", "its load balancer has no address yet"),
    ),
    Case("a service inside needs none", "v1 Service", {"type": "ClusterIP"}, {}, CURRENT),
    Case("a claim that waits for its first consumer", "v1 PersistentVolumeClaim", {}, {"phase": "Pending"}, CURRENT),
    Case(
        "a claim whose volume is gone",
        "v1 PersistentVolumeClaim",
        {},
        {"phase": "Lost"},
        broken("ClaimLost", "the volume it was bound to is gone"),
    ),
    Case(
        "a definition that is being installed",
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        {},
        condition("Established", "False", "Installing"),
        going("Installing", "M"),
    ),
    Case(
        "a definition whose names are taken",
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        {},
        condition("NamesAccepted", "False", "Conflict"),
        broken("Conflict", "M"),
    ),
    Case(
        "an autoscaler that cannot read its metrics",
        "autoscaling/v2 HorizontalPodAutoscaler",
        {},
        condition("ScalingActive", "False", "FailedGetResourceMetric"),
        going("FailedGetResourceMetric", "M"),
    ),
    Case(
        "a namespace on its way out",
        "v1 Namespace",
        {},
        {"phase": "Terminating"},
        going("NotActive", "its phase is Terminating"),
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_live_state(case: Case) -> None:
    api_version, _, kind = case.kind.partition(" ")
    metadata = {"name": "x", "generation": 1, **case.metadata}
    live = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": case.spec, "status": case.status}
    assert progress_of_live_object(live) == case.want
