"""The places that objects would have if clusters were lost, asked after a pass that has decided about all of them.

A loss is decided as the next pass would, over the same source without the lost clusters: what they held of an object is
placed anew, with the room, the kinds and the quotas that the pass left. What other objects had there is not: only those
that are asked about are placed, in the order of a pass. Nothing of the pass is changed, so that losses may be asked
about one after the other, each for the price of the objects that it concerns.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster
from render.quota.enforcement import QuotaLedger

from .batch import BatchContext, decisions_after_pass, register_current, take_room
from .decisions import binding_with_decision
from .loss_bounds import LossBounds
from .rules import Strategy, strategy_for_binding
from .scheduler import Scheduler

Targets = tuple[TargetCluster, ...]
_BY_ROOM = {Strategy.DYNAMIC_WEIGHT, Strategy.AGGREGATED}
"""The strategies that give a cluster no more than there is room for."""
_LOST = "/lost"
"""The end of the name of a target that is no member any more; no cluster is called so."""


class PlacedAfterLoss(Struct, frozen=True, kw_only=True):
    """A binding with the targets that it would have after a loss.

    Static weights and copies go to clusters whatever room these have: ``without_room`` are the replicas by cluster for
    which there is none, ``of_unknown_room`` the clusters that get some and of which no capacity is known.
    """

    binding: Binding
    without_room: Mapping[str, int] = field(default_factory=dict)
    of_unknown_room: frozenset[str] = frozenset()


class SchedulerAfterPass:
    """The scheduler as the next pass begins, to be asked what comes of a loss."""

    __slots__ = ("_bounds", "_context", "_ledger", "_scheduler")

    def __init__(self, scheduler: Scheduler, decided: Sequence[Binding], context: BatchContext | None = None) -> None:
        """Begin where the scheduler of a pass ended that has decided some bindings."""
        self._context = context or BatchContext()
        everybody = (*decided, *self._context.unscheduled)
        self._scheduler = Scheduler(_index_after_pass(scheduler), scheduler.state.options)
        register_current(self._scheduler, everybody)
        self._ledger = QuotaLedger(self._context.quotas, everybody)
        self._bounds = LossBounds(self._scheduler)

    def certain_outcomes(self, lost: Collection[str], bindings: Sequence[Binding]) -> Mapping[ObjectRef, bool] | None:
        """Say before anything is decided which bindings get all their replicas after a loss, and which get no more.

        No other cluster gets a copy of what is not divided. None: of some it is not certain.
        """
        if self._context.quotas:
            return None
        return self._bounds.outcomes(self._scheduler.state.index.clusters_named(lost), bindings)

    def scheduler_without(self, lost: Collection[str]) -> Scheduler:
        """Return the scheduler as it goes on by itself without some clusters."""
        state = self._scheduler.state
        return Scheduler.of_state(state.copy_without(state.index.clusters_named(lost)))

    def placed_after_loss(self, lost: Collection[str], bindings: Iterable[Binding]) -> tuple[PlacedAfterLoss, ...]:
        """Return bindings with the targets that they would have without some clusters, in the order of decisions.

        A binding that is refused keeps what the others have of it, and one that fits no cluster has none.
        """
        names = frozenset(lost)
        after = self.scheduler_without(names)
        asked = {each.ref: _binding_without_clusters(each, names) for each in bindings}
        decisions = decisions_after_pass(after, tuple(asked.values()), self._context, self._ledger.copy())
        room = _Room(self.scheduler_without(()))
        return tuple(
            room.placed(asked[each.ref], _binding_of_members(binding_with_decision(asked[each.ref], each)))
            for each in decisions
        )


class _Room:
    """The room that is left in clusters while bindings get their targets after a loss, one after the other."""

    __slots__ = ("_scheduler",)

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def placed(self, before: Binding, after: Binding) -> PlacedAfterLoss:
        """Return a binding with what it gains and nobody looked at the room for, and take the room of all it gains."""
        state, had = self._scheduler.state, before.target_replicas
        gained = {
            state.index.index_by_name[name]: count - had.get(name, 0)
            for name, count in after.target_replicas.items()
            if count > had.get(name, 0)
        }
        if not gained or not after.is_workload or after.placement is None:
            return PlacedAfterLoss(binding=after)
        by_room = strategy_for_binding(after, state.rules(after.placement)) in _BY_ROOM or bool(after.components)
        room: Sequence[int] = () if by_room else state.capacity.replicas(after.requirements)
        names, clusters = state.index.names, state.index.clusters
        unknown = {position for position in gained if clusters[position].resource_summary is None}
        short = {
            names[position]: count - room[position]
            for position, count in gained.items()
            if room and position not in unknown and count > room[position]
        }
        take_room(self._scheduler, after, gained)
        return PlacedAfterLoss(
            binding=after,
            without_room=short,
            of_unknown_room=frozenset(names[position] for position in unknown if room),
        )


def _index_after_pass(scheduler: Scheduler) -> ClusterIndex:
    """Return the clusters of a pass with what it reserved of their observed room, as the next one reads them."""
    index, reserved = scheduler.state.index, scheduler.state.capacity.reserved_resources_by_cluster()
    after = tuple(_cluster_with_reserved_room(each, reserved) for each in index.clusters)
    return index if after == index.clusters else ClusterIndex(after)


def _cluster_with_reserved_room(cluster: Cluster, reserved: Mapping[str, Mapping[str, str]]) -> Cluster:
    if cluster.resource_summary is None or cluster.name not in reserved:
        return cluster
    return replace(cluster, resource_summary=replace(cluster.resource_summary, reserved=reserved[cluster.name]))


def _binding_without_clusters(binding: Binding, lost: frozenset[str]) -> Binding:
    """Return a binding as it stands when some of its targets are members no more, and nothing of it may go there."""
    return replace(
        binding,
        targets=_targets_with_departed(binding.targets, lost),
        begun=_targets_with_departed(binding.begun, lost),
        absent_in=binding.absent_in | lost,
        restored=None,  # the pass has answered whoever asked for a former split
    )


def _targets_with_departed(targets: Targets, lost: frozenset[str]) -> Targets:
    return tuple(TargetCluster(each.name + _LOST, each.replicas) if each.name in lost else each for each in targets)


def _binding_of_members(binding: Binding) -> Binding:
    return replace(binding, targets=tuple(each for each in binding.targets if not each.name.endswith(_LOST)))
