"""Divide a number by weights: Webster's (Sainte-Laguë) highest averages with Karmada's tie rules.

Seats are given one at a time to the largest ``votes / (2 * seats + 1)``, compared as IEEE doubles. A tie goes to the
party with fewer seats, then by name: ascending, or descending for half of all identities, so that equal weights do
not always favour the same clusters.

A party's averages only fall, so the n seats go to the n first averages of one fixed order. Hence two shortcuts that
change nothing: a party outside the n best starters gets no seat, and all averages above a threshold that at most n
averages exceed can be given at once; what is left goes one at a time, through a heap.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heapreplace

from msgspec import Struct

_MARGIN = 1e-12
# Below this every integer is an exact double, so votes compare as their averages do.
_EXACT = 2**53


class Seat(Struct, frozen=True, kw_only=True):
    """One seat as it is given: to which party, for which average, and which others had the same (``tied``)."""

    party: int
    held: int
    average: float
    tied: tuple[int, ...] = ()


def are_ties_in_descending_order(identity: str) -> bool:
    """Say whether ties between names go to the greater one: the lowest bit of the identity's FNV-1a-32 hash is set.

    The hash multiplies by an odd prime, so its lowest bit is the parity of the bytes and of its odd start value. An
    empty identity has none: ties ascend.

    >>> (
    ...     are_ties_in_descending_order("4858ca61-3ff8-4095-8267-f3d059d8074c"),
    ...     are_ties_in_descending_order("d43fdeeb-d750-4e2b-bee3-64eb94534f4c"),
    ... )
    (False, True)
    """
    return bool(identity) and sum(identity.encode()) % 2 == 0


def divide_replicas(
    replicas: int, weight_by_cluster: Mapping[str, int], *, uid: str = "", initial: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Divide ``replicas`` in proportion to the weights, on top of ``initial`` ones; the result is in name order.

    Clusters that get none are in the result with 0. Without any weight nothing is divided: the initial ones remain.

    >>> divide_replicas(7, {"a": 2, "b": 1, "c": 1, "d": 1})
    {'a': 3, 'b': 2, 'c': 1, 'd': 1}
    """
    held = initial or {}
    if not any(weight > 0 for weight in weight_by_cluster.values()) or (replicas <= 0 and held):
        return dict(sorted(held.items()))
    names = sorted(weight_by_cluster)
    votes = [weight_by_cluster[name] for name in names]
    seats = seats_of_each_party(
        replicas, votes, taken=[held.get(name, 0) for name in names], descending=are_ties_in_descending_order(uid)
    )
    return dict(sorted({**held, **dict(zip(names, seats, strict=True))}.items()))


def seats_of_each_party(
    replicas: int, votes: Sequence[int], *, taken: Sequence[int] = (), descending: bool = False
) -> list[int]:
    """Return the seats of each party, those already ``taken`` included; parties stand in ascending name order."""
    seats = list(taken) or [0] * len(votes)
    parties: Sequence[int] = range(len(votes))
    if min(votes, default=0) <= 0:
        parties = [party for party, vote in enumerate(votes) if vote > 0]
    if not taken and replicas < len(parties):
        parties = _parties_with_best_first_averages(replicas, votes, parties, descending)
    left = replicas - _give_certain_seats_at_once(replicas, votes, parties, seats)
    sign = -1 if descending else 1
    # As doubles, because Karmada's averages are: two that differ as fractions may tie there. The order of the tuple is
    # the rule for ties: fewer seats, then the name.
    heap = [(-float(votes[party]) / (2 * seats[party] + 1), seats[party], sign * party) for party in parties]
    heapify(heap)
    for _ in range(left if heap else 0):
        _, held, rank = heap[0]
        party = sign * rank
        seats[party] = held = held + 1
        heapreplace(heap, (-float(votes[party]) / (2 * held + 1), held, rank))
    return seats


def _parties_with_best_first_averages(
    count: int, votes: Sequence[int], parties: Sequence[int], descending: bool
) -> list[int]:
    """Return the parties whose first averages come first: their votes, compared as doubles, then the tie rule."""
    # The sort is stable, also in reverse: what is equal stays in the order it is given in.
    in_order = parties[::-1] if descending else parties
    keys = votes if max(votes) < _EXACT else [float(vote) for vote in votes]
    return sorted(in_order, key=keys.__getitem__, reverse=True)[: max(count, 0)]


def _give_certain_seats_at_once(replicas: int, votes: Sequence[int], parties: Sequence[int], seats: list[int]) -> int:
    """Give every seat whose average lies above ``sum(votes) / (2 * replicas - parties)``; return how many.

    Party i has ``v / 2t + 1/2`` averages above t, so all have at most ``replicas`` above this one. The margin keeps
    out what rounding could put on the wrong side; the heap finds those again.
    """
    doubled = 2 * replicas - len(parties)
    if doubled < 2 * len(parties) or not parties:
        return 0
    factor = doubled / (2 * sum([float(votes[party]) for party in parties])) * (1 - _MARGIN)
    given = 0
    for party in parties:
        more = int(votes[party] * factor + (0.5 - 1e-9)) - seats[party]
        if more > 0:
            seats[party] += more
            given += more
    return given


def seats_in_order_given(replicas: int, votes: Sequence[int], *, descending: bool = False) -> Iterator[Seat]:
    """Yield the seats in the order they are given, for an explanation of a division."""
    seats = [0] * len(votes)
    parties = [index for index, vote in enumerate(votes) if vote > 0]
    for _ in range(replicas if parties else 0):
        averages = {index: float(votes[index]) / (2 * seats[index] + 1) for index in parties}
        best = max(averages.values())
        tied = [index for index in parties if averages[index] == best]
        party = min(tied, key=lambda index: (seats[index], -index if descending else index))
        yield Seat(party=party, held=seats[party], average=best, tied=tuple(each for each in tied if each != party))
        seats[party] += 1
