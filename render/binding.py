"""The outcome for one template: a ResourceBinding (ClusterResourceBinding) with the state the next decision needs.

A binding is made from a template and its policy (``spec``), carried through ``schedule`` (targets, conditions), and
written to ``bindings/``. Nothing here is a time: recorded times are RFC 3339 text compared as text in UTC.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from .cron.rules import CronMemory, ScaledBounds, ScaledReplicas
from .former_split import FormerSplit
from .model import Manifest, ObjectRef, TargetCluster
from .object_rollout import ABSENT, ObjectRollout
from .placement import Placement, ReplicaSchedulingType
from .policy import ConflictResolution, Suspension
from .resources import Component, ReplicaRequirements


class Condition(Struct, frozen=True, kw_only=True):
    """A metav1.Condition without its time: type, status ``True``/``False``/``Unknown``, reason, message.

    ``since`` is the source commit that first had this status, where it is recorded; ``clusters`` are those the
    condition is about, where it is not about all of them. Both are ours, not Kubernetes'.
    """

    type: str
    status: str
    reason: str = ""
    message: str = ""
    since: str = ""
    clusters: tuple[str, ...] = ()


class GracefulEvictionTask(Struct, frozen=True, kw_only=True):
    """A cluster a workload is leaving; it is no candidate while the task exists.

    ``creation_timestamp`` is RFC 3339 text ("": not stamped yet). ``preserved_label_state`` are labels for the copy
    that replaces the one there, and ``clusters_before_failover`` the targets when it began to leave.
    """

    from_cluster: str
    purge_mode: str = ""
    replicas: int | None = None
    reason: str = ""
    message: str = ""
    producer: str = ""
    grace_period_seconds: int | None = None
    suppress_deletion: bool | None = None
    preserved_label_state: Mapping[str, str] = field(default_factory=dict)
    creation_timestamp: str = ""
    clusters_before_failover: tuple[str, ...] = ()


class DescheduledReplicas(Struct, frozen=True, kw_only=True):
    """The replicas that the descheduler last took from clusters, and when, as RFC 3339 text."""

    at: str
    clusters: tuple[TargetCluster, ...]


class LastMove(Struct, frozen=True, kw_only=True):
    """The last time that an object was evicted from ``clusters``, as RFC 3339 text, and why.

    ``times``: it was so often in a row that it left a cluster because it was not well there.
    """

    at: str
    clusters: tuple[str, ...]
    reason: str = ""
    message: str = ""
    times: int = 1


class AggregatedStatusItem(Struct, frozen=True, kw_only=True):
    """The report of one cluster about an object: its health ("": not known), and its status as it is (None: none)."""

    cluster: str
    health: str = ""
    status: Any = None


class BindingSnapshot(Struct, frozen=True, kw_only=True):
    """A binding that requires this object as its dependency, and the clusters it brings in."""

    namespace: str
    name: str
    clusters: tuple[TargetCluster, ...] = ()


class KeptTargets(Struct, frozen=True, kw_only=True):
    """Target clusters that keep what they have of an object, for dispatching to them is suspended.

    So do clusters that it leaves, until others which are to have it instead get it.
    ``replicas`` are those they keep (None: the object is not there). ``is_outdated``: they would get something else.
    """

    clusters: tuple[str, ...]
    replicas: int | None = None
    is_outdated: bool = False

    @property
    def is_pending(self) -> bool:
        """True where the clusters miss something: the object, or a change of it."""
        return self.replicas is None or self.is_outdated


class OverriddenReplicas(Struct, frozen=True, kw_only=True):
    """Target clusters with other replicas of an object than its policy assigns: by an override, or with all of them."""

    clusters: tuple[str, ...]
    replicas: int


class Completions(Struct, frozen=True, kw_only=True):
    """The completions of a Job in clusters in which it has begun, where they cannot change, out of ``total``."""

    total: int
    clusters: tuple[TargetCluster, ...]


class Undivided(Struct, frozen=True, kw_only=True):
    """The replicas that each cluster keeps of an object, though its policy could divide them by now.

    ``is_by_members``: only members define where they stand, and not the source.
    """

    replicas: int
    is_by_members: bool = False


class Moving(Struct, frozen=True, kw_only=True):
    """A move that is under way step by step: ``asked`` are the targets that were decided, and that it ends with.

    ``since`` is when the last step was taken, as RFC 3339 text, where that has a deadline.
    """

    asked: tuple[TargetCluster, ...]
    since: str = ""


class Binding(Struct, frozen=True, kw_only=True):
    """A template's binding before or after scheduling.

    ``replicas`` with ``requirements`` and ``components`` are the interpreter's answer; an object with any of them is
    a workload (Karmada's isWorkload). ``targets`` keep the scheduler's order. ``applied_placement`` is the placement
    of the last successful decision (None: never scheduled), ``observed_affinity`` the affinity group it used,
    ``policy`` the policy that claims the template (``PropagationPolicy ns/name``; empty: none does),
    ``template_digest`` the content of the template when a lazy policy last took effect. ``kept`` says what suspended
    targets have instead of what ``targets`` asks for. ``applied_overrides`` are the lines of its file that tell
    people which fields override rules changed, and ``overridden`` the replicas that they set; nothing is decided by
    them. ``reschedule_requests`` are the WorkloadRebalancers of the source that name the object,
    ``answered_requests`` those of them that a decision has answered. ``absent_in`` are the clusters in which the
    template is not made, so that none of them is a target; it is the template's, and not written down. ``cron`` is
    the state of the CronFederatedHPAs that scale the object, ``scaled`` the replicas that one of their rules set
    (None: those of the template count), ``bounds`` those that one set for its FederatedHPA. ``descheduled`` is what
    the descheduler last took, ``moved`` the last time that it was evicted; ``avoided`` are the clusters that get no
    more replicas in this pass because of what was taken; ``unproven`` are those that nobody knows to be well, where
    something is moved away from others in this pass; ``staying`` are targets that stay, whatever has become of their
    labels and taints, because no other cluster takes it; ``begun`` are those in which it has begun, and stays with
    these replicas. None of the four is written down, nor is ``is_whole``: the replicas of such an object go to one
    cluster, whatever divides them. ``completions`` are those of a Job that has begun. ``undivided`` is set where every
    cluster keeps all replicas until the source asks for a division; the object counts as one without replicas then.
    ``replicas_at`` is the path of the replicas that are divided, where only members define it. ``rollout`` is set
    where a rollout policy selects the object. ``moving`` is set while ``targets`` are a step on the way to others.
    ``restored`` is the split that is to stand again by this pass, which is not written down either.
    """

    ref: ObjectRef
    api_version: str
    uid: str = ""
    policy: str = ""
    replicas: int = 0
    requirements: ReplicaRequirements | None = None
    components: tuple[Component, ...] = ()
    placement: Placement | None = None
    targets: tuple[TargetCluster, ...] = ()
    required_by: tuple[BindingSnapshot, ...] = ()
    eviction_tasks: tuple[GracefulEvictionTask, ...] = ()
    propagate_deps: bool = False
    scheduler_name: str = ""
    failover: Manifest | None = None
    conflict_resolution: ConflictResolution = ConflictResolution.ABORT
    preserve_resources_on_deletion: bool = False
    suspension: Suspension | None = None
    scheduling_suspended: bool = False
    priority: int = 0
    affinity_group: str = ""
    anti_affinity_group: str = ""
    reschedule_triggered_at: str = ""
    reschedule_requests: tuple[str, ...] = ()
    answered_requests: tuple[str, ...] = ()
    cron: tuple[CronMemory, ...] = ()
    scaled: ScaledReplicas | None = None
    bounds: ScaledBounds | None = None
    descheduled: DescheduledReplicas | None = None
    moved: LastMove | None = None
    avoided: frozenset[str] = frozenset()
    unproven: frozenset[str] = frozenset()
    staying: frozenset[str] = frozenset()
    begun: tuple[TargetCluster, ...] = ()
    is_whole: bool = False
    completions: Completions | None = None
    undivided: Undivided | None = None
    replicas_at: str = ""
    applied_placement: Placement | None = None
    observed_affinity: str = ""
    last_scheduled_at: str = ""
    template_digest: str = ""
    kept: tuple[KeptTargets, ...] = ()
    overridden: tuple[OverriddenReplicas, ...] = ()
    applied_overrides: str = ""
    absent_in: frozenset[str] = frozenset()
    rollout: ObjectRollout | None = None
    conditions: tuple[Condition, ...] = field(default_factory=tuple)
    moving: Moving | None = None
    restored: FormerSplit | None = None

    @property
    def final_targets(self) -> tuple[TargetCluster, ...]:
        """The targets that were decided: those that it has, or that it ends with once all steps of a move are done."""
        return self.targets if self.moving is None else self.moving.asked

    @property
    def is_workload(self) -> bool:
        """Say whether the object has replicas to divide (Karmada: replicas, requirements or components)."""
        return self.replicas > 0 or self.requirements is not None or bool(self.components)

    @property
    def is_divided(self) -> bool:
        """Say whether the placement divides replicas, so that each cluster has a number of its own."""
        scheduling = self.placement.replica_scheduling if self.placement else None
        return scheduling is not None and scheduling.type is ReplicaSchedulingType.DIVIDED

    @property
    def asked_replicas(self) -> int:
        """The replicas that the object asks for; of one with components, those of all of them together."""
        return sum(each.replicas for each in self.components) if self.components else self.replicas

    @property
    def recorded_components(self) -> tuple[Component, ...]:
        """The components that the record of each target lists, as in Karmada: where all go to one cluster together."""
        placement = self.applied_placement or self.placement
        is_together = len(self.components) > 1 and placement is not None and placement.asks_for_one_cluster
        return self.components if is_together else ()

    @property
    def target_replicas(self) -> Mapping[str, int]:
        """The replicas that each target cluster is to have: those assigned to it, or those of all components."""
        whole = self.asked_replicas if self.components else None
        return {target.name: target.replicas if whole is None else whole for target in self.targets}

    @property
    def total_replicas(self) -> int:
        """The sum of ``target_replicas``."""
        return sum(self.target_replicas.values()) if self.components else sum(each.replicas for each in self.targets)

    @property
    def overridden_replicas(self) -> Mapping[str, int]:
        """The replicas of the clusters in which an override sets them; a suspended one has what it keeps."""
        suspended = {name for kept in self.kept for name in kept.clusters}
        return {name: each.replicas for each in self.overridden for name in each.clusters if name not in suspended}

    @property
    def placed_replicas(self) -> Mapping[str, int]:
        """The replicas that each target cluster has: what is assigned to it, or what an override sets there.

        A suspended target has what it keeps; one in which the object is not is left out.
        """
        return {**self.assigned_replicas, **self.overridden_replicas} if self.overridden else self.assigned_replicas

    @property
    def assigned_replicas(self) -> dict[str, int]:
        """The replicas that are assigned to each target cluster, or kept there, whatever overrides set."""
        placed = dict(self.target_replicas)
        for kept in self.kept:
            for name in kept.clusters:
                if kept.replicas is None:
                    placed.pop(name, None)
                else:
                    placed[name] = kept.replicas
        return placed

    @property
    def is_leaving(self) -> bool:
        """Say whether nothing asks for the object any more, so that it leaves its clusters wave by wave."""
        rollout = self.rollout
        return rollout is not None and rollout.is_leaving

    @property
    def clusters_before_delivery(self) -> frozenset[str]:
        """The clusters that the object goes to, and whose wave of its first delivery is still to come."""
        if self.rollout is None or not self.rollout.is_absent_somewhere:
            return frozenset()
        required = (target.name for snapshot in self.required_by for target in snapshot.clusters)
        versions, completed = self.rollout.version_by_cluster, self.rollout.completed
        names = {*(target.name for target in self.targets), *required}
        return frozenset(name for name in names if versions.get(name, completed) == ABSENT)

    def why_not_delivered(self, cluster: str) -> str:
        """Return why the object is not in a cluster that it goes to, and to which it is not dispatched."""
        if self.rollout is not None and cluster in self.clusters_before_delivery:
            return f"{self.rollout.name} has not let it out there yet"
        return "dispatching to it is suspended"

    @property
    def undispatched_clusters(self) -> frozenset[str]:
        """The target clusters in which the object is not: dispatching is suspended, or their wave is still to come."""
        return frozenset(name for kept in self.kept if kept.replicas is None for name in kept.clusters)

    @property
    def is_reschedule_requested(self) -> bool:
        """Say whether rescheduling was asked for after the last successful decision; no before the first decision."""
        is_decided = bool(self.last_scheduled_at or self.conditions)
        is_due = self.reschedule_triggered_at > self.last_scheduled_at
        return is_decided and (is_due or not set(self.reschedule_requests) <= set(self.answered_requests))


def binding_with_final_targets(binding: Binding) -> Binding:
    """Return a binding as it was decided: with the targets that it ends with, whatever step a move is at."""
    return binding if binding.moving is None else replace(binding, targets=binding.final_targets, moving=None)
