"""A pass in the lines that people read: the commit it made, and what they should look at."""

from typing import TYPE_CHECKING

from reconciler.rendering.outcome import Outcome
from reconciler.rendering.problems import problems_by_object, reason_for_empty_outcome
from render.settings.rendered import PushMode
from render.words import counted_noun

from .result import PassResult

if TYPE_CHECKING:  # what speaks to forges is only imported where commits are proposed
    from .proposing import Proposal

_PROPOSED = {
    "Opened": "a pull request is opened",
    "Renewed": "its pull request is renewed",
    "Unchanged": "its pull request waits to be merged",
    "Closed": "somebody closed its pull request",
    "Failed": "no pull request could be opened",
}


def warning_lines(result: PassResult) -> tuple[str, ...]:
    """Return a line for each warning of an outcome, for each object not placed or built, and for an empty outcome."""
    nothing = reason_for_empty_outcome(result.outcome)
    return (*result.outcome.warnings, *map(str, problems_by_object(result.outcome)), *filter(None, [nothing]))


def commit_line(result: PassResult, *, dry_run: bool) -> str:
    """Return the line that says which commit the fleet is at, or would be."""
    outcome = result.outcome
    branch, source = outcome.source.desired.fleet.rendered_branch, outcome.source.commit[:12]
    if not outcome.is_changed:
        tip = outcome.previous.commit[:12] if outcome.previous else ""
        return f"unchanged: {branch} {tip} holds source {source}"
    what = outcome.summary if outcome.rendered.tree.clusters else f"source {source} {_contents_of_source(outcome)}"
    place = result.publication.place
    where = f"{branch} at {place}" if place else branch
    if dry_run:
        return f"would commit {what} to {where}" if _is_pushed(outcome) else f"would propose {what} for {where}"
    if result.proposal is not None:
        return proposal_line(result.proposal, what)
    return f"committed {str(result.commit)[:12]} to {where}: {what}"


def _contents_of_source(outcome: Outcome) -> str:
    """Return what a source has of which nothing is rendered: all that there is of a fleet that is just begun."""
    desired = outcome.source.desired
    has = ", ".join(
        (
            counted_noun(len(desired.templates), "template"),
            counted_noun(len(desired.policies), "propagation policy", "propagation policies"),
            counted_noun(len(desired.clusters), "cluster"),
        )
    )
    return f"for no cluster ({has})"


def _is_pushed(outcome: Outcome) -> bool:
    """Say whether the commit of a pass goes to the rendered branch as it is, as the first one always does."""
    return outcome.previous is None or outcome.source.desired.fleet.rendered.push is PushMode.BRANCH


def proposal_line(proposal: "Proposal", what: str) -> str:
    """Return the line that says what is proposed, and whether a person was asked."""
    where = f": {proposal.url}" if proposal.url else ""
    return f"proposed {proposal.commit[:12]} on {proposal.branch}: {what}; {_PROPOSED[proposal.state]}{where}"
