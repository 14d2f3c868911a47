"""Placement: a policy's rules for choosing clusters and dividing replicas, never their outcome."""

from enum import StrEnum

from msgspec import Struct

from .selectors import ClusterAffinity


class ReplicaSchedulingType(StrEnum):
    """The two ways to place replicas: every cluster gets all of them, or a share."""

    DUPLICATED = "Duplicated"
    DIVIDED = "Divided"


class ReplicaDivisionPreference(StrEnum):
    """The two ways to find shares: few full clusters, or by weight."""

    AGGREGATED = "Aggregated"
    WEIGHTED = "Weighted"


class SpreadField(StrEnum):
    """The cluster property a spread constraint counts by."""

    CLUSTER = "cluster"
    REGION = "region"
    ZONE = "zone"
    PROVIDER = "provider"


class StaticClusterWeight(Struct, frozen=True, kw_only=True):
    """The weight (at least 1) of the clusters an affinity names."""

    target_cluster: ClusterAffinity
    weight: int


class ClusterPreferences(Struct, frozen=True, kw_only=True):
    """Weights for division; ``dynamic_weight`` ("" or ``AvailableReplicas``) makes the static list irrelevant."""

    static_weight_list: tuple[StaticClusterWeight, ...] = ()
    dynamic_weight: str = ""


class ReplicaScheduling(Struct, frozen=True, kw_only=True):
    """A ReplicaSchedulingStrategy; ``None`` in a placement means Duplicated."""

    type: ReplicaSchedulingType = ReplicaSchedulingType.DIVIDED
    division_preference: ReplicaDivisionPreference | None = None
    weight_preference: ClusterPreferences | None = None


class SpreadConstraint(Struct, frozen=True, kw_only=True):
    """Bounds on how many clusters or groups are chosen. ``max_groups`` 0 is Karmada's "omitted" (it selects none)."""

    spread_by_field: SpreadField | None = None
    spread_by_label: str = ""
    max_groups: int = 0
    min_groups: int = 0


class Toleration(Struct, frozen=True, kw_only=True):
    """A ``corev1.Toleration``."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class OverflowAffinity(Struct, frozen=True, kw_only=True):
    """Clusters used when the primary ones of a term are full, in list order."""

    name: str
    affinity: ClusterAffinity


class ClusterAffinityTerm(Struct, frozen=True, kw_only=True):
    """One of several affinity groups, tried in order. ``overflow`` None means the key was absent."""

    name: str
    affinity: ClusterAffinity
    overflow: tuple[OverflowAffinity, ...] | None = None


class WorkloadAffinity(Struct, frozen=True, kw_only=True):
    """Label keys whose equal values keep workloads together (``affinity``) or apart (``anti_affinity``)."""

    affinity: str = ""
    anti_affinity: str = ""


class Placement(Struct, frozen=True, kw_only=True):
    """The rules by which a policy places its templates. Equal placements are equal values (hash them once at load)."""

    cluster_affinity: ClusterAffinity | None = None
    cluster_affinities: tuple[ClusterAffinityTerm, ...] = ()
    cluster_tolerations: tuple[Toleration, ...] = ()
    spread_constraints: tuple[SpreadConstraint, ...] = ()
    replica_scheduling: ReplicaScheduling | None = None
    workload_affinity: WorkloadAffinity | None = None

    @property
    def asks_for_one_cluster(self) -> bool:
        """Say whether a spread constraint asks for exactly one cluster."""
        return any(
            each.spread_by_field == "cluster" and each.min_groups == each.max_groups == 1
            for each in self.spread_constraints
        )
