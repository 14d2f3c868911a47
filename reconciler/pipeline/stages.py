"""One pass as values: from what the source, the facts and the previous commit say to the next rendered tree.

1. decide: what claims every template, where it goes, what it brings along (``decisions``);
2. build: works per class of clusters, overrides applied, each object in the version that a cluster is due;
3. assemble: what could not change keeps its bytes; namespaces follow; bindings and the front page are written, and
   clusters that would lose too much keep what they have.

Nothing here reads a file, a clock or a network, so the same three inputs give the same tree everywhere.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from overrides.engine import OverrideEngine
from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.interpreter import Interpreter
from render.model import ObjectRef
from render.works import TargetGroups, WorkContext, Works

from .claims import Claims
from .decisions import Decisions, decisions_of_pass, decisions_with_restored_splits
from .override_records import OverrideRecords
from .pass_values import Built, Inputs, Rendered
from .pending import PastOutcome, with_pending_conditions
from .rendered_condition import kept_binding, with_rendered_condition
from .rollouts.stage_values import RolledOut
from .template_works import tree_context_of_pass, works_of_template
from .tree_of_pass import rendered_tree


def render_pass(inputs: Inputs) -> Rendered:
    """Compute the next rendered tree."""
    decisions, scope = decisions_of_pass(inputs), inputs.scope
    if scope and not decisions.following.snapshots.keys() <= scope.refs:
        # An object of this scope requires others outside it, which then have to be looked at as well.
        return render_pass(replace(inputs, scope=scope.with_refs(decisions.following.snapshots)))
    return rendered_tree(inputs, _built_works(decisions))


def _built_works(decisions: Decisions) -> Built:
    """Build the works of what was decided, in the version that every cluster is due."""
    claimed, index = decisions.claimed, decisions.index
    inputs, claims, interpreter = claimed.inputs, claimed.claims, claimed.interpreter
    before = inputs.previous.bindings if inputs.previous else {}
    work_context = _work_context(inputs.desired, interpreter, index)
    decisions, rolled = _decisions_after_rollouts(decisions, work_context)
    past = PastOutcome(fleet=tree_context_of_pass(inputs, index), before=before, source=inputs.source)
    records = OverrideRecords(names=index.names, interpreter=interpreter, templates=claimed.templates, before=before)
    judged = _with_build_conditions(
        records.with_records(rolled.bindings, rolled.works, past.fleet), rolled.works, claims.waiting, past
    )
    return Built(
        index=index,
        work_context=work_context,
        claims=claims,
        schedule=decisions.schedule,
        failover=decisions.failover,
        descheduling=decisions.descheduling,
        cron=claimed.cron,
        tainted=decisions.tainted,
        following=decisions.following,
        works=rolled.works,
        rolled=rolled,
        moved=decisions.moved,
        bindings=tuple(sorted((*judged, *_kept_bindings(claims, past)), key=lambda binding: binding.ref)),
        webhooks=claimed.webhooks,
    )


def _decisions_after_rollouts(decisions: Decisions, work_context: WorkContext) -> tuple[Decisions, RolledOut]:
    """Return the outcome of rollouts, and the decisions that they go by.

    Where rollbacks of this pass give replicas back, or take back what they gave, others follow in a second round.
    """
    rolled, given = _rolled_out(decisions, work_context), decisions.claimed.inputs.rollouts
    if given.are_over or rolled.restored_splits == decisions.restored:
        return decisions, rolled
    inputs = replace(
        decisions.claimed.inputs,
        rollouts=replace(given, states=rolled.states, emergencies=rolled.emergencies),
    )
    later = replace(decisions, claimed=replace(decisions.claimed, inputs=inputs))
    later = decisions_with_restored_splits(later, rolled.restored_splits)
    return later, rolled.after_another_round(_rolled_out(later, work_context))


def _rolled_out(decisions: Decisions, work_context: WorkContext) -> RolledOut:
    """Return the bindings and their works with the version of each object that every cluster is due."""
    claimed, bindings, index = decisions.claimed, decisions.bindings, decisions.index
    inputs, unbuilt = claimed.inputs, decisions.schedule.objects_kept_by_quota | claimed.claims.objects_kept
    refs = {template.ref for template in inputs.templates}.union(binding.ref for binding in bindings)
    templates = {each.ref: each for each in inputs.desired.templates if each.ref in refs}
    made = (binding for binding in bindings if binding.ref not in unbuilt)
    works = {each.ref: works_of_template(templates[each.ref], each, work_context, index) for each in made}
    if not _may_hold_changes_back(inputs):
        return RolledOut.of_newest(bindings, works)
    from .rollout_round import rolled_out_in_round  # which most fleets have no use for

    return rolled_out_in_round(decisions, work_context, works, templates)


def _may_hold_changes_back(inputs: Inputs) -> bool:
    """Say whether a rollout, the calendar or a person may have a cluster wait for the newest version."""
    desired, given = inputs.desired, inputs.rollouts
    calendar = desired.fleet.rollouts
    return bool(
        desired.rollout_policies
        or given.states
        or given.emergencies
        or given.pauses
        or inputs.controls
        or calendar.freezes
        or calendar.windows
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


def _with_build_conditions(
    bindings: Iterable[Binding], works: Mapping[ObjectRef, Works], waiting: Mapping[ObjectRef, str], past: PastOutcome
) -> Iterator[Binding]:
    """Yield the bindings with conditions for what could not be built, and for what is pending."""
    names = past.fleet.index.names
    for binding in bindings:
        built = works.get(binding.ref)
        judged = with_rendered_condition(binding, built, names, past.before, past.source)
        yield with_pending_conditions(judged, built, waiting.get(binding.ref, ""), past)
