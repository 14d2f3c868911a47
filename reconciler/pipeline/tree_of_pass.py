"""The rendered tree of a pass: who holds which bytes, with namespaces, bindings, and what the pass was decided by."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec.structs import replace

from reconciler.ledger.facts import FactsWriter
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.ledger.rollout_pauses import PausesFile
from reconciler.ledger.webhook_answers import AnswersFile
from reconciler.source.desired import Desired
from render.binding import Binding
from render.bits import indexes_of_mask
from render.layout import object_path
from render.model import ObjectRef, TargetCluster, Template
from render.rollouts.emergencies import subject_of_control
from render.works import Works

from .assembly import (
    Assembly,
    TreeContext,
    build_tree,
    cluster_folders,
    clusters_an_object_goes_to,
    place_resource_quotas,
    placed_variants,
)
from .binding_files import BindingWriter
from .former_splits import ROLLBACKS_FILE, rollbacks_file
from .health import health_with_workloads
from .held_clusters import HeldClusters, bindings_with_held_clusters, clusters_to_hold
from .kept_needs import PassedTree, bindings_with_needed_objects
from .namespaces import namespaces_to_place
from .need_notes import Variants
from .pass_values import Built, Inputs, Rendered
from .readme import Tally, readme_file, tally_of
from .reserves import RESERVED_FILE, next_reserves, reserves_file
from .rollouts.emergency_files import EMERGENCIES_FILE, emergencies_file
from .rollouts.files import files_of_rollouts
from .rollouts.speakers import SPEAKERS_FILE, speakers_file
from .runs import health_that_decided
from .taints import TAINTS_FILE, taints_file
from .template_works import tree_context_of_pass, works_of_template


def rendered_tree(inputs: Inputs, built: Built) -> Rendered:
    """Return the tree of a pass; clusters that would lose too much keep what they have."""
    fleet = tree_context_of_pass(inputs, built.index)
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
    if rollbacks := rollbacks_file(inputs.desired.rollback_requests):
        assembly.add((ROLLBACKS_FILE,), rollbacks)
    folders, disconnected = cluster_folders(assembly)
    settings, expected = inputs.desired.fleet, built.expected_removals
    held = clusters_to_hold(assembly, folders, settings, inputs.allowed_removals, expected, built.bindings)
    if held.removals:
        folders.update(held.folders)
        built = replace(built, bindings=_bindings_with_held_clusters(inputs, built, held, placed))
    _add_bindings(built.bindings, assembly)
    _add_files_of_rollouts(inputs, built, assembly)
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
    return replace(built, bindings=bindings, moved=built.moved.with_needed_objects(bindings, passed.before)), placed


def _add_bindings(bindings: Iterable[Binding], assembly: Assembly) -> None:
    writer = BindingWriter()
    for binding in bindings:
        assembly.add(("bindings", *object_path(binding.ref)), writer.file_of(binding))


def _add_files_of_rollouts(inputs: Inputs, built: Built, assembly: Assembly) -> None:
    states, tree = inputs.rollouts.states, inputs.previous.tree if inputs.previous else None
    among = inputs.scope.refs if inputs.scope else ()
    files = files_of_rollouts(built.rolled, built.bindings, states, tree, among)
    for path, content in files.written.items():
        assembly.add(path, content)
    assembly.beside |= {**files.kept, **(dict.fromkeys(files.gone) if inputs.scope else {})}
    if speakers := speakers_file(inputs.controls, inputs.rollouts.origins):
        assembly.add((SPEAKERS_FILE,), speakers)
    elif inputs.scope:
        assembly.beside[SPEAKERS_FILE,] = None
    if emergencies := emergencies_file(built.rolled.emergencies):
        assembly.add((EMERGENCIES_FILE,), emergencies)
    elif inputs.scope:
        assembly.beside[EMERGENCIES_FILE,] = None


def _bindings_with_held_clusters(
    inputs: Inputs, built: Built, held: HeldClusters, placed: Mapping[ObjectRef, Variants]
) -> tuple[Binding, ...]:
    """Return the bindings with what held clusters keep, also of objects that nothing asks for any more."""
    before = inputs.previous.bindings if inputs.previous else {}
    gone = before.keys() if inputs.scope is None else before.keys() & inputs.scope.refs
    pairs = ((binding, placed[binding.ref]) for binding in built.bindings)
    found = bindings_with_held_clusters(pairs, held, before, gone, inputs.source)
    return tuple(sorted(found, key=lambda binding: binding.ref))


_FILES_OF_EACH_PASS: tuple[tuple[str, ...], ...] = (
    ("facts", HealthFile.NAME),
    ("facts", ChecksFile.NAME),
    ("facts", PausesFile.NAME),
    (TAINTS_FILE,),
)
"""The files that a pass writes anew or not at all, whatever it looks at."""


def _add_decision_inputs(inputs: Inputs, built: Built, assembly: Assembly) -> None:
    """Put in what the pass was decided by: facts, answers, and the room taken since facts were seen."""
    writer = FactsWriter()
    for name in inputs.facts if inputs.scope is None else sorted(inputs.scope.facts):
        assembly.add(("facts", f"{name}.yaml"), writer.content_of(inputs.facts[name]))
    if inputs.scope:
        assembly.beside |= dict.fromkeys(_FILES_OF_EACH_PASS)
    if inputs.scope is None and built.webhooks.used:
        assembly.add(("facts", AnswersFile.NAME), AnswersFile.of_answers(built.webhooks.used).rendered_content())
    for name, content in _contents_that_decided(inputs, built):
        assembly.add(("facts", name), content)
    if built.tainted.recorded:
        assembly.add((TAINTS_FILE,), taints_file(built.tainted.recorded))
    reserves = next_reserves(built.schedule.scheduler.state.capacity.reserved_resources_by_cluster(), inputs.facts)
    if reserves:
        assembly.add((RESERVED_FILE,), reserves_file(reserves))
    elif inputs.scope:
        assembly.beside[RESERVED_FILE,] = None


def _contents_that_decided(inputs: Inputs, built: Built) -> Iterator[tuple[str, bytes]]:
    """Yield the files of health, of answers to checks, and of pauses, that decided something."""
    if health := HealthFile.of_health(_health_that_decided(inputs, built)):
        yield HealthFile.NAME, health.rendered_content()
    if checks := ChecksFile.of_answers(built.rolled.questions, inputs.rollouts.answers):
        yield ChecksFile.NAME, checks.rendered_content()
    known = {(str(state.plan), state.group, state.change) for state in built.rolled.states.values()}
    if pauses := PausesFile.of_controls(each for each in inputs.rollouts.pauses if subject_of_control(each) in known):
        yield PausesFile.NAME, pauses.rendered_content()


def _health_that_decided(inputs: Inputs, built: Built) -> ObservedHealth:
    """Return the health that decided something: that of failover, moves, and of what is being rolled out."""
    is_asked = built.failover.is_timed or built.descheduling.is_timed
    decided = health_that_decided(inputs.failover.health, built.bindings, is_asked=is_asked)
    if built.moved.decided:
        decided = health_with_workloads(decided, inputs.moves.health, built.moved.decided)
    decided = replace(decided, status_ages=built.rolled.status_ages)
    if not built.rolled.under_way:
        return decided
    return health_with_workloads(decided, inputs.rollouts.health, built.rolled.under_way)


def _placed_namespaces(desired: Desired, built: Built, assembly: Assembly) -> Iterator[tuple[Template, Works]]:
    """Send namespaces along to the clusters that need them and do not have them by a policy."""
    placed = [binding for binding in built.bindings if binding.ref.kind == "Namespace"]
    by_policy = {
        binding.ref: clusters_an_object_goes_to(binding, assembly.fleet)
        & ~built.index.clusters_named(binding.clusters_before_delivery)
        for binding in placed
    }
    templates = [template for template in desired.templates if template.ref.group_kind == "Namespace"]
    waiting = [binding.ref.name for binding in placed if binding.clusters_before_delivery]
    needed, names = assembly.needed_namespaces(waiting), built.index.names
    targets_of = cache(lambda clusters: tuple(TargetCluster(names[index]) for index in indexes_of_mask(clusters)))
    for template, clusters in namespaces_to_place(desired.fleet.namespaces, needed, templates, built.index.all):
        left = clusters & ~by_policy.get(template.ref, 0)
        if not left or (assembly.base and template.ref.name not in needed):
            continue
        binding = Binding(ref=template.ref, api_version=template.api_version, targets=targets_of(left))
        works = works_of_template(template, binding, built.work_context, built.index)
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
