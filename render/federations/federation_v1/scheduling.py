"""The clusters that Federation v1 sends an object to, and the replicas of each, as its controllers divide them."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from render.federations.decoding import WrongShape, checked_selector, decode_label_selector
from render.federations.observation import Selects, observed_division
from render.federations.planner import PlannedWorkload, replica_plan_of_workload
from render.model import Manifest
from render.selectors import matches_labels

from .annotations import (
    DEFAULT_PREFERENCES,
    PREFERENCES,
    AllocationPreferences,
    allocation_preferences_of,
    annotations_of,
    clusters_chosen_by_autoscaler,
    is_sent_to,
)

_LEAST_STEP = 2


class Bounds(Struct, frozen=True):
    """The bounds of the autoscaler in one cluster."""

    min_replicas: int
    max_replicas: int


class Scheduled(Struct, frozen=True, kw_only=True):
    """The clusters that a workload goes to, and those that it leaves; the replicas of each cluster it goes to.

    A cluster of ``kept`` keeps its object where there is one, and none is made: an autoscaler chose others.
    """

    selected: tuple[str, ...]
    unselected: tuple[str, ...] = ()
    replicas: Mapping[str, int] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()


def selected_clusters(
    manifest: Manifest, labels_by_cluster: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the clusters that an object goes to and the others; WrongShape where nothing of it is synced."""
    annotations = annotations_of(manifest)
    chosen = {name for name, labels in labels_by_cluster.items() if is_sent_to(labels, annotations)}
    names = tuple(labels_by_cluster)
    return tuple(each for each in names if each in chosen), tuple(each for each in names if each not in chosen)


def divided_as_federation_v1(
    workload: Manifest, labels_by_cluster: Mapping[str, Mapping[str, str]], members: Mapping[str, Mapping[str, Any]]
) -> Scheduled:
    """Divide a Deployment or ReplicaSet; ``members`` are ``{object, pods}`` by cluster. WrongShape as above."""
    selected, unselected = selected_clusters(workload, labels_by_cluster)
    listed = clusters_chosen_by_autoscaler(annotations_of(workload))
    if listed is not None:
        live = {name: (members.get(name) or {}).get("object") or {} for name in selected}
        replicas = {
            name: (live[name].get("spec") or {}).get("replicas") or 0 if name in listed else 0 for name in selected
        }
        return Scheduled(
            selected=selected,
            unselected=unselected,
            replicas=replicas,
            kept=frozenset(selected) - set(listed),
        )
    return Scheduled(selected=selected, unselected=unselected, replicas=shares_of_workload(workload, selected, members))


def shares_of_workload(
    workload: Manifest, clusters: Sequence[str], members: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """Return the replicas of each cluster, those with none included."""
    seen = observed_division(members, clusters, _pods_of)
    preferences = effective_preferences(workload)
    planned = PlannedWorkload(
        replicas=_number_of_workload(workload, "replicas"),
        key=_key_of_workload(workload),
        current=seen.current,
        capacity=seen.capacity,
        is_rebalanced=preferences.is_rebalanced,
    )
    return replica_plan_of_workload(planned, preferences.clusters, clusters).total_replicas_by_cluster


class JobShare(Struct, frozen=True):
    """The parallelism of a Job in one cluster, and its completions, if it has any."""

    parallelism: int
    completions: int | None


def job_shares(job: Manifest, clusters: Sequence[str]) -> dict[str, JobShare]:
    """Divide a Job: its parallelism, and then its completions by the same preferences, bounds included."""
    parallelism = _shares_of_job_field(job, "parallelism", clusters)
    has_completions = (job.get("spec") or {}).get("completions") is not None
    completions = _shares_of_job_field(job, "completions", clusters) if has_completions else {}
    return {name: JobShare(count, completions.get(name)) for name, count in parallelism.items()}


def effective_preferences(workload: Manifest) -> AllocationPreferences:
    """Return the preferences that a workload is divided by; every cluster weighs the same where none can be read."""
    try:
        found = allocation_preferences_of(annotations_of(workload), PREFERENCES[str(workload.get("kind"))])
    except WrongShape:
        return DEFAULT_PREFERENCES
    return DEFAULT_PREFERENCES if found is None else found


def _shares_of_job_field(job: Manifest, field_name: str, clusters: Sequence[str]) -> Mapping[str, int]:
    preferences = effective_preferences(job)
    planned = PlannedWorkload(
        replicas=_number_of_workload(job, field_name),
        key=_key_of_workload(job),
        is_rebalanced=preferences.is_rebalanced,
    )
    return replica_plan_of_workload(planned, preferences.clusters, clusters).replicas


def _number_of_workload(workload: Manifest, field_name: str) -> int:
    """Return a count of the spec; 1 where it is absent, as an API server fills it in."""
    found = (workload.get("spec") or {}).get(field_name)
    return found if isinstance(found, int) else 1


def _key_of_workload(workload: Manifest) -> str:
    metadata = workload.get("metadata") or {}
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"


def _pods_of(workload: Manifest) -> Selects:
    """Return the selection of a workload's pods; a workload without a selector has none."""
    what = "spec.selector"
    selector = decode_label_selector((workload.get("spec") or {}).get("selector"), what)
    if selector is None:
        return lambda _labels: False
    checked = checked_selector(selector, what)
    return lambda labels: matches_labels(checked, labels)


def autoscaler_bounds_by_cluster(autoscaler: Manifest, clusters: Sequence[str]) -> dict[str, Bounds]:
    """Return the bounds of each cluster that gets an autoscaler."""
    names, spec = sorted(clusters), autoscaler.get("spec") or {}
    if not names:
        return {}
    most, least = _count_or_default(spec.get("maxReplicas"), 0), _count_or_default(spec.get("minReplicas"), 1)
    most_by_cluster = _shares_dealt_in_rounds(most, max(_LEAST_STEP, most // len(names)), dict.fromkeys(names, most))
    least_by_cluster = _shares_dealt_in_rounds(least, max(1, least // len(names)), most_by_cluster)
    return {name: Bounds(max(least_by_cluster[name], 1), count) for name, count in most_by_cluster.items() if count > 0}


def _shares_dealt_in_rounds(total: int, step: int, limits: dict[str, int]) -> dict[str, int]:
    """Deal a total in rounds of a step, none getting more than its limit."""
    dealt, remaining = dict.fromkeys(limits, 0), total
    while remaining > 0 and any(dealt[name] < limit for name, limit in limits.items()):
        for name, limit in limits.items():
            share = min(step, remaining, limit - dealt[name])
            dealt[name] += share
            remaining -= share
    return dealt


def _count_or_default(plain: Any, default: int) -> int:
    return plain if isinstance(plain, int) else default
