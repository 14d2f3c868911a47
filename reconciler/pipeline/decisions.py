"""The decisions of a pass: what its objects are claimed by, where they go, and what they bring along.

Nothing is built here, so that whoever only asks where objects would go pays for no override and no tree.

1. claim: match every template with its policy, interpret it, make its binding;
2. schedule: choose clusters and divide replicas, in one total order;
3. move: where replicas move step by step, take the next step between what clusters have and what was decided;
4. follow: bring dependencies along.
"""

from collections.abc import Container, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconciler.source.desired import interpreter_of_source
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.interpreter import Interpreter
from render.model import ObjectRef, Template
from render.quota.enforcement import parse_federated_quota
from render.rescheduling.requests import bindings_with_requests
from render.rescheduling.rollbacks import bindings_with_former_splits
from render.rollouts.fleet_calendar import FleetCalendar
from render.rollouts.selection import RolloutIndex
from render.scheduling.batch import BatchContext
from render.settings.moves import MoveSettings
from render.settings.removal_guard import GuardScope

from .claims import Claims, claim_templates
from .cron import Autoscaler, CronScaling, scaled_by_cron
from .dependencies import Following, bindings_with_dependencies, followers_of, followers_of_bindings
from .descheduling import Descheduling
from .failover import FailedOver, clusters_with_taints
from .held_divisions import PastDivisions
from .moves import (
    MovedBindings,
    MoveStage,
    binding_without_move_note,
    may_moves_be_gradual,
    move_settings_of_policy,
)
from .pass_values import Inputs
from .reserves import clusters_with_reserves
from .rollouts.calendar_of_pass import CalendarOfPass
from .rollouts.placements import PlacementInRollout, PlacementStage, bindings_with_all_targets
from .rollouts.splits_before_change import RestoredSplits, SplitsBefore
from .rounds import schedule_in_rounds
from .runs import RunsOfPass
from .schedules import Schedule, apis_by_crd, former_components, schedule_bindings
from .taints import TaintedClusters
from .webhook_answers import Recording


class ClaimedTemplates(Struct, frozen=True, kw_only=True):
    """The templates of a pass with what claims them; ``inputs`` are those of the pass, with what cron has scaled.

    ``templates`` are those of the whole source, whatever the scope.
    """

    inputs: Inputs
    interpreter: Interpreter
    webhooks: Recording
    cron: CronScaling
    claims: Claims
    templates: Mapping[ObjectRef, Template]

    def among(self, refs: Container[ObjectRef]) -> "ClaimedTemplates":
        """Return this with what claims some of the templates, as a pass with a scope of these would have it."""
        claims = self.claims
        return replace(
            self,
            claims=replace(
                claims,
                bindings=tuple(each for each in claims.bindings if each.ref in refs),
                released=tuple(each for each in claims.released if each.ref in refs),
                failed=tuple((each, error) for each, error in claims.failed if each.ref in refs),
                unmatched=tuple(each for each in claims.unmatched if each.ref in refs),
            ),
        )


class Decisions(Struct, frozen=True, kw_only=True):
    """The decisions of a pass about its objects. ``bindings`` have their targets, and what requires them.

    Of a placement that goes out wave by wave they have the targets of all waves; ``placements`` say more. What
    ``restored`` names has the targets of before a change again; ``splits`` know these.
    """

    claimed: ClaimedTemplates
    tainted: TaintedClusters
    index: ClusterIndex
    failover: FailedOver
    descheduling: Descheduling
    schedule: Schedule
    moved: MovedBindings
    placements: Mapping[ObjectRef, PlacementInRollout]
    following: Following
    bindings: tuple[Binding, ...]
    splits: SplitsBefore
    restored: RestoredSplits


def decisions_of_pass(inputs: Inputs) -> Decisions:
    """Decide about all objects that a pass looks at."""
    tainted, index = clusters_of_pass(inputs)
    return decisions_about_claims(claimed_templates(inputs, tainted), tainted, index)


def clusters_of_pass(inputs: Inputs) -> tuple[TaintedClusters, ClusterIndex]:
    """Return the clusters as facts and conditions have them, and the index of those with what is left of their room."""
    corrected = clusters_corrected_by_facts(inputs.desired.clusters, inputs.facts)
    tainted = clusters_with_taints(corrected, inputs.desired, inputs.failover)
    return tainted, ClusterIndex(clusters_with_reserves(tainted.clusters, inputs.facts, inputs.reserves))


def claimed_templates(inputs: Inputs, tainted: TaintedClusters) -> ClaimedTemplates:
    """Scale what rules of cron scale, and match the templates of a pass with their policies."""
    desired, before = inputs.desired, inputs.previous.bindings if inputs.previous else {}
    webhooks = Recording(inputs.answers)
    interpreter = interpreter_of_source(desired, webhooks.send, members=tainted.clusters)
    cron = _scaled_templates(inputs, interpreter, before)
    scaled = replace(inputs, desired=replace(desired, templates=cron.templates))
    return ClaimedTemplates(
        inputs=scaled,
        interpreter=interpreter,
        webhooks=webhooks,
        cron=cron,
        claims=_claims_of_pass(scaled, interpreter, before, cron),
        templates={template.ref: template for template in cron.templates},
    )


def decisions_about_claims(claimed: ClaimedTemplates, tainted: TaintedClusters, index: ClusterIndex) -> Decisions:
    """Choose the clusters of claimed templates, and find what follows them there."""
    inputs, claims = claimed.inputs, claimed.claims
    failover, descheduling, schedule = _scheduling_results(inputs, claims, tainted, index)
    splits = SplitsBefore(
        before=inputs.previous.bindings if inputs.previous else {},
        index=index,
        now=inputs.failover.now,
        are_evicted=inputs.desired.fleet.feature_gates.failover,
    )
    restored = splits.splits_restored_before(schedule.bindings) if inputs.rollouts.states else {}
    steps = _steps_of_bindings(claimed, schedule, splits, restored)
    return Decisions(
        claimed=claimed,
        tainted=tainted,
        index=index,
        failover=failover,
        descheduling=descheduling,
        schedule=schedule,
        moved=steps.moved,
        placements=steps.placements,
        following=steps.following,
        bindings=steps.bindings,
        splits=splits,
        restored=restored,
    )


def decisions_with_restored_splits(decisions: Decisions, restored: RestoredSplits) -> Decisions:
    """Return decisions where rollbacks give other objects the targets of before a change than was thought."""
    steps = _steps_of_bindings(decisions.claimed, decisions.schedule, decisions.splits, restored)
    return replace(
        decisions,
        moved=steps.moved,
        placements=steps.placements,
        following=steps.following,
        bindings=steps.bindings,
        restored=restored,
    )


class _Steps(Struct, frozen=True, kw_only=True):
    """The steps of a pass on the way to what was decided, with what follows there."""

    moved: MovedBindings
    placements: Mapping[ObjectRef, PlacementInRollout]
    following: Following
    bindings: tuple[Binding, ...]


def _steps_of_bindings(
    claimed: ClaimedTemplates, schedule: Schedule, splits: SplitsBefore, restored: RestoredSplits
) -> _Steps:
    """Return what objects have in this pass of what was decided, and what follows them there."""
    inputs, claims, templates, index = claimed.inputs, claimed.claims, claimed.templates, splits.index
    placements = _placements_in_rollouts(inputs, schedule.bindings, index)
    restored = {ref: split for ref, split in restored.items() if ref not in placements}
    ending = splits.bindings_that_end_as_before(schedule.bindings, restored)
    moved = splits.moved_beside_decision(
        _moved_bindings(inputs, ending, index, placements), schedule.bindings, restored
    )
    moved = replace(moved, bindings=bindings_with_all_targets(moved.bindings, placements)) if placements else moved
    # What a released binding requires stays with it, or its pods would miss it.
    every = (*moved.bindings, *claims.released)
    follows = followers_of_bindings(every, templates, claimed.interpreter)
    return _Steps(
        moved=moved,
        placements=placements,
        following=follows,
        bindings=bindings_with_dependencies(every, follows, templates),
    )


def _scaled_templates(inputs: Inputs, interpreter: Interpreter, before: Mapping[ObjectRef, Binding]) -> CronScaling:
    desired, now = inputs.desired, inputs.failover.now
    deadline = desired.fleet.cron.deadline
    rules = (replace(each, deadline=deadline) for each in desired.cron_autoscalers)
    autoscalers: tuple[Autoscaler, ...] = (*rules, *desired.federated_autoscalers)
    return scaled_by_cron(desired.templates, autoscalers, interpreter, before, now)


def _claims_of_pass(
    inputs: Inputs, interpreter: Interpreter, before: Mapping[ObjectRef, Binding], cron: CronScaling
) -> Claims:
    """Match templates with policies, record what scales them, and ask again for what rebalancers name."""
    claims = claim_templates(inputs.templates, inputs.desired, interpreter, before)
    claims = claims.without_failed(cron.failed, inputs.templates)
    desired, rollbacks = inputs.desired, {each.record_name for each in inputs.desired.rollback_requests}
    bindings = bindings_with_requests(cron.with_cron_states(claims.bindings), desired.reschedule_requests, rollbacks)
    if inputs.restorations.splits:
        bindings = bindings_with_former_splits(bindings, inputs.restorations.splits)
    past = PastDivisions(previous=inputs.previous, source=inputs.source, desired=desired, interpreter=interpreter)
    return past.without_changes_by_facts(replace(claims, bindings=bindings), inputs.templates)


def _scheduling_results(
    inputs: Inputs, claims: Claims, tainted: TaintedClusters, index: ClusterIndex
) -> tuple[FailedOver, Descheduling, Schedule]:
    """Take from clusters what is evicted or descheduled, and schedule the rest."""
    fleet, before = inputs.desired.fleet, inputs.previous.bindings if inputs.previous else {}
    context = _context_for_scheduling(inputs, claims, before)

    def schedule(bindings: Sequence[Binding]) -> Schedule:
        return schedule_bindings(bindings, index, fleet, context)

    manifests = {template.ref: template.manifest for template in inputs.templates}
    runs = RunsOfPass(
        bindings=claims.bindings,
        runs={} if fleet.is_karmada_compatible else inputs.failover.health.runs,
        manifests=manifests,
        index=index,
        tie_break=fleet.tie_break,
    )
    done, lowered, found = schedule_in_rounds(runs, tainted, fleet, inputs.failover, schedule)
    if done.clusters_left_by_object:  # to go through the former bindings reads every one of them
        looked_at = before if inputs.scope is None else inputs.scope.refs & before.keys()
        done = replace(done, followers=followers_of(done.clusters_left_by_object, map(before.__getitem__, looked_at)))
    return done.with_flips_of_others(inputs.scope.waits if inputs.scope else {}), lowered, found


def _context_for_scheduling(inputs: Inputs, claims: Claims, before: Mapping[ObjectRef, Binding]) -> BatchContext:
    """Return what else has to do with the clusters: bindings that keep what they have, and CRDs of this pass."""
    failed = [before[template.ref] for template, _ in claims.failed if template.ref in before]
    others = inputs.scope.others if inputs.scope else ()
    is_enforced = inputs.desired.fleet.feature_gates.federated_quota_enforcement
    quotas = inputs.desired.quotas if is_enforced else ()
    return BatchContext(
        unscheduled=(*claims.released, *failed, *others),
        apis_by_crd=apis_by_crd(inputs.templates),
        quotas=[parse_federated_quota(each.manifest) for each in quotas],
        former=former_components(claims.bindings, before) if quotas else {},
    )


def _moved_bindings(
    inputs: Inputs, bindings: Sequence[Binding], index: ClusterIndex, placed: Container[ObjectRef]
) -> MovedBindings:
    """Return the bindings as they were decided, or a step on the way where replicas move step by step."""
    desired = inputs.desired
    if not may_moves_be_gradual(desired.fleet.moves, desired.rollout_policies):
        return MovedBindings(bindings=tuple(map(binding_without_move_note, bindings)))
    policies, templates = RolloutIndex(desired.rollout_policies), {each.ref: each for each in inputs.templates}

    def settings_of(ref: ObjectRef) -> MoveSettings:
        policy = policies.policy_for_template(templates[ref])
        return move_settings_of_policy(policy, desired.fleet.moves)

    stage = MoveStage(
        before=inputs.previous.bindings if inputs.previous else {},
        health=inputs.moves.health,
        index=index,
        settings_of=settings_of,
        source=inputs.source,
        is_judged_whole=desired.fleet.removal_guard.scope is GuardScope.FLEET,
        placed=placed,
        now=inputs.failover.now,
    )
    return stage.moved(bindings)


def _placements_in_rollouts(
    inputs: Inputs, bindings: Sequence[Binding], index: ClusterIndex
) -> Mapping[ObjectRef, PlacementInRollout]:
    """Return the changed placements that go out wave by wave."""
    if inputs.rollouts.are_over:
        return {}
    stage = PlacementStage(
        before=inputs.previous.bindings if inputs.previous else {},
        policies=inputs.desired.rollout_policies,
        templates={each.ref: each for each in inputs.templates},
        index=index,
        under_way=inputs.rollouts.states,
        calendar=CalendarOfPass(
            calendar=FleetCalendar.of(inputs.desired.fleet.rollouts, index), now=inputs.failover.now
        ),
    )
    return stage.placements(bindings)
