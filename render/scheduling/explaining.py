"""Tell a decision from the very attempts it was taken from.

Nothing here decides: filters, scores, room and votes are read from the attempts, so that what a condition says and
what is explained cannot differ.
"""

from render.bits import Mask, members
from render.placement import SpreadField

from .attempts import Attempt, Deliberation, Task
from .candidates import LOCALITY_SCORE
from .decisions import Decision, Refusal
from .explanation import (
    Candidate,
    ExplainedAttempt,
    ExplainedDivision,
    Explanation,
    Rejected,
    ScoredRegion,
    Vote,
)
from .filters import rejections
from .replicas import Ballot, ballots, count
from .rules import BEYOND_OVERFLOW, Strategy, assignment_strategy
from .spread import ANY, scored_regions
from .state import PassState


def explanation_of(deliberation: Deliberation, decision: Decision, state: PassState) -> Explanation:
    """Explain a decision, with the pass as it was when the decision was taken."""
    task = deliberation.task
    return Explanation(
        ref=task.binding.ref,
        trigger=deliberation.trigger,
        strategy=assignment_strategy(task.binding, task.rules),
        decision=decision,
        attempts=tuple(_explained(task, each, state) for each in deliberation.attempts),
        terminating=_names(state.terminating, state),
    )


def _explained(task: Task, attempt: Attempt, state: PassState) -> ExplainedAttempt:
    outcome = attempt.outcome
    return ExplainedAttempt(
        affinity=attempt.group.name,
        rejected=_rejected(attempt, state),
        candidates=_candidates(task, attempt, state),
        regions=_regions(task, attempt, state),
        divisions=_divisions(attempt, state),
        refusal=outcome if isinstance(outcome, Refusal) else None,
    )


def _rejected(attempt: Attempt, state: PassState) -> tuple[Rejected, ...]:
    reasons: dict[int, list[tuple[str, str]]] = {}
    for each in rejections(attempt.filters, state.index):
        for position in members(each.clusters):
            reasons.setdefault(position, []).append((each.plugin, each.reason))
    names = state.index.names
    return tuple(Rejected(cluster=names[each], reasons=tuple(found)) for each, found in sorted(reasons.items()))


def _candidates(task: Task, attempt: Attempt, state: PassState) -> tuple[Candidate, ...]:
    first = attempt.selection.candidates if attempt.selection else attempt.selected
    rest = attempt.filters.feasible & ~sum(1 << position for position in set(first))
    replicas = {} if isinstance(attempt.outcome, Refusal) else dict(attempt.outcome)
    selected = set(attempt.selected)
    return tuple(
        Candidate(
            cluster=state.index.names[position],
            tier=_tier(attempt, position),
            score=LOCALITY_SCORE if position in task.holding.replicas else 0,
            room=_room(task, attempt, position),
            held=task.holding.replicas.get(position),
            is_selected=position in selected,
            replicas=replicas.get(position, 0),
        )
        for position in (*first, *members(rest))
    )


def _tier(attempt: Attempt, position: int) -> int:
    tiers = attempt.group.tiers()
    return next((order for order, mask in tiers if mask >> position & 1), BEYOND_OVERFLOW)


def _room(task: Task, attempt: Attempt, position: int) -> int | None:
    """Return the room a cluster was judged by, what it holds counted in; None where nothing asked for it."""
    if attempt.selection is not None:
        return attempt.selection.available[position]
    if attempt.division is None or not attempt.division.capacity:
        return None
    return attempt.division.capacity[position] + task.holding.replicas.get(position, 0)


def _regions(task: Task, attempt: Attempt, state: PassState) -> tuple[ScoredRegion, ...]:
    spread, selection = task.rules.spread or {}, attempt.selection
    if selection is None or SpreadField.REGION not in spread:
        return ()
    selected, names = set(attempt.selected), state.index.names
    region, cluster = spread[SpreadField.REGION], spread.get(SpreadField.CLUSTER, ANY)
    return tuple(
        ScoredRegion(
            name=each.name,
            clusters=tuple(names[position] for position in each.clusters),
            score=each.score,
            is_chosen=not selected.isdisjoint(each.clusters),
        )
        for each in scored_regions(selection, region, cluster, state.index)
    )


def _divisions(attempt: Attempt, state: PassState) -> tuple[ExplainedDivision, ...]:
    division = attempt.division
    if division is None or division.strategy is Strategy.UNDIVIDED:
        return ()
    found = ballots(division)
    if isinstance(found, Refusal):
        return ()
    return tuple(_division(ballot, division.is_descending, state) for ballot in found)


def _division(ballot: Ballot, is_descending: bool, state: PassState) -> ExplainedDivision:
    votes = dict(zip(ballot.clusters, ballot.votes, strict=True))
    shares = dict(count(ballot, is_descending=is_descending))
    positions = (*votes, *(position for position in ballot.base if position not in votes))
    return ExplainedDivision(
        mode=ballot.mode,
        replicas=ballot.replicas,
        votes=tuple(
            Vote(
                cluster=state.index.names[position],
                base=ballot.base.get(position, 0),
                votes=votes.get(position, 0),
                more=shares.get(position, 0) - ballot.base.get(position, 0),
            )
            for position in positions
        ),
        is_descending=is_descending,
    )


def _names(clusters: Mask, state: PassState) -> tuple[str, ...]:
    return tuple(state.index.names[position] for position in members(clusters))
