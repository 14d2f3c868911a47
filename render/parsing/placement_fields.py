"""The fields of a placement as a binding records it, with the types that msgspec checks.

The placement of a policy has been admitted. That of a binding comes from a file, or from the text of an annotation,
which anybody who may push could have changed.
"""

from typing import Any

from msgspec import Struct, convert

from render.model import Manifest
from render.placement import ReplicaDivisionPreference, ReplicaSchedulingType, SpreadField


class _Camel(Struct, frozen=True, kw_only=True, rename="camel"):
    """Fields with the names that Karmada's API has for them."""


class _Expression(_Camel, frozen=True, kw_only=True):
    key: str
    operator: str
    values: list[str] | None = None


class _LabelSelector(_Camel, frozen=True, kw_only=True):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Expression] | None = None


def checked_label_selector(plain: Any) -> Manifest:
    """Return a label selector as it is; a ValidationError says which of its fields is of another type."""
    convert(plain, _LabelSelector)
    checked: Manifest = plain
    return checked


class _FieldSelector(_Camel, frozen=True, kw_only=True):
    match_expressions: list[_Expression] | None = None


class _Affinity(_Camel, frozen=True, kw_only=True):
    label_selector: _LabelSelector | None = None
    field_selector: _FieldSelector | None = None
    cluster_names: list[str] | None = None
    exclude: list[str] | None = None


class _NamedAffinity(_Affinity, frozen=True, kw_only=True):
    affinity_name: str


class _Term(_NamedAffinity, frozen=True, kw_only=True):
    overflow_affinities: list[_NamedAffinity] | None = None


class _Toleration(_Camel, frozen=True, kw_only=True):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class _SpreadConstraint(_Camel, frozen=True, kw_only=True):
    spread_by_field: SpreadField | None = None
    spread_by_label: str | None = None
    max_groups: int | None = None
    min_groups: int | None = None


class _StaticWeight(_Camel, frozen=True, kw_only=True):
    target_cluster: _Affinity
    weight: int


class _Weights(_Camel, frozen=True, kw_only=True):
    static_weight_list: list[_StaticWeight] | None = None
    dynamic_weight: str | None = None


class _ReplicaScheduling(_Camel, frozen=True, kw_only=True):
    replica_scheduling_type: ReplicaSchedulingType | None = None
    replica_division_preference: ReplicaDivisionPreference | None = None
    weight_preference: _Weights | None = None


class _Group(_Camel, frozen=True, kw_only=True):
    group_by_label_key: str | None = None


class _WorkloadAffinity(_Camel, frozen=True, kw_only=True):
    affinity: _Group | None = None
    anti_affinity: _Group | None = None


class _Placement(_Camel, frozen=True, kw_only=True):
    cluster_affinity: _Affinity | None = None
    cluster_affinities: list[_Term] | None = None
    cluster_tolerations: list[_Toleration] | None = None
    spread_constraints: list[_SpreadConstraint] | None = None
    replica_scheduling: _ReplicaScheduling | None = None
    workload_affinity: _WorkloadAffinity | None = None


class _Spec(_Camel, frozen=True, kw_only=True):
    placement: _Placement


class _Binding(_Camel, frozen=True, kw_only=True):
    spec: _Spec


def checked_placement(plain: Any) -> Manifest:
    """Return the placement of a binding as it is; a ValidationError says which field of the binding is at fault."""
    convert({"spec": {"placement": plain}}, _Binding)
    checked: Manifest = plain
    return checked
