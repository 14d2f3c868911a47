"""A pass that was rendered in memory, and what the next one has to look at, where the rest stays as it is."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property

from msgspec import Struct

from reconciler.pipeline.cron import targets_of_rules
from reconciler.pipeline.decisions import Decisions, decisions_of_pass
from reconciler.pipeline.health import workloads_with_changed_health
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.scope import (
    Scope,
    bindings_competing_for_room,
    is_decided_by_more_than_template,
    refs_with_their_namespaces,
)
from reconciler.pipeline.stages import render_pass
from reconciler.source.desired import Desired
from render.binding import Binding, binding_with_final_targets
from render.model import ObjectRef
from render.settings.switches import Rescheduling


class SimulatedPass(Struct, frozen=True, kw_only=True, dict=True):
    """A pass that was rendered in memory, and the time it was rendered for."""

    at: datetime
    inputs: Inputs
    rendered: Rendered

    @cached_property
    def bindings(self) -> Mapping[ObjectRef, Binding]:
        """The bindings after the pass by their objects, also of those that it did not look at."""
        built = {binding.ref: binding for binding in self.rendered.built.bindings}
        scope, previous = self.inputs.scope, self.inputs.previous
        if scope is None or previous is None:
            return built
        beside = {ref: each for ref, each in previous.bindings.items() if ref not in scope.refs}
        return {**beside, **built}

    @cached_property
    def volatile(self) -> frozenset[ObjectRef]:
        """The objects that the next pass looks at in any case."""
        found = {ref for ref, each in self.bindings.items() if is_decided_by_more_than_template(each)}
        return self.rendered.built.failover.restless.union(found)


class IdealPlacement(Struct, frozen=True, kw_only=True, dict=True):
    """An ideal pass as far as it decides: nothing is built of it."""

    at: datetime
    inputs: Inputs

    @cached_property
    def decisions(self) -> Decisions:
        """The decisions of the pass."""
        return decisions_of_pass(self.inputs)

    @cached_property
    def bindings(self) -> Mapping[ObjectRef, Binding]:
        """The bindings by their objects, with the targets that they end with once every move is done."""
        return {each.ref: binding_with_final_targets(each) for each in self.decisions.bindings}

    def rendered_pass(self) -> SimulatedPass:
        """Return the pass as it would be rendered, for who asks why it decides so."""
        return SimulatedPass(at=self.at, inputs=self.inputs, rendered=render_pass(self.inputs))


def scope_of_next_pass(done: SimulatedPass, following: Inputs) -> Scope | None:
    """Return what the pass after another has to look at; None for all of it.

    The source and the facts are the same in both, as ``passes.incremental`` asks of real passes.
    """
    desired, now = following.desired, following.failover.now
    if _is_looked_at_whole(desired) or now is None:
        return None
    turned = workloads_with_changed_health(desired, done.inputs.failover.health, following.failover.health)
    if turned is None:
        return None
    built = done.rendered.built
    due = {ref for ref, flip in built.failover.waits.items() if flip.at <= now}
    known = {template.ref for template in desired.templates}
    scaled = targets_of_rules((*desired.cron_autoscalers, *desired.federated_autoscalers)) & known
    refs = refs_with_their_namespaces(done.volatile.union(turned, due, scaled))
    if len(refs) * 2 >= len(known):
        return None
    waits = {ref: flip for ref, flip in built.failover.waits.items() if ref not in refs}
    others = tuple(bindings_competing_for_room(desired, done.bindings, refs))
    return Scope(refs=refs, tally=done.rendered.tally, others=others, waits=waits)


def _is_looked_at_whole(desired: Desired) -> bool:
    """Say whether a rule concerns all objects in every pass."""
    fleet = desired.fleet
    is_asked = bool(desired.webhooks) or fleet.descheduler.is_enabled or bool(fleet.emit)
    return is_asked or fleet.rescheduling is not Rescheduling.SOURCE
