"""The triggers of rescheduling: a pure predicate over a binding, its previous decision and the source.

Karmada asks this when something happens; here it is asked on every pass. ``rescheduling: Source`` (the default) adds
two triggers. One is a target that the source no longer allows - its affinity, a property a spread constraint needs, or
a NoExecute taint. The other is a refusal that nothing asks for any more: replicas, placement or clusters are again as
they were when the binding was last placed. Facts alone trigger nothing.
"""

from render.binding import Binding
from render.bits import Mask
from render.placement import ClusterAffinityTerm, Placement
from render.settings.switches import Rescheduling

from .decisions import Trigger, was_last_decision_refused
from .options import SchedulingOptions
from .rules import Strategy, strategy_of_scheduling
from .targets import IndexedTargets


def trigger_of_scheduling(
    binding: Binding, current: IndexedTargets, *, allowed: Mask, leaving: Mask, options: SchedulingOptions
) -> Trigger:
    """Return the first trigger that applies.

    ``allowed`` are the clusters in which the source lets the binding stay, ``leaving`` those being deleted. A cluster
    that left the source counts as deleted.
    """
    # The order is Karmada's, because the condition of a binding names the first trigger.
    if is_placement_changed(binding):
        return Trigger.PLACEMENT_CHANGED
    if are_replicas_changed(binding, current):
        return Trigger.REPLICAS_CHANGED
    if binding.is_reschedule_requested:
        return Trigger.RESCHEDULE_TRIGGERED
    by_source = options.rescheduling is Rescheduling.SOURCE
    if by_source and (current.departed or current.clusters & ~allowed):
        return Trigger.TARGET_NOT_ALLOWED
    event = _trigger_by_event(binding, current, leaving)
    return _trigger_by_refusal(binding) if event is Trigger.NONE and by_source else event


def _trigger_by_event(binding: Binding, current: IndexedTargets, leaving: Mask) -> Trigger:
    """Return the trigger of Karmada's last two rules."""
    if not binding.is_workload or _strategy_of_binding(binding) is Strategy.DUPLICATED:
        return Trigger.DUPLICATED_OR_NON_WORKLOAD
    return Trigger.TERMINATING_TARGET_CLUSTERS if current.departed or current.clusters & leaving else Trigger.NONE


def _trigger_by_refusal(binding: Binding) -> Trigger:
    """Return the trigger of a binding to which no other applies: what it was refused for is not asked for any more.

    A target that stays for want of another cluster is allowed only for that reason.
    """
    return Trigger.REFUSAL_OUTDATED if was_last_decision_refused(binding) and not binding.staying else Trigger.NONE


def is_placement_changed(binding: Binding) -> bool:
    """Say whether the placement differs from the one last applied, where it matters.

    Of several affinity groups only the one in use matters; workload affinity matters only where no group is in use.
    """
    now, applied = binding.placement, binding.applied_placement
    if applied is None or now is None:
        return True
    if now is applied or now == applied:
        return False
    if _affinity_rules_of_all_groups(now) != _affinity_rules_of_all_groups(applied) or not binding.observed_affinity:
        return True
    term, earlier = (_affinity_term_named(placement, binding.observed_affinity) for placement in (now, applied))
    return term is None or earlier is None or term != earlier


def are_replicas_changed(binding: Binding, current: IndexedTargets) -> bool:
    """Say whether the targets have other replicas than the binding wants."""
    if binding.placement is None or binding.placement.replica_scheduling is None:
        return False
    if binding.components and not current.targets:
        return True
    if _strategy_of_binding(binding) is Strategy.DUPLICATED:
        return any(each.replicas != binding.replicas for each in current.targets)
    return current.total != binding.replicas


def _strategy_of_binding(binding: Binding) -> Strategy:
    return strategy_of_scheduling(binding.placement.replica_scheduling if binding.placement else None)


def _affinity_rules_of_all_groups(placement: Placement) -> tuple[object, ...]:
    return (
        placement.cluster_affinity,
        placement.cluster_tolerations,
        placement.spread_constraints,
        placement.replica_scheduling,
    )


def _affinity_term_named(placement: Placement, name: str) -> ClusterAffinityTerm | None:
    return next((term for term in placement.cluster_affinities if term.name == name), None)
