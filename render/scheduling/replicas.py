"""Assign replicas to the selected clusters: all to each, by static weights, by free room, or to as few as hold them.

Shares are ``(cluster index, replicas)``. Bits ascend with names, so sorting indexes sorts names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import compress, islice
from operator import lt

from render.bits import Mask

from .decisions import Reason, Refusal
from .rules import Strategy
from .webster import seats_by_votes

Shares = Sequence[tuple[int, int]]

UNSUPPORTED = Refusal(
    Reason.SCHEDULER_ERROR,
    "unsupported replica scheduling strategy, replicaSchedulingType: Divided, replicaDivisionPreference: , "
    "please try another scheduling strategy",
)
NOT_ENOUGH = "Clusters available replicas are not enough to schedule."


class Mode(StrEnum):
    """How a ballot came about; those by capacity in Karmada's words."""

    COPY = "copy"
    STATIC = "divide by static weight"
    FRESH = "do fresh scale"
    SCALE_UP = "scale up"
    SCALE_DOWN = "scale down"
    STEADY = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """So many replicas to divide among clusters (indexes in name order) by their votes, on top of a base."""

    mode: Mode
    replicas: int = 0
    clusters: Sequence[int] = ()
    votes: Sequence[int] = ()
    base: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A number of replicas to assign.

    ``selected`` are cluster indexes in the order of selection. ``capacity`` is free room by cluster index, without
    what the clusters hold of the binding; ``held`` is that, in the binding's own order. ``is_fresh`` ignores what is
    held, but counts it as room. ``weights`` are by cluster index. ``tiers`` are filled one after the other.
    """

    replicas: int
    strategy: Strategy
    selected: Sequence[int]
    capacity: Sequence[int]
    held: Mapping[int, int] = field(default_factory=dict)
    is_fresh: bool = False
    is_descending: bool = False
    weights: Sequence[int] = ()
    tiers: Sequence[Mask] = ()

    @property
    def is_copied(self) -> bool:
        """Whether every selected cluster gets the same."""
        return self.strategy in {Strategy.DUPLICATED, Strategy.UNDIVIDED} and not self.tiers


def assign_replicas(division: Division) -> Shares | Refusal:
    """Assign the replicas; clusters that get none are not in the result, unless there is nothing to divide."""
    if division.strategy is Strategy.UNDIVIDED:
        return [(index, 0) for index in division.selected]
    if division.strategy is Strategy.DUPLICATED and not division.tiers:
        return [(index, division.replicas) for index in division.selected if division.replicas]
    found = ballots(division)
    if isinstance(found, Refusal):
        return found
    counted = (count(ballot, is_descending=division.is_descending) for ballot in found)
    return [share for shares in counted for share in shares if share[1]]


def ballots(division: Division) -> tuple[Ballot, ...] | Refusal:
    """Return what is divided among whom: once, or once for every tier."""
    if division.tiers:
        return _tier_by_tier(division)
    match division.strategy:
        case Strategy.DUPLICATED | Strategy.UNDIVIDED:
            return (Ballot(mode=Mode.COPY, base=dict.fromkeys(division.selected, division.replicas)),)
        case Strategy.STATIC_WEIGHT:
            return (_by_static_weight(division),)
        case Strategy.AGGREGATED | Strategy.DYNAMIC_WEIGHT:
            ballot = _by_capacity(division)
            return ballot if isinstance(ballot, Refusal) else (ballot,)
    return UNSUPPORTED


def count(ballot: Ballot, *, is_descending: bool) -> Shares:
    """Divide a ballot's replicas by its votes, on top of its base; clusters that only the base has stand last."""
    if not ballot.replicas:
        return list(ballot.base.items())
    seats = seats_by_votes(ballot.replicas, ballot.votes, descending=is_descending)
    if not ballot.base:
        return list(zip(compress(ballot.clusters, seats), filter(None, seats), strict=True))
    shares = dict(zip(ballot.clusters, seats, strict=True))
    for index, replicas in ballot.base.items():
        shares[index] = shares.get(index, 0) + replicas
    return list(shares.items())


def _by_static_weight(division: Division) -> Ballot:
    """Divide from scratch; the selected clusters no weight names get nothing, unless it names none of them."""
    clusters, weights = sorted(division.selected), division.weights
    votes = list(map(weights.__getitem__, clusters)) if weights else []
    if not any(votes):
        votes = [1] * len(clusters)
    return Ballot(mode=Mode.STATIC, replicas=division.replicas, clusters=clusters, votes=votes)


def _by_capacity(division: Division) -> Ballot | Refusal:
    """Keep what is held and add or take the difference; a fresh division starts from nothing."""
    selected, capacity, held = division.selected, division.capacity, division.held
    among = set(selected) if held else ()
    kept = {index: replicas for index, replicas in held.items() if index in among}
    assigned = sum(kept.values())
    if division.is_fresh:
        votes = [capacity[index] + kept.get(index, 0) for index in selected]
        ballot = Ballot(mode=Mode.FRESH, replicas=division.replicas, clusters=selected, votes=votes)
    elif assigned == division.replicas:
        return Ballot(mode=Mode.STEADY, base=kept)
    elif assigned > division.replicas:
        votes = list(kept.values())
        ballot = Ballot(mode=Mode.SCALE_DOWN, replicas=division.replicas, clusters=tuple(kept), votes=votes)
    else:
        votes, missing = list(map(capacity.__getitem__, selected)), division.replicas - assigned
        ballot = Ballot(mode=Mode.SCALE_UP, replicas=missing, clusters=selected, votes=votes, base=kept)
    return _affordable(ballot, division.strategy)


def _affordable(ballot: Ballot, strategy: Strategy) -> Ballot | Refusal:
    """Return the ballot among the clusters it needs, in name order; all or nothing: there must be room for all."""
    clusters, votes = ballot.clusters, ballot.votes
    total = sum(votes)
    if total < ballot.replicas:
        message = f"Clusters available replicas {total} are not enough to schedule."
        return Refusal(Reason.UNSCHEDULABLE, message).during(f"failed to {ballot.mode}")
    if strategy is Strategy.AGGREGATED:
        in_order = sorted(_shortest_prefix(ballot), key=clusters.__getitem__)
    elif all(map(lt, clusters, islice(clusters, 1, None))):
        return ballot
    else:
        in_order = sorted(range(len(clusters)), key=clusters.__getitem__)
    return replace(ballot, clusters=[clusters[place] for place in in_order], votes=[votes[place] for place in in_order])


def _shortest_prefix(ballot: Ballot) -> Sequence[int]:
    """Return the places of the fewest clusters with room for all: those that hold replicas, then the roomiest."""
    clusters, votes, base = ballot.clusters, ballot.votes, ballot.base
    in_order = sorted(range(len(clusters)), key=votes.__getitem__, reverse=True)
    if base:
        in_order.sort(key=lambda place: base.get(clusters[place], 0) <= 0)
    room = 0
    for number, place in enumerate(in_order, start=1):
        room += votes[place]
        if room >= ballot.replicas:
            return in_order[:number]
    return in_order


def _tier_by_tier(division: Division) -> tuple[Ballot, ...] | Refusal:
    """Fill one tier after the other, each as if it were alone; what a tier holds already counts as its room."""
    found: list[Ballot] = []
    remaining = division.replicas
    for tier in division.tiers:
        among = [index for index in division.selected if tier >> index & 1]
        if remaining <= 0:
            break
        if not among:
            continue
        held = {index: replicas for index, replicas in division.held.items() if tier >> index & 1}
        room = sum(division.capacity[index] + held.get(index, 0) for index in among)
        part = ballots(replace(division, replicas=min(remaining, room), selected=among, held=held, tiers=()))
        if isinstance(part, Refusal):
            return part
        found += part
        remaining -= min(remaining, room)
    return Refusal(Reason.UNSCHEDULABLE, NOT_ENOUGH) if remaining > 0 else tuple(found)
