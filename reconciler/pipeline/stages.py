"""One pass as values: from what the source, the facts and the previous commit say to the next rendered tree.

1. claim: match every template with its policy, interpret it, make its binding;
2. schedule: choose clusters and divide replicas, in one total order;
3. move: where replicas move step by step, take the next step between what clusters have and what was decided;
4. follow: bring dependencies along;
5. build: works per class of clusters, overrides applied;
6. assemble: what could not change keeps its bytes; namespaces follow; bindings and the front page are written, and
   clusters that would lose too much keep what they have.

Nothing here reads a file, a clock or a network, so the same three inputs give the same tree everywhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from overrides.engine import OverrideEngine
from reconciler.source.desired import Desired, interpreter_of_source
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding
from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.interpreter import Interpreter
from render.model import ObjectRef
from render.quota.enforcement import parse_federated_quota
from render.rescheduling.requests import bindings_with_requests
from render.rollouts.emergencies import flips_of_emergencies, seconds_to_confirm, unconfirmed_emergencies
from render.rollouts.fleet_calendar import FleetCalendar
from render.rollouts.selection import RolloutIndex
from render.scheduling.batch import BatchContext
from render.settings.moves import MoveSettings
from render.settings.removal_guard import GuardScope
from render.timing import earliest_flip
from render.works import TargetGroups, WorkContext, Works

from .assembly import (
    clusters_with_suspended_dispatch,
)
from .claims import Claims, claim_templates
from .cron import Autoscaler, CronScaling, scaled_by_cron
from .dependencies import bindings_with_dependencies, followers_of, followers_of_bindings
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
from .override_records import OverrideRecords
from .pass_values import Built, Inputs, Rendered
from .pending import PastOutcome, with_pending_conditions
from .rendered_condition import kept_binding, with_rendered_condition
from .reserves import clusters_with_reserves
from .rollouts.calendar_of_pass import CalendarOfPass
from .rollouts.placements import PlacementInRollout, PlacementStage, bindings_with_all_targets
from .rollouts.policies import RolloutContext
from .rollouts.stage import RolloutStage
from .rollouts.stage_values import RolledOut
from .rollouts.works import VersionContexts
from .rounds import schedule_in_rounds
from .runs import RunsOfPass
from .schedules import Schedule, apis_by_crd, former_components, schedule_bindings
from .taints import TaintedClusters
from .template_works import tree_context_of_pass, works_of_template
from .tree_of_pass import rendered_tree
from .webhook_answers import Recording


def render_pass(inputs: Inputs) -> Rendered:
    """Compute the next rendered tree."""
    built, scope = _built_works(inputs), inputs.scope
    if scope and not built.following.snapshots.keys() <= scope.refs:
        # An object of this scope requires others outside it, which then have to be looked at as well.
        return render_pass(replace(inputs, scope=scope.with_refs(built.following.snapshots)))
    return rendered_tree(inputs, built)


def _built_works(inputs: Inputs) -> Built:
    desired, before = inputs.desired, inputs.previous.bindings if inputs.previous else {}
    tainted, index = _clusters_of_pass(inputs)
    webhooks = Recording(inputs.answers)
    interpreter = interpreter_of_source(desired, webhooks.send, members=tainted.clusters)
    cron = _scaled_templates(inputs, interpreter, before)
    inputs = replace(inputs, desired=replace(desired, templates=cron.templates))
    template_by_ref = {template.ref: template for template in cron.templates}
    claims = _claims_of_pass(inputs, interpreter, before, cron)
    failover, descheduling, schedule = _scheduling_results(inputs, claims, tainted, index)
    moved = _moved_bindings(inputs, schedule, index)
    placements = _placements_in_rollouts(inputs, moved.bindings, index)
    moved = replace(moved, bindings=bindings_with_all_targets(moved.bindings, placements)) if placements else moved
    # What a released binding requires stays with it, or its pods would miss it.
    follows = followers_of_bindings((*moved.bindings, *claims.released), template_by_ref, interpreter)
    bindings = bindings_with_dependencies((*moved.bindings, *claims.released), follows, template_by_ref)
    work_context = _work_context(desired, interpreter, index)
    unbuilt = schedule.objects_kept_by_quota | claims.objects_kept
    rolled = _rolled_out(inputs, bindings, unbuilt, work_context, index, placements)
    past = PastOutcome(fleet=tree_context_of_pass(inputs, index), before=before, source=inputs.source)
    records = OverrideRecords(names=index.names, interpreter=interpreter, templates=template_by_ref, before=before)
    judged = _with_build_conditions(
        records.with_records(rolled.bindings, rolled.works, past.fleet), rolled.works, claims.waiting, past
    )
    return Built(
        index=index,
        work_context=work_context,
        claims=claims,
        schedule=schedule,
        failover=failover,
        descheduling=descheduling,
        cron=cron,
        tainted=tainted,
        following=follows,
        works=rolled.works,
        rolled=rolled,
        moved=moved,
        bindings=tuple(sorted((*judged, *_kept_bindings(claims, past)), key=lambda binding: binding.ref)),
        webhooks=webhooks,
    )


def _clusters_of_pass(inputs: Inputs) -> tuple[TaintedClusters, ClusterIndex]:
    """Return the clusters as facts and conditions have them, and the index of those with what is left of their room."""
    corrected = clusters_corrected_by_facts(inputs.desired.clusters, inputs.facts)
    tainted = clusters_with_taints(corrected, inputs.desired, inputs.failover)
    return tainted, ClusterIndex(clusters_with_reserves(tainted.clusters, inputs.facts, inputs.reserves))


def _moved_bindings(inputs: Inputs, schedule: Schedule, index: ClusterIndex) -> MovedBindings:
    """Return the bindings as they were decided, or a step on the way where replicas move step by step."""
    desired = inputs.desired
    if not may_moves_be_gradual(desired.fleet.moves, desired.rollout_policies):
        return MovedBindings(bindings=tuple(map(binding_without_move_note, schedule.bindings)))
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
    )
    return stage.moved(schedule.bindings)


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
    )
    return stage.placements(bindings)


def _rolled_out(
    inputs: Inputs,
    bindings: Sequence[Binding],
    unbuilt: frozenset[ObjectRef],
    work_context: WorkContext,
    index: ClusterIndex,
    placements: Mapping[ObjectRef, PlacementInRollout],
) -> RolledOut:
    """Return the bindings and their works with the version of each object that every cluster is due."""
    desired, previous, fleet = inputs.desired, inputs.previous, tree_context_of_pass(inputs, index)
    refs = {template.ref for template in inputs.templates}.union(binding.ref for binding in bindings)
    templates = {each.ref: each for each in desired.templates if each.ref in refs}
    made = (binding for binding in bindings if binding.ref not in unbuilt)
    works = {each.ref: works_of_template(templates[each.ref], each, work_context, index) for each in made}
    suspended = {each.ref: clusters_with_suspended_dispatch(each, fleet) for each in bindings if each.suspension}
    stage = RolloutStage(
        desired=desired,
        states=inputs.rollouts.states,
        are_over=inputs.rollouts.are_over,
        among=inputs.scope.refs if inputs.scope else None,
        unbuilt=unbuilt,
        placements=placements,
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


def _work_context(desired: Desired, interpreter: Interpreter, index: ClusterIndex) -> WorkContext:
    return WorkContext(
        targets=TargetGroups(index.index_by_name, desired.fleet.tie_break),
        interpreter=interpreter,
        override=OverrideEngine(desired.override_policies, index.clusters).override,
    )


def _kept_bindings(claims: Claims, past: PastOutcome) -> Iterator[Binding]:
    """Yield the former bindings of templates that could not be interpreted."""
    for template, error in claims.failed:
        if template.ref in past.before:
            yield kept_binding(template.ref, error, past.before, past.source)


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
    bindings = bindings_with_requests(cron.with_cron_states(claims.bindings), inputs.desired.reschedule_requests)
    past = PastDivisions(
        previous=inputs.previous, source=inputs.source, desired=inputs.desired, interpreter=interpreter
    )
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


def _with_build_conditions(
    bindings: Iterable[Binding], works: Mapping[ObjectRef, Works], waiting: Mapping[ObjectRef, str], past: PastOutcome
) -> Iterator[Binding]:
    """Yield the bindings with conditions for what could not be built, and for what is pending."""
    names = past.fleet.index.names
    for binding in bindings:
        built = works.get(binding.ref)
        judged = with_rendered_condition(binding, built, names, past.before, past.source)
        yield with_pending_conditions(judged, built, waiting.get(binding.ref, ""), past)


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
