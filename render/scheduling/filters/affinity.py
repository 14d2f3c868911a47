"""The filter of clusters by the affinity of a placement, and the parts of an affinity that no cluster meets."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.placement import Placement, SpreadField
from render.scheduling.rules import AffinityGroup
from render.scheduling.state import PassState, Task
from render.selectors import ClusterAffinity, LabelSelector, Requirement, has_valid_values
from render.words import counted_noun

from .filter import Filter, reasons_of_single_text
from .unmet import SHOWN, Unmet, hint_of_nearest_values

_ANY = ClusterAffinity()


def _clusters_matching_affinity(_state: PassState, task: Task, group: AffinityGroup) -> Mask:
    return group.clusters(overflows=task.binding.is_workload)


def _affinity_in_use(placement: Placement, group: str) -> object:
    """Return the affinity by which clusters were selected last; all of them where that group is not there any more."""
    term = next((term for term in placement.cluster_affinities if term.name == group), None)
    return (placement.cluster_affinity, term or placement.cluster_affinities)


CLUSTER_AFFINITY = Filter(
    name="ClusterAffinity",
    meaning="The affinity of the policy does not select the cluster.",
    passing=_clusters_matching_affinity,
    exempts_targets=False,
    reasons=reasons_of_single_text("cluster(s) did not match the placement cluster affinity constraint"),
    last_copy_part=_affinity_in_use,
)


def affinities_with_fields(placement: Placement, path: str) -> Iterator[tuple[str, ClusterAffinity]]:
    """Yield every affinity by which a placement selects clusters, with its field."""
    if placement.cluster_affinity is not None:
        yield f"{path}.clusterAffinity", placement.cluster_affinity
    for number, term in enumerate(placement.cluster_affinities):
        here = f"{path}.clusterAffinities[{number}]"
        yield here, term.affinity
        for position, each in enumerate(term.overflow or ()):
            yield f"{here}.overflowAffinities[{position}]", each.affinity


def unmet_parts_of_affinity(affinity: ClusterAffinity, index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield why an affinity matches no cluster; one whose names are all of no cluster is left to those names."""
    if index.clusters_matching_affinity(affinity) or (
        affinity.cluster_names and not index.clusters_named(affinity.cluster_names)
    ):
        return
    found = [
        *_unmet_labels_of_selector(affinity.label_selector, index, f"{path}.labelSelector"),
        *_unmet_field_expressions(affinity.field_selector or (), index, f"{path}.fieldSelector"),
    ]
    if found or _are_expressions_readable(affinity):
        yield from found or [_unmet_by_all_parts_together(affinity, index, path)]


def _are_expressions_readable(affinity: ClusterAffinity) -> bool:
    """Say whether Kubernetes can read every expression; admission has told of those that it cannot."""
    selector = affinity.label_selector
    expressions = (*(selector.match_expressions if selector else ()), *(affinity.field_selector or ()))
    return all(map(has_valid_values, expressions))


def _unmet_by_all_parts_together(affinity: ClusterAffinity, index: ClusterIndex, path: str) -> Unmet:
    """Return that some cluster matches every part of an affinity, and none all of them."""
    total = counted_noun(len(index.clusters), "cluster")
    if affinity.exclude and index.clusters_matching_affinity(replace(affinity, exclude=())):
        return Unmet(field=f"{path}.exclude", message=f"leaves out all that is selected of {total}")
    parts = {
        "clusterNames": replace(_ANY, cluster_names=affinity.cluster_names),
        "labelSelector": replace(_ANY, label_selector=affinity.label_selector),
        "fieldSelector": replace(_ANY, field_selector=affinity.field_selector),
    }
    matches_by_part = [
        f"{name} matches {index.clusters_matching_affinity(part).bit_count()}"
        for name, part in parts.items()
        if part != _ANY
    ]
    return Unmet(field=path, message=f"matches none of {total}", hint=f"each for itself, {', '.join(matches_by_part)}")


def _unmet_labels_of_selector(selector: LabelSelector | None, index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield the labels that no cluster has, with the nearest key or value that one has."""
    if selector is None:
        return
    for key, value in selector.match_labels:
        if not index.clusters_with_labels(LabelSelector(match_labels=((key, value),))):
            yield _unmet_label(key, (value,), index, f"{path}.matchLabels")
    for number, requirement in enumerate(selector.match_expressions):
        if has_valid_values(requirement) and not index.clusters_with_labels(
            LabelSelector(match_expressions=(requirement,))
        ):
            here = f"{path}.matchExpressions[{number}]"
            if requirement.operator in {"In", "Exists"}:
                yield _unmet_label(requirement.key, requirement.values, index, here)
            else:
                yield Unmet(
                    field=here,
                    message=f"{_words_of_what_all_clusters_have(requirement)}, so {requirement.operator} matches none",
                )


def _words_of_what_all_clusters_have(requirement: Requirement) -> str:
    """Say what every cluster has where an expression excludes it."""
    if requirement.operator == "DoesNotExist":
        return f"every cluster has a label {requirement.key}"
    return f"every cluster has the label {_words_of_labels(requirement.key, requirement.values)}"


def _words_of_labels(key: str, values: Sequence[str]) -> str:
    return " or ".join(f"{key}={value}" for value in values[:SHOWN])


def _unmet_label(key: str, values: Sequence[str], index: ClusterIndex, path: str) -> Unmet:
    keys = {each for cluster in index.clusters for each in cluster.labels}
    if key not in keys:
        hint = hint_of_nearest_values([key], keys, "labels")
        return Unmet(field=path, message=f"no cluster has a label {key}", hint=hint)
    known = {cluster.labels[key] for cluster in index.clusters if key in cluster.labels}
    hint = hint_of_nearest_values(values, known, f"values of {key}")
    return Unmet(field=path, message=f"no cluster has the label {_words_of_labels(key, values)}", hint=hint)


def _unmet_field_expressions(requirements: Sequence[Requirement], index: ClusterIndex, path: str) -> Iterator[Unmet]:
    """Yield the providers, regions and zones that no cluster has, with the nearest."""
    for number, requirement in enumerate(requirements):
        if not requirement.values or index.clusters_matching_affinity(replace(_ANY, field_selector=(requirement,))):
            continue
        here, where = (
            f"{path}.matchExpressions[{number}]",
            f"{requirement.key} {_words_of_alternatives(requirement.values)}",
        )
        if requirement.operator == "In":
            groups = (
                index.clusters_by_spread_value(SpreadField(requirement.key))
                if requirement.key in set(SpreadField)
                else {}
            )
            hint = hint_of_nearest_values(requirement.values, groups, f"{requirement.key}s")
            yield Unmet(field=here, message=f"no cluster has the {where}", hint=hint)
        else:
            yield Unmet(field=here, message=f"every cluster has the {where}, so {requirement.operator} matches none")


def _words_of_alternatives(words: Sequence[str]) -> str:
    return " or ".join(map(repr, words[:SHOWN]))
