"""The descheduler: replicas that a cluster cannot start are taken from it, for the scheduler to place elsewhere.

It looks at Deployments alone whose applied placement divides replicas by room (Aggregated, or by a dynamic weight). A
cluster is considered where fewer replicas are ready than it has, or nobody says how many are. What stays is what it
has without those that cannot be scheduled there, but never less than what is ready.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct

from render.binding import Binding
from render.model import TargetCluster
from render.placement import Placement, ReplicaDivisionPreference, ReplicaSchedulingType
from render.timing import Flip, Timed, earliest_flip, first_whole_second_after, has_passed_since, parse_instant

UNKNOWN = -1
"""The ready replicas of a cluster that does not say."""


class PendingPods(Struct, frozen=True, kw_only=True, order=True):
    """So many pods of a workload that no node of a cluster takes, and since when."""

    since: str
    pods: int


class PendingReplicas(Struct, frozen=True, kw_only=True):
    """The pods of a workload that no node of a cluster takes, by since when, beside the replicas that are ready."""

    cluster: str
    ready: int = 0
    pending: tuple[PendingPods, ...] = ()


class Descheduled(Struct, frozen=True, kw_only=True):
    """The targets of a binding after its descheduling, and the replicas each cluster lost, in their order."""

    targets: tuple[TargetCluster, ...]
    removed: Mapping[str, int]

    @property
    def total(self) -> int:
        """The number of replicas taken away."""
        return sum(self.removed.values())

    @property
    def message(self) -> str:
        """The outcome in Karmada's words."""
        each = ", ".join(f"{count} replica(s) in cluster({name})" for name, count in self.removed.items())
        return f"Binding has been descheduled, {each}, {self.total} total descheduled replica(s)"


def is_deschedulable(binding: Binding) -> bool:
    """Say whether the descheduler looks at a binding at all."""
    is_deployment = (
        binding.api_version == "apps/v1" and binding.ref.kind == "Deployment" and binding.ref.namespace != ""
    )
    return is_deployment and is_divided_by_room(binding.applied_placement)


def is_divided_by_room(placement: Placement | None) -> bool:
    """Say whether a placement divides replicas by the room of clusters."""
    scheduling = placement and placement.replica_scheduling
    if not scheduling or scheduling.type is not ReplicaSchedulingType.DIVIDED:
        return False
    if scheduling.division_preference is ReplicaDivisionPreference.AGGREGATED:
        return True
    weights = scheduling.weight_preference
    is_weighted = scheduling.division_preference is ReplicaDivisionPreference.WEIGHTED
    return is_weighted and weights is not None and bool(weights.dynamic_weight)


def count_of_unschedulable_pods(pending: Iterable[PendingPods], now: datetime, threshold: float) -> Timed[int]:
    """Return how many pods no node has taken for longer than the threshold, and when the next ones have waited so."""
    count, flips = 0, list[Flip]()
    for each in pending:
        since = parse_instant(each.since)
        if since is None:
            continue
        if has_passed_since(now, since, threshold):
            count += each.pods
        else:
            flips.append(Flip(first_whole_second_after(since, threshold)))
    return Timed(count, earliest_flip(flips))


def targets_not_fully_ready(targets: Iterable[TargetCluster], ready: Mapping[str, int]) -> tuple[TargetCluster, ...]:
    """Return the targets of which not all replicas are known to be ready."""
    return tuple(target for target in targets if ready.get(target.name, UNKNOWN) < target.replicas)


def targets_after_descheduling(
    targets: tuple[TargetCluster, ...], *, ready: Mapping[str, int], unschedulable: Mapping[str, int]
) -> Descheduled | None:
    """Take the replicas that clusters cannot start from them; None where nothing is taken.

    ``unschedulable`` counts those replicas by cluster. A count above what the cluster has is not believed.
    """
    kept: dict[str, int] = {}
    for target in targets_not_fully_ready(targets, ready):
        if not 0 < unschedulable.get(target.name, 0) <= target.replicas:
            continue
        remaining, running = target.replicas - unschedulable[target.name], ready.get(target.name, UNKNOWN)
        kept[target.name] = running if remaining < running <= target.replicas else remaining
    removed = {target.name: target.replicas - kept[target.name] for target in targets if target.name in kept}
    if not any(removed.values()):
        return None
    after = tuple(TargetCluster(each.name, kept.get(each.name, each.replicas)) for each in targets)
    return Descheduled(targets=after, removed=removed)
