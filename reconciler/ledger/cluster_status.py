"""The status of a cluster in files of ours: that of Karmada's Cluster, as plain data whose values are of its types."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from render.model import Manifest
from render.quantity import parse_quantity

from .branch_file import FileFault, converted_to_struct

Conditions = list[dict[str, str]]
"""Conditions as plain data, each of which has a type (``check_conditions``)."""
_Amounts = dict[str, str | int | float]
_Text = Annotated[str, Meta(min_length=1)]


class _Resource(Struct, frozen=True):
    kind: _Text


class _Enablement(Struct, frozen=True, rename="camel"):
    group_version: _Text
    resources: list[_Resource] | None = None


class _Modeling(Struct, frozen=True):
    grade: int
    count: int


class _Summary(Struct, frozen=True, rename="camel"):
    allocatable: _Amounts | None = None
    allocating: _Amounts | None = None
    allocated: _Amounts | None = None
    allocatable_modelings: list[_Modeling] | None = None


class _ClusterStatus(Struct, frozen=True, rename="camel"):
    conditions: Conditions | None = None
    kubernetes_version: str | None = None
    api_enablements: list[_Enablement] | None = None
    node_summary: dict[str, Any] | None = None
    resource_summary: _Summary | None = None


class _File(Struct, frozen=True):
    status: _ClusterStatus | None = field(default=None)


def checked_cluster_status(file: Manifest) -> Manifest:
    """Return the status of a cluster that a file has; FileFault where a value in it is of another type."""
    status = converted_to_struct(file, _File).status
    if status is not None:
        check_conditions(status.conditions)
        _check_amounts(status.resource_summary)
    found: Manifest = file.get("status") or {}
    return found


def check_conditions(conditions: Conditions | None) -> None:
    """Raise FileFault where a condition has no type."""
    for number, condition in enumerate(conditions or ()):
        if not condition.get("type"):
            raise FileFault(f"status.conditions[{number}].type is missing")


def _check_amounts(summary: _Summary | None) -> None:
    if summary is None:
        return
    lists: Mapping[str, _Amounts | None] = {
        "allocatable": summary.allocatable,
        "allocating": summary.allocating,
        "allocated": summary.allocated,
    }
    for name, amounts in lists.items():
        for resource, amount in (amounts or {}).items():
            check_quantity(f"status.resourceSummary.{name}.{resource}", str(amount))


def check_quantity(place: str, amount: str) -> None:
    """Raise FileFault, which names the place, where an amount is no quantity."""
    try:
        parse_quantity(amount)
    except (ValueError, ArithmeticError) as error:
        raise FileFault(f"{place} is no quantity") from error
