"""Assign replicas to the selected clusters: all to each, by static weights, by free room, or to as few as hold them.

Shares are ``(cluster index, replicas)``. Bits ascend with names, so sorting indexes sorts names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from render.bits import Mask, mask_of, members

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
    """So many replicas to divide by votes, on top of a base: (cluster index, votes) in name order."""

    mode: Mode
    replicas: int = 0
    votes: tuple[tuple[int, int], ...] = ()
    base: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A number of replicas to assign.

    ``selected`` are cluster indexes in the order of selection. ``capacity`` is free room by cluster index, without
    what the clusters hold of the binding; ``held`` is that, in the binding's own order. ``is_fresh`` ignores what is
    held, but counts it as room. ``weights`` are (weight, clusters). ``tiers`` are filled one after the other.
    """

    replicas: int
    strategy: Strategy
    selected: Sequence[int]
    capacity: Sequence[int]
    held: Mapping[int, int] = field(default_factory=dict)
    is_fresh: bool = False
    is_descending: bool = False
    weights: Sequence[tuple[int, Mask]] = ()
    tiers: Sequence[Mask] = ()


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
    seats = seats_by_votes(ballot.replicas, [votes for _, votes in ballot.votes], descending=is_descending)
    if not ballot.base:
        return [(index, more) for (index, _), more in zip(ballot.votes, seats, strict=True)]
    shares = {index: more for (index, _), more in zip(ballot.votes, seats, strict=True)}
    for index, replicas in ballot.base.items():
        shares[index] = shares.get(index, 0) + replicas
    return list(shares.items())


def _by_static_weight(division: Division) -> Ballot:
    """Divide from scratch; the selected clusters no weight names get nothing, unless it names none of them."""
    parties = sorted(division.selected)
    selected = mask_of(parties)
    weight_by_cluster = dict.fromkeys(parties, 0)
    for weight, clusters in division.weights:
        weight_by_cluster.update(dict.fromkeys(members(clusters & selected), weight))
    if not any(weight_by_cluster.values()):
        weight_by_cluster = dict.fromkeys(parties, 1)
    return Ballot(mode=Mode.STATIC, replicas=division.replicas, votes=tuple(weight_by_cluster.items()))


def _by_capacity(division: Division) -> Ballot | Refusal:
    """Keep what is held and add or take the difference; a fresh division starts from nothing."""
    held = division.held
    selected = set(division.selected) if held else ()
    kept = {index: replicas for index, replicas in held.items() if index in selected}
    if division.is_fresh:
        room = [(index, division.capacity[index] + kept.get(index, 0)) for index in division.selected]
        return _ballot(division, Mode.FRESH, division.replicas, room)
    assigned = sum(kept.values())
    if assigned > division.replicas:
        return _ballot(division, Mode.SCALE_DOWN, division.replicas, list(kept.items()))
    if assigned == division.replicas:
        return Ballot(mode=Mode.STEADY, base=kept)
    room = [(index, division.capacity[index]) for index in division.selected]
    return _ballot(division, Mode.SCALE_UP, division.replicas - assigned, room, base=kept)


def _ballot(
    division: Division, mode: Mode, target: int, room: Shares, base: Mapping[int, int] | None = None
) -> Ballot | Refusal:
    """Let ``target`` be divided in proportion to the room, all or nothing, on top of ``base``."""
    total = sum(free for _, free in room)
    if total < target:
        message = f"Clusters available replicas {total} are not enough to schedule."
        return Refusal(Reason.UNSCHEDULABLE, message).during(f"failed to {mode}")
    if division.strategy is Strategy.AGGREGATED:
        room = _shortest_prefix(sorted(room, key=_free, reverse=True), target, base or {})
    return Ballot(mode=mode, replicas=target, votes=tuple(sorted(room)), base=base or {})


def _shortest_prefix(room: Shares, target: int, held: Mapping[int, int]) -> Shares:
    """Return the fewest leading clusters with room for all, those that hold replicas first."""
    in_order = sorted(room, key=lambda each: held.get(each[0], 0) <= 0) if held else room
    total = 0
    for number, (_, free) in enumerate(in_order, start=1):
        total += free
        if total >= target:
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


def _free(each: tuple[int, int]) -> int:
    return each[1]
