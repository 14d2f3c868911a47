"""The fleet as its rendered branch describes it, and how far that branch is behind the source."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import (
    BranchPlace,
    fleet_in_force,
    published_fleet,
    rendered_tip_last_seen,
    rendered_tip_or_none,
)
from reconciler.branches.last_good import LastGood, read_last_good
from reconciler.branches.publication import Publication, branch_of_head, publication_of, remote_of_branch
from reconciler.branches.reading import Source, is_read_by_facts, read_observed_inputs, read_previous, read_source
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.continuity import check_continuity
from reconciler.ledger.refusal import SourceRefusal
from reconciler.pipeline.previous import Previous, bindings_parsed_before
from reconciler.pipeline.readme import replicas_by_cluster
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.pipeline.rendered_condition import RENDERED
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from reconciler.pipeline.unselected import unselected_templates
from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.refusal import refusal_caused_by
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import run_pass
from reconciler.rendering.problems import EXPECTED
from reconciler.repository import Repository
from reconciler.source.desired import is_failing_over
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding, Condition
from render.cluster import Cluster, Taint
from render.cluster_index import ClusterIndex
from render.errors import GitError, InputError
from render.model import ObjectRef
from render.rollouts.state import RolloutState
from render.scheduling.unknown_capacity import (
    UnknownCapacity,
    clusters_of_unknown_capacity_by_use,
    divides_by_room,
    placements_with_replicas,
)
from render.timing import Flip


class Lag(StrEnum):
    """The state of the rendered branch beside the newest source that passes see."""

    NONE = "None"
    UNCHANGED = "Unchanged"
    BEHIND = "Behind"
    AHEAD = "Ahead"
    UNKNOWN = "Unknown"


class SourceLag(Struct, frozen=True, kw_only=True):
    """The source that is rendered, the ``newest`` that passes see as far as is known here, and HEAD.

    ``refusal`` is why passes refuse the newest one, as far as its files tell. ``fetching`` is the command that brings
    what this clone lacks. ``branch`` is the one that passes render, where HEAD is on another one.
    """

    rendered: str
    newest: str
    head: str
    lag: Lag = Lag.NONE
    is_pushed: bool = True
    refusal: SourceRefusal | None = None
    fetching: str = "git pull"
    branch: str = ""

    @property
    def is_current(self) -> bool:
        """Return whether the rendered commit is known to be what the newest source asks for."""
        return self.lag not in {Lag.BEHIND, Lag.UNKNOWN}

    def ending_of_sentence(self, *, is_refused: bool) -> str:
        """Return what the newest source and HEAD are beside the rendered one, as the end of a sentence."""
        newest = self.newest[:12]
        behind = f", but the newest source is {newest}"
        words = {
            Lag.NONE: "",
            Lag.UNCHANGED: f"; the newest, {newest}, asks for the same",
            Lag.BEHIND: behind if is_refused else f"{behind}: run argosy reconcile",
            Lag.AHEAD: f", which is newer than what is here: {self.fetching}",
            Lag.UNKNOWN: f", which is not in this clone: {self.fetching}",
        }
        if not self.is_pushed and self.branch:
            return f"{words[self.lag]}; HEAD {self.head[:12]} is not on branch {self.branch!r}, which passes render"
        if not self.is_pushed:
            return f"{words[self.lag]}; HEAD {self.head[:12]} is not pushed, so no pass sees it: git push"
        older = f"; HEAD {self.head[:12]} is older: git pull"
        says_so = self.lag in {Lag.AHEAD, Lag.UNKNOWN}
        return words[self.lag] + (older if self.head != self.newest and not says_so else "")


def source_lag(repository: Repository, previous: Previous, head: str, log: Log) -> SourceLag:
    """Compare the rendered commit with the newest source, which is rendered to see whether it changes anything."""
    newest = _newest_pushed_source(repository, previous, head) or previous.source
    is_pushed = newest == head or _is_ancestor(repository, head, newest)
    lag, refusal = _lag_by_ancestry(repository, previous, newest), None
    if lag is Lag.BEHIND:
        try:
            lag = Lag.UNCHANGED if asks_for_the_same(repository, previous, newest, log) else Lag.BEHIND
        except InputError as error:
            refusal = refusal_caused_by(newest, error)
    return SourceLag(
        rendered=previous.source,
        newest=newest,
        head=head,
        lag=lag,
        is_pushed=is_pushed,
        refusal=refusal,
        fetching="git fetch --unshallow" if repository.is_shallow else "git pull",
        branch=previous.branch if previous.branch != branch_of_head(repository) else "",
    )


def asks_for_the_same(repository: Repository, previous: Previous, commit: str, log: Log) -> bool:
    """Return whether a source makes the same tree with the facts of the rendered commit; InputError if broken."""
    inputs = RenderInputs(observed=read_observed_inputs(repository, previous.commit), now=given_or_current_time())
    source = read_source(repository, commit, facts=lambda _fleet: inputs.observed.facts)
    check_continuity(repository, source, previous)
    return not run_pass(repository, source, previous, inputs, log).is_changed


def current_refusal(lag: SourceLag, recorded: RecordedStatus) -> SourceRefusal | None:
    """Return why passes refuse the newest source: what they recorded, or what its files tell; None if they do not.

    Where its branch is gone there is no newer one, so that the source may be the one that is rendered.
    """
    refusal = recorded.refusal()
    if refusal is None:
        return lag.refusal
    is_newest = refusal.source == lag.newest != lag.rendered
    return refusal if is_newest or refusal.code == GitError.exit_code else lag.refusal


def _newest_pushed_source(repository: Repository, previous: Previous, head: str) -> str | None:
    """Return the source that passes take: the fleet's branch as it was last seen, or HEAD; None: not known here.

    Where no branch is remembered, it is the one that this clone stands on.
    """
    current = branch_of_head(repository)
    branch = previous.branch or current
    remote = remote_of_branch(repository, branch)
    if not branch or (not previous.branch and (not remote or repository.mirrors)):
        return head
    tip = repository.tip(f"refs/remotes/{remote}/{branch}" if remote else f"refs/heads/{branch}")
    return head if tip is None and not current else tip


def _lag_by_ancestry(repository: Repository, previous: Previous, newest: str) -> Lag:
    if previous.source == newest:
        return Lag.NONE
    try:
        repository.resolve(previous.source)
    except GitError:  # it may be newer, or older than what a shallow clone has, or of a history that was rewritten
        return Lag.UNKNOWN
    return Lag.AHEAD if _is_ancestor(repository, newest, previous.source) else Lag.BEHIND


def _is_ancestor(repository: Repository, ancestor: str, commit: str) -> bool:
    try:
        return repository.is_ancestor(ancestor, commit)
    except GitError:  # this clone does not reach back far enough to know
        return False


class FleetStatus(Struct, frozen=True, dict=True):
    """The fleet as its rendered branch describes it, beside the source at HEAD; ``objects`` are counted by cluster.

    Where the source at HEAD has problems, ``source`` is the one that was rendered last. ``flip``: what happens next
    by itself. ``unknown_capacities`` are clusters that get no replicas by room. ``fetching`` is the command that brings
    newer branches of the fleet ("": they are in this repository).
    """

    branch: str
    source: Source
    lag: SourceLag
    previous: Previous
    objects: Mapping[str, int]
    flip: Flip | None = None
    fetching: str = ""
    unknown_capacities: tuple[UnknownCapacity, ...] = ()

    @cached_property
    def members(self) -> Mapping[str, Cluster]:
        """The clusters of the source by name."""
        return {cluster.name: cluster for cluster in self.source.desired.clusters}

    def taints_of(self, name: str) -> tuple[Taint, ...]:
        """Return the taints of a cluster; none of one that left the source."""
        member = self.members.get(name)
        return member.taints if member is not None else ()

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """The members and the clusters that are disconnected, by name."""
        return tuple(sorted(self.previous.tree.clusters.keys() | self.members.keys()))

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """Every binding, by object."""
        return tuple(sorted(self.previous.bindings.values(), key=lambda binding: binding.ref))

    @cached_property
    def rollouts(self) -> tuple[RolloutState, ...]:
        """All rollouts, by their policies."""
        return tuple(state for _, state in sorted(rollout_states_of_tree(self.previous.tree).items()))

    @cached_property
    def rollouts_under_way(self) -> tuple[RolloutState, ...]:
        """The rollouts that are not over, by their policies."""
        return tuple(state for state in self.rollouts if not state.is_completed)

    @cached_property
    def replicas(self) -> Mapping[str, int]:
        """The replicas placed in every cluster; none in those that are disconnected, which are not observed."""
        return {name: count for name, count in replicas_by_cluster(self.bindings).items() if name in self.members}

    @cached_property
    def templates_of_no_cluster(self) -> tuple[ObjectRef, ...]:
        """The templates that go nowhere; none is known where what is rendered is not what the source asks for."""
        is_rendered = self.lag.lag in {Lag.NONE, Lag.UNCHANGED}
        if not is_rendered or self.source.commit not in {self.lag.newest, self.lag.rendered}:
            return ()
        return tuple(sorted(each.ref for each in unselected_templates(self.source.desired, self.previous.bindings)))

    @cached_property
    def unbuilt_bindings_by_cluster(self) -> Mapping[str, tuple[Binding, ...]]:
        """The bindings whose objects could not be built as asked for, by the clusters that keep something older."""
        bindings: dict[str, list[Binding]] = {}
        for binding in self.bindings:
            for name in clusters_with_unbuilt_object(binding):
                bindings.setdefault(name, []).append(binding)
        return {name: tuple(each) for name, each in bindings.items()}


def fleet_status(repository: Repository, log: Log, former: FleetStatus | None = None) -> FleetStatus:
    """Read the rendered branch of the fleet that HEAD's source describes, or described before it was broken.

    ``former`` is what was read of other commits: of the same source, and of bindings that did not change, it is taken.
    """
    head = repository.resolve("HEAD")
    source = _source_described_by_head(repository, head, former.source if former is not None else None)
    branch = source.desired.fleet.rendered_branch
    publication = publication_of(repository, source.desired.fleet)
    tip = publication.known_tip(branch)
    if tip is None:
        raise publication.nothing_rendered(branch)
    known = bindings_parsed_before(former.previous.bindings) if former is not None else None
    previous = previous_by_new_names(read_previous(repository, tip, known), source.desired.clusters)
    return FleetStatus(
        branch=branch,
        source=source,
        lag=source_lag(repository, previous, head, log),
        previous=previous,
        objects=_object_count_by_cluster(previous),
        flip=_next_change_by_time(publication, source, previous, log),
        fetching=publication.fetch_command,
        unknown_capacities=_clusters_of_unknown_capacity(repository, source, previous),
    )


def fleet_status_of_commit(repository: Repository, commit: str, refused: str = "") -> FleetStatus:
    """Read the fleet as a rendered commit describes it, with the source that it was made from.

    ``refused`` is a newer source that passes refused then ("": none). Of others that were there nobody knows now.
    """
    previous = read_previous(repository, commit)
    observed = read_observed_inputs(repository, commit)
    source = read_source(repository, previous.source, facts=lambda _fleet: observed.facts)
    newest = refused or previous.source
    previous = previous_by_new_names(previous, source.desired.clusters)
    return FleetStatus(
        branch=source.desired.fleet.rendered_branch,
        source=source,
        lag=SourceLag(
            rendered=previous.source,
            newest=newest,
            head=newest,
            lag=Lag.NONE if newest == previous.source else Lag.BEHIND,
        ),
        previous=previous,
        objects=_object_count_by_cluster(previous),
        unknown_capacities=_clusters_of_unknown_capacity(repository, source, previous),
    )


def _clusters_of_unknown_capacity(
    repository: Repository, source: Source, previous: Previous
) -> tuple[UnknownCapacity, ...]:
    """Return the clusters of unknown capacity, by what was known when the bindings were rendered."""
    by_room = [each for each in placements_with_replicas(previous.bindings.values()) if divides_by_room(each[1])]
    if not by_room:
        return ()
    facts = read_observed_inputs(repository, previous.commit).facts
    return clusters_of_unknown_capacity_by_use(
        by_room, ClusterIndex(clusters_corrected_by_facts(source.desired.clusters, facts))
    )


def _next_change_by_time(publication: Publication, source: Source, previous: Previous, log: Log) -> Flip | None:
    """Return what happens next by itself, as far as is known here; a fleet without rules of time is not rendered."""
    if not is_failing_over(source.desired) and not source.desired.cron_autoscalers:
        return None
    repository, branch = publication.repository, source.desired.fleet.status_branch
    observed = read_observed_inputs(repository, repository.tip(publication.ref(branch)))
    return run_pass(
        repository, source, previous, RenderInputs(observed=observed, now=given_or_current_time()), log
    ).flip


def _source_described_by_head(repository: Repository, head: str, former: Source | None) -> Source:
    """Return the source of a commit, or that of the last good commit.

    Where it names another place for the branches, which nobody has accepted, its settings are those in force. One that
    was read before is read again only where it depends on what was observed meanwhile.
    """
    is_known = former is not None and former.commit == head and not is_read_by_facts(former.desired)
    try:
        source = former if is_known and former is not None else read_source(repository, head)
        published = published_fleet(repository, head, source.desired.fleet)
        if BranchPlace.of(published) == BranchPlace.of(source.desired.fleet):
            return source
        fleet, _ = fleet_in_force(repository, head, rendered_tip_or_none)
        return replace(source, desired=replace(source.desired, fleet=fleet))
    except InputError as error:
        return last_good_before(error, repository, head).source


def last_good_before(error: InputError, repository: Repository, head: str) -> LastGood:
    """Return the last good commit before a source that cannot be read; that error again where nothing is rendered."""
    good = read_last_good(repository, head, rendered_tip_last_seen)
    if good is None:
        raise error
    return good


def _object_count_by_cluster(previous: Previous) -> Mapping[str, int]:
    counts: dict[bytes, int] = {}
    objects: Counter[str] = Counter()
    for name, tree_id in previous.tree.clusters.items():
        if tree_id not in counts:
            counts[tree_id] = sum(1 for _ in previous.tree.files(tree_id))
        objects[name] = counts[tree_id]
    return objects


def clusters_with_unbuilt_object(binding: Binding) -> tuple[str, ...]:
    """Return the clusters in which a binding's object could not be built as asked for."""
    failed = next((each for each in binding.conditions if each.type == RENDERED and each.status == "False"), None)
    return () if failed is None else failed.clusters or expected_clusters(binding)


def binding_problems(binding: Binding) -> list[str]:
    """Return what is wrong with a binding: it is not placed, not built, or claimed by no policy."""
    return [f"{condition.reason}: {condition.message}" for condition in conditions_at_fault(binding)]


def conditions_at_fault(binding: Binding) -> tuple[Condition, ...]:
    """Return the conditions of a binding that say what is wrong with it."""
    return tuple(each for each in binding.conditions if each.status == "False" and each.reason not in EXPECTED)
