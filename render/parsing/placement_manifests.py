"""Placements as plain data, keys in the order of Karmada's types: also the JSON text of an applied placement.

Empty fields are left out as Karmada leaves them out: lists, maps, texts, zeros and ``false``. An empty object behind a
pointer (``clusterAffinity: {}``) stays, because there it means something.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from render.placement import (
    ClusterAffinityTerm,
    ClusterPreferences,
    OverflowAffinity,
    Placement,
    ReplicaScheduling,
    SpreadConstraint,
    Toleration,
    WorkloadAffinity,
)
from render.selectors import ClusterAffinity, LabelSelector, Requirement

Plain = dict[str, Any]


class BehindPointer(dict[str, Any]):
    """An object behind a pointer: written even when it is empty."""


def fields_without_empty_ones(**fields: Any) -> Plain:
    """Return the fields that are not empty, in their order.

    >>> fields_without_empty_ones(clusterNames=[], labelSelector=BehindPointer(), replicas=0, region="eu")
    {'labelSelector': {}, 'region': 'eu'}
    """
    return {
        name: dict(value) if type(value) is BehindPointer else value
        for name, value in fields.items()
        if value or isinstance(value, BehindPointer)
    }


def plain_placement(placement: Placement) -> Plain:
    """Return a placement as ``spec.placement`` of a policy or a binding."""
    affinity, scheduling = placement.cluster_affinity, placement.replica_scheduling
    return fields_without_empty_ones(
        clusterAffinity=None if affinity is None else BehindPointer(plain_cluster_affinity(affinity)),
        clusterAffinities=list(map(_plain_affinity_term, placement.cluster_affinities)),
        clusterTolerations=list(map(_plain_toleration, placement.cluster_tolerations)),
        spreadConstraints=list(map(_plain_spread_constraint, placement.spread_constraints)),
        replicaScheduling=None if scheduling is None else BehindPointer(_plain_replica_scheduling(scheduling)),
        workloadAffinity=_plain_workload_affinity(placement.workload_affinity),
    )


@lru_cache(maxsize=1024)
def json_text_of_placement(placement: Placement) -> str:
    """Return a placement as Karmada writes it into the applied-placement annotation."""
    return json.dumps(plain_placement(placement), separators=(",", ":"), ensure_ascii=False)


def plain_cluster_affinity(affinity: ClusterAffinity) -> Plain:
    """Return an affinity as a policy has it."""
    labels, fields = affinity.label_selector, affinity.field_selector
    return fields_without_empty_ones(
        labelSelector=None if labels is None else BehindPointer(plain_label_selector(labels)),
        fieldSelector=None
        if fields is None
        else BehindPointer(fields_without_empty_ones(matchExpressions=_plain_label_expressions(fields))),
        clusterNames=list(affinity.cluster_names),
        exclude=list(affinity.exclude),
    )


def plain_label_selector(selector: LabelSelector) -> Plain:
    """Return a selector of labels as a policy has it."""
    return fields_without_empty_ones(
        matchLabels=dict(selector.match_labels), matchExpressions=_plain_label_expressions(selector.match_expressions)
    )


def _plain_label_expressions(requirements: Iterable[Requirement]) -> list[Plain]:
    return [
        {"key": each.key, "operator": each.operator} | fields_without_empty_ones(values=list(each.values))
        for each in requirements
    ]


def _plain_affinity_term(term: ClusterAffinityTerm) -> Plain:
    return _plain_named_affinity(term) | fields_without_empty_ones(
        overflowAffinities=list(map(_plain_named_affinity, term.overflow or ()))
    )


def _plain_named_affinity(term: ClusterAffinityTerm | OverflowAffinity) -> Plain:
    return {"affinityName": term.name} | plain_cluster_affinity(term.affinity)


def _plain_toleration(toleration: Toleration) -> Plain:
    plain = fields_without_empty_ones(
        key=toleration.key, operator=toleration.operator, value=toleration.value, effect=toleration.effect
    )
    if toleration.toleration_seconds is not None:
        plain["tolerationSeconds"] = toleration.toleration_seconds
    return plain


def _plain_spread_constraint(constraint: SpreadConstraint) -> Plain:
    return fields_without_empty_ones(
        spreadByField=constraint.spread_by_field and constraint.spread_by_field.value,
        spreadByLabel=constraint.spread_by_label,
        maxGroups=constraint.max_groups,
        minGroups=constraint.min_groups,
    )


def _plain_replica_scheduling(scheduling: ReplicaScheduling) -> Plain:
    preference, weights = scheduling.division_preference, scheduling.weight_preference
    return fields_without_empty_ones(
        replicaSchedulingType=scheduling.type.value,
        replicaDivisionPreference=preference and preference.value,
        weightPreference=None if weights is None else BehindPointer(_plain_cluster_preferences(weights)),
    )


def _plain_cluster_preferences(preferences: ClusterPreferences) -> Plain:
    return fields_without_empty_ones(
        staticWeightList=[
            {"targetCluster": plain_cluster_affinity(each.target_cluster), "weight": each.weight}
            for each in preferences.static_weight_list
        ],
        dynamicWeight=preferences.dynamic_weight,
    )


def _plain_workload_affinity(affinity: WorkloadAffinity | None) -> BehindPointer | None:
    if affinity is None:
        return None
    return BehindPointer(
        fields_without_empty_ones(
            affinity=fields_without_empty_ones(groupByLabelKey=affinity.affinity),
            antiAffinity=fields_without_empty_ones(groupByLabelKey=affinity.anti_affinity),
        )
    )
