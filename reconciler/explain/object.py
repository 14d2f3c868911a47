"""One object explained, as values: policies, the decision, capacity, overrides, and clusters that keep older bytes.

Nothing here decides. Everything is read from the pass that was computed, or is a step of that pass taken once more, so
that the explanation fits what is rendered.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.pipeline.claims import next_matches, policy_index
from reconciler.pipeline.cron import CappedReplicas, next_firing, scale_words
from reconciler.pipeline.descheduling import NO_ROOM
from reconciler.pipeline.eviction_notes import MAKE_BEFORE_BREAK, MOVE_STOPPED, NOTES
from reconciler.pipeline.need_notes import STILL_NEEDED
from reconciler.pipeline.pass_values import Built, Rendered
from reconciler.pipeline.pending import SUSPENDED, pending_of
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.rendered_condition import REMOVAL_HELD, RENDERED, failure_reason
from reconciler.pipeline.thin_spreads import thin_spreads_of
from reconciler.pipeline.under_way import moving_words
from reconciler.source.desired import Desired, is_about_kind
from render.binding import Binding, BindingSnapshot, KeptTargets
from render.cron.rules import Scale
from render.failover.eviction import DIRECTLY
from render.matching.match import Match, NoPolicyReason
from render.matching.near_misses import NearMisses
from render.matching.precedence import RankedPolicy
from render.model import ObjectRef, TargetCluster, Template
from render.policy import PropagationPolicy
from render.rollouts.plan import planned_waves
from render.scheduling.explanation import Explanation
from render.scheduling.filters.unmet import Unmet
from render.scheduling.scheduler import DEFAULT_SCHEDULER, is_schedulable
from render.scheduling.unmet_placements import unmet_lists_of_cluster_names, unmet_requirements_of_placement
from render.selectors import ImplicitPriority, implicit_priority_for_template
from render.timing import instant_text
from render.words import counted_noun, first_few

from .capacity import ClusterRoom, room_in_each_candidate
from .divisions import division_warnings, interpreter_layers_of_replicas
from .overrides import OverriddenClusters, overridden_clusters, sorted_cluster_names

SELECTS_BY = {ImplicitPriority.ALL: "kind", ImplicitPriority.LABEL: "labels", ImplicitPriority.NAME: "name"}


_REPLACED = "healthy copies replace it"


class PolicyVerdict(Struct, frozen=True, kw_only=True):
    """A policy that selects an object, whether it claims it (``holds``), and if not, the reason."""

    policy: str
    path: str
    selects_by: str
    priority: int
    holds: bool
    why: str


class ExplainedComponent(Struct, frozen=True, kw_only=True):
    """A pod template of a workload that counts by components: its replicas, and the requests of each of them."""

    name: str
    replicas: int
    requests: Mapping[str, str]


class Kept(Struct, frozen=True, kw_only=True):
    """Clusters that keep the bytes of an earlier commit, and the reason."""

    clusters: tuple[str, ...]
    reason: str
    message: str


class ObjectExplanation(Struct, frozen=True, kw_only=True):
    """The explanation of one object.

    ``verdict`` says in one sentence which policy claims it, or why none does. ``replicas`` are those it asks for (None:
    it has none), ``components`` its pod templates, where it counts by these, ``targets`` the clusters that it got, with
    the replicas they get, and ``overridden`` those of them to which its policy assigns others.
    ``unmet`` are parts of the placement that no cluster meets, or too few.
    ``decision`` is None where the scheduler had no say; ``decided_in`` is the rendered commit it was taken in, if that
    is an earlier one. ``facts`` says when observations were recorded. ``pending`` is what is decided and not carried
    out. ``origin`` is the file that a tool made it from, where ``path`` asks for that. ``scaled`` says in a sentence
    which rule of a CronFederatedHPA set its replicas, and which fires next. ``descheduled`` says what the descheduler
    last took from clusters. ``moved`` says when it was last evicted, and why; ``left`` are those that it
    left so in the pass that decided. ``waits`` says what becomes of it by itself, and when, because clusters or the
    object in them fail. ``interpreters`` are the customizations and webhooks of the source that are asked
    about its kind, ``layers`` those layers of the interpreter that read and write its replicas. ``undivided`` are the
    numbers that each cluster gets whole, though its policy divides it. ``joined_later`` says of clusters that are
    younger than the decision what a new one would give them, ``refused_before`` the same of those that were refused
    then and are no more.
    """

    ref: ObjectRef
    path: str
    verdict: str
    policies: tuple[PolicyVerdict, ...] = ()
    replicas: int | None = None
    components: tuple[ExplainedComponent, ...] = ()
    targets: tuple[TargetCluster, ...] = ()
    overridden: tuple[str, ...] = ()
    required_by: tuple[BindingSnapshot, ...] = ()
    decision: Explanation | None = None
    decided_in: str = ""
    decided_from: str = ""
    rooms: tuple[ClusterRoom, ...] = ()
    facts: str = ""
    overrides: tuple[OverriddenClusters, ...] = ()
    kept: tuple[Kept, ...] = ()
    unmet: tuple[Unmet, ...] = ()
    pending: tuple[str, ...] = ()
    origin: str = ""
    scaled: str = ""
    descheduled: str = ""
    moved: str = ""
    left: tuple[str, ...] = ()
    waits: str = ""
    interpreters: tuple[str, ...] = ()
    layers: Mapping[str, str] = field(default_factory=dict)
    undivided: tuple[Unmet, ...] = ()
    joined_later: tuple[str, ...] = ()
    refused_before: tuple[str, ...] = ()


def object_explanation(
    ref: ObjectRef, desired: Desired, rendered: Rendered, previous: Previous | None = None
) -> ObjectExplanation:
    """Explain an object, or a namespace that its objects bring along; ``previous`` has the former versions of it."""
    built = rendered.built
    templates = (*desired.templates, *(template for template, _ in rendered.namespaces))
    template = next(each for each in templates if each.ref == ref)
    binding = next((each for each in built.bindings if each.ref == ref), None)
    match = built.claims.matches.get(ref, Match())
    considered = policy_index(desired).candidates(template) if match.is_selected else ()
    decision = next(built.schedule.explanations({ref}), None)
    targets = _targets_of_object(ref, binding, rendered)
    return ObjectExplanation(
        ref=ref,
        path=template.path,
        origin=template.origin,
        verdict=policy_claim_in_words(ref, binding, match, rendered)
        + ("" if targets else _policy_that_nearly_selects(template, match, desired)),
        policies=tuple(_verdict_on_policy(each, match) for each in considered),
        replicas=binding.asked_replicas if binding and binding.is_workload else None,
        components=tuple(_explained_components(binding)) if binding else (),
        targets=targets,
        overridden=tuple(sorted(binding.overridden_replicas)) if binding else (),
        required_by=binding.required_by if binding else (),
        decision=decision,
        rooms=room_in_each_candidate(binding, decision, built.schedule.scheduler.state) if binding and decision else (),
        overrides=tuple(overridden_clusters(template, binding, desired, built, previous)) if binding else (),
        kept=tuple(_clusters_keeping_former_bytes(binding, built)) if binding else (),
        unmet=(*unmet_parts_of_placement(match.policy, built), *_unmet_spread_constraints(binding, built)),
        pending=tuple(each.message for each in pending_of([binding])) if binding else (),
        scaled=scaling_in_words(binding, built.cron.capped.get(ref)) if binding else "",
        descheduled=descheduling_in_words(binding) if binding else "",
        moved=moving_words(binding) if binding else "",
        left=built.failover.left.get(ref, ()),
        interpreters=tuple(_interpreters_asked_about(template, desired)),
        layers=interpreter_layers_of_replicas(template, built.work_context.interpreter) if binding else {},
        undivided=tuple(division_warnings(ref, desired, built)),
        waits=f"{flip.what} at {instant_text(flip.at)}" if (flip := built.flips_by_waiting_object.get(ref)) else "",
    )


def verdicts_on_policies(
    template: Template, desired: Desired, previous: Mapping[ObjectRef, Binding]
) -> tuple[PolicyVerdict, ...]:
    """Return the policies of a source that select a template, best first, as the next pass will judge them."""
    match = next_matches(desired, previous, [template])[template.ref]
    considered = policy_index(desired).candidates(template) if match.is_selected else ()
    return tuple(_verdict_on_policy(each, match) for each in considered)


def _explained_components(binding: Binding) -> Iterator[ExplainedComponent]:
    for each in binding.components:
        requests = each.requirements.resource_request if each.requirements else {}
        yield ExplainedComponent(name=each.name, replicas=each.replicas, requests=dict(sorted(requests.items())))


def _interpreters_asked_about(template: Template, desired: Desired) -> Iterator[str]:
    """Yield the customizations and webhooks of the source that are asked about objects of a template's kind."""
    api = str(template.manifest["apiVersion"]), str(template.manifest["kind"])
    for each in (*desired.customizations, *desired.webhooks):
        if is_about_kind(each, *api):
            scripts = ((each.manifest.get("spec") or {}).get("customizations") or {}).keys()
            asked = f" for {first_few(sorted(scripts))}" if scripts else ""
            yield f"{each.ref.kind} {each.ref.name} ({each.path}){asked}"


def scaling_in_words(binding: Binding, capped: CappedReplicas | None = None) -> str:
    """Return what scales a workload: rules and bounds, and which rule fires next; nothing where nothing does."""
    said = []
    if scaled := binding.scaled:
        by = (
            f"CronFederatedHPA {scaled.autoscaler} set {counted_noun(scaled.replicas, 'replica')} by"
            f" its rule {scaled.rule}"
        )
        said.append(f"{by} at {instant_text(scaled.due)}, where the template says {scaled.template}")
    if bounds := binding.bounds:
        words = scale_words(Scale(minimum=bounds.bounds.minimum, maximum=bounds.bounds.maximum), "it")
        said.append(
            f"CronFederatedHPA {bounds.autoscaler} {words} by its rule {bounds.rule} of {instant_text(bounds.due)}"
        )
    if capped:
        words = scale_words(Scale(minimum=capped.bounds.minimum, maximum=capped.bounds.maximum), "it")
        said.append(f"FederatedHPA {capped.autoscaler.name} {words}, where {capped.asked} would be asked for")
    flip = next_firing(binding.ref, binding.cron)
    if flip and not said:
        said.append("The replicas are the template's own")
    return "; ".join([*said, *([f"next, {flip.what} at {instant_text(flip.at)}"] if flip else [])])


def descheduling_in_words(binding: Binding) -> str:
    """Return what the descheduler last took from clusters; nothing where it took nothing."""
    if binding.descheduled is None:
        return ""
    taken = first_few(
        [f"{counted_noun(each.replicas, 'replica')} from {each.name}" for each in binding.descheduled.clusters]
    )
    return f"The descheduler took {taken} at {binding.descheduled.at}, where no node took them"


def unmet_parts_of_placement(policy: PropagationPolicy | None, built: Built) -> tuple[Unmet, ...]:
    """Return the parts of a policy's placement that no cluster meets, or too few."""
    if policy is None:
        return ()
    return (
        *unmet_lists_of_cluster_names(policy.placement, built.index),
        *unmet_requirements_of_placement(policy.placement, built.index),
    )


def _unmet_spread_constraints(binding: Binding | None, built: Built) -> Iterator[Unmet]:
    """Yield the spread constraints that ask for more than have replicas of an object."""
    for each in thin_spreads_of(filter(None, [binding]), built.index):
        yield Unmet(field=f"spec.placement.spreadConstraints[{each.number}]", message=each.message, hint=each.hint)


def policy_claim_in_words(ref: ObjectRef, binding: Binding | None, match: Match, rendered: Rendered) -> str:
    """Say in one sentence which policy claims an object, or why none does."""
    if any(template.ref == ref for template, _ in rendered.namespaces):
        return "it is propagated with the objects in it"
    policy = binding.policy if binding is not None else str(match.policy or "")
    if policy:
        return f"{policy} claims it{_obstacle_to_placing(ref, policy, binding, match, rendered)}"
    if match.reason is NoPolicyReason.NEVER_PROPAGATED:
        return f"never propagated: {match.message}"
    if binding is not None and binding.required_by and not match.is_selected:
        return "no policy selects it; it follows what requires it"
    if binding is not None:
        return f"released: {match.message or 'no policy selects it'}; its objects stay as they are"
    return match.message or "no policy selects it"


def _policy_that_nearly_selects(template: Template, match: Match, desired: Desired) -> str:
    """Name a policy that would select an object which none selects, were it not for its namespace."""
    if match.is_selected or match.reason is NoPolicyReason.NEVER_PROPAGATED:
        return ""
    found = [
        (-selects_by, str(policy))
        for policy in desired.policies
        if policy.is_namespaced and policy.namespace != template.ref.namespace
        for selector in policy.resource_selectors
        if (selects_by := implicit_priority_for_template(replace(selector, namespace=""), template))
        > ImplicitPriority.ALL
    ]
    if not found:
        miss = NearMisses(desired.policies).nearest(template)
        return f"; nearest policy: {miss}" if miss else ""
    there = f"in namespace {template.ref.namespace!r} or " if template.ref.namespace else ""
    return f"; {min(found)[1]} would, if it were {there}a ClusterPropagationPolicy"


def _obstacle_to_placing(ref: ObjectRef, policy: str, binding: Binding | None, match: Match, rendered: Rendered) -> str:
    """Say what keeps a policy from placing the object it claims; empty when nothing does."""
    error = next((error for template, error in rendered.built.claims.failed if template.ref == ref), None)
    if error is not None:
        return f", but it could not be interpreted: {error}"
    if match.policy is not None and str(match.policy) != policy:
        return f"; {match.policy} waits for it to change"
    if binding is not None and not is_schedulable(binding):
        name = binding.scheduler_name or DEFAULT_SCHEDULER
        return (
            f", but scheduler {name!r} is to place it" if name != DEFAULT_SCHEDULER else ", but scheduling is suspended"
        )
    return ""


def _verdict_on_policy(candidate: RankedPolicy, match: Match) -> PolicyVerdict:
    policy, holds = candidate.policy, match.policy is candidate.policy
    return PolicyVerdict(
        policy=str(policy),
        path=policy.path,
        selects_by=SELECTS_BY[candidate.implicit_priority],
        priority=policy.priority,
        holds=holds,
        why="" if holds else candidate.why_lost or match.message or f"{match.policy} has claimed it",
    )


def _targets_of_object(ref: ObjectRef, binding: Binding | None, rendered: Rendered) -> tuple[TargetCluster, ...]:
    if binding is not None:
        set_there = binding.overridden_replicas
        found = (TargetCluster(name, set_there.get(name, share)) for name, share in binding.target_replicas.items())
        return tuple(sorted(found))
    works = next((works for template, works in rendered.namespaces if template.ref == ref), None)
    mask = 0
    for variant in works.variants if works else ():
        mask |= variant.clusters
    return tuple(TargetCluster(name) for name in sorted_cluster_names(mask, rendered.built))


def _clusters_keeping_former_bytes(binding: Binding, built: Built) -> Iterator[Kept]:
    """Yield the clusters that keep the bytes of an earlier commit, or none, and the reasons."""
    works = built.works.get(binding.ref)
    if works is None:
        reasons = [each for each in binding.conditions if each.status == "False"]
        reason = reasons[-1] if reasons else None
        names = tuple(sorted(target.name for target in binding.targets))
        yield Kept(clusters=names, reason=reason.reason if reason else "", message=reason.message if reason else "")
        return
    staying = {name for each in binding.conditions if each.reason in NOTES for name in each.clusters}
    for kept in binding.kept:
        if not staying.isdisjoint(kept.clusters) or binding.clusters_before_delivery.issuperset(kept.clusters):
            continue  # their note says why they have it still, or their wave why not yet
        yield Kept(clusters=kept.clusters, reason=SUSPENDED, message=_suspension_message(binding, kept))
    failed: set[str] = set()
    for failure in works.failures:
        names = sorted_cluster_names(failure.clusters, built)
        failed.update(names)
        yield Kept(clusters=names, reason=failure_reason([failure.error]), message=str(failure.error))
    yield from _clusters_evicted_from(binding)
    yield from _clusters_at_former_versions(binding, built)
    for condition in binding.conditions:
        if condition.type == RENDERED and (capped := tuple(name for name in condition.clusters if name not in failed)):
            yield Kept(clusters=capped, reason=REMOVAL_HELD, message=condition.message)


def _clusters_evicted_from(binding: Binding) -> Iterator[Kept]:
    """Yield the clusters that a binding is evicted from, and those that it would leave if it could."""
    for task in binding.eviction_tasks:
        if task.purge_mode != DIRECTLY:
            until = "its policy says otherwise, or it is healthy again" if task.suppress_deletion else _REPLACED
            message = f"left since {task.creation_timestamp}; what is there stays until {until}"
            yield Kept(clusters=(task.from_cluster,), reason=task.reason, message=message)
    for condition in binding.conditions:
        if condition.reason in {NO_ROOM, STILL_NEEDED, MAKE_BEFORE_BREAK, MOVE_STOPPED, *NOTES}:
            yield Kept(clusters=condition.clusters, reason=condition.reason, message=condition.message)


def _clusters_at_former_versions(binding: Binding, built: Built) -> Iterator[Kept]:
    """Yield the clusters that a change has not reached yet, by the wave in which it will."""
    rollout = binding.rollout
    state = built.rolled.states.get(rollout.name) if rollout is not None else None
    if rollout is None or state is None or not rollout.is_under_way:
        return
    if rollout.is_split_restored:
        names = tuple(sorted(each.name for each in binding.targets))
        message = f"{rollout.name} went back, and gave each cluster what it had before change {state.change}"
        yield Kept(clusters=names, reason=state.reason, message=message)
    known = rollout.version_by_cluster
    targets = {each.name for each in (*binding.targets, *(it for each in binding.required_by for it in each.clusters))}
    former = {name for name in targets if known.get(name, rollout.completed) != rollout.target}
    for wave in planned_waves(state):
        if names := tuple(sorted(former.intersection(wave.clusters))):
            if state.plan.is_of_fleet:
                message = f"{rollout.policy} holds change {state.change} back: {state.next_step}"
            else:
                message = f"{rollout.name} lets change {state.change} out in wave {wave.name}: {state.next_step}"
            yield Kept(clusters=names, reason=state.phase, message=message)


def _suspension_message(binding: Binding, kept: KeptTargets) -> str:
    """Return because of what clusters keep what they have, and what that is."""
    state = "but nothing differs"
    if kept.is_pending:
        state = "and it is not there yet" if kept.replicas is None else "so an older version stays"
    replicas = f" ({counted_noun(kept.replicas, 'replica')})" if kept.replicas else ""
    return f"{binding.policy} suspends dispatching, {state}{replicas}"
