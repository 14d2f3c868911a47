"""The fields of a ResourceBinding as its file has them: their names, and the types that msgspec checks.

No other code looks whether a value in such a file is a text or a list. A field without a value may also be null, as
Karmada writes a time that is not set. Placements are read by themselves, because bindings share them.
"""

from typing import Any

from msgspec import Struct, field

from render.cron.records import CronRecord, ScaledBoundsRecord, ScaledReplicasRecord
from render.model import Manifest
from render.policy import ConflictResolution

Amounts = dict[str, str | int | float]
"""Quantities by resource; a number is one as well."""


class ResourceFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The object that a binding is about."""

    api_version: str
    kind: str
    namespace: str | None = None
    name: str
    uid: str | None = None


class TargetFields(Struct, frozen=True, kw_only=True):
    """A target cluster and its replicas."""

    name: str
    replicas: int | None = None


class NodeClaimFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The nodes that pods may land on, as the template states them: only a server checks what is in there."""

    node_selector: dict[str, Any] | None = None
    tolerations: list[Manifest] | None = None
    hard_node_affinity: dict[str, Any] | None = None


class RequirementsFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The needs of one replica."""

    node_claim: NodeClaimFields | None = None
    resource_request: Amounts | None = None
    namespace: str | None = None
    priority_class_name: str | None = None


class ComponentFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod template of a workload with several."""

    name: str
    replicas: int
    replica_requirements: RequirementsFields | None = None


class SnapshotFields(Struct, frozen=True, kw_only=True):
    """A binding that requires the object."""

    namespace: str | None = None
    name: str
    clusters: list[TargetFields] | None = None


class EvictionFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """A cluster that the object is leaving."""

    from_cluster: str
    purge_mode: str | None = None
    replicas: int | None = None
    reason: str | None = None
    message: str | None = None
    producer: str | None = None
    grace_period_seconds: int | None = None
    suppress_deletion: bool | None = None
    preserved_label_state: dict[str, str] | None = None
    creation_timestamp: str | None = None
    clusters_before_failover: list[str] | None = None


class NamedClusters(Struct, frozen=True, kw_only=True, rename="camel"):
    """Clusters by their names."""

    cluster_names: list[str] | None = None


class SuspensionFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The clusters that keep what they have; ``scheduling`` is no part of a policy's suspension."""

    dispatching: bool | None = None
    dispatching_on_clusters: NamedClusters | None = None
    scheduling: bool | None = None


class PriorityFields(Struct, frozen=True, kw_only=True):
    """The priority in scheduling."""

    priority: int | None = None


class AffinityGroupFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The groups of workloads that go to the same clusters, or to others."""

    affinity_group: str | None = None
    anti_affinity_group: str | None = None


class ClustersAtVersionFields(Struct, frozen=True, kw_only=True):
    """Clusters that stand at a version."""

    version: str
    names: list[str]


class SplitFields(Struct, frozen=True, kw_only=True):
    """The targets of an object by a version of it."""

    version: str
    targets: list[TargetFields]


class SplitBeforeChangeFields(Struct, frozen=True, kw_only=True):
    """The targets of an object before a change of it, and whether a rollback has given them back."""

    targets: list[TargetFields]
    replicas: int = 0
    asked: str = ""
    requests: list[str] | None = None
    restored: bool = False


class RolloutFields(Struct, frozen=True, kw_only=True):
    """The versions of the object that a rollout policy lets out wave by wave."""

    policy: str
    target: str
    completed: str
    clusters: list[ClustersAtVersionFields] | None = None
    group: str = ""
    waiting: list[str] | None = None
    splits: list[SplitFields] | None = None
    before_change: SplitBeforeChangeFields | None = field(name="beforeChange", default=None)


class SpecFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The spec of a binding."""

    resource: ResourceFields
    replicas: int | None = None
    replica_requirements: RequirementsFields | None = None
    components: list[ComponentFields] | None = None
    placement: dict[str, Any] | None = None
    clusters: list[TargetFields] | None = None
    required_by: list[SnapshotFields] | None = None
    graceful_eviction_tasks: list[EvictionFields] | None = None
    propagate_deps: bool | None = None
    scheduler_name: str | None = None
    failover: dict[str, Any] | None = None
    conflict_resolution: ConflictResolution | None = None
    preserve_resources_on_deletion: bool | None = None
    suspension: SuspensionFields | None = None
    schedule_priority: PriorityFields | None = None
    workload_affinity_groups: AffinityGroupFields | None = None
    reschedule_triggered_at: str | None = None
    rollout: RolloutFields | None = None


class KeptFields(Struct, frozen=True, kw_only=True):
    """Target clusters that keep what they have."""

    clusters: list[str]
    replicas: int | None = None
    absent: bool | None = None
    outdated: bool | None = None


class OverriddenFields(Struct, frozen=True, kw_only=True):
    """Target clusters in which an override sets the replicas."""

    clusters: list[str]
    replicas: int


class DescheduledFields(Struct, frozen=True, kw_only=True):
    """The replicas that the descheduler last took."""

    at: str
    clusters: list[TargetFields]


class LastMoveFields(Struct, frozen=True, kw_only=True):
    """The last time that the object was evicted."""

    at: str
    clusters: list[str] = field(name="from")
    reason: str | None = None
    message: str | None = None
    times: int | None = None


class MovingFields(Struct, frozen=True, kw_only=True):
    """A move that is under way step by step."""

    asked: list[TargetFields]
    since: str = ""


class ConditionFields(Struct, frozen=True, kw_only=True):
    """A condition of a binding."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    since: str | None = None
    clusters: list[str] | None = None


class StatusFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """The status of a binding."""

    kept: list[KeptFields] | None = None
    overridden_replicas: list[OverriddenFields] | None = None
    cron: list[CronRecord] | None = None
    scaled: ScaledReplicasRecord | None = None
    scaled_bounds: ScaledBoundsRecord | None = None
    descheduled: DescheduledFields | None = None
    last_move: LastMoveFields | None = None
    moving: MovingFields | None = None
    conditions: list[ConditionFields] | None = None
    scheduler_observing_affinity_name: str | None = None
    last_scheduled_time: str | None = None


class MetadataFields(Struct, frozen=True, kw_only=True):
    """The metadata of a binding as far as it is read."""

    annotations: dict[str, str] | None = None


class BindingFields(Struct, frozen=True, kw_only=True):
    """A ResourceBinding or ClusterResourceBinding as its file has it."""

    metadata: MetadataFields
    spec: SpecFields
    status: StatusFields | None = None
