"""ResourceBindings and ClusterResourceBindings from plain data: our own, and any Karmada wrote."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import convert

from render.binding import (
    Binding,
    BindingSnapshot,
    Completions,
    Condition,
    DescheduledReplicas,
    GracefulEvictionTask,
    KeptTargets,
    LastMove,
    Moving,
    OverriddenReplicas,
    Undivided,
)
from render.cron.records import cron_memories_of_records, scaled_bounds, scaled_replicas
from render.model import Manifest, ObjectRef, TargetCluster, group_of
from render.object_rollout import ClustersAtVersion, ObjectRollout, SplitBeforeChange, SplitOfVersion
from render.placement import Placement
from render.policy import CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE, ConflictResolution, Suspension
from render.resources import Component, NodeClaim, ReplicaRequirements

from .binding_fields import (
    AffinityGroupFields,
    BindingFields,
    ComponentFields,
    ConditionFields,
    DescheduledFields,
    EvictionFields,
    KeptFields,
    LastMoveFields,
    NodeClaimFields,
    PriorityFields,
    RequirementsFields,
    ResourceFields,
    RolloutFields,
    SnapshotFields,
    SplitBeforeChangeFields,
    StatusFields,
    SuspensionFields,
    TargetFields,
)
from .placements import SharedPlacements

APPLIED_PLACEMENT = "policy.karmada.io/applied-placement"
TEMPLATE_DIGEST = "argosy.dev/template-digest"
ANSWERED_REQUESTS = "argosy.dev/rebalanced-by"
COMPLETIONS = "argosy.dev/completions"
UNDIVIDED, BY_MEMBERS = "argosy.dev/undivided", "by members"
REPLICAS_AT = "argosy.dev/replicas-at"
_NO_GROUPS, _NO_PRIORITY, _NO_STATUS = AffinityGroupFields(), PriorityFields(), StatusFields()
_NO_SUSPENSION = SuspensionFields()


def parse_binding(manifest: Manifest, *, placements: SharedPlacements | None = None) -> Binding:
    """Return the value of a binding; its record of earlier passes comes from its status and annotations.

    A ValidationError says which field of it is of another type. With ``placements`` of a load, bindings and policies
    with equal placements share one value.
    """
    memo, fields = placements or SharedPlacements(), convert(manifest, BindingFields)
    spec, annotations = fields.spec, fields.metadata.annotations or {}
    groups = spec.workload_affinity_groups or _NO_GROUPS
    placement = None if spec.placement is None else memo.of_record(spec.placement)
    return Binding(
        ref=_ref_of_resource_fields(spec.resource),
        api_version=spec.resource.api_version,
        uid=spec.resource.uid or "",
        policy=_policy_of_annotations(annotations),
        replicas=spec.replicas or 0,
        requirements=_replica_requirements_of_fields(spec.replica_requirements),
        components=tuple(map(_component_of_fields, spec.components or ())),
        placement=placement,
        targets=_target_clusters_of_fields(spec.clusters),
        required_by=tuple(map(_snapshot_of_fields, spec.required_by or ())),
        eviction_tasks=tuple(map(_eviction_task_of_fields, spec.graceful_eviction_tasks or ())),
        propagate_deps=spec.propagate_deps or False,
        scheduler_name=spec.scheduler_name or "",
        failover=spec.failover,
        conflict_resolution=spec.conflict_resolution or ConflictResolution.ABORT,
        preserve_resources_on_deletion=spec.preserve_resources_on_deletion or False,
        suspension=_suspension_of_fields(spec.suspension),
        scheduling_suspended=(spec.suspension or _NO_SUSPENSION).scheduling or False,
        priority=(spec.schedule_priority or _NO_PRIORITY).priority or 0,
        affinity_group=groups.affinity_group or "",
        anti_affinity_group=groups.anti_affinity_group or "",
        reschedule_triggered_at=spec.reschedule_triggered_at or "",
        rollout=None if spec.rollout is None else _rollout_of_fields(spec.rollout),
        applied_placement=_placement_of_annotation(annotations.get(APPLIED_PLACEMENT), placement, memo),
        **_fields_of_annotations(annotations),
        **_fields_of_status(fields.status or _NO_STATUS),
    )


def _fields_of_annotations(annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that stand in annotations of ours."""
    return {
        "answered_requests": tuple((annotations.get(ANSWERED_REQUESTS) or "").split()),
        "template_digest": annotations.get(TEMPLATE_DIGEST) or "",
        "completions": _completions_of_annotation(annotations.get(COMPLETIONS) or ""),
        "undivided": _undivided_of_annotation(annotations.get(UNDIVIDED) or ""),
        "replicas_at": annotations.get(REPLICAS_AT) or "",
    }


def _fields_of_status(status: StatusFields) -> dict[str, Any]:
    """Return the fields that stand in the status of a binding."""
    return {
        "kept": tuple(map(_kept_targets_of_fields, status.kept or ())),
        "overridden": tuple(
            OverriddenReplicas(clusters=tuple(each.clusters), replicas=each.replicas)
            for each in status.overridden_replicas or ()
        ),
        "cron": cron_memories_of_records(status.cron or ()),
        "scaled": scaled_replicas(status.scaled),
        "bounds": scaled_bounds(status.scaled_bounds),
        "descheduled": _descheduled_replicas_of_fields(status.descheduled),
        "moved": _last_move_of_fields(status.last_move),
        "moving": None
        if (moving := status.moving) is None
        else Moving(asked=_target_clusters_of_fields(moving.asked), since=moving.since),
        "conditions": tuple(map(_condition_of_fields, status.conditions or ())),
        "observed_affinity": status.scheduler_observing_affinity_name or "",
        "last_scheduled_at": status.last_scheduled_time or "",
    }


def _completions_of_annotation(text: str) -> Completions | None:
    """Return the completions in an annotation, such as ``7: eu=4 us=3``; None where it says none."""
    total, _, listed = text.partition(":")
    pairs = [each.partition("=") for each in listed.split()]
    if not total.isdecimal() or not pairs or not all(count.isdecimal() for _, _, count in pairs):
        return None
    return Completions(total=int(total), clusters=tuple(TargetCluster(name, int(count)) for name, _, count in pairs))


def _undivided_of_annotation(text: str) -> Undivided | None:
    """Return what an annotation such as ``9`` or ``9 by members`` says; None where it says no number."""
    number, _, definer = text.partition(" ")
    return Undivided(replicas=int(number), is_by_members=definer == BY_MEMBERS) if number.isdecimal() else None


def _target_clusters_of_fields(listed: Iterable[TargetFields] | None) -> tuple[TargetCluster, ...]:
    """Return target clusters in the scheduler's order."""
    return tuple(TargetCluster(each.name, each.replicas or 0) for each in listed or ())


def _replica_requirements_of_fields(fields: RequirementsFields | None) -> ReplicaRequirements | None:
    """Return the needs of one replica; quantities become text."""
    if fields is None:
        return None
    return ReplicaRequirements(
        node_claim=None if fields.node_claim is None else _node_claim_of_fields(fields.node_claim),
        resource_request={name: str(quantity) for name, quantity in (fields.resource_request or {}).items()},
        namespace=fields.namespace or "",
        priority_class_name=fields.priority_class_name or "",
    )


def _ref_of_resource_fields(resource: ResourceFields) -> ObjectRef:
    return ObjectRef(group_of(resource.api_version), resource.kind, resource.namespace or "", resource.name)


def _placement_of_annotation(text: str | None, placement: Placement | None, memo: SharedPlacements) -> Placement | None:
    if not text:
        return None
    # To Karmada's scheduler an annotation it cannot read is no change of placement.
    return memo.of_text(text) or placement


def _policy_of_annotations(annotations: Mapping[str, str]) -> str:
    if name := annotations.get(POLICY_NAME):
        return f"PropagationPolicy {annotations.get(POLICY_NAMESPACE, '')}/{name}"
    name = annotations.get(CLUSTER_POLICY_NAME)
    return f"ClusterPropagationPolicy {name}" if name else ""


def _suspension_of_fields(fields: SuspensionFields | None) -> Suspension | None:
    """Return the suspension of dispatching; None where a binding has none, or one of scheduling alone."""
    if fields is None or (fields.scheduling is not None and fields == SuspensionFields(scheduling=fields.scheduling)):
        return None
    clusters = fields.dispatching_on_clusters
    return Suspension(
        dispatching=fields.dispatching or False,
        dispatching_on_clusters=tuple((clusters.cluster_names if clusters else None) or ()),
    )


def _node_claim_of_fields(fields: NodeClaimFields) -> NodeClaim:
    return NodeClaim(
        node_selector=fields.node_selector or {},
        tolerations=tuple(fields.tolerations or ()),
        hard_node_affinity=fields.hard_node_affinity,
    )


def _rollout_of_fields(fields: RolloutFields) -> ObjectRollout:
    clusters = (ClustersAtVersion(version=each.version, names=tuple(each.names)) for each in fields.clusters or ())
    splits = (
        SplitOfVersion(version=each.version, targets=_target_clusters_of_fields(each.targets))
        for each in fields.splits or ()
    )
    return ObjectRollout(
        policy=fields.policy,
        target=fields.target,
        completed=fields.completed,
        clusters=tuple(clusters),
        group=fields.group,
        waiting=tuple(fields.waiting or ()),
        splits=tuple(splits),
        before_change=None if fields.before_change is None else _split_before_change_of_fields(fields.before_change),
    )


def _split_before_change_of_fields(fields: SplitBeforeChangeFields) -> SplitBeforeChange:
    return SplitBeforeChange(
        targets=_target_clusters_of_fields(fields.targets),
        replicas=fields.replicas,
        asked=fields.asked,
        requests=tuple(fields.requests or ()),
        is_restored=fields.restored,
    )


def _component_of_fields(fields: ComponentFields) -> Component:
    return Component(
        name=fields.name,
        replicas=fields.replicas,
        requirements=_replica_requirements_of_fields(fields.replica_requirements),
    )


def _snapshot_of_fields(fields: SnapshotFields) -> BindingSnapshot:
    return BindingSnapshot(
        namespace=fields.namespace or "", name=fields.name, clusters=_target_clusters_of_fields(fields.clusters)
    )


def _eviction_task_of_fields(fields: EvictionFields) -> GracefulEvictionTask:
    return GracefulEvictionTask(
        from_cluster=fields.from_cluster,
        purge_mode=fields.purge_mode or "",
        replicas=fields.replicas,
        reason=fields.reason or "",
        message=fields.message or "",
        producer=fields.producer or "",
        grace_period_seconds=fields.grace_period_seconds,
        suppress_deletion=fields.suppress_deletion,
        preserved_label_state=fields.preserved_label_state or {},
        creation_timestamp=fields.creation_timestamp or "",
        clusters_before_failover=tuple(fields.clusters_before_failover or ()),
    )


def _descheduled_replicas_of_fields(fields: DescheduledFields | None) -> DescheduledReplicas | None:
    return (
        None
        if fields is None
        else DescheduledReplicas(at=fields.at, clusters=_target_clusters_of_fields(fields.clusters))
    )


def _last_move_of_fields(fields: LastMoveFields | None) -> LastMove | None:
    if fields is None:
        return None
    return LastMove(
        at=fields.at,
        clusters=tuple(fields.clusters),
        reason=fields.reason or "",
        message=fields.message or "",
        times=fields.times or 1,
    )


def _kept_targets_of_fields(fields: KeptFields) -> KeptTargets:
    return KeptTargets(
        clusters=tuple(fields.clusters),
        replicas=None if fields.absent else fields.replicas or 0,
        is_outdated=fields.outdated or False,
    )


def _condition_of_fields(fields: ConditionFields) -> Condition:
    return Condition(
        type=fields.type,
        status=fields.status,
        reason=fields.reason or "",
        message=fields.message or "",
        since=fields.since or "",
        clusters=tuple(fields.clusters or ()),
    )
