"""Add up member statuses: the arithmetic that aggregations share."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from render.model import Manifest

from .fields import count_at, mapping_at, text_at
from .operations import InterpreterError, Items

GENERATION_ANNOTATION = "resourcetemplate.karmada.io/generation"


def statuses_by_cluster(items: Items) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield member and status of every item that has one."""
    for item in items or ():
        if item.get("status") is not None:
            yield text_at(item, "clusterName"), mapping_at(item, "status")


def distinct_statuses(items: Items) -> tuple[tuple[Mapping[str, Any], int], ...]:
    """Return the statuses of items, each with how many members have it: one and the same value is looked at once."""
    statuses = [status for _, status in statuses_by_cluster(items)]
    times = Counter(map(id, statuses))
    return tuple((status, times[id_]) for id_, status in {id(status): status for status in statuses}.items())


def sums_of_counters(items: Items, counters: Iterable[str]) -> dict[str, int]:
    """Return the sums of these counters over the members."""
    sums = dict.fromkeys(counters, 0)
    for status, times in distinct_statuses(items):
        for counter in sums:
            sums[counter] += times * count_at(status, counter)
    return sums


def status_without_zeros(status: Mapping[str, Any], optional: Sequence[str]) -> dict[str, Any]:
    """Leave out optional counters that are zero, as the API does."""
    return {key: value for key, value in status.items() if value or key not in optional}


def generation_of_manifest(manifest: Manifest) -> int:
    """Return metadata.generation; 0 when there is none."""
    return count_at(manifest, "metadata", "generation")


def observed_template_generation(observed: Manifest) -> int:
    """Return the generation of the template a member's object was made from, which it carries as an annotation."""
    annotation = text_at(observed, "metadata", "annotations", GENERATION_ANNOTATION)
    try:
        return int(annotation)
    except ValueError:
        raise InterpreterError(f"annotation {GENERATION_ANNOTATION} is not an integer") from None


def reflected_status_fields(
    observed: Manifest, fields: Iterable[str], required: Sequence[str] = ()
) -> dict[str, Any] | None:
    """Return these fields of a status, without empty ones unless required; None when there is no status."""
    if observed.get("status") is None:
        return None
    status = mapping_at(observed, "status")
    return {field: status.get(field) or 0 for field in fields if status.get(field) or field in required}
