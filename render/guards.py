"""Limits on what one commit may do to a fleet: remove objects, move replicas."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalGuard:
    """The limits on the objects that may leave a cluster in one commit.

    Refused are more than ``count`` objects and more than ``percent`` of the cluster's, a namespace or kind of more
    than ``whole`` objects in full, and all of a cluster.
    """

    count: int = 10
    percent: int = 20
    whole: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MovementBudget:
    """The replicas that may move in one commit: at most ``replicas`` and ``percent`` of them (None: no limit)."""

    replicas: int | None = None
    percent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedObject:
    """Objects that must never leave the clusters named (none named: any cluster); an empty field means any value."""

    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MovementGuard:
    """The limits on moving placed workloads in one commit: budgets, clusters and regions each keeps, pinned objects."""

    fleet: MovementBudget = field(default_factory=MovementBudget)
    workload: MovementBudget = field(default_factory=MovementBudget)
    minimum_clusters: int = 0
    minimum_regions: int = 0
    pinned: tuple[PinnedObject, ...] = ()
