"""Applying a rendered commit to the fleet: what both ``argosy apply`` and ``argosy reconcile`` do.

1. find which members this run is for, and what each may hold (its inventory on the status branch);
2. ask members never seen before who they are, and record every attempt in one status commit - before any write;
3. observe, plan and apply each cluster by itself, in parallel;
4. record in one more status commit what every cluster holds now.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from reconciler.members.exchange import OpenClient
from reconciler.names.subjects import check_clusters
from reconciler.plans.custom_retention import retention_by
from reconciler.plans.inventory import Inventory
from reconciler.plans.values import PlanOptions
from reconciler.publish.branches import Publication
from reconciler.publish.status_branch import (
    Files,
    StatusBranch,
    inventory_file,
    inventory_path,
    merged_files,
    read_inventories,
)
from reconciler.repository.trailers import engine_version
from render.cluster import Cluster
from render.fleet import Fleet
from render.interpreter import Interpreter
from render.selection import matches
from render.selectors import LabelSelector

from .attempts import AttemptRecord, asked_uids
from .fleet import ClusterJob, FleetOptions, apply_fleet, in_shard
from .rendered_commits import RemovalTrailers, RenderedCommits
from .results import ApplyOptions, ClusterReport, Result
from .server_forms import remember_settled, settled_objects
from .unwell_workloads import with_findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a run of applying is for.

    ``clusters`` and ``selector`` narrow the members, ``shard`` is (index, count) from 1; ``reached`` are those that
    something says how to reach (None: all). ``allowed`` maps a cluster (or ``*``) to how many objects may be removed;
    ``confirmed`` names objects that may be pruned, as ``Kind/name``. ``dry_run`` asks the servers only;
    ``is_observing`` asks nothing but what is there.
    """

    clusters: tuple[str, ...] = ()
    reached: frozenset[str] | None = None
    selector: LabelSelector | None = None
    shard: tuple[int, int] = (1, 1)
    max_parallel: int = 32
    timeout: float = 300.0
    dry_run: bool = False
    is_observing: bool = False
    rehearse: bool = False
    allow_older: bool = False
    allowed: Mapping[str, int] = field(default_factory=dict)
    confirmed: tuple[str, ...] = ()
    plan: PlanOptions = field(default_factory=PlanOptions)

    @property
    def writes(self) -> bool:
        """Whether anything may be written, in clusters or to the status branch."""
        return not (self.dry_run or self.is_observing)


OutcomeFiles = Callable[[Sequence[ClusterReport], str | None], Files]
"""From the reports of a pass and the status branch's tip to what to write there beside inventories."""


def _nothing_more(_reports: Sequence[ClusterReport], _tip: str | None) -> Files:
    return {}


def _plain_message(commit: str, _reports: Sequence[ClusterReport], _files: Files) -> str:
    return f"Apply {commit[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a pass writes down in the end, what the commit says of it, and the rendered commits it went by so far."""

    files: OutcomeFiles = _nothing_more
    message: Callable[[str, Sequence[ClusterReport], Files], str] = _plain_message
    commits: RenderedCommits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetContext:
    """Where a fleet's branches are and who its members are.

    ``interpreter`` is the source's, asking its webhooks. ``record``: what a pass writes down in the end.
    """

    publication: Publication
    fleet: Fleet
    members: tuple[Cluster, ...]
    interpreter: Interpreter | None = None
    record: Record = field(default_factory=Record)

    @property
    def status(self) -> StatusBranch:
        """The fleet's status branch."""
        return StatusBranch(publication=self.publication, branch=self.fleet.status_branch)


def chosen_members(members: Iterable[Cluster], delivery: Delivery) -> tuple[Cluster, ...]:
    """Return the members a run is for, and that are reached.

    UnknownName names a cluster that was asked for and is no member.
    """
    wanted = _wanted_members(members, delivery)
    return tuple(cluster for cluster in wanted if delivery.reached is None or cluster.name in delivery.reached)


def unreached_members(members: Iterable[Cluster], delivery: Delivery) -> tuple[str, ...]:
    """Return the members a run would be for if anything said how to reach them."""
    reached = delivery.reached
    if reached is None:
        return ()
    return tuple(cluster.name for cluster in _wanted_members(members, delivery) if cluster.name not in reached)


def _wanted_members(members: Iterable[Cluster], delivery: Delivery) -> Iterator[Cluster]:
    """Yield the members that are asked for, by name; those that pull for themselves are left to their agents."""
    by_name = {cluster.name: cluster for cluster in members}
    check_clusters(delivery.clusters, by_name)
    for name, cluster in sorted(by_name.items()):
        is_named = not delivery.clusters or name in delivery.clusters
        is_selected = delivery.selector is None or matches(delivery.selector, cluster.labels)
        if is_named and is_selected and cluster.sync_mode != "Pull" and in_shard(name, *delivery.shard):
            yield cluster


@dataclass(slots=True)
class Run:
    """One run of applying a commit: the jobs it makes and the records it keeps."""

    fleetwide: FleetContext
    commit: str
    delivery: Delivery
    open_client: OpenClient
    report: Callable[[ClusterReport], None]
    tell: Callable[[str, Result], None] = lambda _cluster, _result: None
    clock: Callable[[], float] = time.time

    def reports(self) -> tuple[ClusterReport, ...]:
        """Apply the commit to every chosen member and return what came of each, by name."""
        members = [cluster.name for cluster in chosen_members(self.fleetwide.members, self.delivery)]
        status, repository = self.fleetwide.status, self.fleetwide.publication.repository
        announcements = AttemptRecord(status=status, commit=self.commit, now=self._now())
        inventories = announcements.inventories()
        if self.delivery.writes:
            inventories = announcements.announce(self._uids(members, inventories))
        commits = self.fleetwide.record.commits or RenderedCommits(repository)
        words = RemovalTrailers(repository, self.commit)
        jobs = [self._job(inventories.get(name, Inventory(cluster=name)), commits, words) for name in members]
        found = []
        for report in apply_fleet(jobs, self.open_client, self._options(announcements)):
            self.report(report)
            found.append(report)
        reports = tuple(sorted(found, key=lambda report: report.cluster))
        if self.delivery.writes:
            for report in reports:
                remember_settled(repository.cache_dir, report)
            said = partial(self.fleetwide.record.message, self.commit, reports)
            status.commit(self._outcomes(reports), said, time=self._now())
        return reports

    def _uids(self, members: Iterable[str], inventories: Mapping[str, Inventory]) -> dict[str, str]:
        """Return who the members are, as recorded or as they answer; those that do not are left out."""
        known = {name: inventory.uid for name in members if (inventory := inventories.get(name)) and inventory.uid}
        unseen = [name for name in members if name not in known]
        return known | asked_uids(unseen, self.open_client, self.delivery.max_parallel)

    def _job(self, inventory: Inventory, commits: RenderedCommits, words: RemovalTrailers) -> ClusterJob:
        name, converged = inventory.cluster, inventory.converged
        is_older = bool(converged) and commits.is_before(self.commit, converged)
        said = words.allowed(name, converged)
        allowed = max(-1 if said is None else said, *(self.delivery.allowed.get(key, -1) for key in (name, "*")))
        options = replace(
            self.delivery.plan,
            is_older=is_older,
            allow_older=self.delivery.allow_older,
            guard=self.fleetwide.fleet.removal_guard,
            allowed_removals=allowed if allowed >= 0 else None,
            settled=settled_objects(self.fleetwide.publication.repository.cache_dir, inventory.uid),
            retain=retention_by(self.fleetwide.interpreter or Interpreter()),
        )
        whole = inventory.holding(commits.held(name, inventory.commits))
        named = {ref for ref in whole.held if f"{ref.kind}/{ref.name}" in self.delivery.confirmed}
        options = replace(options, confirmed=frozenset(named))
        return ClusterJob(desired=commits.desired(name, self.commit), inventory=whole, options=options)

    def _options(self, announcements: AttemptRecord) -> FleetOptions:
        return FleetOptions(
            max_parallel=self.delivery.max_parallel,
            timeout=self.delivery.timeout,
            is_observing=self.delivery.is_observing,
            apply=ApplyOptions(
                dry_run=self.delivery.dry_run,
                rehearse=self.delivery.rehearse,
                holder=f"argosy-{random.randrange(16**8):08x}",  # noqa: S311 - a name, not a secret
                version=engine_version(),
            ),
            before_writing=lambda plan: announcements.ensure(plan.cluster, plan.uid),
            look_closer=with_findings,
        )

    def _outcomes(self, reports: Sequence[ClusterReport]) -> Callable[[str | None], Files]:
        def made(tip: str | None) -> Files:
            known = read_inventories(self.fleetwide.status, tip)
            files: dict[str, bytes | None] = {}
            for report in reports:
                before = known.get(report.cluster)
                if report.applied is None or before is None:
                    continue
                after = before.after(self.commit, report.applied.outcome, report.applied.left)
                if after != before:
                    files[inventory_path(report.cluster)] = inventory_file(after)
            return merged_files([self.fleetwide.record.files(reports, tip), files])

        return made

    def _now(self) -> int:
        return int(self.clock())
