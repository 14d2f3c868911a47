"""ResourceBindings and ClusterResourceBindings from plain data: our own, and any Karmada wrote."""

from collections.abc import Iterable
from typing import Any

from render.binding import (
    Binding,
    BindingSnapshot,
    Condition,
    DescheduledReplicas,
    GracefulEvictionTask,
    KeptTargets,
    LastMove,
)
from render.cron.records import cron_memories, scaled_bounds, scaled_replicas
from render.model import Manifest, ObjectRef, TargetCluster, group_of
from render.placement import Placement
from render.policy import CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE, ConflictResolution
from render.resources import Component, NodeClaim, ReplicaRequirements

from .placements import SharedPlacements
from .policies import suspension

APPLIED_PLACEMENT = "policy.karmada.io/applied-placement"
TEMPLATE_DIGEST = "argosy.dev/template-digest"
ANSWERED_REQUESTS = "argosy.dev/rebalanced-by"


def binding(manifest: Manifest, *, placements: SharedPlacements | None = None) -> Binding:
    """Return the value of a binding; its record of earlier passes comes from its status and annotations.

    With ``placements`` of a load, bindings and policies with equal placements share one value.
    """
    memo, spec = placements or SharedPlacements(), manifest["spec"]
    annotations = manifest["metadata"].get("annotations") or {}
    resource, suspended, groups = (spec.get(key) or {} for key in ("resource", "suspension", "workloadAffinityGroups"))
    placement = None if spec.get("placement") is None else memo.of(spec["placement"])
    return Binding(
        ref=_object_ref(resource),
        api_version=resource["apiVersion"],
        uid=resource.get("uid") or "",
        policy=_policy(annotations),
        replicas=spec.get("replicas") or 0,
        requirements=replica_requirements(spec.get("replicaRequirements")),
        components=tuple(map(_component, spec.get("components") or ())),
        placement=placement,
        targets=target_clusters(spec.get("clusters")),
        required_by=tuple(map(_snapshot, spec.get("requiredBy") or ())),
        eviction_tasks=tuple(map(_eviction_task, spec.get("gracefulEvictionTasks") or ())),
        propagate_deps=spec.get("propagateDeps") or False,
        scheduler_name=spec.get("schedulerName") or "",
        failover=spec.get("failover"),
        conflict_resolution=ConflictResolution(spec.get("conflictResolution") or "Abort"),
        preserve_resources_on_deletion=spec.get("preserveResourcesOnDeletion") or False,
        suspension=suspension(spec.get("suspension")),
        scheduling_suspended=suspended.get("scheduling") or False,
        priority=(spec.get("schedulePriority") or {}).get("priority") or 0,
        affinity_group=groups.get("affinityGroup") or "",
        anti_affinity_group=groups.get("antiAffinityGroup") or "",
        reschedule_triggered_at=spec.get("rescheduleTriggeredAt") or "",
        applied_placement=_applied_placement(annotations.get(APPLIED_PLACEMENT), placement, memo),
        answered_requests=tuple((annotations.get(ANSWERED_REQUESTS) or "").split()),
        template_digest=annotations.get(TEMPLATE_DIGEST) or "",
        **_of_status(manifest.get("status") or {}),
    )


def _of_status(status: Manifest) -> dict[str, Any]:
    """Return the fields that stand in the status of a binding."""
    return {
        "kept": tuple(map(_kept, status.get("kept") or ())),
        "cron": cron_memories(status.get("cron") or ()),
        "scaled": scaled_replicas(status.get("scaled")),
        "bounds": scaled_bounds(status.get("scaledBounds")),
        "descheduled": _descheduled_replicas(status.get("descheduled")),
        "moved": _last_move(status.get("lastMove")),
        "conditions": tuple(map(_condition, status.get("conditions") or ())),
        "observed_affinity": status.get("schedulerObservingAffinityName") or "",
        "last_scheduled_at": status.get("lastScheduledTime") or "",
    }


def target_clusters(plain: Iterable[Manifest] | None) -> tuple[TargetCluster, ...]:
    """Return target clusters in the scheduler's order."""
    return tuple(TargetCluster(each["name"], each.get("replicas") or 0) for each in plain or ())


def replica_requirements(plain: Manifest | None) -> ReplicaRequirements | None:
    """Return the needs of one replica; quantities become text."""
    if plain is None:
        return None
    claim, requests = plain.get("nodeClaim"), plain.get("resourceRequest") or {}
    return ReplicaRequirements(
        node_claim=None if claim is None else _node_claim(claim),
        resource_request={name: str(quantity) for name, quantity in requests.items()},
        namespace=plain.get("namespace") or "",
        priority_class_name=plain.get("priorityClassName") or "",
    )


def _object_ref(resource: Manifest) -> ObjectRef:
    return ObjectRef(
        group_of(resource["apiVersion"]), resource["kind"], resource.get("namespace") or "", resource["name"]
    )


def _applied_placement(text: str | None, placement: Placement | None, memo: SharedPlacements) -> Placement | None:
    if not text:
        return None
    try:
        return memo.of_text(text)
    except (ValueError, LookupError, TypeError, AttributeError):
        # To Karmada's scheduler an annotation it cannot read is no change of placement.
        return placement


def _policy(annotations: Manifest) -> str:
    if name := annotations.get(POLICY_NAME):
        return f"PropagationPolicy {annotations.get(POLICY_NAMESPACE, '')}/{name}"
    name = annotations.get(CLUSTER_POLICY_NAME)
    return f"ClusterPropagationPolicy {name}" if name else ""


def _node_claim(plain: Manifest) -> NodeClaim:
    return NodeClaim(
        node_selector=plain.get("nodeSelector") or {},
        tolerations=tuple(plain.get("tolerations") or ()),
        hard_node_affinity=plain.get("hardNodeAffinity"),
    )


def _component(plain: Manifest) -> Component:
    return Component(
        name=plain["name"],
        replicas=plain["replicas"],
        requirements=replica_requirements(plain.get("replicaRequirements")),
    )


def _snapshot(plain: Manifest) -> BindingSnapshot:
    return BindingSnapshot(
        namespace=plain.get("namespace") or "", name=plain["name"], clusters=target_clusters(plain.get("clusters"))
    )


def _eviction_task(plain: Manifest) -> GracefulEvictionTask:
    return GracefulEvictionTask(
        from_cluster=plain["fromCluster"],
        purge_mode=plain.get("purgeMode") or "",
        replicas=plain.get("replicas"),
        reason=plain.get("reason") or "",
        message=plain.get("message") or "",
        producer=plain.get("producer") or "",
        grace_period_seconds=plain.get("gracePeriodSeconds"),
        suppress_deletion=plain.get("suppressDeletion"),
        preserved_label_state=plain.get("preservedLabelState") or {},
        creation_timestamp=str(plain.get("creationTimestamp") or ""),
        clusters_before_failover=tuple(plain.get("clustersBeforeFailover") or ()),
    )


def _descheduled_replicas(plain: Manifest | None) -> DescheduledReplicas | None:
    return DescheduledReplicas(at=plain["at"], clusters=target_clusters(plain["clusters"])) if plain else None


def _last_move(plain: Manifest | None) -> LastMove | None:
    if not plain:
        return None
    return LastMove(
        at=str(plain["at"]),
        clusters=tuple(plain["from"]),
        reason=plain.get("reason") or "",
        message=plain.get("message") or "",
        times=plain.get("times") or 1,
    )


def _kept(plain: Manifest) -> KeptTargets:
    return KeptTargets(
        clusters=tuple(plain["clusters"]),
        replicas=None if plain.get("absent") else plain.get("replicas") or 0,
        is_outdated=plain.get("outdated") or False,
    )


def _condition(plain: Manifest) -> Condition:
    return Condition(
        type=plain["type"],
        status=plain["status"],
        reason=plain.get("reason") or "",
        message=plain.get("message") or "",
        since=plain.get("since") or "",
        clusters=tuple(plain.get("clusters") or ()),
    )
