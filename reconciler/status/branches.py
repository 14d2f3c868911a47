"""The rendered and the status branch read together, as they are known here or fetched."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import publication_of
from reconciler.branches.rendered_history import first_newer_time
from reconciler.branches.rendered_sources import fetch_rendered_source
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.log import Log
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.holds import ClusterHolds, end_of_first_hold
from reconciler.ledger.refusal import SourceRefusal
from reconciler.names.kinds import ref_of_named_object
from reconciler.pipeline.namespaces import bare_namespace, namespace_ref
from reconciler.pipeline.previous import Previous
from reconciler.record.recorded_status import RecordedStatus, path_in_cluster, read_recorded
from reconciler.repository import Repository, open_repository
from reconciler.repository.trailers import source_of_rendered_commit
from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster import Cluster, is_applied_by_own_agent
from render.errors import ConfigError, InputError, ReconcileError
from render.layout import object_path
from render.model import Manifest, ObjectRef, TargetCluster, Template, mapping_or_empty
from render.settings.fleet import Fleet
from render.timing import Flip, earliest_flip, epoch_text

from .fault_times import FaultTimes, times_of_faults
from .fleet import FleetStatus, current_refusal, fleet_status, fleet_status_of_commit, last_good_before
from .staleness import AskedCommits, MemberProgress, progress_of_members

RECONCILE = "argosy reconcile"
Tips = tuple[str | None, ...]
"""The commits of HEAD, of the rendered branch and of the status branch."""

POLL_SECONDS = 5.0


class NotSelected(ConfigError):
    """An object is meant that is in the source, and that no policy selects."""


class RecordedFleet(Struct, frozen=True, kw_only=True, dict=True):
    """The fleet as its rendered branch describes it, and what its status branch records of it.

    ``status_time`` is the time of ``status_commit``, the newest commit of the status branch ("": it has none), ``now``
    the time of reading, both in seconds.
    ``asked`` are the commits that clusters have which pull or a tool applies to, where these ask the same of them as
    the newest rendered one: their agents are asked for nothing new. ``fetching`` is the command that may bring a status
    branch which is not known here ("": it is, or there is none). ``held_at_newest`` are the clusters that are held at
    what the newest commit asks of them. ``newer_since`` is the time of the first rendered commit that is newer than
    the one that a cluster has. ``fault_times`` say since when conditions of bindings are false. ``is_past``: it is told
    of an instant of the past.
    """

    fleet: FleetStatus
    recorded: RecordedStatus
    status_commit: str = ""
    status_time: float = 0.0
    now: float = 0.0
    asked: Mapping[str, str] = field(default_factory=dict)
    fetching: str = ""
    held_at_newest: frozenset[str] = frozenset()
    newer_since: Mapping[str, str] = field(default_factory=dict)
    fault_times: FaultTimes = field(default_factory=dict)
    is_past: bool = False

    @property
    def refusal(self) -> SourceRefusal | None:
        """The refusal of the newest source; None if passes do not refuse it."""
        return current_refusal(self.fleet.lag, self.recorded)

    @property
    def is_applied_by_passes(self) -> bool:
        """True where passes apply to members: one recorded something, or argosy.yaml says how some are reached."""
        return bool(self.recorded.files) or self.fleet.source.desired.fleet.reachable_members != frozenset()

    @cached_property
    def replicas(self) -> Mapping[str, int]:
        """The replicas placed in every cluster, without those of Jobs that have ended there."""
        counts = Counter(self.fleet.replicas)
        for binding in self.fleet.bindings:
            if binding.ref.group_kind == "Job.batch":
                below = path_in_cluster(binding.ref)
                works = {name: self.recorded.manifest(f"works/{name}/{below}") for name in binding.placed_replicas}
                counts.subtract({name: binding.placed_replicas[name] for name in works if is_over(works[name])})
        return {name: count for name, count in counts.items() if name in self.fleet.members}

    @cached_property
    def holds(self) -> ClusterHolds:
        """The holds that keep the newest rendered commit from members."""
        found = self.recorded.holds(self.fleet.previous.source, epoch_text(self.now))
        return {name: hold for name, hold in sorted(found.items()) if name in self.fleet.members}

    @property
    def flip(self) -> Flip | None:
        """The next change that happens by itself: of what is rendered, or the end of a hold."""
        return earliest_flip((self.fleet.flip, end_of_first_hold(self.holds)))

    @cached_property
    def progress(self) -> Mapping[str, MemberProgress]:
        """The progress of every member towards the newest rendered commit."""
        desired = self.fleet.source.desired
        newest, at_newest = self.fleet.previous.commit, self.held_at_newest
        asked = AskedCommits(
            newest=newest,
            others=self.asked,
            holds=self.holds,
            held_at_newest=at_newest,
            newer_since=self.newer_since,
        )
        found = progress_of_members(self.recorded, desired.fleet, desired.clusters, asked)
        if not self.fetching:
            return found
        return {name: replace(each, hint=each.hint or self.fetching) for name, each in found.items()}


def is_over(work: Manifest | None) -> bool:
    """Say whether the Job of a Work has ended, well or not."""
    entry: Manifest = next(iter(((work or {}).get("status") or {}).get("manifestStatuses") or ()), {})
    conditions = mapping_or_empty(entry.get("status")).get("conditions")
    found = [each for each in conditions if isinstance(each, Mapping)] if isinstance(conditions, list) else []
    return any(condition_of_type(found, kind).get("status") == "True" for kind in ("Complete", "Failed"))


def read_recorded_fleet(
    repository: Repository,
    log: Log,
    clock: Callable[[], float] = time.time,
    fetched: Tips = (),
    former: RecordedFleet | None = None,
) -> RecordedFleet:
    """Read both branches as they are known here.

    ``fetched`` are the tips that were fetched for it, if any: a status branch that is gone there has told nothing.
    ``former`` is what was read of other commits: what is the same in these is not read again.
    """
    fleet = fleet_status(repository, log, former.fleet if former is not None else None)
    desired = fleet.source.desired
    publication = publication_of(repository, desired.fleet)
    status = StatusBranch(publication=publication, branch=desired.fleet.status_branch, clusters=desired.clusters)
    tip = fetched[2] if fetched else repository.tip(publication.ref(status.branch))
    recorded = read_recorded(status, tip, known=former.recorded if former is not None else None)
    now = clock()
    fetching = "" if tip or fetched else publication.fetch_command
    return replace(_recorded_fleet(repository, fleet, recorded, tip, now), fetching=fetching)


def recorded_fleet_of_commits(
    repository: Repository, rendered: str, status: str, now: float, former: RecordedFleet | None = None
) -> RecordedFleet:
    """Read a commit of either branch ("": there was no record of members), as they told of the fleet at a time.

    ``former`` is what was read of other commits.
    """
    fleet = _fleet_settings_at(repository, source_of_rendered_commit(repository, rendered))
    publication = publication_of(repository, fleet)
    branch = StatusBranch(publication=publication, branch=fleet.status_branch)
    recorded = read_recorded(branch, status or None, known=former.recorded if former is not None else None)
    refusal = recorded.refusal()
    found = fleet_status_of_commit(repository, rendered, refusal.source if refusal is not None else "")
    return replace(_recorded_fleet(repository, found, recorded, status or None, now), is_past=True)


def _recorded_fleet(
    repository: Repository, fleet: FleetStatus, recorded: RecordedStatus, tip: str | None, now: float
) -> RecordedFleet:
    clusters = fleet.source.desired.clusters
    asked = AskedCommits(newest=fleet.previous.commit, holds=recorded.holds(fleet.previous.source, epoch_text(now)))
    return RecordedFleet(
        fleet=fleet,
        recorded=recorded,
        status_commit=tip or "",
        asked=_commits_asking_the_same(repository, clusters, recorded, asked),
        held_at_newest=_clusters_held_at_newest(repository, clusters, asked),
        newer_since=_times_of_first_newer(repository, clusters, recorded, asked),
        fault_times=times_of_faults(repository, fleet.previous.commit, fleet.bindings),
        status_time=repository.commit_info(tip).time if tip else 0.0,
        now=now,
    )


def _clusters_held_at_newest(
    repository: Repository, clusters: tuple[Cluster, ...], asked: AskedCommits
) -> frozenset[str]:
    """Return the clusters whose holds keep nothing from them yet: the newest commit asks the same of them."""
    commits = RenderedCommits(repository, clusters)
    held = ((name, hold.commit) for name, hold in asked.holds.items())
    return frozenset(name for name, commit in held if commits.ask_the_same(name, commit, asked.newest))


def _times_of_first_newer(
    repository: Repository, clusters: tuple[Cluster, ...], recorded: RecordedStatus, asked: AskedCommits
) -> Mapping[str, str]:
    """Return the times of the first rendered commits that are newer than what clusters have; a hold keeps all out."""
    had = {each.name: recorded.converged_commit(each.name) for each in clusters if each.name not in asked.holds}
    times = {commit: first_newer_time(repository, commit, asked.newest) for commit in {*had.values()} - {""}}
    return {name: times[commit] for name, commit in had.items() if times.get(commit)}


def _commits_asking_the_same(
    repository: Repository, clusters: tuple[Cluster, ...], recorded: RecordedStatus, asked: AskedCommits
) -> Mapping[str, str]:
    """Return the commits that clusters have which pull or a tool applies to, where these ask the same as ours."""
    records = recorded.clusters()
    recorded_clusters = [cluster for cluster in clusters if cluster.name in records]
    pulling = [each.name for each in recorded_clusters if is_applied_by_own_agent(each) or records[each.name].deployer]
    commits = RenderedCommits(repository, clusters)
    applied = {name: records[name].applied for name in pulling}
    return {
        name: known
        for name, known in applied.items()
        if known
        and known == recorded.converged_commit(name)
        and commits.ask_the_same(name, known, asked.asked_commit_of(name))
    }


def fetched_tips(repository: Repository) -> Tips:
    """Fetch the rendered and the status branch and return their tips, HEAD first."""
    head = repository.resolve("HEAD")
    fleet = _fleet_settings_at(repository, head)
    publication = publication_of(repository, fleet)
    branches = fleet.rendered_branch, fleet.status_branch
    publication.ask_for_tips(*branches)
    return head, *(publication.current_tip(branch) for branch in branches)


def _fleet_settings_at(repository: Repository, head: str) -> Fleet:
    """Return what argosy.yaml says, or said before it was broken."""
    try:
        return fleet_in_force(repository, head, rendered_tip_or_none)[0]
    except InputError as error:
        return last_good_before(error, repository, head).fleet


class Pacing(Struct, frozen=True, kw_only=True):
    """Clocks to wait by: a monotonic one, a pause, and the one that tells how old what is recorded is."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.time


def follow_branches(log: Log, show: Callable[[RecordedFleet, bool], object], pacing: Pacing) -> NoReturn:
    """Show the fleet, and again whenever a branch moved, until the process is interrupted.

    ``show`` gets the fleet and whether this is the first time. An error ends the first look; afterwards it becomes a
    warning, once for as long as it is the same, because a remote that is away for a while comes back.
    """
    known: Tips = ()
    problem = ""
    while True:
        try:
            known, problem = _show_if_moved(log, show, known, pacing.clock), ""
        except ReconcileError as error:
            if not known:
                raise
            if str(error) != problem:
                problem = str(error)
                log.warning(problem)
        pacing.pause(POLL_SECONDS)


def _show_if_moved(
    log: Log, show: Callable[[RecordedFleet, bool], object], known: Tips, clock: Callable[[], float]
) -> Tips:
    with open_repository(log.repository) as repository:
        tips = fetched_tips(repository)
        if tips != known:
            if tips[1] is not None:
                fetch_rendered_source(repository, tips[1])
            show(read_recorded_fleet(repository, log, clock, tips), not known)
    return tips


def binding_meant_by(branches: RecordedFleet, noun: str, name: str, namespace: str) -> Binding:
    """Return the binding of the object that is meant; ConfigError when no policy selects it, or nobody here can know.

    A namespace that is propagated with the objects in it has none: the one returned has the clusters it is in, and
    neither a policy nor conditions.
    """
    leaving = [each for each in branches.fleet.bindings if each.is_leaving]
    ref = object_meant_by(branches.fleet.source.desired, noun, name, namespace, leaving)
    binding = rendered_binding(branches.fleet.previous, ref)
    lag = branches.fleet.lag
    if binding is None and not (lag.is_current and lag.is_pushed):
        raise error_of_object_not_rendered(branches.fleet, ref)
    if binding is None:
        space = f" -n {namespace}" if namespace else ""
        raise NotSelected(f"{ref} has no binding: no policy selects it", hint=f"argosy explain {noun}/{name}{space}")
    return binding


def rendered_binding(previous: Previous, ref: ObjectRef) -> Binding | None:
    """Return the binding of an object in a rendered commit; None where it has none."""
    return previous.bindings.get(ref) or _binding_of_namespace(previous, ref)


def error_of_object_not_rendered(fleet: FleetStatus, ref: ObjectRef) -> ConfigError:
    """Return the error for an object that the rendered commit known here was made without: a newer one may have it."""
    lag, rendered = fleet.lag, f"{fleet.branch} {fleet.previous.commit[:12]}"
    message = f"{ref} is not in {rendered}, the newest that is known here, which holds source {lag.rendered[:12]}"
    if not lag.is_pushed:
        return ConfigError(f"{message}; HEAD {lag.head[:12]} is not pushed, so no pass sees it", hint="git push")
    hint = f"{fleet.fetching}, or {RECONCILE} if no pass runs by itself" if fleet.fetching else RECONCILE
    return ConfigError(f"{message}, and not {lag.newest[:12]}", hint=hint)


def object_meant_by(
    desired: Desired, noun: str, name: str, namespace: str, leaving: Iterable[Binding] = ()
) -> ObjectRef:
    """Return the object of the source that is meant, a namespace that objects are in among them; else UnknownName.

    So are those that leave clusters wave by wave (``leaving``), of which the source has nothing any more.
    """
    spaces = {template.ref.namespace for template in desired.templates if template.ref.namespace}
    known = {template.ref for template in desired.templates}
    bare = [bare_namespace(space) for space in sorted(spaces) if namespace_ref(space) not in known]
    bare += [
        Template(ref=each.ref, manifest={"apiVersion": each.api_version}) for each in leaving if each.ref not in known
    ]
    return ref_of_named_object(noun, name, namespace, (*desired.templates, *bare))


def _binding_of_namespace(previous: Previous, ref: ObjectRef) -> Binding | None:
    """Return a binding of the clusters that a namespace is in; None for one that is nowhere, and for other kinds."""
    if ref.group_kind != "Namespace":
        return None
    tree, path = previous.tree, object_path(ref)
    tree.load([ref])
    names = sorted(name for name, folder in tree.clusters.items() if tree.trees.entry(folder, path) is not None)
    targets = tuple(TargetCluster(name) for name in names)
    return Binding(ref=ref, api_version="v1", targets=targets) if targets else None
