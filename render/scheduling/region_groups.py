"""Regions as groups: the score of each, and the combination of them that is chosen."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

# Karmada's weightUnit: room decides, and the average score only between groups of equal room.
_SCALE = 1000


class Scored(Protocol):
    """The values a group's score is computed from."""

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
        """Say whether every cluster gets all of them."""


class Group(Struct, frozen=True):
    """A group by name, its size (``value``) and its score (``weight``)."""

    name: str
    value: int
    weight: int


def score_of_group(clusters: Sequence[int], scored: Scored, group_minimum: int, cluster_minimum: int) -> int:
    """Return a group's score: room first, in thousands, then the average score of its clusters.

    Duplicated counts the clusters with room for all replicas. Otherwise a group should have room for an equal share of
    them: its best clusters are counted until they do, at least as many as either minimum asks for.
    """
    if scored.is_duplicated:
        valid = [each for each in clusters if scored.available[each] >= scored.replicas]
        return _SCALE * len(valid) + _average_score_of_clusters(valid, scored) if valid else 0
    share = -(-scored.replicas // max(group_minimum, 1))
    least = max(cluster_minimum, group_minimum)
    room = 0
    for count, each in enumerate(clusters, start=1):
        room += scored.available[each]
        if count >= least and room >= share:
            return share * _SCALE + _average_score_of_clusters(clusters[:count], scored)
    return min(room, share) * _SCALE + _average_score_of_clusters(clusters, scored)


def heaviest_combination_of_groups(groups: Sequence[Group], minimum: int, maximum: int, target: int) -> tuple[str, ...]:
    """Return the combination of at least ``target`` clusters with the greatest weight; empty when there is none.

    Karmada lists combinations depth first, over the groups from small to large, and extends none that suffices. Of
    those listed the heaviest wins, then the one of more clusters, then the first - unless a shorter one that is listed
    is the winner's beginning, from its heaviest group on.

    Listing them takes exponential time. The best completion of a combination depends only on the groups to come, on
    how many it has and on its clusters up to the target, so that the best is found by those.
    """
    in_order = sorted(groups, key=lambda group: (group.value, -group.weight, group.name))
    bounds = _Bounds(minimum, maximum, target)
    best = sorted(_heaviest_combination(in_order, bounds), key=lambda group: (-group.weight, group.name))
    for length in range(1, len(best)):
        if bounds.is_listed(best[:length]):
            best = best[:length]
            break
    return tuple(group.name for group in best)


class _Progress(NamedTuple):
    """A combination as far as the rest depends on it: its number of groups, and of clusters up to the target."""

    size: int
    clusters: int


class _Way(NamedTuple):
    """The best way to complete a combination: weight and clusters it adds, and the groups, linked one to the next."""

    weight: int
    clusters: int
    path: tuple[Group, Any] | None


class _Bounds(Struct, frozen=True):
    minimum: int
    maximum: int
    target: int

    def suffices(self, state: _Progress) -> bool:
        return state.clusters >= self.target and self.minimum <= state.size <= self.maximum

    def progress_with_group(self, state: _Progress, group: Group) -> _Progress:
        return _Progress(state.size + 1, min(state.clusters + group.value, max(self.target, 0)))

    def is_listed(self, path: Sequence[Group]) -> bool:
        """Say whether a combination suffices, and no longer does without the last of its groups from small to large."""
        clusters, largest = sum(group.value for group in path), max(group.value for group in path)
        shorter = _Progress(len(path) - 1, clusters - largest)
        return self.suffices(_Progress(len(path), clusters)) and not (shorter.size and self.suffices(shorter))


def _heaviest_combination(groups: Sequence[Group], bounds: _Bounds) -> list[Group]:
    """Return the winner of all listed combinations, before shorter ones are considered; empty without any."""
    states = [{_Progress(0, 0)}]
    for group in groups:
        taken = {bounds.progress_with_group(state, group) for state in states[-1] if state.size < bounds.maximum}
        states.append(states[-1] | {state for state in taken if not bounds.suffices(state)})
    ways: dict[_Progress, _Way] = {}
    for group, before in zip(reversed(groups), reversed(states[:-1]), strict=True):
        found = ((state, _better_of_taking_or_passing(state, group, ways, bounds)) for state in before)
        ways = {state: way for state, way in found if way is not None}
    best, path = ways.get(_Progress(0, 0)), []
    link = best.path if best else None
    while link is not None:
        path.append(link[0])
        link = link[1]
    return path


def _better_of_taking_or_passing(
    state: _Progress, group: Group, ways: Mapping[_Progress, _Way], bounds: _Bounds
) -> _Way | None:
    """Return the better of taking a group and passing over it; of equal ones, taking it is listed first."""
    passing = ways.get(state)
    if state.size >= bounds.maximum:
        return passing
    after = bounds.progress_with_group(state, group)
    rest = _Way(0, 0, None) if bounds.suffices(after) else ways.get(after)
    if rest is None:
        return passing
    taking = _Way(rest.weight + group.weight, rest.clusters + group.value, (group, rest.path))
    return passing if passing is not None and passing[:2] > taking[:2] else taking


def _average_score_of_clusters(clusters: Sequence[int], scored: Scored) -> int:
    return sum(scored.scores.get(each, 0) for each in clusters) // len(clusters)
