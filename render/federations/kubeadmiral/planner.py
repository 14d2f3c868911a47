"""The division of replicas as KubeAdmiral's ``planner.go`` does it.

1. The wish: minimums by weight, then rounds in which every open cluster takes its share rounded up.
2. If moves are to be avoided, what runs is kept, and only the difference to the wish is added or taken away, by the
   same rounds over the clusters that lack or exceed it.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from render.federations.planner import Preference, ReplicaPlan, preferences_heaviest_first, quotient_rounded_up


class AdmiralWorkload(Struct, frozen=True, kw_only=True):
    """The replicas to divide; ``key`` is the namespace and name of their workload.

    ``estimated`` is the room that a cluster is thought to have, beyond which replicas count as overflow; ``limited``
    is a bound without overflow. Both leave out what is not known.
    """

    replicas: int
    key: str
    current: Mapping[str, int] = field(default_factory=dict)
    estimated: Mapping[str, int] = field(default_factory=dict)
    limited: Mapping[str, int] = field(default_factory=dict)
    avoids_moves: bool = False
    keeps_unschedulable: bool = False


def replica_plan(
    division: AdmiralWorkload, preferences: Mapping[str, Preference], clusters: Iterable[str]
) -> ReplicaPlan:
    """Divide replicas over the clusters that have a preference, their own or that of ``*``."""
    ordered = preferences_heaviest_first(preferences, clusters, division.key)
    wish = _plan_without_current_replicas(
        division, ordered, is_kept=division.keeps_unschedulable or not division.avoids_moves
    )
    if not division.avoids_moves:
        return wish
    current = {name: _replicas_that_fit(name, division.current.get(name, 0), division) for name, _ in ordered}
    change = sum(wish.replicas.values()) - sum(current.values())
    if change:
        added = _replicas_to_add_or_take(division.key, preferences, current, wish.replicas, change)
        current = {name: count + added.get(name, 0) for name, count in current.items()}
    return ReplicaPlan(replicas=current, overflow=wish.overflow)


def _replicas_to_add_or_take(
    key: str, preferences: Mapping[str, Preference], current: Mapping[str, int], wish: Mapping[str, int], change: int
) -> dict[str, int]:
    """Return what to add to each cluster that lacks replicas, or to take from each that has too many."""
    sign = 1 if change > 0 else -1
    lacks = {name: sign * (count - current[name]) for name, count in wish.items()}
    bounds = {
        name: Preference(weight=lack, max_replicas=_limit_of_preference(preferences.get(name), current[name], sign))
        for name, lack in lacks.items()
        if lack > 0
    }
    shares = _plan_without_current_replicas(
        AdmiralWorkload(replicas=abs(change), key=key), preferences_heaviest_first(bounds, bounds, key), is_kept=False
    )
    return {name: sign * count for name, count in shares.replicas.items()}


def _limit_of_preference(preference: Preference | None, current: int, sign: int) -> int | None:
    """Return the most that is added, by the explicit maximum of a cluster, or taken away, which is all there is."""
    if sign < 0:
        return current
    return None if preference is None or preference.max_replicas is None else preference.max_replicas - current


def _plan_without_current_replicas(
    division: AdmiralWorkload, ordered: Iterable[tuple[str, Preference]], *, is_kept: bool
) -> ReplicaPlan:
    still_open = list(ordered)
    rounds = _Rounds(division)
    rounds.give_minimums(still_open)
    while rounds.is_changed and rounds.remaining > 0:
        still_open = rounds.deal_by_weight(still_open)
    if is_kept:
        return ReplicaPlan(replicas=rounds.replicas, overflow=rounds.overflow)
    trimmed = {name: min(count, rounds.remaining) for name, count in rounds.overflow.items()}
    overflow = {name: count for name, count in trimmed.items() if count > 0}
    return ReplicaPlan(replicas=rounds.replicas, overflow=overflow)


class _Rounds:
    """One wish as far as it has gone."""

    def __init__(self, division: AdmiralWorkload) -> None:
        self.remaining = division.replicas
        self.replicas: dict[str, int] = {}
        self.overflow: dict[str, int] = {}
        self.is_changed = True
        self._division = division

    def give_minimums(self, ordered: Iterable[tuple[str, Preference]]) -> None:
        """Give each cluster its minimum while there is any."""
        for name, preference in ordered:
            self._give_as_many_as_fit(name, min(preference.min_replicas, self.remaining))

    def deal_by_weight(self, ordered: list[tuple[str, Preference]]) -> list[tuple[str, Preference]]:
        """Deal what remains once, and return the clusters that are not full."""
        self.is_changed = False
        weights = sum(preference.weight for _, preference in ordered)
        if weights <= 0:
            return []
        dealt, following = self.remaining, []
        for name, preference in ordered:
            wanted = self.replicas[name] + min(quotient_rounded_up(dealt * preference.weight, weights), self.remaining)
            bounded = wanted if preference.max_replicas is None else min(wanted, preference.max_replicas)
            if self._give_as_many_as_fit(name, bounded) == wanted:
                following.append((name, preference))
        return following

    def _give_as_many_as_fit(self, name: str, wanted: int) -> int:
        """Give a cluster as many in total as it has room for, count the rest as overflow, and return how many."""
        total = _replicas_that_fit(name, wanted, self._division)
        if excess := _replicas_beyond_room(name, wanted, self._division):
            self.overflow[name] = self.overflow.get(name, 0) + excess
        start = self.replicas.get(name, 0)
        self.remaining -= total - start
        self.is_changed = self.is_changed or total > start
        self.replicas[name] = total
        return total


def _replicas_that_fit(name: str, count: int, division: AdmiralWorkload) -> int:
    count = min(count, division.limited.get(name, count))
    return min(count, division.estimated.get(name, count))


def _replicas_beyond_room(name: str, count: int, division: AdmiralWorkload) -> int:
    """Return the replicas beyond the room that is thought to be there, within the bound that is known."""
    count = min(count, division.limited.get(name, count))
    return max(count - division.estimated.get(name, count), 0)
