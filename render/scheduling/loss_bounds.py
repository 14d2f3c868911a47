"""Bounds on what a loss does: whether all replicas of objects certainly find a place, or none do, before any decision.

1. Replicas that are divided by room are placed exactly if the clusters that are left have room for those that are
   missing. Copies stay where they are.
2. Static weights place all replicas, and no cluster loses any where they stand as the weights divide them now: seats
   are given one after the other, in an order that a cluster which is gone does not change for the others.
3. What one object gains may lie in the way of another: a replica takes, wherever it goes, the room of at most so many
   of the other's, by the resource of which it needs most in proportion.
4. What has no room for all that is missing, not even if nobody else took any, is refused, and takes none.
5. So if the room that is left, less all that others could take of it, is enough for each other object, all are placed,
   in whatever order they are decided. Where it is not, or something else decides (spread constraints, groups, quotas,
   models of nodes), nothing is certain, and somebody has to decide.
6. Static weights are certain only while each cluster that is left has room for all that is missing. Where one has not,
   each loss has a decision of each object in it, which takes time in proportion to the clusters that it goes to: of
   objects in all clusters that is the square of the clusters, times the objects.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.model import ObjectRef

from .attempts import attempt_with_group
from .decisions import Refusal, Trigger
from .filtering import filter_clusters
from .requests import Request, request_of_replica
from .rules import Strategy, strategy_for_binding
from .scheduler import Scheduler, affinity_groups_to_try, is_schedulable

_BY_ROOM = {Strategy.DYNAMIC_WEIGHT, Strategy.AGGREGATED}


class _RoomBound(Struct, frozen=True, kw_only=True):
    """An object that room alone decides about: its replicas by cluster index, and the room that it finds.

    ``room`` is by cluster index, ``total`` that of all clusters it may go to, ``least`` the least of any of these.
    """

    strategy: Strategy
    replicas: int
    feasible: Mask
    clusters: Mask
    current: Mapping[int, int]
    request: Request
    room: Sequence[int]
    total: int
    least: int

    def missing_after(self, lost: Sequence[int]) -> int:
        """Return the replicas that it lacks without some clusters."""
        there = sum(self.current.values()) - sum(self.current.get(position, 0) for position in lost)
        return max(self.replicas - there, 0)

    def most_gained_after(self, lost: Sequence[int]) -> int:
        """Return the most replicas that clusters get of it."""
        return 0 if self.strategy is Strategy.DUPLICATED else self.missing_after(lost)

    def is_refused_after(self, lost: Sequence[int], mask: Mask) -> bool:
        """Say whether it certainly gets no more: the clusters that are left have no room for all that is missing."""
        if self.strategy not in _BY_ROOM or not self.feasible & ~mask:
            return False
        return self.total - self._room_lost_with(lost) < self.missing_after(lost)

    def _room_lost_with(self, lost: Sequence[int]) -> int:
        return sum(self.room[position] for position in lost if self.feasible >> position & 1)

    def is_placed_after(self, lost: Sequence[int], mask: Mask, taken: int) -> bool:
        """Say whether all of it certainly has room without some clusters, when others take room for so many of it."""
        left = self.feasible & ~mask
        match self.strategy:
            case Strategy.DUPLICATED:
                return left & ~self.clusters == 0
            case Strategy.STATIC_WEIGHT:
                return left != 0 and self.least - taken >= self.missing_after(lost)
        return left != 0 and self.total - self._room_lost_with(lost) - taken >= self.missing_after(lost)


class LossBounds:
    """The bounds of objects, as the scheduler of a pass left them; each is found once."""

    __slots__ = ("_bounds", "_in_the_way", "_scheduler")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._bounds: dict[ObjectRef, _RoomBound | None] = {}
        self._in_the_way: dict[tuple[Request, Request], int] = {}

    def outcomes(self, lost: Mask, bindings: Sequence[Binding]) -> Mapping[ObjectRef, bool] | None:
        """Say which bindings certainly get all their replicas (True), or no more than the other clusters have (False).

        No other copy is made of any. None: of some it is not certain.
        """
        positions = indexes_of_mask(lost)
        bounds = {each.ref: self._bound(each) for each in bindings}
        known = {ref: each for ref, each in bounds.items() if each is not None}
        if len(known) < len(bounds):
            return None
        placed = {ref: each for ref, each in known.items() if not each.is_refused_after(positions, lost)}
        gained = {ref: each.most_gained_after(positions) for ref, each in placed.items()}
        for ref, each in placed.items():
            others = (
                count * self._times_in_the_way(placed[other].request, each.request)
                for other, count in gained.items()
                if other != ref and count
            )
            if not each.is_placed_after(positions, lost, sum(others)):
                return None
        return {ref: ref in placed for ref in known}

    def _bound(self, binding: Binding) -> _RoomBound | None:
        if binding.ref not in self._bounds:
            self._bounds[binding.ref] = _bound_of_binding(self._scheduler, binding)
        return self._bounds[binding.ref]

    def _times_in_the_way(self, one: Request, other: Request) -> int:
        """Return for how many replicas of the other request one replica takes the room, at most."""
        known = self._in_the_way.get((one, other))
        if known is None:
            amounts = dict(one)
            ratios = (-(-amounts.get(name, 0) // amount) for name, amount in other)
            known = self._in_the_way[one, other] = max((1, *ratios))
        return known


def _bound_of_binding(scheduler: Scheduler, binding: Binding) -> _RoomBound | None:
    """Return the bound of an object; None where something else than room decides about it."""
    placement, state = binding.placement, scheduler.state
    if placement is None or placement.spread_constraints or not is_schedulable(binding):
        return None
    if binding.affinity_group or binding.anti_affinity_group or binding.components or binding.is_reschedule_requested:
        return None
    if binding.begun or binding.is_whole or binding.avoided or binding.unproven or state.capacity.has_models:
        return None
    task = state.task(binding)
    strategy = strategy_for_binding(binding, task.rules)
    if task.rules.is_grouped or strategy in {Strategy.UNDIVIDED, Strategy.UNSUPPORTED}:
        return None
    group = affinity_groups_to_try(task)[0]
    filters, current = filter_clusters(state, task, group), task.current.replicas
    if strategy is Strategy.STATIC_WEIGHT:
        outcome = attempt_with_group(state, task, group, filters, Trigger.REPLICAS_CHANGED).outcome
        if isinstance(outcome, Refusal) or dict(outcome) != {each: count for each, count in current.items() if count}:
            return None
    feasible, room = filters.feasible, list(state.capacity.replicas(binding.requirements))
    positions = indexes_of_mask(feasible)
    return _RoomBound(
        strategy=strategy,
        replicas=binding.replicas,
        feasible=feasible,
        clusters=task.current.clusters,
        current=current,
        request=request_of_replica(binding.requirements),
        room=room,
        total=sum(room[position] for position in positions),
        least=min((room[position] for position in positions), default=0),
    )
