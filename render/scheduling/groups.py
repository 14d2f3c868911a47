"""Regions as groups: what each is worth, and which combination of them is chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

_SCALE = 1000


class Scored(Protocol):
    """What a group's score is computed from."""

    @property
    def available(self) -> Sequence[int]:
        """Room by cluster index."""

    @property
    def scores(self) -> Mapping[int, int]:
        """Scores by cluster index; 0 where there is none."""

    @property
    def replicas(self) -> int:
        """The replicas of the binding."""

    @property
    def is_duplicated(self) -> bool:
        """Whether every cluster gets all of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group by name, its size (``value``) and its score (``weight``)."""

    name: str
    value: int
    weight: int


def group_score(clusters: Sequence[int], scored: Scored, group_minimum: int, cluster_minimum: int) -> int:
    """Return what a group is worth: room first, in thousands, then the average score of its clusters.

    Duplicated counts the clusters that hold all replicas. Otherwise a group should hold an equal share of them: its
    best clusters are counted until they do, at least as many as either minimum asks for.
    """
    if scored.is_duplicated:
        valid = [each for each in clusters if scored.available[each] >= scored.replicas]
        return _SCALE * len(valid) + _average(valid, scored) if valid else 0
    share = -(-scored.replicas // max(group_minimum, 1))
    least = max(cluster_minimum, group_minimum)
    room = 0
    for count, each in enumerate(clusters, start=1):
        room += scored.available[each]
        if count >= least and room >= share:
            return share * _SCALE + _average(clusters[:count], scored)
    return min(room, share) * _SCALE + _average(clusters, scored)


def best_groups(groups: Sequence[Group], minimum: int, maximum: int, target: int) -> tuple[str, ...]:
    """Return the combination of at least ``target`` clusters with the greatest weight; empty when there is none.

    A combination that suffices is not extended. Of the combinations found, the heaviest wins, then the one of more
    clusters, then the one found first - unless a shorter one is the winner's beginning and suffices by itself.
    """
    paths = [
        tuple(sorted(path, key=lambda group: (-group.weight, group.name)))
        for path in _combinations(groups, minimum, maximum, target)
    ]
    if not paths:
        return ()
    # The sort is stable: equals stay in order of discovery.
    paths.sort(key=lambda path: (-sum(each.weight for each in path), -sum(each.value for each in path)))
    best = paths[0]
    for path in paths[1:]:
        if len(path) < len(best) and best[: len(path)] == path:
            best = path
    return tuple(group.name for group in best)


def _combinations(groups: Sequence[Group], minimum: int, maximum: int, target: int) -> Iterator[tuple[Group, ...]]:
    """Yield the combinations that suffice, depth first, over the groups from small to large."""
    in_order = sorted(groups, key=lambda group: (group.value, -group.weight, group.name))
    if len(in_order) == minimum:
        # Only all of them together are enough groups; Karmada looks no further.
        everything = tuple(in_order)
        if minimum <= maximum and sum(each.value for each in everything) >= target:
            yield everything
        return
    yield from _extended((), 0, in_order, (minimum, maximum, target))


def _extended(
    path: tuple[Group, ...], total: int, later: Sequence[Group], bounds: tuple[int, int, int]
) -> Iterator[tuple[Group, ...]]:
    minimum, maximum, target = bounds
    if total >= target and minimum <= len(path) <= maximum and path:
        yield path
        return
    if len(path) >= maximum:
        return
    for position, group in enumerate(later):
        yield from _extended((*path, group), total + group.value, later[position + 1 :], bounds)


def _average(clusters: Sequence[int], scored: Scored) -> int:
    return sum(scored.scores.get(each, 0) for each in clusters) // len(clusters)
