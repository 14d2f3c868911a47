"""Assign replicas to the selected clusters: all to each, by static weights, by free room, or to as few as hold them.

Shares are ``(cluster index, replicas)``. Bits ascend with names, so sorting indexes sorts names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from render.bits import Mask, mask_of

from .decisions import Reason, Refusal
from .rules import Strategy
from .webster import seats_by_votes

Shares = Sequence[tuple[int, int]]

NOT_ENOUGH = "Clusters available replicas are not enough to schedule."


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
    shares = _tier_by_tier(division) if division.tiers else _assigned(division)
    return shares if isinstance(shares, Refusal) else [share for share in shares if share[1]]


def _assigned(division: Division) -> Shares | Refusal:
    match division.strategy:
        case Strategy.DUPLICATED:
            return [(index, division.replicas) for index in division.selected]
        case Strategy.STATIC_WEIGHT:
            return _by_static_weight(division)
        case Strategy.AGGREGATED | Strategy.DYNAMIC_WEIGHT:
            return _by_capacity(division)
    return Refusal(
        Reason.SCHEDULER_ERROR,
        "unsupported replica scheduling strategy, replicaSchedulingType: Divided, replicaDivisionPreference: , "
        "please try another scheduling strategy",
    )


def _by_static_weight(division: Division) -> Shares:
    """Divide from scratch; the selected clusters no weight names get nothing, unless it names none of them."""
    parties = sorted(division.selected)
    selected = mask_of(parties)
    weight_by_cluster = dict.fromkeys(parties, 0)
    for weight, clusters in division.weights:
        if clusters & selected:
            weight_by_cluster.update((index, weight) for index in parties if clusters >> index & 1)
    votes = list(weight_by_cluster.values())
    seats = seats_by_votes(
        division.replicas, votes if any(votes) else [1] * len(votes), descending=division.is_descending
    )
    return list(zip(parties, seats, strict=True))


def _by_capacity(division: Division) -> Shares | Refusal:
    """Keep what is held and add or take the difference; a fresh division starts from nothing."""
    selected = set(division.selected)
    kept = {index: replicas for index, replicas in division.held.items() if index in selected}
    if division.is_fresh:
        room = [(index, division.capacity[index] + kept.get(index, 0)) for index in division.selected]
        return _divided(division, division.replicas, room, "failed to do fresh scale")
    assigned = sum(kept.values())
    if assigned > division.replicas:
        return _divided(division, division.replicas, list(kept.items()), "failed to scale down")
    if assigned == division.replicas:
        return list(kept.items())
    room = [(index, division.capacity[index]) for index in division.selected]
    missing = division.replicas - assigned
    return _divided(division, missing, room, "failed to scale up", base=kept)


def _divided(
    division: Division, target: int, room: Shares, step: str, base: Mapping[int, int] | None = None
) -> Shares | Refusal:
    """Divide ``target`` in proportion to the room, all or nothing, on top of ``base``."""
    total = sum(free for _, free in room)
    if total < target:
        message = f"Clusters available replicas {total} are not enough to schedule."
        return Refusal(Reason.UNSCHEDULABLE, message).during(step)
    held = base or {}
    in_order: Shares = sorted(room, key=_free, reverse=True)
    if division.strategy is Strategy.AGGREGATED:
        in_order = _shortest_prefix(in_order, target, held)
    parties = sorted(in_order)
    seats = seats_by_votes(target, [free for _, free in parties], descending=division.is_descending)
    shares = {index: more for (index, _), more in zip(parties, seats, strict=True)}
    for index, replicas in held.items():
        shares[index] = shares.get(index, 0) + replicas
    return list(shares.items())


def _shortest_prefix(room: Shares, target: int, held: Mapping[int, int]) -> Shares:
    """Return the fewest leading clusters with room for all, those that hold replicas first."""
    in_order = sorted(room, key=lambda each: held.get(each[0], 0) <= 0)
    total = 0
    for count, (_, free) in enumerate(in_order, start=1):
        total += free
        if total >= target:
            return in_order[:count]
    return in_order


def _tier_by_tier(division: Division) -> Shares | Refusal:
    """Fill one tier after the other, each as if it were alone; what a tier holds already counts as its room."""
    shares: list[tuple[int, int]] = []
    remaining = division.replicas
    for tier in division.tiers:
        members = [index for index in division.selected if tier >> index & 1]
        held = {index: replicas for index, replicas in division.held.items() if tier >> index & 1}
        room = sum(division.capacity[index] + held.get(index, 0) for index in members)
        if remaining <= 0:
            break
        if not members:
            continue
        part = _assigned(replace(division, replicas=min(remaining, room), selected=members, held=held))
        if isinstance(part, Refusal):
            return part
        shares += part
        remaining -= min(remaining, room)
    return Refusal(Reason.UNSCHEDULABLE, NOT_ENOUGH) if remaining > 0 else shares


def _free(each: tuple[int, int]) -> int:
    return each[1]
