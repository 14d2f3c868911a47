"""Passes in memory before the guards: the refusal that the real pass would end with, if there is one."""

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.reading import Source
from reconciler.guards.allowances import Allowed
from reconciler.guards.limits import check_limits
from reconciler.guards.protection import Folders, ProtectedLoss, losses_of_clusters, protected_losses
from reconciler.guards.removal_guard import removal_refusal
from reconciler.pipeline.previous import Previous
from reconciler.rendering.guarded_outcome import cost_increase_of_outcome, movement_breaches
from reconciler.rendering.outcome import Outcome
from reconciler.repository import Repository
from render.errors import GuardRefused
from render.settings.removal_guard import GuardScope

from .simulated_pass import SimulatedPass

_CONSEQUENCE = "; nothing of this pass would be committed"
_HELD = "; these clusters would keep what they have"


class PassGuard(Struct, frozen=True, kw_only=True):
    """The guards of a fleet, asked about passes over a source that nothing is committed of; ``allowed`` goes before."""

    repository: Repository
    source: Source
    allowed: Allowed

    def refusal_of_pass(self, before: SimulatedPass, done: SimulatedPass) -> GuardRefused | None:
        """Return the refusal of a pass, given the one before it; None where it would be committed as it is."""
        outcome, previous = self.outcome_of_pass(done), done.inputs.previous
        assert previous is not None, "a simulated pass starts from the one before it"
        fleet = outcome.source.desired.fleet
        held = done.rendered.held_removals
        if held and held != before.rendered.held_removals:
            return removal_refusal(held, _HELD)
        removed = () if fleet.removal_guard.scope is GuardScope.CLUSTER else outcome.removals
        try:
            check_limits(
                removed,
                movement_breaches(outcome),
                self.allowed,
                losses=_protected_losses(outcome, previous),
                increase=cost_increase_of_outcome(outcome),
                consequence=_CONSEQUENCE,
            )
        except GuardRefused as error:
            return error
        return None

    def outcome_of_pass(self, done: SimulatedPass) -> Outcome:
        """Return a simulated pass as one over a repository, where only passes in memory made some of its files."""
        return Outcome(
            repository=self.repository,
            source=replace(self.source, desired=done.inputs.desired),
            previous=done.inputs.previous,
            rendered=done.rendered,
            scope=done.inputs.scope,
            allowed=self.allowed,
            now=done.at,
            clock=done.at,
            facts=done.inputs.facts,
        )


def _protected_losses(outcome: Outcome, previous: Previous) -> tuple[ProtectedLoss, ...]:
    """Return the protected objects that leave clusters; all of these files stand in the tree before."""
    folders = Folders(
        before=previous.tree.clusters,
        after=outcome.rendered.tree.clusters,
        read_tree=outcome.entries,
        read_blobs=previous.tree.contents,
        expected=outcome.rendered.built.expected_removals,
        leaving=outcome.rendered.built.begun_removals,
    )
    return protected_losses(losses_of_clusters(folders), ())
