"""Placements from plain data, equal ones shared, because the scheduler compares them by identity first."""

import json
from collections.abc import Iterable

from render.model import Manifest
from render.placement import (
    ClusterAffinityTerm,
    ClusterPreferences,
    OverflowAffinity,
    Placement,
    ReplicaDivisionPreference,
    ReplicaScheduling,
    ReplicaSchedulingType,
    SpreadConstraint,
    SpreadField,
    StaticClusterWeight,
    Toleration,
    WorkloadAffinity,
)

from .placement_fields import checked_placement
from .selectors import parse_cluster_affinity


class SharedPlacements:
    """The placements of one load: equal ones, however they were written, are one value."""

    __slots__ = ("_by_text", "_by_value")

    def __init__(self) -> None:
        self._by_text: dict[str, Placement] = {}
        self._by_value: dict[Placement, Placement] = {}

    def of(self, plain: Manifest) -> Placement:
        """Return the placement of an admitted policy's ``spec.placement``."""
        text = json.dumps(plain, sort_keys=True)
        return self._by_text.get(text) or self._shared_value(text, plain)

    def of_record(self, plain: Manifest) -> Placement:
        """Return the placement in the file of a binding; a ValidationError says which field is of another type."""
        text = json.dumps(plain, sort_keys=True)
        return self._by_text.get(text) or self._shared_value(text, checked_placement(plain))

    def of_text(self, text: str) -> Placement | None:
        """Return the placement written as JSON, as in the annotation that records the last decision; None for none."""
        known = self._by_text.get(text)
        if known is not None:
            return known
        try:
            plain = checked_placement(json.loads(text))
        except (ValueError, RecursionError):
            return None
        return self._shared_value(text, plain)

    def _shared_value(self, text: str, plain: Manifest) -> Placement:
        fresh = parse_placement(plain)
        shared = self._by_text[text] = self._by_value.setdefault(fresh, fresh)
        return shared


def parse_placement(plain: Manifest) -> Placement:
    """Return a placement; an empty list of affinities or overflows means there is none."""
    affinity, scheduling = plain.get("clusterAffinity"), plain.get("replicaScheduling")
    return Placement(
        cluster_affinity=None if affinity is None else parse_cluster_affinity(affinity),
        cluster_affinities=tuple(map(_parse_affinity_term, plain.get("clusterAffinities") or ())),
        cluster_tolerations=tuple(map(_parse_toleration, plain.get("clusterTolerations") or ())),
        spread_constraints=tuple(map(_parse_spread_constraint, plain.get("spreadConstraints") or ())),
        replica_scheduling=None if scheduling is None else _parse_replica_scheduling(scheduling),
        workload_affinity=_parse_workload_affinity(plain.get("workloadAffinity")),
    )


def _parse_affinity_term(plain: Manifest) -> ClusterAffinityTerm:
    return ClusterAffinityTerm(
        name=plain["affinityName"],
        affinity=parse_cluster_affinity(plain),
        overflow=_parse_overflow_affinities(plain.get("overflowAffinities")),
    )


def _parse_overflow_affinities(plain: Iterable[Manifest] | None) -> tuple[OverflowAffinity, ...] | None:
    overflow = tuple(
        OverflowAffinity(name=each["affinityName"], affinity=parse_cluster_affinity(each)) for each in plain or ()
    )
    return overflow or None


def _parse_toleration(plain: Manifest) -> Toleration:
    return Toleration(
        key=plain.get("key") or "",
        operator=plain.get("operator") or "",
        value=plain.get("value") or "",
        effect=plain.get("effect") or "",
        toleration_seconds=plain.get("tolerationSeconds"),
    )


def _parse_spread_constraint(plain: Manifest) -> SpreadConstraint:
    by_field = plain.get("spreadByField")
    return SpreadConstraint(
        spread_by_field=SpreadField(by_field) if by_field else None,
        spread_by_label=plain.get("spreadByLabel") or "",
        max_groups=plain.get("maxGroups") or 0,
        min_groups=plain.get("minGroups") or 0,
    )


def _parse_replica_scheduling(plain: Manifest) -> ReplicaScheduling:
    preference, weights = plain.get("replicaDivisionPreference"), plain.get("weightPreference")
    return ReplicaScheduling(
        type=ReplicaSchedulingType(plain.get("replicaSchedulingType") or "Divided"),
        division_preference=ReplicaDivisionPreference(preference) if preference else None,
        weight_preference=None if weights is None else _parse_cluster_preferences(weights),
    )


def _parse_cluster_preferences(plain: Manifest) -> ClusterPreferences:
    return ClusterPreferences(
        static_weight_list=tuple(
            StaticClusterWeight(target_cluster=parse_cluster_affinity(each["targetCluster"]), weight=each["weight"])
            for each in plain.get("staticWeightList") or ()
        ),
        dynamic_weight=plain.get("dynamicWeight") or "",
    )


def _parse_workload_affinity(plain: Manifest | None) -> WorkloadAffinity | None:
    if plain is None:
        return None
    together, apart = plain.get("affinity") or {}, plain.get("antiAffinity") or {}
    return WorkloadAffinity(
        affinity=together.get("groupByLabelKey") or "", anti_affinity=apart.get("groupByLabelKey") or ""
    )
