"""Explain a decision with values: filters, order, regions, divisions, down to the single seat.

Nothing here decides: filters, scores, room and votes are read from the attempts the decision was taken from, so that
the condition of a binding and its explanation cannot differ.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from render.bits import Mask, indexes_of_mask
from render.cluster import BLOCKING_EFFECTS, Cluster, is_tolerated
from render.model import ObjectRef
from render.placement import SpreadField
from render.words import first_few

from .attempts import LOCALITY_SCORE, Attempt, replicas_of_current_targets
from .decisions import Refusal, SchedulingDecision, Trigger
from .filtering import rejections_by_filter
from .passed_over import PassedOver, why_region_is_left_out
from .replicas import Apportionment, Mode, apportionments_of_division, shares_of_apportionment
from .rules import BEYOND_OVERFLOW, Strategy, strategy_for_binding
from .scheduler import SchedulingCycle
from .spread import ANY, scored_regions
from .state import PassState, Task
from .webster import seats_in_order_given


class Rejected(Struct, frozen=True, kw_only=True):
    """A cluster that failed filters: each plugin with its reason, in their order."""

    cluster: str
    reasons: tuple[tuple[str, str], ...]


class Candidate(Struct, frozen=True, kw_only=True):
    """A cluster that passed every filter, in the order of candidates.

    ``score`` and ``room`` decide the order after ``tier`` (the place in an overflow); ``room`` counts what the cluster
    ``held`` before, and is None where the placement never asks for it. ``replicas`` is what it gets. ``why`` is the
    rule by which it is not selected, ``in_spite_of`` names the taints that it has and passes in spite of, and why.
    """

    cluster: str
    tier: int
    score: int
    room: int | None
    held: int | None
    is_selected: bool
    replicas: int
    why: str = ""
    in_spite_of: str = ""


class ScoredRegion(Struct, frozen=True, kw_only=True):
    """A region as a group: its clusters, best first, and its score; chosen if any of them is selected.

    ``why`` is the rule by which it is not.
    """

    name: str
    clusters: tuple[str, ...]
    score: int
    is_chosen: bool
    why: str = ""


class Vote(Struct, frozen=True, kw_only=True):
    """A cluster in a division: the replicas it has already (``base``), its votes, and the replicas they add."""

    cluster: str
    base: int
    votes: int
    more: int


class ExplainedDivision(Struct, frozen=True, kw_only=True):
    """One division: its mode, the number of replicas, and the votes they are divided by."""

    mode: Mode
    replicas: int
    votes: tuple[Vote, ...]
    is_descending: bool

    def seats(self) -> Iterator["ExplainedSeat"]:
        """Yield every replica as it is given, in order."""
        seats = seats_in_order_given(self.replicas, [vote.votes for vote in self.votes], descending=self.is_descending)
        for number, seat in enumerate(seats, start=1):
            yield ExplainedSeat(
                number=number,
                cluster=self.votes[seat.party].cluster,
                average=seat.average,
                tied=tuple(self.votes[party].cluster for party in seat.tied),
            )


class ExplainedSeat(Struct, frozen=True, kw_only=True):
    """One replica of a division: the cluster that got it, its average, and those equal to it but for the tie rule."""

    number: int
    cluster: str
    average: float
    tied: tuple[str, ...]


class ExplainedAttempt(Struct, frozen=True, kw_only=True):
    """The attempt with one affinity group: rejected clusters, candidates, divisions, or the refusal it ended with."""

    affinity: str
    rejected: tuple[Rejected, ...]
    candidates: tuple[Candidate, ...]
    regions: tuple[ScoredRegion, ...]
    divisions: tuple[ExplainedDivision, ...]
    refusal: Refusal | None


class Explanation(Struct, frozen=True, kw_only=True):
    """A decision and its grounds. ``terminating`` clusters were no candidates at all.

    ``afresh`` are the replicas by cluster that a request to reschedule would give, where nothing was decided now and
    replicas are divided; None where it would be refused, or was not asked for.
    """

    ref: ObjectRef
    trigger: Trigger
    strategy: Strategy
    decision: SchedulingDecision
    attempts: tuple[ExplainedAttempt, ...]
    terminating: tuple[str, ...]
    afresh: Mapping[str, int] | None = None


def explanation_of(
    cycle: SchedulingCycle,
    decision: SchedulingDecision,
    state: PassState,
    afresh: SchedulingDecision | None = None,
) -> Explanation:
    """Explain a decision, with the pass as it was when the decision was taken; ``afresh``: what a request would do."""
    task = cycle.task
    return Explanation(
        ref=task.binding.ref,
        trigger=cycle.trigger,
        strategy=strategy_for_binding(task.binding, task.rules),
        decision=decision,
        attempts=tuple(_explained_attempt(task, each, state) for each in cycle.attempts),
        terminating=_names_of_clusters(state.terminating, state),
        afresh={each.name: each.replicas for each in afresh.targets} if afresh and afresh.is_scheduled else None,
    )


def _explained_attempt(task: Task, attempt: Attempt, state: PassState) -> ExplainedAttempt:
    outcome = attempt.outcome
    return ExplainedAttempt(
        affinity=attempt.group.name,
        rejected=_rejected_clusters(attempt, state),
        candidates=_explained_candidates(task, attempt, state),
        regions=_scored_regions_of_attempt(task, attempt, state),
        divisions=_explained_divisions(attempt, state),
        refusal=outcome if isinstance(outcome, Refusal) else None,
    )


def _rejected_clusters(attempt: Attempt, state: PassState) -> tuple[Rejected, ...]:
    reasons: dict[int, list[tuple[str, str]]] = {}
    for each in rejections_by_filter(attempt.filters, state.index):
        for position in indexes_of_mask(each.clusters):
            reasons.setdefault(position, []).append((each.plugin, each.reason))
    names = state.index.names
    return tuple(Rejected(cluster=names[each], reasons=tuple(found)) for each, found in sorted(reasons.items()))


def _explained_candidates(task: Task, attempt: Attempt, state: PassState) -> tuple[Candidate, ...]:
    first = attempt.selection.candidates if attempt.selection else attempt.selected
    rest = attempt.filters.feasible & ~sum(1 << position for position in set(first))
    replicas = {} if isinstance(attempt.outcome, Refusal) else dict(attempt.outcome)
    selected, held = set(attempt.selected), replicas_of_current_targets(state, task)
    passed_over = PassedOver(task=task, attempt=attempt, state=state)
    return tuple(
        Candidate(
            cluster=state.index.names[position],
            tier=_tier_of_cluster(attempt, position),
            score=LOCALITY_SCORE if position in task.current.replicas else 0,
            room=_room_of_cluster_when_judged(task, attempt, position),
            held=held.get(position),
            is_selected=position in selected,
            replicas=replicas.get(position, 0),
            why="" if position in selected else passed_over.why_passed_over(position),
            in_spite_of=_taints_in_words(state.index.clusters[position], task),
        )
        for position in (*first, *indexes_of_mask(rest))
    )


def _taints_in_words(cluster: Cluster, task: Task) -> str:
    """Return the taints of a cluster that passes every filter, and why none of them refuses it ("": it has none)."""
    taints = [taint for taint in cluster.taints if taint.effect in BLOCKING_EFFECTS]
    if not taints:
        return ""
    placement = task.binding.placement
    tolerations = placement.cluster_tolerations if placement is not None else ()
    untolerated = [str(taint) for taint in taints if not is_tolerated(taint, tolerations)]
    if untolerated:
        return f"{first_few(untolerated)}: taints refuse no cluster that has it already"
    return f"{first_few(list(map(str, taints)))}: tolerated by the placement"


def _tier_of_cluster(attempt: Attempt, position: int) -> int:
    tiers = attempt.group.tiers()
    return next((order for order, mask in tiers if mask >> position & 1), BEYOND_OVERFLOW)


def _room_of_cluster_when_judged(task: Task, attempt: Attempt, position: int) -> int | None:
    """Return the room a cluster was judged by, its current replicas counted in; None where nothing asked for it."""
    if attempt.selection is not None:
        return attempt.selection.available[position]
    if attempt.division is None or not attempt.division.capacity:
        return None
    return attempt.division.capacity[position] + task.current.replicas.get(position, 0)


def _scored_regions_of_attempt(task: Task, attempt: Attempt, state: PassState) -> tuple[ScoredRegion, ...]:
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
            why=why_region_is_left_out(attempt, region) if selected.isdisjoint(each.clusters) else "",
        )
        for each in scored_regions(selection, region, cluster, state.index)
    )


def _explained_divisions(attempt: Attempt, state: PassState) -> tuple[ExplainedDivision, ...]:
    division = attempt.division
    if division is None or division.strategy is Strategy.UNDIVIDED:
        return ()
    found = apportionments_of_division(division)
    if isinstance(found, Refusal):
        return ()
    return tuple(_explained_division(apportionment, division.is_descending, state) for apportionment in found)


def _explained_division(apportionment: Apportionment, is_descending: bool, state: PassState) -> ExplainedDivision:
    votes = dict(zip(apportionment.clusters, apportionment.votes, strict=True))
    shares = dict(shares_of_apportionment(apportionment, is_descending=is_descending))
    positions = (*votes, *(position for position in apportionment.base if position not in votes))
    return ExplainedDivision(
        mode=apportionment.mode,
        replicas=apportionment.replicas,
        votes=tuple(
            Vote(
                cluster=state.index.names[position],
                base=apportionment.base.get(position, 0),
                votes=votes.get(position, 0),
                more=shares.get(position, 0) - apportionment.base.get(position, 0),
            )
            for position in positions
        ),
        is_descending=is_descending,
    )


def _names_of_clusters(clusters: Mask, state: PassState) -> tuple[str, ...]:
    return tuple(state.index.names[position] for position in indexes_of_mask(clusters))
