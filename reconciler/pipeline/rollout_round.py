"""The round of a pass in which rollouts, the calendar and people may hold changes back.

A fleet that has none of these never comes here: everything goes out at once.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from reconciler.source.desired import Desired
from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, Template
from render.rollouts.emergencies import flips_of_emergencies, seconds_to_confirm, unconfirmed_emergencies
from render.rollouts.fleet_calendar import FleetCalendar
from render.timing import earliest_flip
from render.works import WorkContext, Works

from .assembly import clusters_with_suspended_dispatch
from .decisions import Decisions
from .pass_values import Inputs
from .rollouts.calendar_of_pass import CalendarOfPass
from .rollouts.policies import RolloutContext
from .rollouts.stage import RolloutStage
from .rollouts.stage_values import RolledOut
from .rollouts.works import VersionContexts
from .template_works import tree_context_of_pass, works_of_template


def rolled_out_in_round(
    decisions: Decisions,
    work_context: WorkContext,
    works: Mapping[ObjectRef, Works],
    templates: Mapping[ObjectRef, Template],
) -> RolledOut:
    """Return the bindings of a pass and their works with the version of each object that every cluster is due.

    ``works`` are those of the newest source, of the objects that have a template among ``templates``.
    """
    bindings, index, claimed = decisions.bindings, decisions.index, decisions.claimed
    inputs, unbuilt = claimed.inputs, decisions.schedule.objects_kept_by_quota | claimed.claims.objects_kept
    desired, previous, fleet = inputs.desired, inputs.previous, tree_context_of_pass(inputs, index)
    suspended = {each.ref: clusters_with_suspended_dispatch(each, fleet) for each in bindings if each.suspension}
    stage = RolloutStage(
        desired=desired,
        states=inputs.rollouts.states,
        are_over=inputs.rollouts.are_over,
        among=inputs.scope.refs if inputs.scope else None,
        unbuilt=unbuilt,
        placements=decisions.placements,
        splits=decisions.splits,
        restored_splits=decisions.restored,
        attributes=inputs.rollouts.attributes,
        upgrade=inputs.rollouts.upgrade,
        before=previous.bindings if previous else {},
        tree=previous.tree if previous else None,
        context=_rollout_context(inputs, index, suspended),
        contexts=_version_contexts(desired, work_context, index),
    )
    return _with_emergencies(stage.rolled_out(bindings, works, templates), stage, inputs)


def _version_contexts(desired: Desired, work_context: WorkContext, index: ClusterIndex) -> VersionContexts:
    """Return the contexts in which versions of objects are built."""
    return VersionContexts(
        newest=work_context,
        index=index,
        webhooks=[each.manifest for each in desired.webhooks],
        build=lambda template, binding, context: works_of_template(template, binding, context, index),
    )


def _rollout_context(inputs: Inputs, index: ClusterIndex, suspended: Mapping[ObjectRef, Mask]) -> RolloutContext:
    """Return what the steps of all rollouts go by."""
    desired, given, now = inputs.desired, inputs.rollouts, inputs.failover.now
    return RolloutContext(
        index=index,
        health=given.health,
        now=now,
        source=inputs.source,
        controls=(*inputs.controls, *given.pauses),
        calendar=CalendarOfPass(calendar=FleetCalendar.of(desired.fleet.rollouts, index), now=now),
        answers=given.answers,
        looks=given.looks,
        suspended=suspended,
    )


def _with_emergencies(rolled: RolledOut, stage: RolloutStage, inputs: Inputs) -> RolledOut:
    """Return the outcome of rollouts with the emergencies that nobody has confirmed, and what is to be said of them."""
    before, controls, now = inputs.rollouts.emergencies, stage.context.controls, stage.context.now
    if now is None or not (before or controls):
        return replace(rolled, emergencies=before)
    states = (*stage.states.values(), *rolled.states.values())
    known = frozenset((str(state.plan), state.group, state.change) for state in states)
    found = unconfirmed_emergencies(before, controls, known, now)
    seconds = seconds_to_confirm(inputs.desired.fleet.rollouts)
    return replace(
        rolled,
        emergencies=found,
        notes=(*rolled.notes, *(each.words(seconds, now) for each in found)),
        flip=earliest_flip((rolled.flip, *flips_of_emergencies(found, seconds, now))),
    )
