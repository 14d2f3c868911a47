"""Replica movements between two sets of bindings, by workload and cluster."""

from collections.abc import Container, Mapping
from functools import cached_property

from msgspec import Struct

from reconciler.console.cluster_lists import shortened_cluster_list
from render.binding import Binding, binding_with_final_targets
from render.model import ObjectRef


class ReplicaChange(Struct, frozen=True, kw_only=True):
    """The replicas of a workload in one cluster, before and after.

    A disconnected cluster keeps what it runs, though it no longer counts.
    """

    cluster: str
    before: int
    after: int
    is_disconnected: bool = False

    def __str__(self) -> str:
        return f"{self.cluster} {f'{self.before} (disconnected)' if self.is_disconnected else self._numbers}"

    @property
    def _numbers(self) -> str:
        return f"{self.before} -> {self.after}"

    @property
    def lost_replicas(self) -> int:
        """The replicas that are no longer placed there."""
        return max(0, self.before - self.after)

    @property
    def gained_replicas(self) -> int:
        """The replicas that are newly placed there."""
        return max(0, self.after - self.before)


class Movement(Struct, frozen=True, kw_only=True, dict=True):
    """A change of the replicas of one workload, by cluster and in total; its sums are made once."""

    ref: ObjectRef
    before: int
    after: int
    changes: tuple[ReplicaChange, ...]

    @cached_property
    def moved_replicas(self) -> int:
        """The replicas that leave one cluster and appear in another; what is scaled away or added does not move."""
        lost = sum(change.lost_replicas for change in self.changes if not change.is_disconnected)
        return min(lost, self._gained_of_moved)

    @cached_property
    def displaced_replicas(self) -> int:
        """The replicas that appear in another cluster, be it that they leave one or that theirs is disconnected."""
        return min(sum(change.lost_replicas for change in self.changes), self._gained_of_moved)

    @property
    def replicas_placed_anew(self) -> int:
        """The replicas that appear elsewhere for some that go on in a disconnected cluster."""
        return self.displaced_replicas - self.moved_replicas

    @cached_property
    def _gained_of_moved(self) -> int:
        return sum(change.gained_replicas for change in self.changes)


Bindings = Mapping[ObjectRef, Binding]
_MOST_MOVED = 6


def movements_between(before: Bindings, after: Bindings, members: Container[str]) -> tuple[Movement, ...]:
    """Return how replicas change, by workload; a workload that comes or goes as a whole counts as well.

    Clusters that are no ``members`` (afterwards) are disconnected: alone they change nothing.
    """
    found = []
    for ref in sorted(before.keys() | after.keys()):
        if _have_same_targets(before.get(ref), after.get(ref)):
            continue
        old, new = replicas_of(before.get(ref)), replicas_of(after.get(ref))
        if old != new:
            clusters = sorted(name for name in old.keys() | new.keys() if old.get(name, 0) != new.get(name, 0))
            changes = tuple(
                ReplicaChange(
                    cluster=name, before=old.get(name, 0), after=new.get(name, 0), is_disconnected=name not in members
                )
                for name in clusters
            )
            if all(change.is_disconnected for change in changes):
                continue
            total = sum(old.values()), sum(new.values())
            found.append(Movement(ref=ref, before=total[0], after=total[1], changes=changes))
    return tuple(found)


def _have_same_targets(before: Binding | None, after: Binding | None) -> bool:
    """Say whether two bindings share their list of targets and nothing else decides their replicas, at one glance."""
    if before is None or after is None or before.targets is not after.targets:
        return False
    return not any(each.kept or each.components or each.moving is not None for each in (before, after))


def replicas_of(binding: Binding | None) -> dict[str, int]:
    """Return a binding's replicas by cluster, those with none left out; a suspended cluster has what it keeps.

    What an override sets is no movement: it is told with the fields that overrides change. A move that goes step by
    step counts whole, when it is decided.
    """
    if binding is None:
        return {}
    if binding.moving is not None:
        binding = binding_with_final_targets(binding)
    if binding.kept or binding.components:
        return {name: replicas for name, replicas in binding.assigned_replicas.items() if replicas}
    return {target.name: target.replicas for target in binding.targets if target.replicas}


def moved_words(movement: Movement) -> str:
    """Return how many replicas of a workload move, and how many are placed anew for those in disconnected clusters."""
    anew = f", {movement.replicas_placed_anew} placed anew" if movement.replicas_placed_anew else ""
    return f"{movement.moved_replicas} moved{anew}" if movement.moved_replicas or not anew else anew.removeprefix(", ")


def movement_words(movement: Movement, *, is_full: bool = True) -> str:
    """Return a workload's replicas in every cluster where they change, or in the first of these."""
    changes = list(map(str, movement.changes))
    return ", ".join(changes) if is_full else shortened_cluster_list(changes, ", ", _MOST_MOVED)
