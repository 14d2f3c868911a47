"""An outcome before the guards: one that takes, moves or costs too much is refused, unless somebody allows it.

The guards judge values. Here they are given those of an outcome, and what the commits of its source allow.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from reconciler.console.log import Log
from reconciler.guards.allowances import Allowed
from reconciler.guards.continuity import files_before, lines_of_renames_by_hand, unread_files
from reconciler.guards.cost_guard import CostIncrease, cost_increase, words_of_unjudged_objects
from reconciler.guards.limits import check_limits, check_some_member_is_left
from reconciler.guards.movement_guard import Breach, Placements, breaches_of_limits
from reconciler.guards.protection import Folders, ProtectedLoss, losses_between, losses_of_clusters, protected_losses
from reconciler.guards.removal_guard import removal_refusal
from reconciler.guards.source_trailers import allowed_between
from reconciler.pipeline.previous import Previous
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.errors import GuardRefused
from render.model import ObjectRef
from render.prices.cluster_prices import prices_of_clusters
from render.settings.cost_guard import CostGuard
from render.settings.movement_guard import MovementGuard
from render.settings.removal_guard import GuardScope
from render.words import first_few

from .outcome import Outcome

NOTHING: Mapping[ObjectRef, Binding] = {}


def check_guards(outcome: Outcome, allowed: Allowed, log: Log) -> None:
    """Refuse a pass that takes, moves or costs too much; where the removal guard holds back clusters, it goes on."""
    if outcome.previous is None:
        return
    losses = protected_losses_of_outcome(outcome, outcome.previous)
    if not outcome.is_changed and not losses:
        return
    is_by_cluster = outcome.source.desired.fleet.removal_guard.scope is GuardScope.CLUSTER
    removed, broken = () if is_by_cluster else outcome.removals, movement_breaches(outcome)
    increase = cost_increase_of_outcome(outcome)
    log.warn_of(words_of_unjudged_objects(increase))
    is_too_dear = increase is not None and bool(increase.broken_limits)
    is_too_much = broken or losses or is_too_dear or any(removal.reasons for removal in removed)
    if is_too_much or not outcome.source.desired.clusters:
        # What commits allow is asked for where there is something to allow.
        allowed |= allowed_between(outcome.repository, outcome.previous.source, outcome.source.commit)
        with _adding_possible_causes(outcome, outcome.previous):
            check_some_member_is_left(outcome.previous.tree.clusters, outcome.source.desired.clusters, allowed)
            check_limits(removed, broken, allowed, losses=losses, increase=increase)


def protected_losses_of_outcome(outcome: Outcome, previous: Previous) -> tuple[ProtectedLoss, ...]:
    """Return the protected objects that a pass takes away, from the source or from clusters."""
    folders = Folders(
        before=previous.tree.clusters,
        after=outcome.rendered.tree.clusters,
        read_tree=outcome.entries,
        read_blobs=outcome.contents,
        expected=outcome.rendered.built.expected_removals,
        leaving=outcome.rendered.built.begun_removals,
    )
    of_source: Iterable[ProtectedLoss] = ()
    if previous.source != outcome.source.commit:
        before = files_before(outcome.repository, previous).values()
        of_source = losses_between(outcome.repository, before, outcome.source)
    return protected_losses(losses_of_clusters(folders), of_source)


@contextmanager
def _adding_possible_causes(outcome: Outcome, previous: Previous) -> Iterator[None]:
    """Add to a refusal which files are not read any more, and who may have been renamed: it may be all there is."""
    try:
        yield
    except GuardRefused as error:
        repository, source = outcome.repository, outcome.source
        found = (*unread_files(repository, source, previous), *lines_of_renames_by_hand(repository, source, previous))
        causes = [f"  {each}" for each in found]
        raise GuardRefused("\n".join([error.message, *causes]), hint=error.hint) from error


def check_removals_held_back(outcome: Outcome) -> None:
    """Refuse what a pass held back: the clusters that keep what they have, because too much would leave them.

    This comes after the commit, which has what all others get.
    """
    held_removals = outcome.rendered.held_removals
    if not held_removals:
        return
    names = first_few([each.cluster for each in held_removals])
    error = removal_refusal(
        held_removals, f"; {names} {'keeps' if len(held_removals) == 1 else 'keep'} what was there, all others go on"
    )
    previous = outcome.previous
    if previous is None:
        raise error
    with _adding_possible_causes(outcome, previous):
        raise error


def movement_breaches(outcome: Outcome) -> tuple[Breach, ...]:
    """Return the limits of the movement guard that a pass breaks."""
    if outcome.previous is None or outcome.source.desired.fleet.movement_guard == MovementGuard():
        return ()
    return movement_breaches_between(
        outcome.previous.bindings, outcome, _bindings_beside_scope(outcome.previous, outcome)
    )


def _bindings_beside_scope(previous: Previous, outcome: Outcome) -> Mapping[ObjectRef, Binding]:
    """Return the bindings that a pass did not look at, and so did not change."""
    scope = outcome.scope
    return {ref: each for ref, each in previous.bindings.items() if ref not in scope.refs} if scope else NOTHING


def movement_breaches_between(
    before: Mapping[ObjectRef, Binding], outcome: Outcome, beside: Mapping[ObjectRef, Binding] = NOTHING
) -> tuple[Breach, ...]:
    """Return the limits an outcome breaks; ``beside`` are bindings it did not look at, and so did not change."""
    desired = outcome.source.desired
    placements = Placements(
        before=before,
        after={**beside, **{binding.ref: binding for binding in outcome.rendered.built.bindings}},
        region_by_cluster={cluster.name: cluster.region for cluster in desired.clusters},
    )
    return breaches_of_limits(placements, desired.fleet.movement_guard)


def cost_increase_of_outcome(outcome: Outcome) -> CostIncrease | None:
    """Return by how much more a pass lets the fleet cost; None where no guard asks."""
    if outcome.previous is None or outcome.source.desired.fleet.cost_guard == CostGuard():
        return None
    return cost_increase_between(outcome.previous.bindings, outcome, _bindings_beside_scope(outcome.previous, outcome))


def cost_increase_between(
    before: Mapping[ObjectRef, Binding], outcome: Outcome, beside: Mapping[ObjectRef, Binding] = NOTHING
) -> CostIncrease | None:
    """Return by how much more an outcome costs; ``beside`` are bindings it did not look at, and so did not change.

    None: no guard asks, or nothing has a price.
    """
    desired = outcome.source.desired
    if desired.fleet.cost_guard == CostGuard() or not desired.price_lists:
        return None
    prices = prices_of_clusters(desired.price_lists, ClusterIndex(desired.clusters))
    after = {**beside, **{binding.ref: binding for binding in outcome.rendered.built.bindings}}
    return cost_increase(before, after, prices, desired.fleet.cost_guard)
