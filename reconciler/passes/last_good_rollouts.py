"""Rollouts and moves while a source is refused go on from the last good source, as if nobody had committed since.

Clusters that were given a change have to come through its gate, be taken back, or be followed by the next ones,
whatever is wrong with a commit that has nothing to do with it. So a pass whose source is refused renders the source of
the last rendered commit once more, by what is observed now, and commits the step that comes of it. ``argosy verify``
replays it like any other commit of that source.

Nothing of the refused source counts, its RolloutControls neither. Where commits are proposed to people, nothing is
proposed meanwhile: what waits for them already may be of a source between the two.
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconciler.branches.in_force import BranchPlace
from reconciler.branches.last_good import LastGood
from reconciler.branches.mirrors import update_mirrors
from reconciler.branches.reading import read_again_with_facts
from reconciler.console.log import Log
from reconciler.guards.allowances import Allowed
from reconciler.guards.continuity import continued_source
from reconciler.pipeline.moves import may_moves_be_gradual
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from reconciler.rendering.guarded_outcome import check_guards
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, commit_outcome, run_pass
from reconciler.rendering.rendered_objects import refuse_objects_clusters_reject
from render.errors import ConfigError, GuardRefused, InputError

from .asked_checks import pass_with_checks_asked
from .asked_reviews import inputs_with_reviews
from .ended_holds import end_holds_of_pulling_members
from .pass_inputs import is_proposing
from .result import PassResult

if TYPE_CHECKING:  # what speaks to clusters is only imported for fleets whose members are reached
    from .members import ReachedMembers


def are_rollouts_under_way(good: LastGood) -> bool:
    """Say whether a rollout or a move of the last good commit is not over, and steps are committed without a person."""
    source = good.source_as_rendered
    if is_proposing(source) or BranchPlace.of(source.desired.fleet) != good.place:
        return False
    states = rollout_states_of_tree(good.previous.tree).values()
    return any(not state.is_completed for state in states) or _are_moves_under_way(good)


def _are_moves_under_way(good: LastGood) -> bool:
    """Say whether replicas of the last good commit are on their way, each step of which is a commit."""
    desired = good.source_as_rendered.desired
    if not may_moves_be_gradual(desired.fleet.moves, desired.rollout_policies):
        return False
    return any(binding.moving is not None for binding in good.previous.bindings.values())


def step_of_last_good(good: LastGood, members: "ReachedMembers", log: Log) -> PassResult | None:
    """Commit the step that rollouts of the last good commit take now; None where none is under way, or it is refused.

    SourceMoved means that somebody else was faster.
    """
    if not are_rollouts_under_way(good):
        return None
    try:
        outcome = _guarded_outcome(good, members, log)
    except (InputError, ConfigError, GuardRefused) as error:
        log.warning(f"rollouts wait until a source is accepted again: {error}")
        return None
    with log.timed("commit"):
        commit = commit_outcome(outcome, good.publication, good.place.rendered)
        mirrored = update_mirrors(outcome.folders_at(commit), good.publication)
    mirrored.log_mirrored_branches(log)
    result = PassResult(outcome=outcome, publication=good.publication, commit=commit, fault=mirrored.fault)
    if commit is None:
        return result
    return replace(result, ended_holds=end_holds_of_pulling_members(good.source.desired, good.publication, commit, log))


def _guarded_outcome(good: LastGood, members: "ReachedMembers", log: Log) -> Outcome:
    """Return the outcome of the last good source now, which has passed the guards; what is allowed is not for it."""
    repository, observed = good.publication.repository, members.observed
    source = read_again_with_facts(repository, good.source_as_rendered, observed.facts)
    source = continued_source(repository, source, good.previous)
    given = RenderInputs(observed=observed, now=members.now)
    if source.desired.fleet.rollouts.reviewers:
        given, _ = inputs_with_reviews(given, good.publication, source, good.previous, log)
    outcome = members.with_webhook_answers(run_pass(repository, source, good.previous, given, log), log)
    outcome = pass_with_checks_asked(outcome, given, good.publication, log, members.reach)
    outcome = replace(outcome, source_branch=good.previous.branch)
    refuse_objects_clusters_reject(outcome, log)
    check_guards(outcome, Allowed(), log)
    return outcome
