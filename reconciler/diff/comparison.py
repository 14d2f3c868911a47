"""Two revisions rendered from the same past, what separates them, and the guards that apply to the change.

That past is the rendered commit that stood when the base was the newest source. So a comparison of the same two commits
answers the same before and after a pass renders the second one, for that pass is no part of the past of the first.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.in_force import OTHER_FLEET, fleet_source_at, fleets_below, published_fleet
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import Source, read_observed_inputs
from reconciler.branches.schemas import recorded_schemas
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.accepted_settings import check_settings_are_accepted, error_with_waiting_settings
from reconciler.guards.allowances import Allowed
from reconciler.guards.continuity import check_continuity, unread_files
from reconciler.guards.limits import check_allowed_subjects
from reconciler.guards.outward_addresses import SettingsSide, settings_changed_between
from reconciler.guards.source_trailers import allowances_between
from reconciler.locked.model import NOT_FETCHED
from reconciler.pipeline.movements import movements_between
from reconciler.pipeline.namespaces import namespace_ref
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.readme import replicas_by_cluster
from reconciler.pipeline.released import Released
from reconciler.pipeline.renames import (
    NewNames,
    likely_renames,
    new_names_of_clusters,
    previous_with_names,
    renamed_binding,
    values_by_new_names,
)
from reconciler.pipeline.unselected import Unselected, templates_with_nearest_policies, unselected_templates
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.memory import SourceMemory
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.rendering.problems import problems_by_object
from reconciler.rendering.rendered_objects import refuse_objects_clusters_reject
from reconciler.repository import Repository
from reconciler.source.fleet_file import FleetSource
from render.binding import Binding
from render.divisions import DivisionWarning
from render.errors import InputError
from render.fleet_settings import SettingChange, SettingSubject
from render.gitobjects import Blob, TreeEntry, parse_tree
from render.layout import object_path
from render.model import ObjectRef
from render.rollouts.one_way import GROUP_KINDS_WITH_ONE_WAY_CHANGES
from render.scheduling.unknown_capacity import UnknownCapacity
from render.settings.fleet import Fleet
from render.settings.removal_guard import GuardScope
from render.words import counted_noun

from .causes import difference_with_causes
from .costs import cost_difference
from .delivery import delivery_changes
from .difference import Allowance, ChangeAction, Difference, ObjectChange, cluster_totals, takeovers_between
from .objects import FileChange, Texts, changed_files, changed_manifests, object_changes
from .origins import difference_with_origins
from .past import Past, last_render_before
from .pending import pending_difference
from .reach import Bindings, Change, risk_of_difference
from .resilience import resilience_changes
from .rollouts import first_passes, held_changes, planned_rollouts
from .staying import new_stays, newly_unplaced

_NOT_COMPARED = "; what is at new addresses is not here, so nothing was compared"


class Revisions(Struct, frozen=True, kw_only=True):
    """Two commits to compare, "" for the work tree; ``bootstrap``: there may be no previous rendered commit.

    ``allowed`` is what options allow the change, ``now`` the time of both (None: the time of day). ``contents`` are
    those that some files of the head would get by an edit (None: such a file is gone).
    """

    base: str
    head: str
    bootstrap: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    now: datetime | None = None
    contents: Mapping[str, bytes | None] | None = None


class Comparison(Struct, frozen=True, kw_only=True):
    """Both sides of a diff as they were rendered, and the settings in which they differ.

    ``first_passes`` are the next passes over both sides where changes go out wave by wave: then the sides are what
    comes of them in the end (None: they are the sides).
    """

    base: Outcome
    head: Outcome
    settings: tuple[SettingChange, ...] = ()
    first_passes: tuple[Outcome, Outcome] | None = None


def compare_commits(repository: Repository, revisions: Revisions, memory: SourceMemory, log: Log) -> Comparison:
    """Render two revisions from the same previous commit and facts: those of the base's own past.

    That past is published where the settings say that were in force for the base, and its limits judge the head where
    that one's are weaker.
    """
    try:
        return _compare_revisions(repository, revisions, memory, log)
    except InputError as error:
        raise _error_with_changed_settings(repository, revisions, error) from error


def _compare_revisions(repository: Repository, revisions: Revisions, memory: SourceMemory, log: Log) -> Comparison:
    home = fleet_source_at(repository, revisions.base)
    fleet = published_fleet(repository, revisions.base, home.fleet, is_first=revisions.bootstrap)
    with log.timed("read source"):
        judge = None if home.problems else fleet
        source = _read_side_source(repository, revisions.head, memory, judge, revisions.contents)
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        tip = publication.known_tip(fleet.rendered_branch, is_first=revisions.bootstrap)
        past = last_render_before(repository, tip, revisions.base) if tip else Past()
        previous = memory.previous(repository, past.commit) if past.commit else None
        status = repository.tip(publication.ref(fleet.status_branch))
        observed = read_observed_inputs(repository, past.next or status)
        observed = replace(observed, schemas=recorded_schemas(repository, status))
        inputs = RenderInputs(observed=observed, now=given_or_current_time(revisions.now), is_rolled_out=True)
    check_allowed_subjects(revisions.allowed, source.desired, previous)
    _check_continuity(repository, source, previous, log)
    key = (revisions.base, past.commit, past.next or status or "")
    base = memory.outcome(key)
    if base is None:
        before = _read_side_source(repository, revisions.base, memory, judge)
        base = run_pass(repository, before, _previous_by_former_names(previous, before, source), inputs, log)
        memory.remember_outcome(key, base)
    head = _rendered_head(base, source, previous, replace(inputs, allowed=revisions.allowed), log)
    refuse_objects_clusters_reject(head, log)
    return Comparison(
        base=base,
        head=head,
        settings=changed_settings(repository, home, base, source),
        first_passes=first_passes(base, head, replace(inputs, is_rolled_out=False), log),
    )


def _previous_by_former_names(previous: Previous | None, base: Source, head: Source) -> Previous | None:
    """Return a previous commit that has the head's names as the base knows it: with the names from before a rename."""
    names = new_names_by_head(base, head)
    is_done = previous is not None and not names.keys() & previous.tree.clusters.keys()
    return previous_with_names(previous, {new: old for old, new in names.items()}) if previous and is_done else previous


def _check_continuity(repository: Repository, source: Source, previous: Previous | None, log: Log) -> None:
    """Refuse a source that lost sight of what was rendered, and say why objects leave that an ignore leaves out."""
    check_continuity(repository, source, previous)
    log.warn_of(unread_files(repository, source, previous) if previous else ())


def _read_side_source(
    repository: Repository,
    commit: str,
    memory: SourceMemory,
    judge: Fleet | None = None,
    contents: Mapping[str, bytes | None] | None = None,
) -> Source:
    try:
        return memory.source(repository, commit, judge, contents)
    except InputError as error:
        where = f"commit {commit[:12]}" if commit else "the work tree"
        summary = f"{counted_noun(len(error.problems), 'problem')} in {where}; nothing was compared"
        raise InputError(error.problems, summary=summary, warnings=error.warnings) from error


def _error_with_changed_settings(repository: Repository, revisions: Revisions, error: InputError) -> InputError:
    """Return the error of a comparison with the settings that the head changes, too.

    Where it lacks nothing but the content of Sources at addresses that wait, it waits for these: GuardRefused.
    """
    before, after = (SettingsSide.at(repository, each) for each in (revisions.base, revisions.head))
    waiting = [each for each in settings_changed_between(repository, before, after) if each.waits]
    if all(each.hint.startswith(NOT_FETCHED) for each in error.problems):
        new = [each for each in waiting if each.subject is SettingSubject.SOURCE]
        check_settings_are_accepted(new, after.home.expected_path, consequence=_NOT_COMPARED)
    return error_with_waiting_settings(error, waiting, after.home.expected_path)


def changed_settings(
    repository: Repository, home: FleetSource, base: Outcome, head: Source
) -> tuple[SettingChange, ...]:
    """Return the settings in which a source differs from a base: of argosy.yaml, fleets below it, and webhooks."""
    if home.problems:
        return ()
    before = SettingsSide(home, base.source.files, base.source.desired.webhooks)
    after = SettingsSide.of(repository, head.files, head.desired.webhooks)
    new = fleets_below(home, head.files) - fleets_below(home, base.source.files)
    return (
        *settings_changed_between(repository, before, after),
        *(SettingChange(field=path, before=None, after=OTHER_FLEET) for path in sorted(new - {after.home.path})),
    )


def _rendered_head(base: Outcome, source: Source, previous: Previous | None, inputs: RenderInputs, log: Log) -> Outcome:
    """Render the other side, unless its source means the same."""
    is_by_cluster = source.desired.fleet.removal_guard.scope is GuardScope.CLUSTER
    if source.desired == base.source.desired and not is_by_cluster:
        return replace(base, source=source)
    return run_pass(base.repository, source, previous, inputs, log)


def difference_of(comparison: Comparison) -> Difference:
    """Return the difference between the two sides of a comparison."""
    base, head = comparison.base, comparison.head
    renamed = new_names_by_head(base.source, head.source)
    before = {each.ref: renamed_binding(each, renamed) for each in base.rendered.built.bindings}
    after = {binding.ref: binding for binding in head.rendered.built.bindings}
    templates = {template.ref for template in base.source.desired.templates}
    shared = {template.ref for template in head.source.desired.templates} & templates
    names = [_renamed_members(side, renamed) for side in (base, head)]
    folders = [_folders_of_members(side, names[1], renamed) for side in (base, head)]
    files = changed_files(folders[0], folders[1], tree_reader(comparison))
    refs, texts = _ref_by_path(comparison), Texts(_contents_of_changed_files(comparison, files))
    objects = object_changes(files, refs, texts)
    objects = tuple(replace(it, is_preserved=True) if _is_preserved_removal(it, before) else it for it in objects)
    movements = movements_between(before, after, names[1])
    replicas = replicas_by_cluster(before.values())
    problems = [frozenset(problems_by_object(side)) for side in (base, head)]
    found = Difference(
        base=base.source.commit,
        head=head.source.commit,
        previous=head.previous.commit if head.previous else "",
        joined=tuple(sorted(names[1] - names[0])),
        renamed=renamed,
        likely_renames=likely_renames(base.source.desired.clusters, head.source.desired.clusters),
        left=tuple(sorted(names[0] - names[1])),
        clusters=cluster_totals(objects, movements, replicas, _replicas_after(after, replicas, names[1])),
        objects=objects,
        takeovers=takeovers_between(before, after, shared),
        movements=movements,
        problems=tuple(sorted(problems[1] - problems[0])),
        solved=tuple(sorted(problems[0] - problems[1])),
        replicas=sum(replicas.values()),
        settings=comparison.settings,
        allowances=_allowances_of_change(base, head),
        members=tuple(sorted(names[1])),
    )
    found = _difference_with_what_stays(_difference_with_pending(found, comparison), before, after, base, head)
    changes = changed_manifests(files, refs, texts, GROUP_KINDS_WITH_ONE_WAY_CHANGES)
    found = _difference_with_costs_and_risk(found, comparison, (before, after), changes)
    return difference_with_causes(difference_with_origins(found, base.source.desired, head.source.desired), base, head)


def _replicas_after(
    after: Mapping[ObjectRef, Binding], before: Mapping[str, int], members: Collection[str]
) -> Mapping[str, int]:
    """Return the replicas of each cluster after a change; one that leaves the fleet keeps what it had."""
    return {name: before[name] for name in before if name not in members} | replicas_by_cluster(after.values())


def _difference_with_pending(found: Difference, comparison: Comparison) -> Difference:
    """Return a difference with what is pending, rolled out, nowhere, undivided, of unknown capacity, or fragile."""
    base, head = comparison.base, comparison.head
    pending = pending_difference(base, head)
    return replace(
        found,
        pending=pending.added,
        ended=pending.ended,
        unselected=_new_unselected_templates(base, head),
        unknown_capacities=_new_unknown_capacities(base, head),
        undivided=_new_division_warnings(base, head),
        rollouts=planned_rollouts(base, head, comparison.first_passes),
        held_changes=held_changes(base, head, comparison.first_passes),
        resilience=resilience_changes(base, head),
    )


def _difference_with_what_stays(
    found: Difference,
    before: Mapping[ObjectRef, Binding],
    after: Mapping[ObjectRef, Binding],
    base: Outcome,
    head: Outcome,
) -> Difference:
    """Return a difference with what stays where it would leave, is nowhere, or is released or delivered otherwise."""
    templates = {template.ref for template in head.source.desired.templates}
    return replace(
        found,
        unplaced=newly_unplaced(before, after, templates),
        released=tuple(_objects_newly_released(base, head)),
        staying=new_stays(before.values(), after.values()),
        delivered=delivery_changes(before, after, base, head),
    )


def _difference_with_costs_and_risk(
    found: Difference,
    comparison: Comparison,
    bindings: tuple[Bindings, Bindings],
    changes: Iterable[Change],
) -> Difference:
    """Return a difference with what both sides cost, and the risk of it."""
    base, head = comparison.base, comparison.head
    costs = cost_difference(base, head, *bindings, new_names_by_head(base.source, head.source))
    risk = risk_of_difference(found, head.source.desired, bindings, changes, given_or_current_time(head.clock))
    return replace(found, costs=costs, risk=risk)


def _new_division_warnings(base: Outcome, head: Outcome) -> tuple[DivisionWarning, ...]:
    """Return the warnings about divisions of the head that the base has not."""
    known = {(each.ref, each.field, each.rule) for each in base.divisions}
    return tuple(each for each in head.divisions if (each.ref, each.field, each.rule) not in known)


def _new_unselected_templates(base: Outcome, head: Outcome) -> tuple[Unselected, ...]:
    """Return the templates that go nowhere in the head; those of the base are known, or told of as taken away."""
    bound, head_bound = ({each.ref for each in side.rendered.built.bindings} for side in (base, head))
    known = bound | {each.ref for each in unselected_templates(base.source.desired, bound)}
    after = unselected_templates(head.source.desired, head_bound)
    return templates_with_nearest_policies([each for each in after if each.ref not in known], head.source.desired)


def _new_unknown_capacities(base: Outcome, head: Outcome) -> tuple[UnknownCapacity, ...]:
    """Return the clusters of unknown capacity to which the change adds something that is divided by room."""
    renamed = new_names_by_head(base.source, head.source)
    before = {renamed.get(each.cluster, each.cluster): set(each.divided) for each in base.unknown_capacities}
    return tuple(
        each for each in head.unknown_capacities if not before.get(each.cluster, set()).issuperset(each.divided)
    )


def _renamed_members(side: Outcome, renamed: NewNames) -> set[str]:
    """Return the members of a side by the names that the head gives them."""
    return {renamed.get(cluster.name, cluster.name) for cluster in side.source.desired.clusters}


def _allowances_of_change(base: Outcome, head: Outcome) -> tuple[Allowance, ...]:
    """Return what the commits of a change allow themselves."""
    found = allowances_between(head.repository, base.source.commit, head.source.commit)
    return tuple(Allowance(commit=commit, trailer=trailer) for commit, trailer in found)


def new_names_by_head(base: Source, head: Source) -> NewNames:
    """Return the names that the head gives to clusters of the base."""
    known = {cluster.name for cluster in base.desired.clusters}
    named = new_names_of_clusters(head.desired.clusters, known)
    return {old: new for old, new in sorted(named.items()) if old in known}


def _folders_of_members(side: Outcome, members: Container[str], renamed: NewNames) -> Mapping[str, bytes]:
    """Return the folders of members; a disconnected cluster keeps its own, whatever the other side put there."""
    folders = values_by_new_names(side.rendered.tree.clusters, renamed)
    return {name: tree_id for name, tree_id in folders.items() if name in members}


def _is_preserved_removal(change: ObjectChange, before: Mapping[ObjectRef, Binding]) -> bool:
    """Return whether a removed object stays in its clusters, as the policy that claimed it asked for."""
    binding = before.get(change.ref) if change.action is ChangeAction.REMOVED else None
    return binding is not None and binding.preserve_resources_on_deletion


def _objects_newly_released(base: Outcome, head: Outcome) -> Iterator[Released]:
    """Yield what head releases, and what it would change if it were not released."""
    known = set(base.released)
    templates = [{each.ref: each.manifest for each in side.source.desired.templates} for side in (base, head)]
    for each in head.released:
        if each not in known or templates[0].get(each.ref) != templates[1][each.ref]:
            yield each


def _ref_by_path(comparison: Comparison) -> Mapping[str, ObjectRef]:
    refs: set[ObjectRef] = set()
    for outcome in (comparison.base, comparison.head):
        rendered = outcome.rendered
        refs.update(binding.ref for binding in rendered.built.bindings)
        refs.update(template.ref for template, _ in rendered.namespaces)
        refs.update(_namespaces_of_held_clusters(outcome))
    return {"/".join(object_path(ref)): ref for ref in refs}


def _namespaces_of_held_clusters(outcome: Outcome) -> Iterator[ObjectRef]:
    """Yield the namespaces in the folders of clusters that are held back, which nothing may need any more."""
    for removal in outcome.rendered.held_removals:
        for path, _ in outcome.files(outcome.rendered.tree.clusters[removal.cluster]):
            folder, _, name = path.rpartition("/")
            if folder == "_cluster/Namespace":
                yield namespace_ref(name.removesuffix(".yaml"))


def tree_reader(comparison: Comparison) -> Callable[[bytes], Iterable[TreeEntry]]:
    """Return what reads a tree of either side, or one that both keep from the previous commit."""
    made = comparison.base.rendered.tree.trees

    def entries(tree_id: bytes) -> Iterable[TreeEntry]:
        return parse_tree(made[tree_id]) if tree_id in made else comparison.head.entries(tree_id)

    return entries


def _contents_of_changed_files(comparison: Comparison, files: Iterable[FileChange]) -> Mapping[bytes, Blob]:
    wanted = {blob_id for file in files if file.before and file.after for blob_id in (file.before, file.after)}
    blob_by_id: dict[bytes, Blob] = {}
    for outcome in (comparison.base, comparison.head):
        blobs = outcome.rendered.tree.blobs
        blob_by_id.update((blob_id, blobs[blob_id]) for blob_id in wanted if blob_id in blobs)
    missing = wanted - blob_by_id.keys()
    return {**blob_by_id, **comparison.base.repository.read_blobs(missing)} if missing else blob_by_id
