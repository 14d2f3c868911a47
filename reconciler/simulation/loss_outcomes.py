"""The outcome of losses: how many replicas move, what finds no place, what is lost, and the capacity that is missing.

An object *breaks* where more of its replicas have no place than before, or where no cluster has it any more. Static
weights and copies ask nobody for room: where clusters would hold more than they say they have, capacity is missing
though every replica has a place.
"""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct, field

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.prices.changes import CostOfChange, PricedChanges, ReplicaChanges
from render.prices.cluster_prices import prices_of_clusters
from render.resilience.losses import Loss
from render.scheduling.capacity import PODS
from render.scheduling.decisions import SCHEDULED
from render.scheduling.requests import request_of_replica, request_of_set

from .losses import FleetAfterLoss, Losses
from .objects import kept_state, missing_replicas

Amounts = Mapping[str, int]
"""Amounts by resource, in the units that capacity is compared in."""


class BrokenObject(Struct, frozen=True, kw_only=True):
    """An object that a loss breaks: so many more of its replicas have no place (0: it has none, or is nowhere)."""

    ref: ObjectRef
    asked: int
    missing: int
    reason: str


class LossOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of a loss.

    ``objects`` are how many the lost clusters hold, ``replicas`` all that run there, ``moved`` those that are placed
    elsewhere. ``copies`` are the workloads that lose a copy and go on elsewhere, ``stateful`` what objects keep in the
    lost clusters, in words. ``missing`` is the capacity that there is not for what has no place, ``overdrawn`` by
    cluster what would be placed there beyond its capacity. ``cost`` is by how much more a month costs with all of it
    placed anew (None: the source has no prices); what is lost costs nothing.
    """

    loss: Loss
    objects: int = 0
    replicas: int = 0
    moved: int = 0
    broken: tuple[BrokenObject, ...] = ()
    copies: tuple[ObjectRef, ...] = ()
    stateful: Mapping[ObjectRef, str] = field(default_factory=dict)
    missing: Amounts = field(default_factory=dict)
    overdrawn: Mapping[str, Amounts] = field(default_factory=dict)
    cost: CostOfChange | None = None

    @property
    def is_survived(self) -> bool:
        """Say whether everything that had a place has one again, with room for it."""
        return not self.broken and not self.overdrawn

    @property
    def missing_capacity(self) -> Amounts:
        """The capacity that is missing in all: for what has no place, and where clusters are overdrawn."""
        total = dict(self.missing)
        for amounts in self.overdrawn.values():
            _add_amounts(total, amounts)
        return dict(sorted(total.items()))


class LossJudge(Struct, frozen=True, kw_only=True, dict=True):
    """A fleet of which the outcome of one loss after the other is told; what it needs to know is read once."""

    losses: Losses

    def outcome_of(self, loss: Loss) -> LossOutcome:
        """Decide about a loss, and tell what becomes of the objects that it concerns."""
        placed = self.losses.placed_after(loss.clusters)
        sums = _LossSums(judge=self, lost=loss.clusters)
        for ref, binding in placed.bindings.items():
            sums.add(binding, self.losses.placed.get(ref))
        return LossOutcome(
            loss=loss,
            objects=sums.objects,
            replicas=sums.replicas,
            moved=sums.moved,
            broken=tuple(sums.broken),
            copies=tuple(sums.copies),
            stateful=sums.stateful,
            missing=dict(sorted(sums.missing.items())),
            overdrawn=self._overdrawn(placed),
            cost=sums.cost if self.priced is not None else None,
        )

    def read_ahead(self) -> None:
        """Read now what is else read when it is asked for first, so that processes that begin from here share it."""
        self.losses.read_ahead()
        assert self.states is not None
        assert self.missing_before is not None
        assert self.priced is None or self.priced.prices is not None

    @cached_property
    def priced(self) -> PricedChanges | None:
        """The prices by which changes are judged; None where the source has none."""
        lists = self.losses.inputs.desired.price_lists
        if not lists:
            return None
        return PricedChanges(prices=prices_of_clusters(lists, ClusterIndex(self.losses.inputs.desired.clusters)))

    @cached_property
    def states(self) -> Mapping[ObjectRef, str]:
        """The state that objects keep in their clusters beside their manifests, of those that keep any."""
        found = ((ref, kept_state(ref, each.manifest)) for ref, each in self.losses.claimed.templates.items())
        return {ref: state for ref, state in found if state}

    @cached_property
    def missing_before(self) -> Mapping[ObjectRef, int]:
        """The replicas that have no place to begin with, of the objects that miss some."""
        found = (
            (ref, missing_replicas(each, each.total_replicas, is_anywhere=bool(each.targets)))
            for ref, each in self.losses.placed.items()
        )
        return {ref: count for ref, count in found if count}

    def _overdrawn(self, placed: FleetAfterLoss) -> Mapping[str, Amounts]:
        if self.losses.capacity_before is None:
            return {}
        return placed.capacity.amounts_overdrawn_since(self.losses.capacity_before)


class _Change(Struct, frozen=True):
    """The change from one list of targets to another, which many objects share.

    Of ``lost`` replicas in clusters that are lost, and of those that others give up, ``moved`` are placed elsewhere.
    ``serving`` are all that are placed afterwards. ``is_held``: lost clusters have targets, ``is_serving``: others do.
    """

    lost: int
    moved: int
    serving: int
    is_held: bool
    is_serving: bool


class _LossSums(Struct, kw_only=True):
    """The outcome of a loss as it is told, object by object."""

    judge: LossJudge
    lost: frozenset[str]
    objects: int = 0
    replicas: int = 0
    moved: int = 0
    broken: list[BrokenObject] = field(default_factory=list)
    copies: list[ObjectRef] = field(default_factory=list)
    stateful: dict[ObjectRef, str] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    cost: CostOfChange = field(default_factory=CostOfChange)
    _changes: dict[tuple[int, int], _Change] = field(default_factory=dict)
    _moves: dict[tuple[int, int], ReplicaChanges] = field(default_factory=dict)

    def add(self, after: Binding, before: Binding | None) -> None:
        """Take in what the loss does to an object."""
        ref, change = after.ref, self._change(before, after)
        self.moved += change.moved
        self._add_cost(before, after)
        missing = missing_replicas(after, change.serving, is_anywhere=change.is_serving)
        more = missing - self.judge.missing_before.get(ref, 0)
        if more > 0 or (before is not None and before.targets and not change.is_serving):
            self.broken.append(
                BrokenObject(ref=ref, asked=after.asked_replicas, missing=max(more, 0), reason=_reason(after))
            )
            _add_amounts(self.missing, _capacity_for(after, max(more, 0)))
        if not change.is_held:
            return
        self.objects += 1
        self.replicas += change.lost
        if change.is_serving and after.is_workload and not after.is_divided:
            self.copies.append(ref)
        if ref in self.judge.states:
            self.stateful[ref] = self.judge.states[ref]

    def _add_cost(self, before: Binding | None, after: Binding) -> None:
        priced = self.judge.priced
        if priced is None:
            return
        more = priced.cost_of(before or after, self._replica_changes(before, after))
        if more.parts or more.is_unknown:
            is_unknown = self.cost.is_unknown or more.is_unknown
            self.cost = CostOfChange(parts=self.cost.parts + more.parts, is_unknown=is_unknown)

    def _replica_changes(self, before: Binding | None, after: Binding) -> ReplicaChanges:
        """Return what an object gets and gives up; many objects have the same lists of targets, and equal changes."""
        sides = [each for each in (before, after) if each is not None]
        if len(sides) < 2 or any(each.components or each.kept or each.overridden for each in sides):
            return _placed_differently(before, after, self.lost)
        key = (id(sides[0].targets), id(after.targets))
        if key not in self._moves:
            self._moves[key] = _placed_differently(before, after, self.lost)
        return self._moves[key]

    def _change(self, before: Binding | None, after: Binding) -> _Change:
        """Return the change of an object; of components, every list has other numbers."""
        if before is None or before.components or after.components:
            return _change_between(_replicas(before), _replicas(after), self.lost)
        key = (id(before.targets), id(after.targets))
        known = self._changes.get(key)
        if known is None:
            known = self._changes[key] = _change_between(_replicas(before), _replicas(after), self.lost)
        return known


def _replicas(binding: Binding | None) -> Mapping[str, int]:
    return binding.target_replicas if binding is not None else {}


def _placed_differently(before: Binding | None, after: Binding, lost: frozenset[str]) -> ReplicaChanges:
    had = before.placed_replicas if before is not None else {}
    has = {name: count for name, count in after.placed_replicas.items() if name not in lost}
    names = had.keys() | has.keys() if had != has else ()
    return {name: has.get(name, 0) - had.get(name, 0) for name in names if had.get(name) != has.get(name)}


def _change_between(before: Mapping[str, int], after: Mapping[str, int], lost: frozenset[str]) -> _Change:
    serving = {name: count for name, count in after.items() if name not in lost}
    gained = sum(max(0, count - before.get(name, 0)) for name, count in serving.items())
    given_up = sum(max(0, count - serving.get(name, 0)) for name, count in before.items())
    held = [before[name] for name in lost if name in before]
    return _Change(sum(held), min(gained, given_up), sum(serving.values()), bool(held), bool(serving))


def _reason(binding: Binding) -> str:
    found = (each.message for each in binding.conditions if each.type == SCHEDULED and each.status == "False")
    return next(found, "")


def _capacity_for(binding: Binding, replicas: int) -> Amounts:
    """Return the capacity that so many replicas of an object ask for, or its components together."""
    if not replicas:
        return {}
    if binding.components:
        request, pods = request_of_set(binding.components)
        return {**dict(request), PODS: pods}
    request = request_of_replica(binding.requirements)
    return {PODS: replicas, **{name: amount * replicas for name, amount in request}}


def _add_amounts(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount
