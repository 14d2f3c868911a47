"""Counts of what happens to a fleet from one outcome to the next, by the same rules in truth and in a replay.

1. *moves* are replicas that leave one cluster and appear in another in the same pass;
2. *evictions* are clusters that an object has to leave by failover, a taint or the descheduler's rules;
3. a *flap* is an object that comes back to a cluster which it left a short time ago;
4. an object is *unscheduled* while no cluster takes it, or not all of it, as it asks;
5. replicas are *down* while the cluster that they are in is not ready;
6. *peak use* is the most that the replicas in a cluster requested at once;
7. the *cost* is that of a month, on the average of the time: each outcome counts for as long as it stood.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction

from msgspec import Struct, field

from reconciler.pipeline.claims import SCHEDULED
from reconciler.pipeline.movements import movements_between
from render.binding import Binding
from render.model import ObjectRef
from render.prices.cluster_prices import ClusterPrices
from render.prices.costs import costs_of_bindings
from render.quantity import Amount, parse_quantity

PODS = "pods"
Changes = Mapping[ObjectRef, tuple[Binding | None, Binding | None]]
"""The bindings that are others than before, each as it was and as it is (None: there is none)."""


class ObjectCounts(Struct, kw_only=True):
    """The counts of one object; times are in seconds."""

    moved_replicas: int = 0
    evictions: int = 0
    flaps: int = 0
    unscheduled: float = 0.0


class FleetCounts(Struct, kw_only=True):
    """The counts of a fleet up to a time; ``within`` is how soon coming back to a cluster is a flap, in seconds.

    ``commits`` are the outcomes that were others than before. ``down`` are replica-seconds in clusters that were not
    ready. ``peaks`` are the most that was requested at once by cluster and resource, ``PODS`` the number of replicas.
    ``unpriced`` are the objects of which some cost was unknown at a time.
    """

    within: float
    objects: dict[ObjectRef, ObjectCounts] = field(default_factory=dict)
    commits: int = 0
    down: float = 0.0
    peaks: dict[str, dict[str, Amount]] = field(default_factory=dict)
    unpriced: set[ObjectRef] = field(default_factory=set)
    _prices: ClusterPrices | None = None
    _monthly: Fraction = Fraction(0)
    _spent: Fraction = Fraction(0)
    _seconds: Fraction = Fraction(0)
    _at: datetime | None = None
    _use: dict[str, dict[str, Amount]] = field(default_factory=dict)
    _unscheduled: dict[ObjectRef, datetime] = field(default_factory=dict)
    _left: dict[tuple[ObjectRef, str], datetime] = field(default_factory=dict)
    _not_ready: frozenset[str] = frozenset()

    def begin(self, at: datetime, bindings: Mapping[ObjectRef, Binding], prices: ClusterPrices | None = None) -> None:
        """Start from some bindings; that they are there is nothing that happened."""
        self._at, self._prices = at, prices
        self._monthly += self._cost_of(bindings.values())
        for ref, binding in bindings.items():
            self._add_use(binding, 1)
            if is_unscheduled(binding):
                self._unscheduled[ref] = at
        self._note_peaks(self._use)

    def pass_time(self, at: datetime, not_ready: frozenset[str]) -> None:
        """Let time go by up to an instant, at which other clusters may not be ready."""
        if self._at is not None and at > self._at:
            replicas = sum(self._use.get(name, {}).get(PODS, 0) for name in self._not_ready)
            seconds = (at - self._at).total_seconds()
            self.down += int(replicas) * seconds
            self._spent += self._monthly * Fraction(seconds)
            self._seconds += Fraction(seconds)
        self._at = at if self._at is None else max(at, self._at)
        self._not_ready = not_ready

    def count(self, at: datetime, changes: Changes, members: frozenset[str]) -> None:
        """Count what one outcome changed; ``members`` are the clusters of the fleet after it."""
        before = {ref: old for ref, (old, _) in changes.items() if old is not None}
        after = {ref: new for ref, (_, new) in changes.items() if new is not None}
        for movement in movements_between(before, after, members):
            if movement.moved_replicas:
                self._of(movement.ref).moved_replicas += movement.moved_replicas
        for ref, (old, new) in changes.items():
            self._count_evictions(ref, old, new)
            self._count_flaps(at, ref, old, new)
            self._count_unscheduled(at, ref, new)
            self._add_use(old, -1)
            self._add_use(new, 1)
        self._monthly += self._cost_of(after.values()) - self._cost_of(before.values())
        touched = {name for pair in changes.values() for each in pair if each for name in each.target_replicas}
        self._note_peaks(touched)

    def end(self, at: datetime) -> None:
        """Let time go by up to the end of what is counted."""
        self.pass_time(at, self._not_ready)
        for ref, since in self._unscheduled.items():
            self._of(ref).unscheduled += max(0.0, (at - since).total_seconds())
        self._unscheduled = {}

    def rename_clusters(self, names: Mapping[str, str]) -> None:
        """Count clusters on under the names that they have from now on."""
        self.peaks = {names.get(name, name): found for name, found in self.peaks.items()}
        self._use = {names.get(name, name): found for name, found in self._use.items()}
        self._left = {(ref, names.get(name, name)): at for (ref, name), at in self._left.items()}

    @property
    def currency(self) -> str:
        """The currency of costs; empty where the source has no prices."""
        return self._prices.currency if self._prices is not None else ""

    @property
    def monthly_cost(self) -> Fraction:
        """The known cost of a month, on the average of the time that went by."""
        return self._spent / self._seconds if self._seconds else self._monthly

    def _cost_of(self, bindings: Iterable[Binding]) -> Fraction:
        """Return what bindings cost in a month, and remember of which of them some is unknown."""
        if self._prices is None:
            return Fraction(0)
        costs = costs_of_bindings(bindings, self._prices)
        self.unpriced |= costs.money.unknown.keys() | costs.unrequested
        return costs.total

    @property
    def total(self) -> ObjectCounts:
        """The sums over all objects."""
        found = self.objects.values()
        return ObjectCounts(
            moved_replicas=sum(each.moved_replicas for each in found),
            evictions=sum(each.evictions for each in found),
            flaps=sum(each.flaps for each in found),
            unscheduled=sum(each.unscheduled for each in found),
        )

    def _of(self, ref: ObjectRef) -> ObjectCounts:
        return self.objects.setdefault(ref, ObjectCounts())

    def _count_evictions(self, ref: ObjectRef, old: Binding | None, new: Binding | None) -> None:
        if old is not None and new is not None and (found := evicted_clusters(old, new)):
            self._of(ref).evictions += len(found)

    def _count_flaps(self, at: datetime, ref: ObjectRef, old: Binding | None, new: Binding | None) -> None:
        was, is_ = _final_clusters(old), _final_clusters(new)
        for name in is_ - was:
            left = self._left.pop((ref, name), None)
            if left is not None and (at - left).total_seconds() <= self.within:
                self._of(ref).flaps += 1
        for name in was - is_:
            self._left[ref, name] = at

    def _count_unscheduled(self, at: datetime, ref: ObjectRef, new: Binding | None) -> None:
        since = self._unscheduled.get(ref)
        is_now = new is not None and is_unscheduled(new)
        if is_now and since is None:
            self._unscheduled[ref] = at
        elif not is_now and since is not None:
            self._of(ref).unscheduled += max(0.0, (at - since).total_seconds())
            del self._unscheduled[ref]

    def _add_use(self, binding: Binding | None, sign: int) -> None:
        for cluster, resource, amount in _requests(binding) if binding is not None else ():
            there = self._use.setdefault(cluster, {})
            there[resource] = there.get(resource, 0) + sign * amount

    def _note_peaks(self, clusters: Iterable[str]) -> None:
        for name in clusters:
            known = self.peaks.setdefault(name, {})
            for resource, amount in self._use.get(name, {}).items():
                if amount > known.get(resource, 0):
                    known[resource] = amount


def is_unscheduled(binding: Binding) -> bool:
    """Say whether no cluster takes an object, or not all of it, as it asks."""
    return any(each.type == SCHEDULED and each.status == "False" for each in binding.conditions)


def evicted_clusters(old: Binding, new: Binding) -> frozenset[str]:
    """Return the clusters that an object had to leave from one outcome to the next."""
    known = {(task.from_cluster, task.creation_timestamp) for task in old.eviction_tasks}
    begun = {
        task.from_cluster for task in new.eviction_tasks if (task.from_cluster, task.creation_timestamp) not in known
    }
    moved = new.moved
    is_moved = moved is not None and (old.moved is None or old.moved.at != moved.at)
    return frozenset(begun.union(moved.clusters if is_moved and moved is not None else ()))


def _final_clusters(binding: Binding | None) -> frozenset[str]:
    return frozenset(each.name for each in binding.final_targets) if binding is not None else frozenset()


def _requests(binding: Binding) -> Iterator[tuple[str, str, Amount]]:
    """Yield what the replicas of an object request in each cluster, beside their number."""
    if not binding.is_workload:
        return
    each_replica = _amounts(binding.requirements.resource_request) if binding.requirements else {}
    for cluster, replicas in binding.target_replicas.items():
        yield cluster, PODS, replicas
        if not binding.components:
            yield from ((cluster, name, amount * replicas) for name, amount in each_replica.items())
            continue
        for part in binding.components:
            requested = _amounts(part.requirements.resource_request) if part.requirements else {}
            yield from ((cluster, name, amount * part.replicas) for name, amount in requested.items())


def _amounts(request: Mapping[str, str]) -> dict[str, Amount]:
    return {name: parse_quantity(text) for name, text in request.items() if name != PODS}
