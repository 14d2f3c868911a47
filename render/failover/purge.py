"""The effect of leaving clusters on the works of a binding: which clusters keep theirs, and what the new copy gets.

A cluster that is left gracefully keeps its copy as it is, beside the targets; one that is left directly loses it, and
nothing else of the binding is written before that has happened.
"""

from collections.abc import Iterable, Mapping, Sequence

from render.binding import Binding, GracefulEvictionTask
from render.model import Manifest, TargetCluster

from .eviction import DIRECTLY


def existing_clusters(
    targets: Iterable[TargetCluster],
    required: Iterable[Iterable[TargetCluster]],
    tasks: Iterable[GracefulEvictionTask],
) -> frozenset[str]:
    """Return the clusters that have a copy: targets, those of bindings that require it, those left gracefully."""
    names = {target.name for target in targets} | {target.name for each in required for target in each}
    return frozenset(names | {task.from_cluster for task in tasks if task.purge_mode != DIRECTLY})


def directly_purged(tasks: Iterable[GracefulEvictionTask]) -> frozenset[str]:
    """Return the clusters whose copy goes before anything else of the binding is written."""
    return frozenset(task.from_cluster for task in tasks if task.purge_mode == DIRECTLY)


def injected_labels(targets: Sequence[str], tasks: Sequence[GracefulEvictionTask]) -> Mapping[str, str]:
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
    return injected_labels(names, binding.eviction_tasks)


def with_labels(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """Return a manifest with labels of preserved state, which win over its own."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}}}
