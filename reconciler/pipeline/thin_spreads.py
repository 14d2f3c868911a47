"""Spread constraints that are met by clusters, but not by replicas.

A constraint chooses clusters, and the replicas are divided among them afterwards: some may get none. Karmada takes the
constraint for met then, and says nothing.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.placement import ReplicaDivisionPreference, ReplicaSchedulingType, SpreadConstraint, SpreadField
from render.scheduling.rules import selects_all_feasible_clusters
from render.words import counted_noun, first_few

_COUNTED = frozenset({SpreadField.CLUSTER, SpreadField.REGION})
_MOST = 10


class ThinSpread(Struct, frozen=True, kw_only=True):
    """A constraint over clusters or regions that asks for more of them than have a replica of the object.

    ``number`` is the constraint's in the placement, ``groups`` are the clusters or regions with replicas.
    """

    ref: ObjectRef
    number: int
    spread_by: SpreadField
    asked: int
    groups: tuple[str, ...]
    replicas: int
    is_packed: bool

    @property
    def message(self) -> str:
        """The difference between what is asked for and what there is."""
        where = f"in {counted_noun(len(self.groups), self.spread_by)}: {first_few(self.groups)}"
        verb = "is" if self.replicas == 1 else "are"
        return (
            f"{self.asked} {self.spread_by}s are asked for, but {counted_noun(self.replicas, 'replica')} {verb} {where}"
        )

    @property
    def hint(self) -> str:
        """The setting that would change it."""
        if self.replicas < self.asked:
            return f"it takes {self.asked} replicas to be in as many {self.spread_by}s"
        return "Aggregated packs replicas into few clusters: divide them Weighted" if self.is_packed else ""

    def __str__(self) -> str:
        return f"{self.ref}: spread constraint: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")


def thin_spread_lines(found: Iterable[ThinSpread]) -> tuple[str, ...]:
    """Return a line for each constraint; of many, the first few."""
    lines = list(map(str, found))
    more = len(lines) - _MOST
    return (*lines[:_MOST], *([f"and {more} more spread constraints with too few replicas"] if more > 0 else []))


def thin_spreads_of(bindings: Iterable[Binding], index: ClusterIndex) -> Iterator[ThinSpread]:
    """Yield the spread constraints that ask for more clusters or regions than have replicas."""
    for binding in bindings:
        placement = binding.placement
        if placement is None or selects_all_feasible_clusters(placement) or not binding.replicas or not binding.targets:
            continue
        scheduling = placement.replica_scheduling
        if scheduling is None or scheduling.type is not ReplicaSchedulingType.DIVIDED:
            continue
        is_packed = scheduling.division_preference is ReplicaDivisionPreference.AGGREGATED
        for number, constraint in enumerate(placement.spread_constraints):
            if constraint.spread_by_field in _COUNTED and constraint.min_groups > 1:
                yield from _thin_spreads(binding, number, constraint, index, is_packed=is_packed)


def _thin_spreads(
    binding: Binding, number: int, constraint: SpreadConstraint, index: ClusterIndex, *, is_packed: bool
) -> Iterator[ThinSpread]:
    field, groups = SpreadField(constraint.spread_by_field or ""), set[str]()
    for target in binding.targets:
        position = index.index_by_name.get(target.name)
        if target.replicas and position is not None:
            groups.add(target.name if field is SpreadField.CLUSTER else index.clusters[position].region)
            if len(groups) == constraint.min_groups:
                return
    yield ThinSpread(
        ref=binding.ref,
        number=number,
        spread_by=field,
        asked=constraint.min_groups,
        groups=tuple(sorted(groups)),
        replicas=binding.replicas,
        is_packed=is_packed,
    )
