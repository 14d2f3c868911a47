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


def present(**fields: Any) -> Plain:
    """Return the fields that are not empty, in their order.

    >>> present(clusterNames=[], labelSelector=BehindPointer(), replicas=0, region="eu")
    {'labelSelector': {}, 'region': 'eu'}
    """
    return {
        name: dict(value) if type(value) is BehindPointer else value
        for name, value in fields.items()
        if value or isinstance(value, BehindPointer)
    }


def placement_manifest(placement: Placement) -> Plain:
    """Return a placement as ``spec.placement`` of a policy or a binding."""
    affinity, scheduling = placement.cluster_affinity, placement.replica_scheduling
    return present(
        clusterAffinity=None if affinity is None else BehindPointer(_affinity(affinity)),
        clusterAffinities=list(map(_term, placement.cluster_affinities)),
        clusterTolerations=list(map(_toleration, placement.cluster_tolerations)),
        spreadConstraints=list(map(_spread_constraint, placement.spread_constraints)),
        replicaScheduling=None if scheduling is None else BehindPointer(_replica_scheduling(scheduling)),
        workloadAffinity=_workload_affinity(placement.workload_affinity),
    )


@lru_cache(maxsize=1024)
def placement_text(placement: Placement) -> str:
    """Return a placement as Karmada writes it into the applied-placement annotation."""
    return json.dumps(placement_manifest(placement), separators=(",", ":"), ensure_ascii=False)


def _affinity(affinity: ClusterAffinity) -> Plain:
    labels, fields = affinity.label_selector, affinity.field_selector
    return present(
        labelSelector=None if labels is None else BehindPointer(_label_selector(labels)),
        fieldSelector=None if fields is None else BehindPointer(present(matchExpressions=_expressions(fields))),
        clusterNames=list(affinity.cluster_names),
        exclude=list(affinity.exclude),
    )


def _label_selector(selector: LabelSelector) -> Plain:
    return present(matchLabels=dict(selector.match_labels), matchExpressions=_expressions(selector.match_expressions))


def _expressions(requirements: Iterable[Requirement]) -> list[Plain]:
    return [{"key": each.key, "operator": each.operator} | present(values=list(each.values)) for each in requirements]


def _term(term: ClusterAffinityTerm) -> Plain:
    return _named_affinity(term) | present(overflowAffinities=list(map(_named_affinity, term.overflow or ())))


def _named_affinity(term: ClusterAffinityTerm | OverflowAffinity) -> Plain:
    return {"affinityName": term.name} | _affinity(term.affinity)


def _toleration(toleration: Toleration) -> Plain:
    plain = present(key=toleration.key, operator=toleration.operator, value=toleration.value, effect=toleration.effect)
    if toleration.toleration_seconds is not None:
        plain["tolerationSeconds"] = toleration.toleration_seconds
    return plain


def _spread_constraint(constraint: SpreadConstraint) -> Plain:
    return present(
        spreadByField=constraint.spread_by_field and constraint.spread_by_field.value,
        spreadByLabel=constraint.spread_by_label,
        maxGroups=constraint.max_groups,
        minGroups=constraint.min_groups,
    )


def _replica_scheduling(scheduling: ReplicaScheduling) -> Plain:
    preference, weights = scheduling.division_preference, scheduling.weight_preference
    return present(
        replicaSchedulingType=scheduling.type.value,
        replicaDivisionPreference=preference and preference.value,
        weightPreference=None if weights is None else BehindPointer(_cluster_preferences(weights)),
    )


def _cluster_preferences(preferences: ClusterPreferences) -> Plain:
    return present(
        staticWeightList=[
            {"targetCluster": _affinity(each.target_cluster), "weight": each.weight}
            for each in preferences.static_weight_list
        ],
        dynamicWeight=preferences.dynamic_weight,
    )


def _workload_affinity(affinity: WorkloadAffinity | None) -> BehindPointer | None:
    if affinity is None:
        return None
    return BehindPointer(
        present(
            affinity=present(groupByLabelKey=affinity.affinity),
            antiAffinity=present(groupByLabelKey=affinity.anti_affinity),
        )
    )
