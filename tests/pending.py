"""Pods that no node takes, as a member's controllers and its scheduler leave them."""

from typing import Any

from .fakes import FakeCluster
from .memory_fleet import put


def add_replica_set(member: FakeCluster, deployment: str, number: int, *, namespace: str = "default") -> str:
    """Give a member the ReplicaSet of a Deployment's revision, and return its name."""
    name = f"{deployment}-{number}"
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "annotations": {"deployment.kubernetes.io/revision": str(number)},
        "ownerReferences": [{"kind": "Deployment", "name": deployment, "controller": True}],
    }
    put(member, "replicasets.apps", namespace, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata})
    return name


def add_pods(member: FakeCluster, owner: str, *, ready: int = 0, since: tuple[str, ...] = ()) -> None:
    """Give a member the pods of a ReplicaSet, in place of all it had: so many ready ones, and some that wait."""
    for key in [key for key in member.objects if key[0] == "pods." and key[2].startswith(f"{owner}-")]:
        del member.objects[key]
    for number in range(ready):
        conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
        _add_pod(member, owner, f"{owner}-ready-{number}", conditions, node="node-0")
    for number, time in enumerate(since):
        conditions = [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": time}
        ]
        _add_pod(member, owner, f"{owner}-waiting-{number}", conditions)


def _add_pod(member: FakeCluster, owner: str, name: str, conditions: list[dict[str, str]], *, node: str = "") -> None:
    owners = [{"kind": "ReplicaSet", "name": owner, "controller": True}]
    metadata = {"name": name, "namespace": "default", "ownerReferences": owners}
    spec: dict[str, Any] = {"containers": [{"name": "main"}]} | ({"nodeName": node} if node else {})
    status = {"phase": "Running" if node else "Pending", "conditions": conditions}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
    put(member, "pods.", "default", manifest)
