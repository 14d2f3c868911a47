"""Assign replicas to the selected clusters: all to each, by static weights, by free room, or to as few as have room.

Shares are ``(cluster index, replicas)``. Bits ascend with names, so sorting indexes sorts names.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import compress, islice
from operator import lt

from msgspec import Struct, field
from msgspec.structs import replace

from render.bits import Mask

from .decisions import Refusal, ScheduledReason
from .rules import Strategy
from .webster import seats_of_each_party

Shares = Sequence[tuple[int, int]]

UNSUPPORTED = Refusal(
    ScheduledReason.SCHEDULER_ERROR,
    "unsupported replica scheduling strategy, replicaSchedulingType: Divided, replicaDivisionPreference: , "
    "please try another scheduling strategy",
)
NOT_ENOUGH = "Clusters available replicas are not enough to schedule."


class Mode(StrEnum):
    """The origin of an apportionment; those by capacity in Karmada's words."""

    COPY = "copy"
    STATIC = "divide by static weight"
    FRESH = "do fresh scale"
    SCALE_UP = "scale up"
    SCALE_DOWN = "scale down"
    STEADY = "keep"
    WHOLE = "keep whole"


class Apportionment(Struct, frozen=True, kw_only=True):
    """A number of replicas to divide among clusters by their votes, on top of a base; they stand in name order."""

    mode: Mode
    replicas: int = 0
    clusters: Sequence[int] = ()
    votes: Sequence[int] = ()
    base: Mapping[int, int] = field(default_factory=dict)


class Division(Struct, frozen=True, kw_only=True):
    """A number of replicas to assign.

    ``selected`` are cluster indexes in the order of selection. ``capacity`` is free room by cluster index, besides the
    binding's current replicas; ``current`` are those, in the binding's own order. ``is_fresh`` ignores them, but counts
    them as room. ``weights`` are by cluster index. ``tiers`` are filled one after the other. ``is_whole``: all go to
    one cluster.
    """

    replicas: int
    strategy: Strategy
    selected: Sequence[int]
    capacity: Sequence[int]
    current: Mapping[int, int] = field(default_factory=dict)
    is_fresh: bool = False
    is_descending: bool = False
    weights: Sequence[int] = ()
    tiers: Sequence[Mask] = ()
    is_whole: bool = False

    @property
    def is_copied(self) -> bool:
        """Say whether every selected cluster gets the same."""
        return self.strategy in {Strategy.DUPLICATED, Strategy.UNDIVIDED} and not self.tiers


def assign_replicas(division: Division) -> Shares | Refusal:
    """Assign the replicas; clusters that get none are not in the result, unless there is nothing to divide."""
    if division.strategy is Strategy.UNDIVIDED:
        return [(index, 0) for index in division.selected]
    if division.strategy is Strategy.DUPLICATED and not division.tiers:
        return [(index, division.replicas) for index in division.selected if division.replicas]
    found = apportionments_of_division(division)
    if isinstance(found, Refusal):
        return found
    counted = (shares_of_apportionment(apportionment, is_descending=division.is_descending) for apportionment in found)
    return [share for shares in counted for share in shares if share[1]]


def shares_of_idle_workload(division: Division, *, is_kept: bool) -> Shares:
    """Return where a workload of no replicas is: its copies in all clusters chosen, a divided one where it was.

    One that ``is_kept`` and may stay in none of its clusters goes to the first chosen one of most weight.
    """
    selected, weights = division.selected, division.weights
    if division.is_copied:
        return [(each, 0) for each in selected]
    if not is_kept:
        return []
    there = [(each, 0) for each in selected if each in division.current]
    return there or [(max(selected, key=lambda each: weights[each] if weights else 0), 0)]


def apportionments_of_division(division: Division) -> tuple[Apportionment, ...] | Refusal:
    """Return the apportionments of a division: one, or one for every tier."""
    if division.is_whole:
        return _apportionment_to_one_cluster(division)
    if division.tiers:
        return _apportionments_tier_by_tier(division)
    match division.strategy:
        case Strategy.DUPLICATED | Strategy.UNDIVIDED:
            return (Apportionment(mode=Mode.COPY, base=dict.fromkeys(division.selected, division.replicas)),)
        case Strategy.STATIC_WEIGHT:
            return (_apportionment_by_static_weight(division),)
        case Strategy.AGGREGATED | Strategy.DYNAMIC_WEIGHT:
            apportionment = _apportionment_by_capacity(division)
            return apportionment if isinstance(apportionment, Refusal) else (apportionment,)
    return UNSUPPORTED


def shares_of_apportionment(apportionment: Apportionment, *, is_descending: bool) -> Shares:
    """Divide replicas by the votes, on top of the base; clusters that only the base has stand last."""
    if not apportionment.replicas:
        return list(apportionment.base.items())
    seats = seats_of_each_party(apportionment.replicas, apportionment.votes, descending=is_descending)
    if not apportionment.base:
        return list(zip(compress(apportionment.clusters, seats), filter(None, seats), strict=True))
    shares = dict(zip(apportionment.clusters, seats, strict=True))
    for index, replicas in apportionment.base.items():
        shares[index] = shares.get(index, 0) + replicas
    return list(shares.items())


def _apportionment_to_one_cluster(division: Division) -> tuple[Apportionment] | Refusal:
    """Give everything to the cluster that has it all, or to the one of most weight or room; of equals to the first."""
    selected, current = division.selected, division.current
    is_weighted = division.strategy is Strategy.STATIC_WEIGHT and not division.tiers
    if is_weighted:
        votes = {each: division.weights[each] if division.weights else 1 for each in sorted(selected)}
    else:
        votes = {each: division.capacity[each] + current.get(each, 0) for each in selected}
    has_all = [each for each in selected if current.get(each) == division.replicas and not division.is_fresh]
    fitting = has_all or [each for each, count in votes.items() if is_weighted or count >= division.replicas]
    if not fitting:
        message = f"No cluster has room for all {division.replicas} replicas, which are not to be divided."
        return Refusal(ScheduledReason.UNSCHEDULABLE, message)
    tiers = division.tiers or (-1,)
    among = next(found for tier in (*tiers, -1) if (found := [each for each in fitting if tier >> each & 1]))
    # Of equals max takes the first, so that the order of candidates decides.
    best = max(among, key=votes.__getitem__)
    return (Apportionment(mode=Mode.WHOLE, base={best: division.replicas}),)


def _apportionment_by_static_weight(division: Division) -> Apportionment:
    """Divide from scratch; selected clusters that no weight names get nothing, unless none of them is named."""
    clusters, weights = sorted(division.selected), division.weights
    votes = list(map(weights.__getitem__, clusters)) if weights else []
    if not any(votes):
        votes = [1] * len(clusters)
    return Apportionment(mode=Mode.STATIC, replicas=division.replicas, clusters=clusters, votes=votes)


def _apportionment_by_capacity(division: Division) -> Apportionment | Refusal:
    """Keep current replicas and add or take the difference; a fresh division starts from nothing."""
    selected, capacity, current = division.selected, division.capacity, division.current
    among = set(selected) if current else ()
    kept = {index: replicas for index, replicas in current.items() if index in among}
    assigned = sum(kept.values())
    if division.is_fresh:
        votes = [capacity[index] + kept.get(index, 0) for index in selected]
        apportionment = Apportionment(mode=Mode.FRESH, replicas=division.replicas, clusters=selected, votes=votes)
    elif assigned == division.replicas:
        return Apportionment(mode=Mode.STEADY, base=kept)
    elif assigned > division.replicas:
        # Karmada scales down in proportion to current replicas; free room plays no part.
        votes = list(kept.values())
        apportionment = Apportionment(
            mode=Mode.SCALE_DOWN, replicas=division.replicas, clusters=tuple(kept), votes=votes
        )
    else:
        votes, missing = list(map(capacity.__getitem__, selected)), division.replicas - assigned
        apportionment = Apportionment(mode=Mode.SCALE_UP, replicas=missing, clusters=selected, votes=votes, base=kept)
    return _apportionment_within_room(apportionment, division.strategy)


def _apportionment_within_room(apportionment: Apportionment, strategy: Strategy) -> Apportionment | Refusal:
    """Return it for the clusters it needs, in name order; a refusal unless there is room for all replicas."""
    clusters, votes = apportionment.clusters, apportionment.votes
    total = sum(votes)
    if total < apportionment.replicas:
        message = f"Clusters available replicas {total} are not enough to schedule."
        return Refusal(ScheduledReason.UNSCHEDULABLE, message).refusal_during_step(f"failed to {apportionment.mode}")
    if strategy is Strategy.AGGREGATED:
        in_order = sorted(_fewest_clusters_with_room(apportionment), key=clusters.__getitem__)
    elif all(map(lt, clusters, islice(clusters, 1, None))):
        return apportionment
    else:
        in_order = sorted(range(len(clusters)), key=clusters.__getitem__)
    return replace(
        apportionment, clusters=[clusters[place] for place in in_order], votes=[votes[place] for place in in_order]
    )


def _fewest_clusters_with_room(apportionment: Apportionment) -> Sequence[int]:
    """Return the places of the fewest clusters with room for all: those with replicas already, then the roomiest."""
    clusters, votes, base = apportionment.clusters, apportionment.votes, apportionment.base
    in_order = sorted(range(len(clusters)), key=votes.__getitem__, reverse=True)
    # Karmada adds replicas to clusters that have some before it looks at roomier ones.
    if base:
        in_order.sort(key=lambda place: base.get(clusters[place], 0) <= 0)
    room = 0
    for number, place in enumerate(in_order, start=1):
        room += votes[place]
        if room >= apportionment.replicas:
            return in_order[:number]
    return in_order


def _apportionments_tier_by_tier(division: Division) -> tuple[Apportionment, ...] | Refusal:
    """Fill one tier after the other, each as if it were alone; a tier's current replicas count as its room."""
    found: list[Apportionment] = []
    remaining = division.replicas
    for tier in division.tiers:
        among = [index for index in division.selected if tier >> index & 1]
        if remaining <= 0:
            break
        if not among:
            continue
        current = {index: replicas for index, replicas in division.current.items() if tier >> index & 1}
        room = sum(division.capacity[index] + current.get(index, 0) for index in among)
        part = apportionments_of_division(
            replace(division, replicas=min(remaining, room), selected=among, current=current, tiers=())
        )
        if isinstance(part, Refusal):
            return part
        found += part
        remaining -= min(remaining, room)
    return Refusal(ScheduledReason.UNSCHEDULABLE, NOT_ENOUGH) if remaining > 0 else tuple(found)
