"""Clusters from which a change was taken back: they are looked at soon, until each is well with what it has again."""

from collections.abc import Mapping

from reconciler.ledger.health import ObservedHealth
from reconciler.rendering.outcome import Outcome
from render.model import ObjectRef
from render.rollouts.state import RolloutPhase, RolloutReason


def has_unwell_clusters_taken_back(outcome: Outcome, health: ObservedHealth) -> bool:
    """Say whether a cluster of a rollout that was rolled back answers, and is not known to be well since then."""
    built = outcome.rendered.built
    held = {
        name
        for name, state in built.rolled.states.items()
        if (state.phase, state.reason) == (RolloutPhase.HELD, RolloutReason.ROLLED_BACK)
    }
    if not held:
        return False
    from reconciler.pipeline.rollouts.observations import observations_of_clusters

    versions: dict[str, dict[ObjectRef, str]] = {}
    for binding in built.bindings:
        rollout = binding.rollout
        if rollout is None or rollout.name not in held or binding.suspension is not None:
            continue
        known: Mapping[str, str] = rollout.version_by_cluster
        for target in binding.targets:
            versions.setdefault(target.name, {})[binding.ref] = known.get(target.name, rollout.completed)
    observed = observations_of_clusters(versions, health, ())
    return any(each.is_reachable and each.well_since is None for each in observed.values())
