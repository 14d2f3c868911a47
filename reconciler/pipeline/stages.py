"""One pass as values: from what the source, the facts and the previous commit say to the next rendered tree.

1. claim: match every template with its policy, interpret it, make its binding;
2. schedule: choose clusters and divide replicas, in one total order;
3. follow: bring dependencies along;
4. build: works per class of clusters, overrides applied;
5. assemble: what could not change keeps its bytes; namespaces follow; bindings and the front page are written, and
   clusters that would lose too much keep what they have.

Nothing here reads a file, a clock or a network, so the same three inputs give the same tree everywhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.engine import OverrideEngine
from reconciler.ledger.facts import Facts
from reconciler.ledger.health import HealthFile
from reconciler.ledger.webhook_answers import Answers, AnswersFile
from reconciler.source.desired import Desired, interpreter_of_source
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding
from render.bits import indexes_of_mask
from render.boundary import result_or_substitute
from render.cluster_index import ClusterIndex
from render.interpreter import Interpreter
from render.layout import object_path
from render.model import ObjectRef, TargetCluster, Template
from render.quota.enforcement import parse_federated_quota
from render.rescheduling.requests import bindings_with_requests
from render.revisions import WorkFailure
from render.scheduling.batch import BatchContext
from render.timing import Flip, earliest_flip, earliest_flip_of_each_key
from render.works import TargetGroups, WorkContext, Works, render_works

from .assembly import (
    Assembly,
    Tree,
    TreeContext,
    build_tree,
    cluster_folders,
    clusters_an_object_goes_to,
    place_resource_quotas,
    placed_variants,
)
from .binding_files import BindingWriter
from .claims import Claims, claim_templates, unexpected_failure
from .cluster_removals import Removal
from .cron import Autoscaler, CronScaling, scaled_by_cron
from .dependencies import Following, bindings_with_dependencies, followers_of, followers_of_bindings
from .descheduling import Descheduling
from .failover import FailedOver, FailoverInputs, clusters_with_taints
from .held_clusters import HeldClusters, bindings_with_held_clusters, clusters_to_hold
from .held_divisions import PastDivisions
from .kept_needs import PassedTree, bindings_with_needed_objects
from .namespaces import namespaces_to_place
from .need_notes import Variants
from .override_records import OverrideRecords
from .pending import PastOutcome, with_pending_conditions
from .previous import Previous
from .readme import Tally, readme_file, tally_of
from .rendered_condition import kept_binding, with_rendered_condition
from .reserves import RESERVED_FILE, Reserves, clusters_with_reserves, next_reserves, reserves_file
from .rounds import schedule_in_rounds
from .runs import RunsOfPass, health_that_decided
from .schedules import Schedule, apis_by_crd, former_components, schedule_bindings
from .scope import Scope
from .taints import TAINTS_FILE, TaintedClusters, taints_file
from .webhook_answers import Recording


class Inputs(Struct, frozen=True, kw_only=True):
    """All that decides a rendered tree. ``previous`` None is a first run; ``reserves`` are the previous commit's.

    ``answers`` are the recorded answers of interpreter webhooks. ``scope`` limits what is looked at (None: everything);
    it decides how long a pass takes, and nothing else. ``allowed_removals`` are the objects that may leave a cluster
    beyond the limits of the removal guard, where it holds back clusters one by one. ``failover`` has the time and
    the health that evictions depend on.
    """

    desired: Desired
    facts: Facts
    previous: Previous | None
    source: str
    reserves: Reserves = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    scope: Scope | None = None
    allowed_removals: Mapping[str, int] = field(default_factory=dict)
    failover: FailoverInputs = field(default_factory=FailoverInputs)

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates to look at."""
        scope, templates = self.scope, self.desired.templates
        return templates if scope is None else tuple(each for each in templates if each.ref in scope.refs)


class Built(Struct, frozen=True, kw_only=True):
    """The decisions and works of a pass, before the tree is put together."""

    index: ClusterIndex
    work_context: WorkContext
    claims: Claims
    schedule: Schedule
    failover: FailedOver
    descheduling: Descheduling
    cron: CronScaling
    tainted: TaintedClusters
    following: Following
    works: Mapping[ObjectRef, Works]
    bindings: tuple[Binding, ...]
    webhooks: Recording

    @property
    def flip(self) -> Flip | None:
        """The next instant at which the same inputs give another outcome, and what happens then."""
        return earliest_flip((self.failover.flip, self.descheduling.flip, self.cron.flip))

    @property
    def is_timed(self) -> bool:
        """Say whether a rule asked for the time."""
        return self.failover.is_timed or self.descheduling.is_timed or self.cron.is_timed

    @property
    def flips_by_waiting_object(self) -> Mapping[ObjectRef, Flip]:
        """The next instant at which each object that waits for one has another outcome, but for rules of cron."""
        return earliest_flip_of_each_key(self.failover.waits, self.descheduling.waits)

    @property
    def expected_removals(self) -> Mapping[str, frozenset[tuple[str, ...]]]:
        """The paths below the folder of each cluster that may be gone because of a rule of time."""
        failed_over = self.failover.removed_paths
        descheduled = self.descheduling.replicas_lost_by_object
        changed = frozenset(tuple(object_path(ref)) for ref in {*self.cron.fired, *descheduled})
        if not changed:
            return failed_over
        return {name: failed_over.get(name, frozenset()) | changed for name in self.index.names}


class Rendered(Struct, frozen=True, kw_only=True):
    """The result of a pass: the tree, how every binding came to be, the namespaces of its objects, and its counts.

    ``held_removals`` are the removals that hold back their clusters.
    """

    tree: Tree
    built: Built
    namespaces: tuple[tuple[Template, Works], ...]
    tally: Tally
    held_removals: tuple[Removal, ...] = ()


def render_pass(inputs: Inputs) -> Rendered:
    """Compute the next rendered tree."""
    built, scope = _built_works(inputs), inputs.scope
    if scope and not built.following.snapshots.keys() <= scope.refs:
        # An object of this scope requires others outside it, which then have to be looked at as well.
        return render_pass(replace(inputs, scope=scope.with_refs(built.following.snapshots)))
    return _rendered_tree(inputs, built)


def _built_works(inputs: Inputs) -> Built:
    desired, before = inputs.desired, inputs.previous.bindings if inputs.previous else {}
    corrected = clusters_corrected_by_facts(desired.clusters, inputs.facts)
    tainted = clusters_with_taints(corrected, desired, inputs.failover)
    index = ClusterIndex(clusters_with_reserves(tainted.clusters, inputs.facts, inputs.reserves))
    webhooks = Recording(inputs.answers)
    interpreter = interpreter_of_source(desired, webhooks.send, members=tainted.clusters)
    cron = _scaled_templates(inputs, interpreter, before)
    inputs = replace(inputs, desired=replace(desired, templates=cron.templates))
    template_by_ref = {template.ref: template for template in cron.templates}
    claims = _claims_of_pass(inputs, interpreter, before, cron)
    failover, descheduling, schedule = _scheduling_results(inputs, claims, tainted, index)
    # What a released binding requires stays with it, or its pods would miss it.
    follows = followers_of_bindings((*schedule.bindings, *claims.released), template_by_ref, interpreter)
    bindings = bindings_with_dependencies((*schedule.bindings, *claims.released), follows, template_by_ref)
    work_context = WorkContext(
        targets=TargetGroups(index.index_by_name, desired.fleet.tie_break),
        interpreter=interpreter,
        override=OverrideEngine(desired.override_policies, index.clusters).override,
    )
    unbuilt = schedule.objects_kept_by_quota.union(binding.ref for binding in claims.released)
    made = (binding for binding in bindings if binding.ref not in unbuilt)
    works = {each.ref: _works_of_template(template_by_ref[each.ref], each, work_context, index) for each in made}
    past = PastOutcome(fleet=_tree_context(inputs, index), before=before, source=inputs.source)
    records = OverrideRecords(names=index.names, interpreter=interpreter, templates=template_by_ref, before=before)
    judged = _with_build_conditions(records.with_records(bindings, works, past.fleet), works, claims.waiting, past)
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
        works=works,
        bindings=tuple(sorted((*judged, *_kept_bindings(claims, past)), key=lambda binding: binding.ref)),
        webhooks=webhooks,
    )


def _kept_bindings(claims: Claims, past: PastOutcome) -> Iterator[Binding]:
    """Yield the former bindings of templates that could not be interpreted."""
    for template, error in claims.failed:
        if template.ref in past.before:
            yield kept_binding(template.ref, error, past.before, past.source)


def _works_of_template(template: Template, binding: Binding, context: WorkContext, index: ClusterIndex) -> Works:
    """Return the works of a template; an error nobody thought of has all its clusters keep what they have."""

    def failed_works(error: Exception) -> Works:
        clusters = clusters_an_object_goes_to(binding, TreeContext(index=index, previous=None))
        failure = WorkFailure(clusters=clusters, error=unexpected_failure(template.ref, error))
        return Works(variants=(), blobs={}, contents=(), failures=(failure,))

    return result_or_substitute(lambda: render_works(template, binding, context), failed_works)


def _scaled_templates(inputs: Inputs, interpreter: Interpreter, before: Mapping[ObjectRef, Binding]) -> CronScaling:
    desired, now = inputs.desired, inputs.failover.now
    deadline = desired.fleet.cron.deadline
    rules = (replace(each, deadline=deadline) for each in desired.cron_autoscalers)
    autoscalers: tuple[Autoscaler, ...] = (*rules, *desired.federated_autoscalers)
    return scaled_by_cron(desired.templates, autoscalers, interpreter, before, now)


def _tree_context(inputs: Inputs, index: ClusterIndex) -> TreeContext:
    keeps, before = inputs.desired.fleet.failover.guard.keeps_last_copy, inputs.previous
    return TreeContext(index=index, previous=before.tree if before else None, keeps_undispatched=keeps)


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


def _rendered_tree(inputs: Inputs, built: Built) -> Rendered:
    fleet = _tree_context(inputs, built.index)
    base = fleet.previous.base(built.index.index_by_name) if inputs.scope and fleet.previous else None
    assembly = Assembly(fleet=fleet, base=base)
    built, placed = _variants_with_needed_objects(inputs, built, fleet)
    for ref, variants in placed.items():
        works = built.works.get(ref)
        assembly.place_object(ref, variants, works.blobs if works else {})
    among = inputs.scope.refs if inputs.scope else None
    place_resource_quotas(inputs.desired.quotas, placed.keys(), built.index, assembly, among=among)
    if inputs.scope:
        assembly.remove_objects(ref for ref in inputs.scope.refs if ref.group_kind != "Namespace")
    namespaces = tuple(_placed_namespaces(inputs.desired, built, assembly))
    if inputs.scope:
        assembly.remove_objects(ref for ref in inputs.scope.refs if ref.group_kind == "Namespace")
    _add_decision_inputs(inputs, built, assembly)
    folders, disconnected = cluster_folders(assembly)
    settings, expected = inputs.desired.fleet, built.expected_removals
    held = clusters_to_hold(assembly, folders, settings, inputs.allowed_removals, expected, built.bindings)
    if held.removals:
        folders.update(held.folders)
        built = replace(built, bindings=_bindings_with_held_clusters(inputs, built, held, placed))
    _add_bindings(built.bindings, assembly)
    tally = held.tally(_tally_of_pass(inputs, built, assembly))
    assembly.add(("README.md",), readme_file(tally, built.index.names, disconnected))
    return Rendered(
        tree=build_tree(assembly, folders, disconnected),
        built=built,
        namespaces=namespaces,
        tally=tally,
        held_removals=held.removals,
    )


def _variants_with_needed_objects(
    inputs: Inputs, built: Built, fleet: TreeContext
) -> tuple[Built, Mapping[ObjectRef, Variants]]:
    """Return who holds which bytes of each object, with what objects that stay in clusters need to stay with them."""
    passed = PassedTree(
        fleet=fleet,
        bindings=built.bindings,
        works=built.works,
        placed={each.ref: placed_variants(each, built.works.get(each.ref), fleet) for each in built.bindings},
        before=inputs.previous.bindings if inputs.previous else {},
        among=inputs.scope.refs if inputs.scope else None,
    )
    unknown = (*(ref for ref, _ in built.following.failed), *(template.ref for template, _ in built.claims.failed))
    bindings, placed = bindings_with_needed_objects(passed, built.work_context.interpreter, unknown, inputs.source)
    return replace(built, bindings=bindings), placed


def _add_bindings(bindings: Iterable[Binding], assembly: Assembly) -> None:
    writer = BindingWriter()
    for binding in bindings:
        assembly.add(("bindings", *object_path(binding.ref)), writer.file_of(binding))


def _bindings_with_held_clusters(
    inputs: Inputs, built: Built, held: HeldClusters, placed: Mapping[ObjectRef, Variants]
) -> tuple[Binding, ...]:
    """Return the bindings with what held clusters keep, also of objects that nothing asks for any more."""
    before = inputs.previous.bindings if inputs.previous else {}
    gone = before.keys() if inputs.scope is None else before.keys() & inputs.scope.refs
    pairs = ((binding, placed[binding.ref]) for binding in built.bindings)
    found = bindings_with_held_clusters(pairs, held, before, gone, inputs.source)
    return tuple(sorted(found, key=lambda binding: binding.ref))


def _add_decision_inputs(inputs: Inputs, built: Built, assembly: Assembly) -> None:
    """Put in what the pass was decided by: facts, answers of webhooks, and the room taken since facts were seen."""
    for name in inputs.facts if inputs.scope is None else sorted(inputs.scope.facts):
        assembly.add(("facts", f"{name}.yaml"), inputs.facts[name].rendered_content())
    if inputs.scope:
        assembly.beside |= {("facts", HealthFile.NAME): None, (TAINTS_FILE,): None}
    if inputs.scope is None and built.webhooks.used:
        assembly.add(("facts", AnswersFile.NAME), AnswersFile.of_answers(built.webhooks.used).rendered_content())
    is_asked = built.failover.is_timed or built.descheduling.is_timed
    if health := HealthFile.of_health(health_that_decided(inputs.failover.health, built.bindings, is_asked=is_asked)):
        assembly.add(("facts", HealthFile.NAME), health.rendered_content())
    if built.tainted.recorded:
        assembly.add((TAINTS_FILE,), taints_file(built.tainted.recorded))
    reserves = next_reserves(built.schedule.scheduler.state.capacity.reserved_resources_by_cluster(), inputs.facts)
    if reserves:
        assembly.add((RESERVED_FILE,), reserves_file(reserves))
    elif inputs.scope:
        assembly.beside[RESERVED_FILE,] = None


def _placed_namespaces(desired: Desired, built: Built, assembly: Assembly) -> Iterator[tuple[Template, Works]]:
    """Send namespaces along to the clusters that need them and do not have them by a policy."""
    by_policy = {
        binding.ref: clusters_an_object_goes_to(binding, assembly.fleet)
        for binding in built.bindings
        if binding.ref.kind == "Namespace"
    }
    templates = [template for template in desired.templates if template.ref.group_kind == "Namespace"]
    needed, names = assembly.needed_namespaces(), built.index.names
    targets_of = cache(lambda clusters: tuple(TargetCluster(names[index]) for index in indexes_of_mask(clusters)))
    for template, clusters in namespaces_to_place(desired.fleet.namespaces, needed, templates, built.index.all):
        left = clusters & ~by_policy.get(template.ref, 0)
        if not left or (assembly.base and template.ref.name not in needed):
            continue
        binding = Binding(ref=template.ref, api_version=template.api_version, targets=targets_of(left))
        works = _works_of_template(template, binding, built.work_context, built.index)
        assembly.place_object(template.ref, placed_variants(binding, works, assembly.fleet), works.blobs)
        yield template, works


def _tally_of_pass(inputs: Inputs, built: Built, assembly: Assembly) -> Tally:
    """Return the counts of the README: of everything, or the previous counts with what this scope changes."""
    names = built.index.names
    counted = tally_of((file.clusters for file in assembly.files), built.bindings, names)
    if inputs.scope is None or inputs.previous is None:
        return counted
    refs, before, fleet = inputs.scope.refs, inputs.previous.bindings, assembly.fleet
    masks = (variant.clusters for ref in refs for variant in fleet.variants_of(ref, built.index.all))
    return inputs.scope.tally.with_counts_changed(
        less=tally_of(masks, [before[ref] for ref in refs if ref in before], names), more=counted
    )
