"""The state of a pass while it decides: the clusters, the capacity left, and placements already read."""

from collections.abc import Sequence
from copy import copy

from msgspec import Struct

from render.binding import Binding
from render.bits import Mask, mask_where
from render.cluster_index import ClusterIndex
from render.placement import Placement
from render.settings.switches import TieBreak

from .capacity import UNLIMITED, Capacity
from .decisions import Refusal
from .options import SchedulingOptions
from .replicas import Division, Shares, assign_replicas
from .rules import PlacementRules, Strategy, rules_of_placement
from .targets import IndexedTargets, TargetLists
from .webster import are_ties_in_descending_order
from .workload_affinity import WorkloadGroups


class Task(Struct, frozen=True, kw_only=True):
    """A binding as the scheduler works on it: with its placement's rules, its current targets and its tie rule."""

    binding: Binding
    rules: PlacementRules
    current: IndexedTargets
    is_descending: bool = False


class PassState:
    """The state of one pass; ``capacity``, ``workload_groups`` and ``delivered_apis`` follow its decisions.

    ``delivered_apis`` are kinds whose CRD the pass delivers, with the clusters that get it. ``declared`` are the
    clusters whose capacity the source declares.
    """

    def __init__(self, index: ClusterIndex, options: SchedulingOptions) -> None:
        self.index = index
        self.options = options
        self.capacity = Capacity(index, uses_models=options.uses_resource_models)
        self.workload_groups = WorkloadGroups()
        self.targets = TargetLists(index)
        self.delivered_apis: dict[tuple[str, str], Mask] = {}
        self.terminating = index.terminating_clusters()
        self.candidates = index.all & ~self.terminating
        self.total = len(index.clusters)
        self.declared = mask_where(
            each.resource_summary is not None and each.resource_summary.is_declared for each in index.clusters
        )
        self.unlimited = [UNLIMITED] * len(index.clusters)
        # To Karmada a cluster serves only the APIs it reports. Here one without a report may serve anything: a first
        # render has no facts of the members yet, and must still place objects.
        self._unrecorded = 0 if options.requires_recorded_apis else index.clusters_without_recorded_apis()
        self._rules: dict[int, PlacementRules] = {}
        self._copies: dict[tuple[int, int, Strategy], tuple[Sequence[int], Shares | Refusal]] = {}

    def copy_without(self, lost: Mask) -> "PassState":
        """Return the state as it goes on by itself when some clusters are lost; what is only read is shared."""
        other = copy(self)
        other.capacity = self.capacity.copy()
        other.workload_groups = self.workload_groups.copy_without(lost)
        other.delivered_apis = dict(self.delivered_apis)
        other.candidates = self.candidates & ~lost
        other.total = self.total - (lost & self.index.all).bit_count()
        return other

    def task(self, binding: Binding) -> Task:
        """Return a binding with its placement's rules and its current targets; it must have a placement."""
        assert binding.placement is not None
        return Task(
            binding=binding,
            rules=self.rules(binding.placement),
            current=self.targets.indexed_targets(binding.targets),
            is_descending=are_ties_in_descending_order(self._identity_for_ties(binding)),
        )

    def rules(self, placement: Placement) -> PlacementRules:
        """Return the rules of a placement; bindings that share one placement share them (they keep it alive)."""
        known = self._rules.get(id(placement))
        if known is None:
            known = self._rules[id(placement)] = rules_of_placement(placement, self.index)
        return known

    def shares(self, division: Division) -> Shares | Refusal:
        """Assign the replicas of a division; copies to clusters that many bindings select are listed once."""
        if not division.is_copied:
            return assign_replicas(division)
        key = (id(division.selected), division.replicas, division.strategy)
        known = self._copies.get(key)
        if known is None:
            known = self._copies[key] = (division.selected, assign_replicas(division))
        return known[1]

    def clusters_serving_kind(self, binding: Binding) -> Mask:
        """Return the clusters that serve a binding's kind, or will once this pass has delivered its CRD."""
        api = (binding.api_version, binding.ref.kind)
        return self.index.clusters_serving_kind(*api) | self._unrecorded | self.delivered_apis.get(api, 0)

    def _identity_for_ties(self, binding: Binding) -> str:
        if binding.uid or self.options.tie_break is TieBreak.NAME:
            return binding.uid
        return str(binding.ref)
