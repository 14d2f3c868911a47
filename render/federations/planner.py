"""The division of replicas by preferences: minimum, maximum and weight of each cluster, as KubeFed v2 divides them.

The rule is that of its ``planner.go``: clusters in the order of weight, then of a hash of their
names; minimums first, then rounds in which every open cluster takes its share rounded up.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from render.scheduling.webster import divide_replicas

from .units import Weight

ANY_CLUSTER = "*"
_FNV_OFFSET, _FNV_PRIME, _BITS_32 = 2166136261, 16777619, 0xFFFFFFFF


class Preference(Struct, frozen=True, kw_only=True):
    """The bounds and the weight of one cluster; no maximum is None."""

    min_replicas: int = 0
    max_replicas: int | None = None
    weight: int = 0


class ReplicaPlan(Struct, frozen=True, kw_only=True):
    """Replicas by cluster that can run, and those wished for beyond what a cluster has room for."""

    replicas: Mapping[str, int]
    overflow: Mapping[str, int] = field(default_factory=dict)

    @property
    def total_replicas_by_cluster(self) -> dict[str, int]:
        """Replicas by cluster as they are written: the plan with its overflow."""
        return {name: count + self.overflow.get(name, 0) for name, count in self.replicas.items()} | {
            name: count for name, count in self.overflow.items() if name not in self.replicas
        }


def fnv_hash_of_cluster_and_workload(name: str, key: str) -> int:
    """Return the FNV-1 hash of a cluster's name and a workload's key, which breaks ties of weight."""
    value = _FNV_OFFSET
    for byte in f"{name}{key}".encode():
        value = (value * _FNV_PRIME & _BITS_32) ^ byte
    return value


def preferences_heaviest_first(
    preferences: Mapping[str, Preference], clusters: Iterable[str], key: str
) -> list[tuple[str, Preference]]:
    """Return the clusters that have a preference, their own or that of ``*``, heaviest first."""
    fallback = preferences.get(ANY_CLUSTER)
    found = [(name, preferences.get(name, fallback)) for name in clusters]
    named = [(name, preference) for name, preference in found if preference is not None]
    return sorted(named, key=lambda pair: (-pair[1].weight, fnv_hash_of_cluster_and_workload(pair[0], key)))


class PlannedWorkload(Struct, frozen=True, kw_only=True):
    """The replicas to divide; ``key`` is the namespace and name of their workload.

    ``current`` are the replicas that run by cluster, ``capacity`` those that have room; both leave out what is not
    known. Without rebalancing, replicas that run stay where they are as long as bounds and room let them.
    """

    replicas: int
    key: str
    current: Mapping[str, int] = field(default_factory=dict)
    capacity: Mapping[str, int] = field(default_factory=dict)
    is_rebalanced: bool = False


def replica_plan_of_workload(
    workload: PlannedWorkload, preferences: Mapping[str, Preference], clusters: Iterable[str]
) -> ReplicaPlan:
    """Divide the replicas of a workload over clusters."""
    names = list(clusters)
    is_rebalanced = workload.is_rebalanced
    division = _Division(dict.fromkeys(names, 0), workload.replicas, workload.capacity)
    open_clusters = preferences_heaviest_first(preferences, names, workload.key)
    division.give_minimums(open_clusters)
    if not is_rebalanced:
        division.keep_current(open_clusters, workload.current)
    division.deal_by_weight(open_clusters)
    left = division.remaining
    overflow = division.overflow
    if not is_rebalanced:
        overflow = {name: min(count, left) for name, count in overflow.items() if min(count, left) > 0}
    return ReplicaPlan(replicas=division.planned, overflow=overflow)


class _Division:
    """One division as far as it has gone."""

    def __init__(self, planned: dict[str, int], remaining: int, capacity: Mapping[str, int]) -> None:
        self.planned = planned
        self.remaining = remaining
        self.overflow: dict[str, int] = {}
        self._capacity = capacity
        self._kept: dict[str, int] = {}

    def give_minimums(self, ordered: Iterable[tuple[str, Preference]]) -> None:
        """Give each cluster its minimum while there is any."""
        for name, preference in ordered:
            least = min(preference.min_replicas, self.remaining)
            least = min(least, self._capacity.get(name, least))
            self.remaining -= least
            self.planned[name] = least

    def keep_current(self, ordered: Iterable[tuple[str, Preference]], current: Mapping[str, int]) -> None:
        """Set aside for each cluster what runs there beyond its minimum."""
        for name, preference in ordered:
            planned = self.planned[name]
            target = current.get(name, planned)
            if target <= planned:
                continue
            if preference.max_replicas is not None:
                target = min(target, preference.max_replicas)
            target = min(target, self._capacity.get(name, target))
            kept = min(target - planned, self.remaining)
            if kept > 0:
                self.remaining -= kept
                self.planned[name] += kept
                self._kept[name] = kept

    def deal_by_weight(self, ordered: Iterable[tuple[str, Preference]]) -> None:
        """Deal what remains in rounds, each share rounded up, until nothing changes."""
        still_open = list(ordered)
        is_changed = True
        while is_changed and self.remaining > 0:
            is_changed = False
            weights = sum(preference.weight for _, preference in still_open)
            if weights <= 0:
                return
            dealt = self.remaining
            following = []
            for name, preference in still_open:
                changed, stays = self._deal_to_cluster(name, preference, dealt, weights)
                is_changed = is_changed or changed
                if stays:
                    following.append((name, preference))
            still_open = following

    def _deal_to_cluster(self, name: str, preference: Preference, dealt: int, weights: int) -> tuple[bool, bool]:
        """Deal to one cluster, and say whether that changed anything and whether it takes part in the next round."""
        start = self.planned[name]
        share = min(quotient_rounded_up(dealt * preference.weight, weights), self.remaining)
        kept = min(self._kept.get(name, 0), share)
        self._kept[name] = self._kept.get(name, 0) - kept
        total = start + share - kept
        stays = True
        if preference.max_replicas is not None and total > preference.max_replicas:
            total, stays = preference.max_replicas, False
        room = self._capacity.get(name)
        if room is not None and total > room:
            self.overflow[name] = total - room
            total, stays = room, False
        self.planned[name] = total
        self.remaining -= total - start
        return kept > 0 or total > start, stays


def quotient_rounded_up(numerator: int, denominator: int) -> int:
    """Return a quotient rounded up as Go does it, whose division cuts towards zero."""
    value = numerator + denominator - 1
    return value // denominator if value >= 0 else -(-value // denominator)


def static_weights_giving_replicas(
    total: int, preferences: Mapping[str, Preference], replicas: Mapping[str, int]
) -> tuple[Weight, ...]:
    """Return static weights that give every cluster what it has, none where there are none.

    There are none with bounds, and where a cluster gets no replicas: it keeps an object there, and here it has none.
    """
    if any(each.min_replicas or each.max_replicas is not None for each in preferences.values()):
        return ()
    fallback = preferences.get(ANY_CLUSTER)
    wishes = {name: preferences.get(name, fallback) for name in replicas}
    weight_by_cluster = {name: wish.weight if wish else 0 for name, wish in wishes.items()}
    if not replicas or not all(replicas.values()) or any(weight < 1 for weight in weight_by_cluster.values()):
        return ()
    if not gives_same_division(total, weight_by_cluster, replicas):
        return ()
    own = tuple(sorted(preferences.keys() & replicas.keys()))
    named = tuple(Weight(weight=weight_by_cluster[name], names=(name,)) for name in own)
    return named if fallback is None else (*named, Weight(weight=fallback.weight, excluded=own))


def gives_same_division(total: int, weight_by_cluster: Mapping[str, int], replicas: Mapping[str, int]) -> bool:
    """Say whether Karmada divides a total so by weights, whichever way it breaks ties between names.

    A total, or a weight, of more than 32 bits is none that Kubernetes takes.
    """
    if max(total, *weight_by_cluster.values()) > _MOST:
        return False
    return all(
        divide_replicas(total, weight_by_cluster, uid=uid) == dict(sorted(replicas.items())) for uid in _BOTH_WAYS
    )


_MOST = (1 << 31) - 1
_BOTH_WAYS = ("", "b")
"""An identity for which ties go to the smaller name, and one for which they go to the greater."""
