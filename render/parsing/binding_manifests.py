"""Bindings as plain data: the ResourceBinding or ClusterResourceBinding that Karmada would store."""

from collections.abc import Iterable

from render.binding import Binding, Condition, DescheduledReplicas, GracefulEvictionTask, KeptTargets, LastMove, Moving
from render.cron.records import plain_memories, plain_scaled_bounds, plain_scaled_replicas
from render.documents import parse_documents
from render.model import BINDING_API_VERSION, TargetCluster
from render.object_rollout import ObjectRollout, SplitBeforeChange
from render.policy import CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE, ConflictResolution
from render.resources import Component, NodeClaim, ReplicaRequirements

from .bindings import (
    ANSWERED_REQUESTS,
    APPLIED_PLACEMENT,
    BY_MEMBERS,
    COMPLETIONS,
    REPLICAS_AT,
    TEMPLATE_DIGEST,
    UNDIVIDED,
)
from .placement_manifests import (
    BehindPointer,
    Plain,
    fields_without_empty_ones,
    json_text_of_placement,
    plain_placement,
)


def binding_manifest(binding: Binding) -> Plain:
    """Return a binding as the ResourceBinding or ClusterResourceBinding Karmada would store.

    >>> from render.model import ObjectRef
    >>> ref = ObjectRef("apps", "Deployment", "shop", "web")
    >>> binding_manifest(Binding(ref=ref, api_version="apps/v1", replicas=2))["metadata"]
    {'name': 'web-deployment', 'namespace': 'shop'}
    """
    ref = binding.ref
    return fields_without_empty_ones(
        apiVersion=BINDING_API_VERSION,
        kind="ResourceBinding" if ref.namespace else "ClusterResourceBinding",
        metadata=fields_without_empty_ones(
            name=f"{ref.name.replace(':', '.')}-{ref.kind}".lower(),
            namespace=ref.namespace,
            annotations=_plain_annotations(binding),
        ),
        spec=_plain_spec(binding),
        status=fields_without_empty_ones(
            appliedOverrides=_plain_applied_overrides(binding),
            schedulerObservingAffinityName=binding.observed_affinity,
            lastScheduledTime=binding.last_scheduled_at,
            conditions=[_plain_condition(each) for each in binding.conditions],
            kept=[_plain_kept_targets(each) for each in binding.kept],
            overriddenReplicas=[
                {"clusters": list(each.clusters), "replicas": each.replicas} for each in binding.overridden
            ],
            scaled=plain_scaled_replicas(binding.scaled),
            scaledBounds=plain_scaled_bounds(binding.bounds),
            cron=plain_memories(binding.cron),
            descheduled=_plain_descheduled(binding.descheduled),
            lastMove=plain_last_move(binding.moved),
            moving=_plain_moving(binding.moving),
        ),
    )


def _plain_descheduled(descheduled: DescheduledReplicas | None) -> Plain:
    return {} if descheduled is None else {"at": descheduled.at, "clusters": _plain_targets(descheduled.clusters)}


def plain_last_move(moved: LastMove | None) -> Plain:
    """Return the last move of an object as a binding has it."""
    if moved is None:
        return {}
    times = {"times": moved.times} if moved.times > 1 else {}
    return (
        {"at": moved.at, "from": list(moved.clusters)}
        | fields_without_empty_ones(reason=moved.reason, message=moved.message)
        | times
    )


def _plain_kept_targets(kept: KeptTargets) -> Plain:
    return fields_without_empty_ones(
        clusters=list(kept.clusters),
        replicas=kept.replicas,
        absent=kept.replicas is None,
        outdated=kept.is_outdated,
    )


def _plain_condition(condition: Condition) -> Plain:
    return fields_without_empty_ones(
        type=condition.type,
        status=condition.status,
        reason=str(condition.reason),
        message=condition.message,
        since=condition.since,
        clusters=list(condition.clusters),
    )


def _plain_annotations(binding: Binding) -> Plain:
    kind, _, name = binding.policy.partition(" ")
    annotations: Plain = {}
    if kind == "ClusterPropagationPolicy":
        annotations[CLUSTER_POLICY_NAME] = name
    elif kind:
        annotations[POLICY_NAMESPACE], _, annotations[POLICY_NAME] = name.partition("/")
    if binding.applied_placement is not None:
        annotations[APPLIED_PLACEMENT] = json_text_of_placement(binding.applied_placement)
    if binding.template_digest:
        annotations[TEMPLATE_DIGEST] = binding.template_digest
    if binding.answered_requests:
        annotations[ANSWERED_REQUESTS] = " ".join(binding.answered_requests)
    if binding.completions is not None:
        there = " ".join(f"{each.name}={each.replicas}" for each in binding.completions.clusters)
        annotations[COMPLETIONS] = f"{binding.completions.total}: {there}"
    return annotations | _annotations_of_division(binding)


def _annotations_of_division(binding: Binding) -> Plain:
    kept = binding.undivided
    definer = f" {BY_MEMBERS}" if kept and kept.is_by_members else ""
    undivided = {UNDIVIDED: f"{kept.replicas}{definer}"} if kept else {}
    return undivided | ({REPLICAS_AT: binding.replicas_at} if binding.replicas_at else {})


def _plain_applied_overrides(binding: Binding) -> list[Plain]:
    if not binding.applied_overrides:
        return []
    listed: list[Plain] = parse_documents(f"entries:\n{binding.applied_overrides}".encode())[0].value["entries"]
    return listed


def _plain_spec(binding: Binding) -> Plain:
    ref, overwrites = binding.ref, binding.conflict_resolution is ConflictResolution.OVERWRITE
    return fields_without_empty_ones(
        resource=fields_without_empty_ones(
            apiVersion=binding.api_version, kind=ref.kind, namespace=ref.namespace, name=ref.name, uid=binding.uid
        ),
        propagateDeps=binding.propagate_deps,
        replicaRequirements=_plain_requirements(binding.requirements),
        replicas=binding.replicas,
        components=[
            {"name": each.name, "replicas": each.replicas}
            | fields_without_empty_ones(replicaRequirements=_plain_requirements(each.requirements))
            for each in binding.components
        ],
        clusters=_plain_targets(binding.targets, binding.recorded_components),
        gracefulEvictionTasks=list(map(plain_eviction_task, binding.eviction_tasks)),
        requiredBy=[
            fields_without_empty_ones(namespace=each.namespace, name=each.name, clusters=_plain_targets(each.clusters))
            for each in binding.required_by
        ],
        schedulerName=binding.scheduler_name,
        placement=None if binding.placement is None else BehindPointer(plain_placement(binding.placement)),
        failover=binding.failover,
        rescheduleTriggeredAt=binding.reschedule_triggered_at,
        conflictResolution="Overwrite" if overwrites else "",
        suspension=_plain_suspension(binding),
        preserveResourcesOnDeletion=binding.preserve_resources_on_deletion,
        schedulePriority=fields_without_empty_ones(priority=binding.priority),
        workloadAffinityGroups=fields_without_empty_ones(
            affinityGroup=binding.affinity_group, antiAffinityGroup=binding.anti_affinity_group
        ),
        rollout=_plain_rollout(binding.rollout),
    )


def _plain_moving(moving: Moving | None) -> Plain | None:
    if moving is None:
        return None
    return {"asked": _plain_targets(moving.asked)} | fields_without_empty_ones(since=moving.since)


def _plain_rollout(rollout: ObjectRollout | None) -> Plain:
    if rollout is None:
        return {}
    versions = {"policy": rollout.policy, "target": rollout.target, "completed": rollout.completed}
    clusters = [{"version": each.version, "names": list(each.names)} for each in rollout.clusters]
    splits = [{"version": each.version, "targets": _plain_targets(each.targets)} for each in rollout.splits]
    return versions | fields_without_empty_ones(
        clusters=clusters,
        group=rollout.group,
        waiting=list(rollout.waiting),
        splits=splits,
        beforeChange=_plain_split_before_change(rollout.before_change),
    )


def _plain_split_before_change(former: SplitBeforeChange | None) -> Plain:
    if former is None:
        return {}
    split = {"targets": _plain_targets(former.targets), "replicas": former.replicas, "asked": former.asked}
    return split | fields_without_empty_ones(requests=list(former.requests), restored=former.is_restored)


def _plain_targets(targets: Iterable[TargetCluster], components: Iterable[Component] = ()) -> list[Plain]:
    listed = [{"name": each.name, "replicas": each.replicas} for each in components]
    return [
        {"name": each.name} | fields_without_empty_ones(replicas=each.replicas, components=listed) for each in targets
    ]


def _plain_requirements(requirements: ReplicaRequirements | None) -> BehindPointer | None:
    if requirements is None:
        return None
    return BehindPointer(
        fields_without_empty_ones(
            nodeClaim=_plain_node_claim(requirements.node_claim),
            resourceRequest=dict(requirements.resource_request),
            namespace=requirements.namespace,
            priorityClassName=requirements.priority_class_name,
        )
    )


def _plain_node_claim(claim: NodeClaim | None) -> BehindPointer | None:
    if claim is None:
        return None
    affinity = claim.hard_node_affinity
    return BehindPointer(
        fields_without_empty_ones(
            hardNodeAffinity=None if affinity is None else BehindPointer(affinity),
            nodeSelector=dict(claim.node_selector),
            tolerations=list(claim.tolerations),
        )
    )


def plain_eviction_task(task: GracefulEvictionTask) -> Plain:
    """Return a graceful eviction task as a binding has it."""
    plain = fields_without_empty_ones(
        fromCluster=task.from_cluster, purgeMode=task.purge_mode, reason=task.reason, producer=task.producer
    )
    pointers = {
        "replicas": task.replicas,
        "gracePeriodSeconds": task.grace_period_seconds,
        "suppressDeletion": task.suppress_deletion,
    }
    plain |= {key: value for key, value in pointers.items() if value is not None}
    return plain | fields_without_empty_ones(
        message=task.message,
        preservedLabelState=dict(task.preserved_label_state),
        creationTimestamp=task.creation_timestamp,
        clustersBeforeFailover=list(task.clusters_before_failover),
    )


def _plain_suspension(binding: Binding) -> Plain:
    if binding.suspension is None:
        return fields_without_empty_ones(scheduling=binding.scheduling_suspended)
    names = list(binding.suspension.dispatching_on_clusters)
    return {"dispatching": binding.suspension.dispatching} | fields_without_empty_ones(
        dispatchingOnClusters=fields_without_empty_ones(clusterNames=names), scheduling=binding.scheduling_suspended
    )
