"""The health that rules of failover ask for: of which workloads, of which clusters, since when, and put together.

The times are those of passes, and never of another machine's clock: what an agent tells is so since a pass first took
it in. Nor does time run while nobody sees a cluster: it starts with the first look at it afterwards.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from render.binding import Binding
from render.cluster import ClusterCondition
from render.failover.health import is_health_unknown, is_known_to_be_ready
from render.failover.tasks import UNKNOWN_HEALTH
from render.model import Manifest, ObjectRef
from render.rescheduling.descheduling import PendingReplicas

from .moves import move_settings_of_policy, moves_in_steps

if TYPE_CHECKING:  # the pass over a fleet at rest reads no source
    from reconciler.source.desired import Desired

_Conditions = tuple[ClusterCondition, ...]

PendingByCluster = Mapping[str, Mapping[ObjectRef, PendingReplicas]]
"""The replicas that clusters were found unable to start, by cluster; one without an entry was not asked."""


def is_health_asked_for(desired: "Desired", binding: Binding) -> bool:
    """Say whether a rule of failover, a rollout or a move asks for the health of a binding's workload."""
    failover = binding.failover or {}
    by_cluster = desired.fleet.feature_gates.failover and "cluster" in failover
    is_evicted = "application" in failover or by_cluster or binding.eviction_tasks
    return bool(
        is_evicted
        or (binding.rollout is not None and binding.rollout.has_gates)
        or are_ready_replicas_asked_for(desired, binding)
    )


def are_ready_replicas_asked_for(desired: "Desired", binding: Binding) -> bool:
    """Say whether a move may ask how many replicas of a binding's workload are ready in each cluster."""
    if binding.moving is not None:
        return True
    if not moves_in_steps(binding):
        return False
    rollout = binding.rollout.policy if binding.rollout is not None else ""
    policy = next((each for each in desired.rollout_policies if str(each) == rollout), None) if rollout else None
    return move_settings_of_policy(policy, desired.fleet.moves).is_make_before_break


def is_status_asked_for(binding: Binding) -> bool:
    """Say whether a rule reads labels out of the status of a binding's workload."""
    behaviors = (binding.failover or {}).values()
    return any((each.get("statePreservation") or {}).get("rules") for each in behaviors)


def cluster_conditions(status: Manifest) -> tuple[ClusterCondition, ...]:
    """Return the conditions of a Cluster's status."""
    return tuple(
        ClusterCondition(
            type=str(each["type"]),
            status=str(each.get("status") or ""),
            reason=str(each.get("reason") or ""),
            since=str(each.get("lastTransitionTime") or ""),
        )
        for each in status.get("conditions") or ()
    )


def health_of_members(health: ObservedHealth, names: Iterable[str]) -> ObservedHealth:
    """Return the health of some clusters alone."""
    known = frozenset(names)
    return ObservedHealth(
        conditions={name: found for name, found in health.conditions.items() if name in known},
        workloads={
            ref: tuple(each for each in found if each.cluster in known) for ref, found in health.workloads.items()
        },
        pending={
            ref: there
            for ref, found in health.pending.items()
            if (there := tuple(each for each in found if each.cluster in known))
        },
        runs={
            ref: begun
            for ref, runs in health.runs.items()
            if (begun := tuple(run for run in runs if run.cluster in known))
        },
        status_ages=tuple(each for each in health.status_ages if each.cluster in known),
    )


def health_with_pending(health: ObservedHealth, found: PendingByCluster) -> ObservedHealth:
    """Return health with what was found now in some clusters, in place of what was known of them."""
    kept = {ref: [each for each in there if each.cluster not in found] for ref, there in health.pending.items()}
    for there in found.values():
        for ref, each in there.items():
            kept.setdefault(ref, []).append(each)
    pending = {ref: tuple(sorted(there, key=lambda each: each.cluster)) for ref, there in kept.items() if there}
    return replace(health, pending=pending)


def health_with_times_of_passes(
    health: ObservedHealth, before: ObservedHealth, reported_by_agents: Collection[str], now: str
) -> ObservedHealth:
    """Return health with the times of the passes' own looks, given that of the last pass.

    ``reported_by_agents`` are the clusters whose agents tell of them, with times of their own clocks.
    """
    known = {ref: {each.cluster: each for each in found} for ref, found in before.workloads.items()}
    unseen = frozenset(name for name, found in health.conditions.items() if is_health_unknown(found))

    def with_time(each: ReportedHealth, last: ReportedHealth | None) -> ReportedHealth:
        if each.cluster in unseen:
            each = replace(each, health=UNKNOWN_HEALTH, since="")
        elif each.cluster in reported_by_agents:
            each = replace(each, since="")
        if last is None:
            return replace(each, since=each.since or now)
        is_same = (last.health, last.version) == (each.health, each.version)
        return replace(each, since=max(each.since, last.since) if is_same else now)

    return replace(
        health,
        workloads={
            ref: tuple(with_time(each, known.get(ref, {}).get(each.cluster)) for each in found)
            for ref, found in health.workloads.items()
        },
    )


def health_with_workloads(health: ObservedHealth, found: ObservedHealth, refs: Iterable[ObjectRef]) -> ObservedHealth:
    """Return health with what was found of some workloads, and of all clusters."""
    workloads = {ref: found.workloads[ref] for ref in refs if ref in found.workloads}
    return replace(health, conditions=found.conditions, workloads={**health.workloads, **workloads})


def workloads_with_changed_health(
    desired: "Desired", before: ObservedHealth, after: ObservedHealth
) -> frozenset[ObjectRef] | None:
    """Return the workloads whose health is another one; None where the conditions of clusters are."""
    names, old, new = (each.name for each in desired.clusters), before.conditions, after.conditions
    if any(_have_conditions_changed(old.get(name), new.get(name), desired) for name in names):
        return None
    refs = before.workloads.keys() | after.workloads.keys()
    return frozenset(ref for ref in refs if before.workloads.get(ref) != after.workloads.get(ref))


def _have_conditions_changed(before: _Conditions | None, after: _Conditions | None, desired: "Desired") -> bool:
    """Say whether the conditions of a cluster are others than they were, as far as a rule asks for them."""
    if desired.fleet.feature_gates.failover:
        return before != after
    if before is None or after is None:  # not recorded, for nothing asked for it then
        return after is not None and not is_known_to_be_ready(after)
    return (is_known_to_be_ready(before), is_health_unknown(before)) != (
        is_known_to_be_ready(after),
        is_health_unknown(after),
    )
