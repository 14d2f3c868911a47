"""Workload affinity: the clusters that other workloads of a group, in the same namespace, are placed in."""

from collections import defaultdict
from copy import copy
from enum import StrEnum

from render.binding import Binding
from render.bits import Mask
from render.model import ObjectRef


class GroupKind(StrEnum):
    """The two kinds of groups: one keeps its workloads together, the other apart."""

    AFFINITY = "affinity"
    ANTI_AFFINITY = "antiAffinity"


class WorkloadGroups:
    """The clusters of every workload that names a group, as the pass goes on."""

    __slots__ = ("_clusters",)

    def __init__(self) -> None:
        self._clusters: defaultdict[tuple[str, GroupKind, str], dict[ObjectRef, Mask]] = defaultdict(dict)

    def copy_without(self, lost: Mask) -> "WorkloadGroups":
        """Return the groups as they go on by themselves, without some clusters."""
        other = copy(self)
        other.detach_without(lost)
        return other

    def detach_without(self, lost: Mask) -> None:
        """Share no more with what this was copied from, and forget some clusters."""
        placed = self._clusters.items()
        left = ((key, {ref: clusters & ~lost for ref, clusters in each.items()}) for key, each in placed)
        self._clusters = defaultdict(dict, left)

    def note_placed_workload(self, binding: Binding, clusters: Mask) -> None:
        """Record the clusters of a binding."""
        for kind, group in _affinity_groups_of(binding):
            self._clusters[binding.ref.namespace, kind, group][binding.ref] = clusters

    def clusters_of_affinity_group(self, binding: Binding) -> Mask:
        """Return the clusters every other placed workload of the affinity group is in; -1 (all) if there is none."""
        mask = -1
        for clusters in self._clusters_of_others_in_group(binding, GroupKind.AFFINITY, binding.affinity_group):
            mask &= clusters or -1
        return mask

    def clusters_free_of_anti_affinity_group(self, binding: Binding) -> Mask:
        """Return the clusters no other workload of the anti-affinity group is in."""
        mask = 0
        for clusters in self._clusters_of_others_in_group(
            binding, GroupKind.ANTI_AFFINITY, binding.anti_affinity_group
        ):
            mask |= clusters
        return ~mask

    def _clusters_of_others_in_group(self, binding: Binding, kind: GroupKind, group: str) -> list[Mask]:
        if not group:
            return []
        placed = self._clusters.get((binding.ref.namespace, kind, group), {})
        return [clusters for ref, clusters in placed.items() if ref != binding.ref]


def _affinity_groups_of(binding: Binding) -> list[tuple[GroupKind, str]]:
    groups = ((GroupKind.AFFINITY, binding.affinity_group), (GroupKind.ANTI_AFFINITY, binding.anti_affinity_group))
    return [(kind, group) for kind, group in groups if group]
