"""The wave of each cluster: by labels and places as they are now, and by seats where a wave takes so many.

1. Clusters stand in an order that depends on nothing but the policy, the group of objects and their names (a hash),
   taken in turns from the regions, so that neighbours in it are in different regions.
2. A wave without a size takes every cluster of its affinity that no wave before it took.
3. A wave with a size takes the first of those, and their seats are remembered: who joins later gets a seat that is
   free, nobody moves up when somebody leaves, and nobody is displaced. A seat is lost with the labels it was taken by.
   Only a wave that would be empty when it begins takes others.
4. Clusters that no wave takes are an implicit last wave.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct

from render.admission.rollouts import IMPLICIT_WAVE
from render.cluster_index import ClusterIndex
from render.object_rollout import name_of_rollout

from .policy import RolloutPolicy, Wave


class WaveOfClusters(Struct, frozen=True):
    """A wave with the names of its clusters, in the order in which they are given the change."""

    wave: Wave
    clusters: tuple[str, ...] = ()


def waves_of_clusters(
    plan: RolloutPolicy,
    fleet: ClusterIndex,
    clusters: Collection[str],
    *,
    seats: Mapping[str, str] | None = None,
    begun: str = "",
    group: str = "",
) -> tuple[WaveOfClusters, ...]:
    """Return the waves of a plan with their clusters; the implicit one is there only if it has some.

    ``seats`` has the wave that each cluster was in before, in this rollout, ``begun`` is the last that has begun, and
    ``group`` the group of objects, each of which has an order of its own.
    """
    fitting = {wave.name: names_fitting_wave(wave, fleet) for wave in (*plan.waves, plan.implicit_wave)}
    seated = {name: wave for name, wave in (seats or {}).items() if name in fitting.get(wave, ())}
    to_come = _names_of_waves_to_come(plan, begun)
    left = clusters_in_order(name_of_rollout(str(plan), group), fleet, clusters)
    found = []
    for wave in plan.waves:
        candidates = [name for name in left if name in fitting[wave.name]]
        taken = candidates if wave.size is None else _first_of_candidates(wave, candidates, seated)
        if candidates and not taken and wave.name in to_come:
            taken = _first_of_candidates(wave, candidates, {})
        found.append(WaveOfClusters(wave, tuple(taken)))
        left = _names_without(left, taken)
    if left:
        found.append(WaveOfClusters(plan.implicit_wave, tuple(left)))
    return tuple(found)


def clusters_in_order(seed: str, fleet: ClusterIndex, clusters: Collection[str]) -> list[str]:
    """Return the clusters of the fleet among some, in turns from each region; a text decides on the order alone."""
    known = [name for name in clusters if name in fleet.index_by_name]
    by_region: dict[str, list[str]] = {}
    for name in sorted(known, key=lambda each: sha256(f"{seed}\0{each}".encode()).digest()):
        by_region.setdefault(fleet.clusters[fleet.index_by_name[name]].region, []).append(name)
    turns = max(map(len, by_region.values()), default=0)
    return [names[turn] for turn in range(turns) for names in by_region.values() if turn < len(names)]


def names_fitting_wave(wave: Wave, fleet: ClusterIndex) -> frozenset[str]:
    """Return the clusters of the fleet that the affinity of a wave selects."""
    if wave.cluster_affinity is None:
        return frozenset(fleet.names)
    mask = fleet.clusters_matching_affinity(wave.cluster_affinity)
    return frozenset(fleet.names[index] for index in fleet.indexes_in_mask(mask))


def _names_of_waves_to_come(plan: RolloutPolicy, begun: str) -> frozenset[str]:
    """Return the waves that have not begun."""
    names = [wave.name for wave in plan.waves]
    if begun == IMPLICIT_WAVE:
        return frozenset()
    return frozenset(names[names.index(begun) + 1 :] if begun in names else names)


def _first_of_candidates(wave: Wave, candidates: Sequence[str], seated: Mapping[str, str]) -> list[str]:
    """Return the candidates that have a seat in a wave with a size, and those without any that get its free ones."""
    assert wave.size is not None
    own = [name for name in candidates if seated.get(name) == wave.name]
    free = wave.size.of_total(len(candidates), at_least=1) - len(own)
    joining = [name for name in candidates if name not in seated][: max(0, free)]
    return [name for name in candidates if name in {*own, *joining}]


def _names_without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    left_out = frozenset(others)
    return [name for name in names if name not in left_out]
