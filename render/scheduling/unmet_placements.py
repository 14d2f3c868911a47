"""Placements that the clusters of a source cannot meet: what is asked for, what there is instead, and the nearest.

A placement is looked at part by part, as the scheduler's filters do: names, labels and fields of an affinity, the
taints of the clusters that are left, and the bounds of spread constraints. Only the first part that leaves nothing is
told, because every later one leaves nothing, too.
"""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from render.cluster_index import ClusterIndex
from render.expressions import lazy_expression
from render.placement import Placement, ReplicaScheduling
from render.selectors import ClusterAffinity

from .filters import FILTERS
from .filters.affinity import affinities_with_fields, unmet_parts_of_affinity
from .filters.unmet import SHOWN, Unmet, hint_of_nearest_words

_NUMBER = lazy_expression("[0-9]+")


def unmet_requirements_of_placement(
    placement: Placement, index: ClusterIndex, path: str = "spec.placement"
) -> Iterator[Unmet]:
    """Yield what the clusters cannot meet; nothing where there are no clusters at all."""
    if not index.clusters:
        return
    affinities = tuple(affinities_with_fields(placement, path))
    for field, affinity in affinities:
        yield from unmet_parts_of_affinity(affinity, index, field)
    selected = [index.clusters_matching_affinity(affinity) for _, affinity in affinities] or [index.all]
    for rule in (each.placement_rule for each in FILTERS):
        if rule is not None and any(selected):
            yield from rule.unmet(placement, index, selected, path)
            selected = [mask & rule.passing(placement, index) for mask in selected]
    for field, affinity in _affinities_of_weights(placement.replica_scheduling, f"{path}.replicaScheduling"):
        yield from unmet_parts_of_affinity(affinity, index, field)


def is_met_by_no_cluster(placement: Placement, index: ClusterIndex, group: str = "") -> bool:
    """Say whether a placement asks for what no cluster of the source is, whatever room there is.

    ``group`` is the affinity in use: those before it are not tried any more. Without clusters there is no answer.
    """
    terms = placement.cluster_affinities
    start = next((position for position, term in enumerate(terms) if term.name == group), 0)
    tried = replace(placement, cluster_affinities=terms[start:])
    selected = [index.clusters_matching_affinity(each) for _, each in affinities_with_fields(tried, "")] or [index.all]
    for rule in (each.placement_rule for each in FILTERS):
        if rule is not None and any(selected):
            if any(True for _ in rule.unmet(tried, index, selected, "")):
                return True
            selected = [mask & rule.passing(tried, index) for mask in selected]
    return bool(index.clusters) and not any(selected)


def unmet_lists_of_cluster_names(
    placement: Placement, index: ClusterIndex, path: str = "spec.placement"
) -> Iterator[Unmet]:
    """Yield the lists of names in which some are of no cluster; nothing where there are no clusters at all."""
    if not index.clusters:
        return
    weighted = _affinities_of_weights(placement.replica_scheduling, f"{path}.replicaScheduling")
    for field, affinity in (*affinities_with_fields(placement, path), *weighted):
        for part, names in (("clusterNames", affinity.cluster_names), ("exclude", affinity.exclude)):
            if (absent := message_and_hint_of_absent_names(names, index.index_by_name)) is not None:
                yield Unmet(field=f"{field}.{part}", message=absent[0], hint=absent[1])


def affinities_of_placement(placement: Placement) -> Iterator[ClusterAffinity]:
    """Yield every affinity by which a placement selects clusters or weighs them."""
    yield from (affinity for _, affinity in affinities_with_fields(placement, ""))
    yield from (affinity for _, affinity in _affinities_of_weights(placement.replica_scheduling, ""))


def _affinities_of_weights(scheduling: ReplicaScheduling | None, path: str) -> Iterator[tuple[str, ClusterAffinity]]:
    """Yield the affinities that static weights are for, with their fields."""
    weights = scheduling.weight_preference if scheduling is not None else None
    for number, each in enumerate(weights.static_weight_list if weights and not weights.dynamic_weight else ()):
        yield f"{path}.weightPreference.staticWeightList[{number}].targetCluster", each.target_cluster


def message_and_hint_of_absent_names(
    names: Sequence[str], known: Collection[str], *, has_hint: bool = True
) -> tuple[str, str] | None:
    """Return a message and a hint about the names that are of no cluster; None if each is of one."""
    absent = [name for name in names if name not in known]
    if not absent:
        return None
    shown = list(map(repr, absent[:SHOWN]))
    if len(absent) > SHOWN:
        shown.append(f"{len(absent) - SHOWN} more")
    *others, last = shown
    message = f"no cluster of the source is called {', '.join(others)}{' or ' if others else ''}{last}"
    return message, hint_of_nearest_words(absent, _names_probably_meant(absent, names, known)) if has_hint else ""


def _names_probably_meant(absent: Sequence[str], names: Sequence[str], known: Collection[str]) -> set[str]:
    """Return the names that may have been meant: those that are not listed already, nor differ in a number alone."""
    numbered = {_NUMBER.sub("0", name) for name in absent}
    return {name for name in known if name not in names and _NUMBER.sub("0", name) not in numbered}
