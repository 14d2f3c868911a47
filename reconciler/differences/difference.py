"""What a change of the source does to the fleet, as values: objects, policies, replicas, and what has no place now.

Both sides were rendered from the same previous commit and the same facts, so nothing here is due to anything else.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from overrides.changes import ChangedField
from reconciler.passes.released import Released
from render.binding import Binding
from render.model import ObjectRef


class Action(StrEnum):
    """What happens to an object in a cluster."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectChange:
    """What happens to an object, the same in some clusters.

    ``fields`` are those of a changed object, the divided numbers left out: they are told by the movements, and an
    object without any other change has no fields here. ``is_preserved``: clusters keep it though it is removed.
    """

    ref: ObjectRef
    action: Action
    clusters: tuple[str, ...]
    fields: tuple[ChangedField, ...] = ()
    is_preserved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """A template that another policy holds now; "" is no policy."""

    ref: ObjectRef
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaChange:
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
    def lost(self) -> int:
        """The replicas that are no longer placed there."""
        return max(0, self.before - self.after)

    @property
    def gained(self) -> int:
        """The replicas that are newly placed there."""
        return max(0, self.after - self.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """How the replicas of one workload change: in which clusters, and in total."""

    ref: ObjectRef
    before: int
    after: int
    changes: tuple[ReplicaChange, ...]

    @property
    def moved(self) -> int:
        """The replicas that leave one cluster and appear in another; what is scaled away or added does not move."""
        lost = sum(change.lost for change in self.changes if not change.is_disconnected)
        return min(lost, self._gained)

    @property
    def displaced(self) -> int:
        """The replicas that appear in another cluster, be it that they leave one or that theirs is disconnected."""
        return min(sum(change.lost for change in self.changes), self._gained)

    @property
    def placed_anew(self) -> int:
        """The replicas that appear elsewhere for some that go on in a disconnected cluster."""
        return self.displaced - self.moved

    @property
    def _gained(self) -> int:
        return sum(change.gained for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Misfit:
    """Something that could not be placed or built: where (no clusters: nowhere), and why."""

    ref: ObjectRef
    reason: str
    message: str
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTotal:
    """What the difference comes to in one cluster."""

    name: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    replicas_before: int = 0
    replicas_after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What separates the rendering of two sources ("" is a work tree as it stands).

    ``joined`` and ``left`` are clusters that come to and go from the source; one that leaves is disconnected and keeps
    what it holds. ``members`` counts the clusters after the change, ``replicas`` those placed before it. ``misfits``
    are new, ``mended`` are gone. ``released`` are objects that the change releases, and those whose templates it
    changes in vain.
    """

    base: str
    head: str
    previous: str = ""
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    clusters: tuple[ClusterTotal, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    takeovers: tuple[Takeover, ...] = ()
    movements: tuple[Movement, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    mended: tuple[Misfit, ...] = ()
    released: tuple[Released, ...] = ()
    replicas: int = 0
    members: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the change changes nothing in any cluster, nor who holds what."""
        found = (self.joined, self.left, self.objects, self.takeovers, self.movements, self.misfits, self.mended)
        return not any(found)

    @property
    def moved(self) -> int:
        """How many replicas move between clusters."""
        return sum(movement.moved for movement in self.movements)

    @property
    def placed_anew(self) -> int:
        """How many replicas are placed elsewhere because their cluster is disconnected."""
        return sum(movement.placed_anew for movement in self.movements)

    def count(self, action: Action) -> int:
        """Count the objects, not their copies in clusters, to which something happens."""
        return len({change.ref for change in self.objects if change.action is action})


Bindings = Mapping[ObjectRef, Binding]


def movements_between(before: Bindings, after: Bindings, members: Container[str]) -> tuple[Movement, ...]:
    """Return how replicas change, by workload; a workload that comes or goes as a whole counts as well.

    Clusters that are no ``members`` (afterwards) are disconnected: alone they change nothing.
    """
    found = []
    for ref in sorted(before.keys() | after.keys()):
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


def replicas_of(binding: Binding | None) -> dict[str, int]:
    """Return a binding's replicas by cluster, those with none left out."""
    return {target.name: target.replicas for target in binding.targets if target.replicas} if binding else {}


def takeovers_between(before: Bindings, after: Bindings, templates: Iterable[ObjectRef]) -> tuple[Takeover, ...]:
    """Return the templates, out of those both sides have, that change hands."""
    return tuple(_takeovers(before, after, templates))


def _takeovers(before: Bindings, after: Bindings, templates: Iterable[ObjectRef]) -> Iterator[Takeover]:
    for ref in sorted(templates):
        old = before[ref].policy if ref in before else ""
        new = after[ref].policy if ref in after else ""
        if old != new:
            yield Takeover(ref=ref, before=old, after=new)


def cluster_totals(
    objects: Iterable[ObjectChange], movements: Iterable[Movement], replicas: Mapping[str, int]
) -> tuple[ClusterTotal, ...]:
    """Return what the difference comes to in every cluster it touches; ``replicas`` are those placed before."""
    counts: dict[str, dict[str, int]] = {}
    for change in objects:
        for name in change.clusters:
            row = counts.setdefault(name, {})
            row[change.action] = row.get(change.action, 0) + 1
    for movement in movements:
        for moved in (change for change in movement.changes if not change.is_disconnected):
            row = counts.setdefault(moved.cluster, {})
            row["replicas"] = row.get("replicas", 0) + moved.after - moved.before
    return tuple(
        ClusterTotal(
            name=name,
            added=row.get(Action.ADDED, 0),
            changed=row.get(Action.CHANGED, 0),
            removed=row.get(Action.REMOVED, 0),
            replicas_before=replicas.get(name, 0),
            replicas_after=replicas.get(name, 0) + row.get("replicas", 0),
        )
        for name, row in sorted(counts.items())
    )
