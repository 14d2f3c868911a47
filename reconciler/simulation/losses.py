"""Losses: what becomes of a fleet when clusters are gone, decided for one loss after the other.

Each loss is decided as the ideal pass of ``passes`` would decide it, and nothing is built of it. What all losses have
in common is made once: what claims every object, the clusters as facts and conditions have them, and who holds what.

Of a loss, only these objects are decided; all others stay as they are:

1. what the lost clusters hold;
2. what more than its own template decides (``pipeline.scope``), and what stands in clusters that are not well, for
   it leaves those by rules that count clusters;
3. what any of these require.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.decisions import (
    ClaimedTemplates,
    Decisions,
    claimed_templates,
    clusters_of_pass,
    decisions_about_claims,
)
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.readme import Tally
from reconciler.pipeline.scope import (
    Scope,
    bindings_competing_for_room,
    is_decided_by_more_than_template,
    refs_with_their_namespaces,
)
from reconciler.pipeline.taints import TaintedClusters
from reconciler.source.desired import known_scales
from render.binding import Binding
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.failover.health import is_known_to_be_ready
from render.failover.taint_eviction import NO_EXECUTE
from render.model import ObjectRef, TargetCluster
from render.scheduling.capacity import PODS, Capacity
from render.settings.switches import Rescheduling

from .alterations import LostClusters, altered

_NOBODY: frozenset[str] = frozenset()
_NOTHING: frozenset[ObjectRef] = frozenset()


class FleetAfterLoss(Struct, frozen=True, kw_only=True):
    """The bindings of the objects that a loss concerns, and the room that is left in clusters."""

    bindings: Mapping[ObjectRef, Binding]
    capacity: Capacity


class Losses(Struct, frozen=True, kw_only=True, dict=True):
    """A fleet of which clusters may be lost: all that decisions after any loss have in common.

    ``inputs`` are those of the pass that would come now, ``placed`` are the bindings that every loss is compared with.
    """

    inputs: Inputs
    now: datetime
    placed: Mapping[ObjectRef, Binding]
    claimed: ClaimedTemplates
    tainted: TaintedClusters
    clusters: tuple[Cluster, ...]

    @classmethod
    def of(cls, following: Inputs, now: datetime) -> Self:
        """Prepare a fleet, given the inputs of the pass after the one that placed its objects."""
        previous = _previous_with_shared_targets(following)
        inputs = altered(replace(following, previous=previous), [LostClusters(names=_NOBODY)], now)
        inputs = replace(inputs, rollouts=replace(inputs.rollouts, are_over=True))
        tainted, index = clusters_of_pass(inputs)
        return cls(
            inputs=inputs,
            now=now,
            placed=previous.bindings,
            claimed=claimed_templates(inputs, tainted),
            tainted=tainted,
            clusters=index.clusters,
        )

    def placed_after(self, lost: frozenset[str]) -> FleetAfterLoss:
        """Return where the objects are that a loss concerns; all others stay as they are placed now."""
        refs = self._refs_concerned_by(lost)
        decisions = self._decisions_about(refs, lost)
        while not decisions.following.snapshots.keys() <= refs:
            # An object requires others, which then have to be looked at as well.
            refs = refs_with_their_namespaces(refs.union(decisions.following.snapshots))
            decisions = self._decisions_about(refs, lost)
        # What cannot be interpreted keeps what clusters have of it.
        failed = (template.ref for template, _ in decisions.claimed.claims.failed)
        kept = {ref: self.placed[ref] for ref in failed if ref in self.placed}
        return FleetAfterLoss(
            bindings={**kept, **{binding.ref: binding for binding in decisions.bindings}},
            capacity=decisions.schedule.scheduler.state.capacity,
        )

    def read_ahead(self) -> None:
        """Read now what all losses have in common, and is else read when it is asked for first."""
        assert self._refs_of_every_loss is not None
        if (capacity := self.capacity_before) is not None:
            capacity.free_amount(PODS, self.clusters[0].name)

    @cached_property
    def capacity_before(self) -> Capacity | None:
        """The room in all clusters as long as nothing is lost; None where none of them says how much it has."""
        if not any(each.resource_summary is not None for each in self.clusters):
            return None
        return self._decisions_about(_NOTHING, _NOBODY).schedule.scheduler.state.capacity

    def _decisions_about(self, refs: frozenset[ObjectRef], lost: frozenset[str]) -> Decisions:
        inputs = self._inputs_after(lost, refs)
        tainted = _clusters_without(self.tainted, lost)
        claimed = self._claimed_after(lost, replace(inputs, scope=None), tainted)
        among = claimed.among(inputs.scope.refs if inputs.scope else refs)
        index = ClusterIndex(each for each in self.clusters if each.name not in lost)
        return decisions_about_claims(replace(among, inputs=inputs), tainted, index)

    def _inputs_after(self, lost: frozenset[str], refs: frozenset[ObjectRef]) -> Inputs:
        inputs = altered(self.claimed.inputs, [LostClusters(names=lost)], self.now)
        desired = inputs.desired
        left = tuple(each for each in desired.clusters if each.name not in lost)
        return replace(
            inputs,
            desired=replace(desired, clusters=left),
            scope=Scope(
                refs=refs,
                tally=Tally(),
                others=tuple(bindings_competing_for_room(desired, self.placed, refs)),
            ),
        )

    def _claimed_after(self, lost: frozenset[str], inputs: Inputs, tainted: TaintedClusters) -> ClaimedTemplates:
        """Return what claims the templates; all over again where only the lost members said where replicas stand."""
        if any(each.scales for each in self.tainted.clusters if each.name in lost):
            scales = known_scales(inputs.desired, tainted.clusters)
            if scales != self.claimed.interpreter.scales:
                return claimed_templates(inputs, tainted)
        return self.claimed

    def _refs_concerned_by(self, lost: frozenset[str]) -> frozenset[ObjectRef]:
        if self._is_looked_at_whole:
            return refs_with_their_namespaces(self._all_refs)
        held = (self._refs_held_by_cluster.get(name, ()) for name in lost)
        return refs_with_their_namespaces(self._refs_of_every_loss.union(*held))

    @property
    def _all_refs(self) -> frozenset[ObjectRef]:
        return frozenset(self.claimed.templates).union(self.placed)

    @cached_property
    def _is_looked_at_whole(self) -> bool:
        """Say whether everything is decided anew whatever is lost: where Karmada's triggers apply, or replicas move."""
        fleet = self.inputs.desired.fleet
        return fleet.rescheduling is not Rescheduling.SOURCE or fleet.descheduler.is_enabled

    @cached_property
    def _refs_held_by_cluster(self) -> Mapping[str, Sequence[ObjectRef]]:
        found: dict[str, list[ObjectRef]] = {}
        for binding in self.placed.values():
            for target in binding.targets:
                found.setdefault(target.name, []).append(binding.ref)
        return found

    @cached_property
    def _refs_of_every_loss(self) -> frozenset[ObjectRef]:
        """The objects that may be placed otherwise after any loss."""
        conditions = self.inputs.failover.health.conditions
        unwell = [
            each.name
            for each in self.tainted.clusters
            if (each.name in conditions and not is_known_to_be_ready(conditions[each.name]))
            or any(taint.effect == NO_EXECUTE for taint in each.taints)
        ]
        leaving = (self._refs_held_by_cluster.get(name, ()) for name in unwell)
        # What is in no cluster is in no lost one either, and yet clusters decide about it in every pass.
        volatile = (
            ref for ref, each in self.placed.items() if not each.targets or is_decided_by_more_than_template(each)
        )
        unplaced = (ref for ref in self.claimed.templates if ref not in self.placed)
        return frozenset(unplaced).union(volatile, *leaving)


def _clusters_without(tainted: TaintedClusters, lost: frozenset[str]) -> TaintedClusters:
    return TaintedClusters(
        clusters=tuple(each for each in tainted.clusters if each.name not in lost),
        recorded={name: found for name, found in tainted.recorded.items() if name not in lost},
        by_policy={name: found for name, found in tainted.by_policy.items() if name not in lost},
    )


def _previous_with_shared_targets(following: Inputs) -> Previous:
    """Return the previous pass with equal lists of targets as one list: the scheduler works on each list once."""
    assert following.previous is not None, "losses are compared with a pass that placed everything"
    known: dict[tuple[TargetCluster, ...], tuple[TargetCluster, ...]] = {}
    bindings = {
        ref: replace(each, targets=known.setdefault(each.targets, each.targets))
        for ref, each in following.previous.bindings.items()
    }
    return replace(following.previous, bindings=bindings)
