"""Placements that the clusters of a source cannot meet: what is asked for, what there is instead, and the nearest.

A placement is looked at part by part, as the scheduler's filters do: names, labels and fields of an affinity, the
taints of the clusters that are left, and the bounds of spread constraints. Only the first part that leaves nothing is
told, because every later one leaves nothing, too.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.bits import Mask
from render.cluster import first_untolerated
from render.cluster_index import ClusterIndex
from render.placement import Placement, ReplicaScheduling, SpreadField
from render.selectors import ClusterAffinity, LabelSelector, Requirement, has_valid_values
from render.words import counted, listed, nearest

from .rules import ignores_spread

_SHOWN = 5
_COMPARED = 200
"""The most values that are compared with one another for a hint: policies by the thousand may each ask for one."""
_COUNTED = frozenset({SpreadField.CLUSTER, SpreadField.REGION})
_ANY = ClusterAffinity()
_NUMBER = re.compile("[0-9]+")


class Unmet(Struct, frozen=True, kw_only=True):
    """A field of a placement that no cluster meets, or too few."""

    field: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" + (f"; {self.hint}" if self.hint else "")


def unmet_placement(placement: Placement, index: ClusterIndex, path: str = "spec.placement") -> Iterator[Unmet]:
    """Yield what the clusters cannot meet; nothing where there are no clusters at all."""
    if not index.clusters:
        return
    found = [list(unmet_affinity(affinity, index, field)) for field, affinity in affinities_of(placement, path)]
    yield from (each for unmet in found for each in unmet)
    if any(index.matching(affinity) for _, affinity in affinities_of(placement, path)) or not found:
        yield from _unmet_rules(placement, index, path)
    for field, affinity in _weighted(placement.replica_scheduling, f"{path}.replicaScheduling"):
        yield from unmet_affinity(affinity, index, field)


def absent_clusters(placement: Placement, index: ClusterIndex, path: str = "spec.placement") -> Iterator[Unmet]:
    """Yield the lists of names in which some are of no cluster; nothing where there are no clusters at all."""
    if not index.clusters:
        return
    weighted = _weighted(placement.replica_scheduling, f"{path}.replicaScheduling")
    for field, affinity in (*affinities_of(placement, path), *weighted):
        for part, names in (("clusterNames", affinity.cluster_names), ("exclude", affinity.exclude)):
            if (absent := absent_names(names, index.index_by_name)) is not None:
                yield Unmet(field=f"{field}.{part}", message=absent[0], hint=absent[1])


def affinities_of(placement: Placement, path: str) -> Iterator[tuple[str, ClusterAffinity]]:
    """Yield every affinity by which a placement selects clusters, with its field."""
    if placement.cluster_affinity is not None:
        yield f"{path}.clusterAffinity", placement.cluster_affinity
    for number, term in enumerate(placement.cluster_affinities):
        here = f"{path}.clusterAffinities[{number}]"
        yield here, term.affinity
        for position, each in enumerate(term.overflow or ()):
            yield f"{here}.overflowAffinities[{position}]", each.affinity


def _weighted(scheduling: ReplicaScheduling | None, path: str) -> Iterator[tuple[str, ClusterAffinity]]:
    """Yield the affinities that static weights are for, with their fields."""
    weights = scheduling.weight_preference if scheduling is not None else None
    for number, each in enumerate(weights.static_weight_list if weights and not weights.dynamic_weight else ()):
        yield f"{path}.weightPreference.staticWeightList[{number}].targetCluster", each.target_cluster


def absent_names(names: Sequence[str], known: Collection[str], *, has_hint: bool = True) -> tuple[str, str] | None:
    """Return a message and a hint about the names that are of no cluster; None if each is of one."""
    absent = [name for name in names if name not in known]
    if not absent:
        return None
    shown = list(map(repr, absent[:_SHOWN]))
    if len(absent) > _SHOWN:
        shown.append(f"{len(absent) - _SHOWN} more")
    *others, last = shown
    message = f"no cluster of the source is called {', '.join(others)}{' or ' if others else ''}{last}"
    return message, _did_you_mean(absent, _likely(absent, names, known)) if has_hint else ""


def _likely(absent: Sequence[str], names: Sequence[str], known: Collection[str]) -> set[str]:
    """Return the names that may have been meant: those that are not listed already, nor differ in a number alone."""
    numbered = {_NUMBER.sub("0", name) for name in absent}
    return {name for name in known if name not in names and _NUMBER.sub("0", name) not in numbered}


def unmet_affinity(affinity: ClusterAffinity, index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield why an affinity matches no cluster; one whose names are all of no cluster is left to those names."""
    if index.matching(affinity) or (affinity.cluster_names and not index.named(affinity.cluster_names)):
        return
    found = [
        *_unmet_labels(affinity.label_selector, index, f"{path}.labelSelector"),
        *_unmet_fields(affinity.field_selector or (), index, f"{path}.fieldSelector"),
    ]
    if found or _is_readable(affinity):
        yield from found or [_none_in_all(affinity, index, path)]


def _is_readable(affinity: ClusterAffinity) -> bool:
    """Say whether Kubernetes can read every expression; admission has told of those that it cannot."""
    selector = affinity.label_selector
    expressions = (*(selector.match_expressions if selector else ()), *(affinity.field_selector or ()))
    return all(map(has_valid_values, expressions))


def _none_in_all(affinity: ClusterAffinity, index: ClusterIndex, path: str) -> Unmet:
    """Return that some cluster matches every part of an affinity, and none all of them."""
    total = counted(len(index.clusters), "cluster")
    if affinity.exclude and index.matching(replace(affinity, exclude=())):
        return Unmet(field=f"{path}.exclude", message=f"leaves out all that is selected of {total}")
    parts = {
        "clusterNames": replace(_ANY, cluster_names=affinity.cluster_names),
        "labelSelector": replace(_ANY, label_selector=affinity.label_selector),
        "fieldSelector": replace(_ANY, field_selector=affinity.field_selector),
    }
    told = [f"{name} matches {index.matching(part).bit_count()}" for name, part in parts.items() if part != _ANY]
    return Unmet(field=path, message=f"matches none of {total}", hint=f"each for itself, {', '.join(told)}")


def _unmet_labels(selector: LabelSelector | None, index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield the labels that no cluster has, with the nearest key or value that one has."""
    if selector is None:
        return
    for key, value in selector.match_labels:
        if not index.labelled(LabelSelector(match_labels=((key, value),))):
            yield _no_label(key, (value,), index, f"{path}.matchLabels")
    for number, requirement in enumerate(selector.match_expressions):
        if has_valid_values(requirement) and not index.labelled(LabelSelector(match_expressions=(requirement,))):
            here = f"{path}.matchExpressions[{number}]"
            if requirement.operator in {"In", "Exists"}:
                yield _no_label(requirement.key, requirement.values, index, here)
            else:
                yield Unmet(field=here, message=f"{_all_have(requirement)}, so {requirement.operator} matches none")


def _all_have(requirement: Requirement) -> str:
    """Say what every cluster has where an expression excludes it."""
    if requirement.operator == "DoesNotExist":
        return f"every cluster has a label {requirement.key}"
    return f"every cluster has the label {_labels(requirement.key, requirement.values)}"


def _labels(key: str, values: Sequence[str]) -> str:
    return " or ".join(f"{key}={value}" for value in values[:_SHOWN])


def _no_label(key: str, values: Sequence[str], index: ClusterIndex, path: str) -> Unmet:
    keys = {each for cluster in index.clusters for each in cluster.labels}
    if key not in keys:
        hint = _nearest_hint([key], keys, "labels")
        return Unmet(field=path, message=f"no cluster has a label {key}", hint=hint)
    known = {cluster.labels[key] for cluster in index.clusters if key in cluster.labels}
    hint = _nearest_hint(values, known, f"values of {key}")
    return Unmet(field=path, message=f"no cluster has the label {_labels(key, values)}", hint=hint)


def _unmet_fields(requirements: Sequence[Requirement], index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield the providers, regions and zones that no cluster has, with the nearest."""
    for number, requirement in enumerate(requirements):
        if not requirement.values or index.matching(replace(_ANY, field_selector=(requirement,))):
            continue
        here, where = f"{path}.matchExpressions[{number}]", f"{requirement.key} {_alternatives(requirement.values)}"
        if requirement.operator == "In":
            hint = _nearest_hint(
                requirement.values, index.in_groups(SpreadField(requirement.key)), f"{requirement.key}s"
            )
            yield Unmet(field=here, message=f"no cluster has the {where}", hint=hint)
        else:
            yield Unmet(field=here, message=f"every cluster has the {where}, so {requirement.operator} matches none")


def _alternatives(words: Sequence[str]) -> str:
    return " or ".join(map(repr, words[:_SHOWN]))


def _nearest_hint(values: Sequence[str], known: Collection[str], what: str) -> str:
    """Return a hint: the known values that come nearest, else the first of all that are known."""
    near = _did_you_mean(values, known) if len(known) <= _COMPARED else ""
    some = f"{what} here: {listed(sorted(known), _SHOWN)}" if known else f"no cluster has any {what}"
    return near or some


def _did_you_mean(words: Sequence[str], known: Collection[str]) -> str:
    """Return a hint about the known words that come nearest to the first of some; "" for none."""
    near = dict.fromkeys(filter(None, (nearest(word, known) for word in words[:_SHOWN])))
    return f"did you mean {' and '.join(map(repr, near))}?" if near else ""


def _unmet_rules(placement: Placement, index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield what is not met by the clusters that an affinity does select: taints, then spread constraints."""
    selected = [index.matching(affinity) for _, affinity in affinities_of(placement, path)] or [index.all]
    tolerated = index.tolerated(placement.cluster_tolerations)
    usable = [mask & tolerated for mask in selected if mask]
    if not any(usable):
        taints = (
            first_untolerated(taints, placement.cluster_tolerations)
            for taints, mask in index.tainted().items()
            if any(mask & each for each in selected)
        )
        names = sorted({str(taint) for taint in taints if taint is not None})
        message = f"every cluster that is selected has a taint that is not tolerated: {listed(names)}"
        yield Unmet(field=path, message=message, hint="tolerate it under clusterTolerations")
        return
    if not ignores_spread(placement):
        yield from _unmet_spread(placement, index, usable, path)


def _unmet_spread(placement: Placement, index: ClusterIndex, usable: Sequence[Mask], path: str) -> Iterator[Unmet]:
    """Yield the constraints that ask for more than the clusters of any affinity are."""
    for number, constraint in enumerate(placement.spread_constraints):
        field, here = constraint.spread_by_field, f"{path}.spreadConstraints[{number}]"
        if field is None:
            continue
        names = max((_groups_in(mask, field, index) for mask in usable), key=len)
        if not names:
            yield Unmet(field=here, message=f"no cluster that is selected has a {field}, so none can be chosen")
        elif field in _COUNTED and constraint.min_groups > len(names):
            there = "there is 1" if len(names) == 1 else f"there are {len(names)}"
            message = f"{constraint.min_groups} {field}s are asked for, and {there} to choose from"
            yield Unmet(field=f"{here}.minGroups", message=message, hint=f"they are {listed(names, _SHOWN)}")


def _groups_in(mask: Mask, field: SpreadField, index: ClusterIndex) -> list[str]:
    """Return the names of the groups that some clusters are in."""
    return sorted(name for name, members in index.in_groups(field).items() if members & mask)
