"""One pass with its effects: read, render, guard, and commit by compare-and-swap where the fleet is published."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.mirrors import RenderedFolders
from reconciler.branches.publication import Publication
from reconciler.branches.reading import Source
from reconciler.branches.schemas import schemas_by_new_names
from reconciler.console.log import Log
from reconciler.guards.accepted_settings import changed_settings_on_one_line
from reconciler.guards.allowances import Allowed, RemovalAllowance
from reconciler.guards.continuity import lines_of_renames_by_hand
from reconciler.ledger.facts import Facts
from reconciler.pipeline.cluster_removals import (
    Departures,
    Removal,
    claimed_namespaces,
    removals_by_cluster,
    removals_with_lost_places,
)
from reconciler.pipeline.divisions import division_warnings_of, undivided_lines
from reconciler.pipeline.eviction_notes import RUN_BEGUN
from reconciler.pipeline.lost_places import paths_of_unmet_policies
from reconciler.pipeline.need_notes import needed_lines
from reconciler.pipeline.pass_values import Rendered
from reconciler.pipeline.pending import Pending, pending_lines, pending_of
from reconciler.pipeline.previous import Previous, RenderedTree
from reconciler.pipeline.released import Released, released_lines, released_objects
from reconciler.pipeline.renames import NewNames, names_to_read_tree_by
from reconciler.pipeline.reserves import RESERVED_FILE
from reconciler.pipeline.rollouts.attributes import ATTRIBUTES_FILE
from reconciler.pipeline.rollouts.speakers import SPEAKERS_FILE
from reconciler.pipeline.scope import Scope
from reconciler.pipeline.thin_spreads import ThinSpread, thin_spread_lines, thin_spreads_of
from reconciler.repository import NewCommit, RefUpdate, Repository
from reconciler.repository.commits import CommitInfo, CommitText, encode_commit
from reconciler.repository.trailers import EVICTED, engine_version, trailers_of_rendered_commit
from reconciler.source.schemas.observed import ObservedSchemas
from render.cluster import Cluster
from render.divisions import DivisionWarning
from render.fleet_settings import SettingChange, is_recorded_at_once
from render.gitobjects import TREE_MODE, TreeEntry, content_of_blob, git_object_id, parse_tree
from render.model import Manifest
from render.scheduling.unknown_capacity import (
    UnknownCapacity,
    clusters_of_unknown_capacity_by_use,
    placements_with_replicas,
)
from render.settings.removal_guard import GuardScope
from render.timing import Flip, earliest_flip, instant_after, instant_text
from render.tree import TreeStore, build_nested_tree
from render.words import counted_noun

from .events_of_pass import lines_of_events
from .inputs import RenderInputs, allowed_removals, pipeline_inputs_of_source, time_not_before_last_pass
from .stumbles import render_or_name_culprits

_LONGEST_SUBJECT = 200
_MOST_BEHIND = 60
"""The seconds by which the clocks of machines that run passes may differ before a person is warned."""
_DECISION_INPUTS = frozenset({"facts", RESERVED_FILE, SPEAKERS_FILE, ATTRIBUTES_FILE})
"""The entries of a rendered tree that a decision used; a change of these alone is no outcome."""


class Outcome(Struct, frozen=True, dict=True):
    """A pass that was computed but not committed; ``scope`` is what it looked at (None: everything).

    ``previous`` names clusters as the source does; ``new_names`` are those that it gives to clusters renamed since.
    ``new_settings`` changed since. ``allowed`` is what options allowed it. ``schemas`` are those that clusters were
    observed to have. ``now`` is the time it took place at (None: rules of time rested), ``clock`` what its clock
    showed, which may have been set back. ``facts`` are those that it went by. ``source_branch`` is the one
    that source commits have to be of ("": none is known). ``next_question`` is when a check is asked again.
    """

    repository: Repository
    source: Source
    previous: Previous | None
    rendered: Rendered
    scope: Scope | None = None
    is_rewound: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    new_names: NewNames = field(default_factory=dict)
    new_settings: tuple[SettingChange, ...] = ()
    schemas: ObservedSchemas = field(default_factory=ObservedSchemas)
    now: datetime | None = None
    clock: datetime | None = None
    facts: Facts = field(default_factory=dict)
    source_branch: str = ""
    next_question: Flip | None = None

    @property
    def flip(self) -> Flip | None:
        """The next instant at which the outcome may be another one, and what happens then."""
        return earliest_flip((self.rendered.built.flip, self.next_question))

    @property
    def summary(self) -> str:
        """The source that was rendered, and for how many clusters, in words."""
        clusters = counted_noun(len(self.rendered.tree.clusters), "cluster")
        return f"source {self.source.commit[:12]} for {clusters}"

    @property
    def is_changed(self) -> bool:
        """Return whether the outcome differs from the previous one; facts that moved nothing do not count.

        An accepted rewind, other limits and accepted settings are outcomes: the next pass starts from there.
        """
        if self.previous is None or self.is_rewound or any(map(is_recorded_at_once, self.new_settings)):
            return True
        after = {entry.text: entry.id for entry in self.entries(self.rendered.tree.root)}
        before = {name: entry.id for name, entry in self.previous.tree.trees.entries(self.previous.tree.root).items()}
        return any(before.get(name) != after.get(name) for name in (before.keys() | after.keys()) - _DECISION_INPUTS)

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The objects that each cluster loses, but for those that leave it by a rule of time."""
        if self.previous is None:
            return ()
        guard = self.source.desired.fleet.removal_guard
        before, after = self.previous.tree, self.rendered.tree
        built, claimed = self.rendered.built, claimed_namespaces(before.root, self.entries)
        unmet = paths_of_unmet_policies(built.bindings, built.index, self.source.desired.fleet)
        departures = Departures(expected=built.expected_removals, begun=built.begun_removals)
        found = removals_by_cluster(before.clusters, after.clusters, self.entries, guard, departures, claimed)
        return removals_with_lost_places(found, unmet, after.clusters, self.entries)

    @cached_property
    def released(self) -> tuple[Released, ...]:
        """The objects that clusters keep though no policy selects them."""
        built = self.rendered.built
        before = self.previous.tree if self.previous else None
        return released_objects(self.source.desired, built.bindings, built.index, before)

    @cached_property
    def thin_spreads(self) -> tuple[ThinSpread, ...]:
        """The spread constraints that clusters meet, but not replicas."""
        return tuple(thin_spreads_of(self.rendered.built.bindings, self.rendered.built.index))

    @cached_property
    def unknown_capacities(self) -> tuple[UnknownCapacity, ...]:
        """The clusters that get no replicas by room, because nobody knows how much they have."""
        built = self.rendered.built
        return clusters_of_unknown_capacity_by_use(placements_with_replicas(built.bindings), built.index)

    @cached_property
    def divisions(self) -> tuple[DivisionWarning, ...]:
        """The warnings about what is divided in vain, or alone."""
        built, desired = self.rendered.built, self.source.desired
        template_by_ref = {template.ref: template for template in desired.templates}
        interpreter, scheduler = built.work_context.interpreter, built.schedule.scheduler
        return division_warnings_of(built.bindings, template_by_ref, desired, interpreter, scheduler)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings beside the problems of an outcome: what lasts, and what happens in this pass alone."""
        events = lines_of_events(self.rendered.built, self.source.desired.templates, self.previous)
        return (*self.lasting_warnings, *events)

    @property
    def lasting_warnings(self) -> tuple[str, ...]:
        """The warnings that the same pass done again would have: clusters renamed by hand, objects, constraints."""
        built = self.rendered.built
        thin = (*thin_spread_lines(self.thin_spreads), *undivided_lines(self.divisions))
        stays = (
            f"{each.ref} {note.message}"
            for each in built.bindings
            for note in each.conditions
            if note.reason == RUN_BEGUN  # that of what stays for another reason is a problem
        )
        kept = (*released_lines(self.released), *pending_lines(self.pending), *needed_lines(built.bindings))
        notes = (*built.failover.notes, *built.rolled.lines, *built.moved.notes)
        return (*self.renames, *kept, *thin, *stays, *notes, *self._lines_on_clock_set_back())

    def _lines_on_clock_set_back(self) -> Iterable[str]:
        """Yield what a person should know of a clock that was set back: rules of time wait until it catches up."""
        if self.now is None or self.clock is None or not self.rendered.built.is_timed:
            return
        if self.now > instant_after(self.clock, _MOST_BEHIND):
            yield (
                f"the clock shows a time before {instant_text(self.now)}, when rules of time last decided:"
                " they wait until"
                " then; if that time is wrong, set the rendered branch back to the commit before"
            )

    @cached_property
    def renames(self) -> tuple[str, ...]:
        """A line for each cluster that left since the previous commit while one described alike came."""
        return tuple(lines_of_renames_by_hand(self.repository, self.source, self.previous)) if self.previous else ()

    @cached_property
    def pending(self) -> tuple[Pending, ...]:
        """The objects of which something is decided and not carried out."""
        return tuple(pending_of(self.rendered.built.bindings))

    def as_previous(self, commit: str) -> Previous | None:
        """Return the commit of this pass as it would be read back; None where it looked at a part of it only."""
        if self.previous is not None and self.previous.commit == commit:
            return self.previous
        if self.scope is not None:
            return None
        return Previous(
            commit=commit,
            source=self.source.commit,
            version=engine_version(),
            bindings={binding.ref: binding for binding in self.rendered.built.bindings},
            tree=RenderedTree.of(self.rendered.tree.root, self.repository.read_trees, self.repository.read_blobs),
            branch=self.source_branch,
        )

    def folders_at(self, commit: str | None) -> RenderedFolders:
        """Return what mirrors follow once this pass has made a commit; without one, the previous one counts."""
        previous = self.previous.commit if self.previous else None
        return RenderedFolders(self.source, self.rendered.tree.clusters, commit or previous)

    def manifests(self) -> dict[bytes, Manifest]:
        """Return the objects that were built, by the blobs that would be read back as such."""
        built = [*self.rendered.built.works.values(), *(works for _, works in self.rendered.namespaces)]
        return {blob_id: manifest for works in built for blob_id, manifest in works.manifests()}

    def entries(self, tree_id: bytes) -> Iterable[TreeEntry]:
        """Return the entries of a tree of this pass or of the repository."""
        content = self.rendered.tree.trees.get(tree_id)
        if content is not None:
            return parse_tree(content)
        if self.previous is not None:
            return self.previous.tree.trees.entries(tree_id).values()
        return self.repository.read_trees([tree_id])[tree_id]

    def files(self, tree_id: bytes, above: str = "") -> Iterable[tuple[str, bytes]]:
        """Return every file below a tree: its path and blob id."""
        for entry in self.entries(tree_id):
            path = above + entry.text
            if entry.mode == TREE_MODE:
                yield from self.files(entry.id, f"{path}/")
            else:
                yield path, entry.id

    def contents(self, blob_ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """Return the bytes of blobs of this pass or of the repository."""
        wanted = set(blob_ids)
        blobs = self.rendered.tree.blobs
        blob_by_id = {blob_id: blobs[blob_id] for blob_id in wanted if blob_id in blobs}
        found = {blob_id: content_of_blob(blob) for blob_id, blob in blob_by_id.items()}
        missing = wanted - found.keys()
        if not missing:
            return found
        read = self.previous.tree.read_blobs if self.previous is not None else None
        return {**found, **(read or self.repository.read_blobs)(missing)}


def run_pass(
    repository: Repository, source: Source, previous: Previous | None, given: RenderInputs, log: Log
) -> Outcome:
    """Compute the next tree of a source, without what its clusters would refuse and the commit before does not have.

    Where clusters are held back one by one, what commits and options allow is a part of what decides.
    """
    source = source.without_objects_never_delivered(previous.bindings if previous else ())
    now = time_not_before_last_pass(repository, previous, given.now)
    inputs = pipeline_inputs_of_source(repository, source, previous, replace(given, now=now))
    sizes = (len(source.desired.templates), "template"), (len(source.desired.clusters), "cluster")
    with log.timed("render", " for ".join(counted_noun(*size) for size in sizes)):
        rendered = render_or_name_culprits(inputs, source)
    clusters = source.desired.clusters
    outcome = Outcome(
        repository=repository,
        source=source,
        previous=inputs.previous,
        rendered=rendered,
        scope=given.scope,
        allowed=given.allowed,
        now=now,
        clock=given.now,
        new_names=_names_of_renamed_folders(previous, clusters),
        schemas=schemas_by_new_names(given.observed.schemas, clusters),
        facts=inputs.facts,
    )
    return _with_emitted_files(outcome) if source.desired.fleet.emit else outcome


def _names_of_renamed_folders(previous: Previous | None, clusters: Sequence[Cluster]) -> NewNames:
    """Return the new names of the clusters whose folders the previous commit has by former names."""
    if previous is None:
        return {}
    names = names_to_read_tree_by(previous.tree, clusters)
    return {old: new for old, new in names.items() if old in previous.tree.clusters}


def _with_emitted_files(outcome: Outcome) -> Outcome:
    """Return an outcome with the files that ``spec.emit`` asks for, of clusters that the source has."""
    from reconciler.emission.making import FOLDER, committed_files

    rendered, fleet = outcome.rendered, outcome.source.desired.fleet
    tree, built = rendered.tree, rendered.built
    clusters = {name: tree_id for name, tree_id in tree.clusters.items() if name in built.index.index_by_name}
    preserved = (binding.ref for binding in built.bindings if binding.preserve_resources_on_deletion)
    contents = dict(committed_files(fleet, clusters, preserved, outcome))
    blobs = {git_object_id("blob", content): content for content in contents.values()}
    ids: dict[tuple[str, ...], TreeEntry | bytes | None] = {
        path: git_object_id("blob", content) for path, content in contents.items()
    }
    store = TreeStore(trees=dict(tree.trees))
    base = {entry.text: entry for entry in outcome.entries(tree.root) if entry.text != FOLDER}
    root = build_nested_tree(ids, store, base) or tree.root
    tree = replace(tree, root=root, blobs={**tree.blobs, **blobs}, trees=store.trees)
    return replace(outcome, rendered=replace(rendered, tree=tree))


def commit_outcome(outcome: Outcome, publication: Publication, branch: str, record: str = "") -> str | None:
    """Commit a pass and move the branch where the fleet is published; None when nothing changed.

    ``record`` is what the next pass may go by, in a clone that knows nothing of this one. SourceMoved means that
    somebody else was faster: read the branch again and render anew.
    """
    if not outcome.is_changed:
        return None
    repository, commit = outcome.repository, stored_commit(outcome, record)
    tip = outcome.previous.commit if outcome.previous else None
    if publication.remote:
        repository.push(publication.remote, [RefUpdate(f"refs/heads/{branch}", commit.id, tip)])
        repository.update_ref(publication.ref(branch), commit.id, repository.tip(publication.ref(branch)))
    else:
        repository.update_ref(publication.ref(branch), commit.id, tip, reason="argosy: render")
    return commit.id


def stored_commit(outcome: Outcome, record: str = "") -> NewCommit:
    """Return the commit of a pass, which is in the repository now and on no branch."""
    repository, tree = outcome.repository, outcome.rendered.tree
    tip = outcome.previous.commit if outcome.previous else None
    trailers = trailers_of_rendered_commit(
        source=outcome.source.commit,
        previous=tip,
        branch=outcome.source_branch,
        tools=outcome.source.desired.tools,
        now=instant_text(outcome.now) if outcome.now is not None and outcome.rendered.built.is_timed else "",
        removals=[f"{each.cluster} {each.count}" for each in removals_allowed_by_options(outcome)],
    )
    info = repository.commit_info(outcome.source.commit)
    judged = outcome.rendered.built.removals_judged_before
    counts = [f"{name} {len(paths)}" for name, paths in sorted(judged.items())]
    text = CommitText(
        message=_commit_message(outcome, info),
        trailers={**trailers, EVICTED: counts} if counts else trailers,
        author=repository.author,
        time=info.time,
        written_by="" if is_engine_upgrade(outcome) else info.author,
        record=record,
    )
    commit = encode_commit(tree.root, [tip] if tip else [], text, repository.algorithm)
    repository.store(blobs=tree.blobs, trees=tree.trees, commits=[commit])
    return commit


def removals_allowed_by_options(outcome: Outcome) -> tuple[RemovalAllowance, ...]:
    """Return the removals that options let pass and no commit did, where clusters are held back one by one.

    They decided the tree, so that whoever makes it again has to know of them.
    """
    if not outcome.allowed.removals or outcome.source.desired.fleet.removal_guard.scope is not GuardScope.CLUSTER:
        return ()
    said = allowed_removals(outcome.repository, outcome.source, outcome.previous, Allowed())
    return tuple(
        RemovalAllowance(cluster=each.cluster, count=len(each.paths))
        for each in outcome.removals
        if each.is_refused(said[each.cluster])
    )


def is_engine_upgrade(outcome: Outcome) -> bool:
    """Say whether another engine than the one before made a pass."""
    return bool(outcome.previous and outcome.previous.version != engine_version())


def _commit_message(outcome: Outcome, source: CommitInfo) -> str:
    before = outcome.previous.tree.clusters if outcome.previous else {}
    after = outcome.rendered.tree.clusters
    known = before.keys() | after.keys()
    changed = sorted(name for name in known if before.get(name) != after.get(name))
    subject = f"Render {outcome.source.commit[:12]}"
    if is_engine_upgrade(outcome):
        subject += f" with engine {engine_version()}"
    elif source.subject:
        subject += f": {source.subject[:_LONGEST_SUBJECT]}"
    total, change = counted_noun(len(known), "cluster"), "changes" if len(changed) == 1 else "change"
    what = f"{len(changed)} of {total} {change}: {', '.join(changed)}" if changed else "no cluster changes"
    renamed = [f"{old} is called {new} now" for old, new in sorted(outcome.new_names.items())]
    parts = (what, "; ".join(renamed), changed_settings_on_one_line(filter(is_recorded_at_once, outcome.new_settings)))
    return "\n\n".join(filter(None, [subject, *(each[:2000] for each in parts)]))
