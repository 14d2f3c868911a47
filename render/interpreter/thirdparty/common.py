"""Parts the families share: counters added up, last words, conditions, and fields that must be there."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.interpretation.fields import (
    count_at,
    manifest_with_value,
    mapping_at,
    objects_at,
    text_at,
    value_at,
    yaml_type_name,
)
from render.interpretation.operations import InterpreterError, Items
from render.interpretation.statuses import GENERATION_ANNOTATION, generation_of_manifest, statuses_by_cluster
from render.model import Manifest

PARALLELISM = ("spec", "parallelism")
ClusterCondition = tuple[str, Mapping[str, Any]]
"""A member and one of its conditions."""


def required_number_at(manifest: Any, *path: str) -> int | float:
    """Return the number at a path, which must be there to compare it."""
    value = value_at(manifest, *path)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InterpreterError(f"{'.'.join(path)} is {yaml_type_name(value)}, not a number")
    return value


def parallelism_or_one(workload: Manifest) -> int:
    """Return spec.parallelism, or 1."""
    return 1 if value_at(workload, *PARALLELISM) is None else int(required_number_at(workload, *PARALLELISM))


def revise_parallelism(workload: Manifest, replicas: int) -> Manifest:
    """Set spec.parallelism, even where there was none."""
    return manifest_with_value(workload, replicas, *PARALLELISM)


def required_status(observed: Manifest) -> Mapping[str, Any]:
    """Return the status, which must be there to read it."""
    if observed.get("status") is None:
        raise InterpreterError("status is missing")
    return mapping_at(observed, "status")


def last_value_of_each_field(items: Items, fields: Sequence[str]) -> dict[str, Any]:
    """Return, for each field that any member has a value in, the value of the last such member."""
    return {
        field: status[field]
        for _, status in statuses_by_cluster(items)
        for field in fields
        if status.get(field) is not None and status[field] != ""
    }


def last_text_of_each_field(items: Items, fields: Sequence[str]) -> dict[str, Any]:
    """Return the same for every field; an empty text when no member has a value."""
    return {**dict.fromkeys(fields, ""), **last_value_of_each_field(items, fields)}


def observed_generation(template: Manifest, items: Items) -> int:
    """Return the template's generation once every member has observed it, else the one its status has."""
    wanted = generation_of_manifest(template)
    caught_up = sum(
        count_at(status, "resourceTemplateGeneration") == wanted
        and count_at(status, "generation") == count_at(status, "observedGeneration")
        for _, status in statuses_by_cluster(items)
    )
    return wanted if caught_up == len(items or ()) else count_at(template, "status", "observedGeneration")


def reported_fields(observed: Manifest, fields: Iterable[str]) -> dict[str, Any]:
    """Return these fields of a member's status as they are."""
    status = mapping_at(observed, "status")
    return {field: status[field] for field in fields if status.get(field) is not None}


def reported_fields_with_generations(observed: Manifest, fields: Iterable[str]) -> dict[str, Any]:
    """Return these fields of a member's status as they are, with both generations; empty without a status."""
    if observed.get("status") is None:
        return {}
    answer = reported_fields(observed, fields)
    if (own := value_at(observed, "metadata", "generation")) is not None:
        answer["generation"] = own
    template = str(value_at(observed, "metadata", "annotations", GENERATION_ANNOTATION))
    return {**answer, "resourceTemplateGeneration": int(template)} if template.isdecimal() else answer


def conditions_with_member_names(items: Items) -> Iterable[ClusterCondition]:
    """Yield every member's conditions with the member's name."""
    for member, status in statuses_by_cluster(items):
        for condition in objects_at(status, "conditions"):
            yield member, condition


def merged_conditions(conditions: Iterable[ClusterCondition]) -> list[dict[str, Any]]:
    """Merge conditions equal in type, status and reason; each message names its member."""
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for member, condition in conditions:
        message = f"{member}={text_at(condition, 'message')}"
        identity = tuple(text_at(condition, field) for field in ("type", "status", "reason"))
        if identity in merged:
            merged[identity]["message"] += f", {message}"
        else:
            merged[identity] = {**condition, "message": message}
    return list(merged.values())


def true_condition(kind: str, reason: str, message: str, members: Sequence[str] = ()) -> dict[str, str]:
    """Return a condition of our own that is true, of these members where it is about some."""
    where = f" in {', '.join(members)}" if members else ""
    return {"type": kind, "status": "True", "reason": reason, "message": f"{message}{where}"}


def has_condition(status: Mapping[str, Any], kind: str, reasons: Sequence[str] = ()) -> bool:
    """Say whether a condition of this type is true, for one of the reasons where they matter."""
    return any(
        condition.get("type") == kind
        and condition.get("status") == "True"
        and (not reasons or condition.get("reason") in reasons)
        for condition in objects_at(status, "conditions")
    )
