"""The filter of clusters by the properties that spread constraints group them by."""

from collections.abc import Iterator, Sequence

from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.placement import Placement, SpreadField
from render.scheduling.rules import AffinityGroup, clusters_with_properties, selects_all_feasible_clusters
from render.scheduling.state import PassState, Task
from render.words import first_few

from .filter import Filter, PlacementRule
from .unmet import SHOWN, Unmet

_WORDS = {
    SpreadField.PROVIDER: "provider property",
    SpreadField.REGION: "region property",
    SpreadField.ZONE: "zones property",
}
_COUNTED = frozenset({SpreadField.CLUSTER, SpreadField.REGION})


def _clusters_with_spread_properties(_state: PassState, task: Task, _group: AffinityGroup) -> Mask:
    return task.rules.has_properties


def _rejected_by_missing_property(
    placement: Placement, rejected: Mask, index: ClusterIndex
) -> Iterator[tuple[str, Mask]]:
    """Yield the clusters by the first property they lack, in the order of the constraints."""
    left = rejected
    for constraint in placement.spread_constraints:
        field = constraint.spread_by_field
        lacking = left & ~index.clusters_in_any_group(field) if field in _WORDS else 0
        if field is not None and lacking:
            left &= ~lacking
            yield f"cluster(s) did not have {_WORDS[field]}", lacking


def _unmet_spread_constraints(
    placement: Placement, index: ClusterIndex, selected: Sequence[Mask], path: str
) -> Iterator[Unmet]:
    """Yield the constraints that ask for more than the clusters of any affinity are."""
    for number, constraint in enumerate(
        () if selects_all_feasible_clusters(placement) else placement.spread_constraints
    ):
        field, here = constraint.spread_by_field, f"{path}.spreadConstraints[{number}]"
        if field is None:
            continue
        names = max((_names_of_groups_in(mask, field, index) for mask in selected), key=len)
        if not names:
            yield Unmet(field=here, message=f"no cluster that is selected has a {field}, so none can be chosen")
        elif field in _COUNTED and constraint.min_groups > len(names):
            there = "there is 1" if len(names) == 1 else f"there are {len(names)}"
            message = f"{constraint.min_groups} {field}s are asked for, and {there} to choose from"
            yield Unmet(field=f"{here}.minGroups", message=message, hint=f"they are {first_few(names, SHOWN)}")


def _names_of_groups_in(mask: Mask, field: SpreadField, index: ClusterIndex) -> list[str]:
    """Return the names of the groups that some clusters are in."""
    return sorted(name for name, members in index.clusters_by_spread_value(field).items() if members & mask)


SPREAD_CONSTRAINT = Filter(
    name="SpreadConstraint",
    meaning="The cluster names no provider, region or zone, and a spread constraint of the policy groups by that.",
    passing=_clusters_with_spread_properties,
    exempts_targets=False,
    reasons=_rejected_by_missing_property,
    placement_rule=PlacementRule(passing=clusters_with_properties, unmet=_unmet_spread_constraints),
    last_copy_part=lambda placement, _group: placement.spread_constraints,
)
