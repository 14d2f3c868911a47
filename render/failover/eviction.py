"""Leaving a cluster: its target goes from the binding, and a task keeps what is there until it may go.

A cluster that is left gracefully keeps its copy as it is, beside the targets. One that is left directly loses it, and
nothing else of the binding is written before that has happened. A new copy may get labels of preserved state, whose
values are read from the status where the workload ran before.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import AggregatedStatusItem, Binding, GracefulEvictionTask
from render.jsonpath import JsonPathError, jsonpath_text
from render.model import Manifest, TargetCluster

DIRECTLY, GRACEFULLY, NEVER = "Directly", "Gracefully", "Never"


class Leaving(Struct, frozen=True):
    """The targets of a binding, and the tasks of the clusters that it is leaving."""

    targets: tuple[TargetCluster, ...]
    tasks: tuple[GracefulEvictionTask, ...]

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of the targets, in their order."""
        return tuple(target.name for target in self.targets)


def evict_cluster(state: Leaving, task: GracefulEvictionTask) -> Leaving:
    """Return targets and tasks after a cluster is left by a task, which gets the replicas that were there.

    A cluster that is no target changes nothing. One that has a task already gets no second one.
    """
    target = next((each for each in state.targets if each.name == task.from_cluster), None)
    if target is None:
        return state
    left = tuple(each for each in state.targets if each.name != task.from_cluster)
    if is_already_leaving(task.from_cluster, state.tasks):
        return Leaving(left, state.tasks)
    return Leaving(left, (*state.tasks, replace(task, replicas=target.replicas or None)))


def is_already_leaving(cluster: str, tasks: Sequence[GracefulEvictionTask]) -> bool:
    """Say whether a binding is leaving a cluster already."""
    return any(task.from_cluster == cluster for task in tasks)


class PreservationError(Exception):
    """A task that cannot be made; the workload stays where it is until it can."""


def labels_preserved_from_status(
    rules: Iterable[Manifest], cluster: str, reported: Sequence[AggregatedStatusItem]
) -> dict[str, str]:
    """Return the labels that state preservation rules read from a cluster's status; the last rule of a label wins."""
    item = next((each for each in reported if each.cluster == cluster), None)
    if item is None or item.status is None:
        raise PreservationError(f"the application status has not yet been collected from Cluster({cluster})")
    try:
        return {rule["aliasLabelName"]: jsonpath_text(rule["jsonPath"], item.status) for rule in rules}
    except JsonPathError as error:
        raise PreservationError(str(error)) from error


def clusters_with_a_copy(
    targets: Iterable[TargetCluster],
    required: Iterable[Iterable[TargetCluster]],
    tasks: Iterable[GracefulEvictionTask],
) -> frozenset[str]:
    """Return the clusters that have a copy: targets, those of bindings that require it, those left gracefully."""
    names = {target.name for target in targets} | {target.name for each in required for target in each}
    return frozenset(names | {task.from_cluster for task in tasks if task.purge_mode != DIRECTLY})


def clusters_purged_directly(tasks: Iterable[GracefulEvictionTask]) -> frozenset[str]:
    """Return the clusters whose copy goes before anything else of the binding is written."""
    return frozenset(task.from_cluster for task in tasks if task.purge_mode == DIRECTLY)


def labels_injected_into_only_target(
    targets: Sequence[str], tasks: Sequence[GracefulEvictionTask]
) -> Mapping[str, str]:
    """Return the labels of preserved state that the copy in the only target gets.

    Only the last task counts, where it is a direct one and the target was none before.
    """
    last = tasks[-1] if tasks else None
    if len(targets) != 1 or last is None or last.purge_mode != DIRECTLY:
        return {}
    return {} if targets[0] in last.clusters_before_failover else last.preserved_label_state


def preserved_labels_of(binding: Binding) -> Mapping[str, str]:
    """Return the labels of preserved state that the copies of a binding get."""
    if not binding.eviction_tasks:
        return {}
    required = (target for snapshot in binding.required_by for target in snapshot.clusters)
    names = tuple(dict.fromkeys(target.name for target in (*binding.targets, *required)))
    return labels_injected_into_only_target(names, binding.eviction_tasks)


def manifest_with_preserved_labels(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """Return a manifest with labels of preserved state, which win over its own."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}}}
