"""The pods of Deployments that no node of a member takes, with the time since when: what the descheduler goes by.

The pods are those that the capacity is counted from. Which Deployment a pod is of, and whether it is of its newest
revision, say ReplicaSets, which are asked for only in namespaces where a pod waits.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from reconciler.ledger.conditions import condition_of_type
from reconciler.members.boundary import result_or_failure
from reconciler.members.discovery import Resource
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.listing import Listing, list_objects
from render.model import Manifest, ObjectRef
from render.rescheduling.descheduling import PendingPods, PendingReplicas
from render.timing import instant_after, instant_text, parse_instant

REPLICA_SETS = Resource(group="apps", version="v1", kind="ReplicaSet", plural="replicasets", is_namespaced=True)
_REVISION = "deployment.kubernetes.io/revision"

Pending = Mapping[ObjectRef, PendingReplicas]
"""The Deployments of a member of which pods wait for a node."""


def observe_pending(client: Client, cluster: str, pods: Sequence[Manifest]) -> Pending | Failure:
    """Return the Deployments of which pods wait for a node; namespaces that may not be read are left out."""
    found = result_or_failure(lambda: _pending_replicas_of_deployments(client, cluster, pods))
    return found if isinstance(found, Failure) else dict(found)


def pending_with_times_of_our_clock(pending: Pending, ahead: int) -> Pending:
    """Return what waits with the times since when as our clock has them: the member's is ahead by so many seconds."""
    if not ahead:
        return pending
    return {
        ref: replace(
            found, pending=tuple(replace(each, since=_earlier_time(each.since, ahead)) for each in found.pending)
        )
        for ref, found in pending.items()
    }


def _earlier_time(since: str, seconds: int) -> str:
    found = parse_instant(since)
    return instant_text(instant_after(found, -seconds)) if found else since


def _pending_replicas_of_deployments(client: Client, cluster: str, pods: Sequence[Manifest]) -> Pending | Failure:
    by_owner: dict[tuple[str, str], list[Manifest]] = {}
    for pod in pods:
        if (owner := _name_of_controller(pod, "ReplicaSet")) and not pod["metadata"].get("deletionTimestamp"):
            by_owner.setdefault((pod["metadata"]["namespace"], owner), []).append(pod)
    spaces = sorted({space for (space, _), owned in by_owner.items() if any(map(_unschedulable_since, owned))})
    pending: dict[ObjectRef, PendingReplicas] = {}
    for space in spaces:
        listed = list_objects(client, Listing(resource=REPLICA_SETS, only_namespace=space))
        if isinstance(listed, Failure):
            if listed.kind is FailureKind.FORBIDDEN:
                continue
            return listed
        for name, sets in _replica_sets_by_deployment(listed.values()).items():
            owned = [by_owner.get((space, each["metadata"]["name"]), []) for each in sets]
            waiting = _pods_by_time(filter(None, map(_unschedulable_since, owned[-1])))
            if waiting:
                ready = sum(map(_is_pod_ready, (pod for each in owned for pod in each)))
                ref = ObjectRef("apps", "Deployment", space, name)
                pending[ref] = PendingReplicas(cluster=cluster, ready=ready, pending=waiting)
    return pending


def _replica_sets_by_deployment(replica_sets: Iterable[Manifest]) -> dict[str, list[Manifest]]:
    """Return the ReplicaSets of each Deployment, the newest revision last."""
    found: dict[str, list[Manifest]] = {}
    for each in replica_sets:
        if owner := _name_of_controller(each, "Deployment"):
            found.setdefault(owner, []).append(each)
    return {owner: sorted(sets, key=_revision_of_replica_set) for owner, sets in found.items()}


def _revision_of_replica_set(replica_set: Manifest) -> int:
    text = str((replica_set["metadata"].get("annotations") or {}).get(_REVISION) or "")
    return int(text) if text.isdecimal() and text.isascii() else 0


def _name_of_controller(manifest: Manifest, kind: str) -> str:
    """Return the name of the object of a kind that controls another one ("": none does)."""
    owners: Iterable[Mapping[str, Any]] = manifest["metadata"].get("ownerReferences") or ()
    return next((str(each["name"]) for each in owners if each.get("controller") and each.get("kind") == kind), "")


def _unschedulable_since(pod: Manifest) -> str:
    """Return since when no node takes a pod ("": one does, or nobody has tried)."""
    condition = condition_of_type((pod.get("status") or {}).get("conditions"), "PodScheduled")
    if condition.get("status") != "False" or condition.get("reason") != "Unschedulable":
        return ""
    return str(condition.get("lastTransitionTime") or "")


def _is_pod_ready(pod: Manifest) -> bool:
    return condition_of_type((pod.get("status") or {}).get("conditions"), "Ready").get("status") == "True"


def _pods_by_time(times: Iterable[str]) -> tuple[PendingPods, ...]:
    counts: dict[str, int] = {}
    for time in times:
        counts[time] = counts.get(time, 0) + 1
    return tuple(PendingPods(since=time, pods=counts[time]) for time in sorted(counts))
