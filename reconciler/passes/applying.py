"""One apply of a rendered commit to the chosen members, with what is written down before and after it.

1. read what each member may hold (its inventory on the status branch) and what it must hold at the commit;
2. record the attempts at all members whose identity is known in one status commit - before any write;
3. observe, plan and apply each member by itself, in parallel, but for those that are idle (``remembered_members``);
4. record in one more status commit what every member holds now, and how it is: of the slow ones in another, later.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from functools import cached_property, partial

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.status_branch import read_inventories
from reconciler.deliver.attempts import FRESH_SECONDS, AttemptRecord
from reconciler.deliver.decryption import SopsDecryption
from reconciler.deliver.fleet import AwaitObservation, ClusterJob, FleetOptions, JobIfChanged, apply_fleet
from reconciler.deliver.holder import LeaseHolder, lease_holder
from reconciler.deliver.identities import Identities
from reconciler.deliver.member_holds import HoldWish, MemberHolds
from reconciler.deliver.orphans import (
    Agree,
    Orphans,
    formerly_rendered_refs,
    orphans_in_reports,
    refuse_orphans,
    with_trusted_objects,
)
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.deliver.results import ApplySettings, ClusterReport
from reconciler.ledger.holds import HoldRules
from reconciler.ledger.inventory import HistoryPlace, Inventory
from reconciler.members.exchange import Client, Failure
from reconciler.members.options import DeliveryOptions
from reconciler.members.visits import MemberReach
from reconciler.observe.idle_members import is_still_idle
from reconciler.pipeline.previous import Previous
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import PlanOptions
from reconciler.plans.retention import retention_rule_by_interpreter
from reconciler.repository.trailers import engine_version
from render.cluster import Cluster, is_drained
from render.errors import GitError
from render.interpreter import Interpreter
from render.model import Manifest, ObjectRef
from render.timing import epoch_text

from .options import never_stop
from .record_of_pass import PassRecord
from .recording import ReportRecording
from .remembered_members import RememberedMember


class Delivery(Struct, frozen=True, kw_only=True):
    """The members one apply is for, and what it may do there.

    ``allowed`` maps a cluster (or ``*``) to how many objects may be removed. ``dry_run`` asks the servers what they
    would do; ``is_observing`` asks nothing but what is there. No member is begun once ``is_stopping`` says so, and
    no more than are begun at once where ``is_making_way`` does.
    """

    members: tuple[Cluster, ...]
    options: DeliveryOptions = field(default_factory=DeliveryOptions)
    allowed: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = False
    is_observing: bool = False
    is_stopping: Callable[[], bool] = never_stop
    is_making_way: Callable[[], bool] = never_stop

    @property
    def writes(self) -> bool:
        """True where anything may be written, in clusters or to the status branch."""
        return not (self.dry_run or self.is_observing)


def _discard_words(_words: object) -> None:
    return


def _same_failure(failure: Failure | None) -> Failure | None:
    return failure


class ApplyRun(Struct, frozen=True, kw_only=True, dict=True):
    """One apply of a commit: the jobs it makes, and the two status commits around them.

    ``previous`` is a rendered commit that was read already, ``manifests`` are objects by the blobs they would be read
    from. ``record`` is what a pass records beside the inventories. ``remembered`` are the members that an earlier pass
    left idle. ``agree`` is asked before orphans are deleted. ``say`` is told what is waited for, and ``on_waiting``
    every second which members are under way. ``clock`` gives the time of the status commits. ``commits`` are the
    rendered commits where they are not read from their own branch. ``wish`` is what is to become of holds; members that
    stay held get the commit that they are held at.
    """

    context: FleetContext
    commit: str
    delivery: Delivery
    reach: MemberReach
    previous: Previous | None = None
    manifests: Mapping[bytes, Manifest] = field(default_factory=dict)
    record: PassRecord | None = None
    remembered: Mapping[str, RememberedMember] = field(default_factory=dict)
    agree: Agree = refuse_orphans
    say: Callable[[str], None] = _discard_words
    on_waiting: Callable[[tuple[str, ...]], None] = _discard_words
    clock: Callable[[], float] = time.time
    commits: RenderedCommits | None = None
    wish: HoldWish = field(default_factory=HoldWish)

    @cached_property
    def applyset(self) -> ApplySet:
        """The fleet's set, which is its identity in members."""
        return ApplySet.of_fleet(self.context.fleet.name, self._commits.first_commit_of_branch(self.commit))

    @cached_property
    def _commits(self) -> RenderedCommits:
        repository, members = self.context.publication.repository, self.context.members
        return self.commits or RenderedCommits(repository, members, self.previous, self.manifests)

    @cached_property
    def _decryption(self) -> SopsDecryption:
        fleet = self.context.fleet
        return SopsDecryption(fleet.decryption.secret, services=frozenset(fleet.decryption.key_services))

    def reports(self, tell: Callable[[ClusterReport], None] = _discard_words) -> tuple[ClusterReport, ...]:
        """Apply the commit to every chosen member and return each outcome, by name; ``tell`` gets each at once."""
        repository = self.context.publication.repository
        # An agent has one cluster, and looks for another agent of it before each first write.
        fresh = FRESH_SECONDS if self.commits is None else 0.0
        hold_rules = self._hold_rules(self.clock())
        attempts = AttemptRecord(status=self.context.status, hold_rules=hold_rules, now=int(self.clock()), fresh=fresh)
        inventories = attempts.inventories()
        identities = self._identities(inventories)
        orphans = self._agreed_orphans(inventories)
        held = self._held_members(attempts.hold_rules, inventories)
        if self.delivery.writes:
            inventories = attempts.record(self._to_announce(identities, held))
            held = self._held_members(attempts.hold_rules, inventories)
        recording = ReportRecording(
            status=self.context.status,
            commit=self._commits.commit_contents(self.commit) if self.delivery.writes else None,
            manager=self.applyset.manager,
            planned=inventories,
            record=self.record,
            say=self.say,
            clock=self.clock,
            turn=attempts.turn,
            hold_rules=attempts.hold_rules,
            commits=self._commits,
        )
        with lease_holder(repository.cache_dir / "passes") if self.delivery.writes else nullcontext() as holder:
            options = replace(
                self._fleet_options(identities, holder),
                before_writing=lambda plan: attempts.ensure_recorded(plan.cluster, plan.uid, plan.commit),
                late=self._late_observations(),
                on_slow=recording.record_without,
            )
            remembered = self._members_without_news(identities, held) if self.delivery.writes else {}
            jobs = self._jobs_of_members(held, remembered, orphans, attempts.turn)
            for report in apply_fleet(jobs, self.reach, options):
                with_hold = report.with_hold(held.hold_in_force(report.cluster), attempts.ended)
                tell(with_hold)
                recording.add(with_hold)
        return recording.recorded_reports()

    def _hold_rules(self, now: float) -> HoldRules:
        """Return the holds that the apply goes by, as it sets them out."""
        members = tuple(member.name for member in self.delivery.members)
        source = self.wish.newest or self._commits.commit_contents(self.commit).source
        return self.wish.hold_rules(self.commit, source, epoch_text(now), members)

    def _held_members(self, hold_rules: HoldRules, inventories: Mapping[str, Inventory]) -> MemberHolds:
        """Return the clusters of the fleet that are held: others must know of those that are not chosen as well."""
        names = {*(member.name for member in self.context.members), *hold_rules.set_for}
        found = {name: inventories.get(name, Inventory(cluster=name)).hold for name in names}
        holds = {name: hold_rules.hold_after(name, known) for name, known in found.items()}
        return MemberHolds(
            commit=self.commit,
            commits=self._commits,
            inventories=inventories,
            by_cluster={name: hold for name, hold in holds.items() if hold is not None},
            newest=self.wish.tip or self.commit,
            is_named=self.wish.is_named,
            is_observing=self.delivery.is_observing,
            is_only_asked=self.wish.is_set and not self.delivery.writes,
        )

    def held_members(self) -> MemberHolds:
        """Return the clusters that will be held, with what is known of them before anything is recorded."""
        status = self.context.status
        return self._held_members(self._hold_rules(self.clock()), read_inventories(status, status.tip()))

    def _identities(self, inventories: Mapping[str, Inventory]) -> Identities:
        """Return who the fleet's members are, as recorded or as they answered."""
        names = {member.name for member in self.context.members}
        observed = self.record.observation.uids if self.record is not None else {}
        recorded = {name: known.uid for name, known in inventories.items() if known.uid and name in names}
        return Identities(
            recorded=recorded, observed={name: uid for name, uid in observed.items() if name not in recorded}
        )

    def _to_announce(self, identities: Identities, held: MemberHolds) -> dict[str, str]:
        """Return who the chosen members are that may get other objects than those they are known to hold.

        Any other one is announced before its first write, if it turns out to need one: most commits change few folders.
        """
        return {
            name: uid
            for name, uid in self._uids(identities).items()
            if held.refusal(name) is None and not held.has_folder(name)
        }

    def _uids(self, identities: Identities) -> dict[str, str]:
        """Return who the chosen members are; those that did not answer are left out, and those that have twins."""
        known = {**identities.observed, **identities.recorded}
        uids = {member.name: known[member.name] for member in self.delivery.members if member.name in known}
        return {name: uid for name, uid in uids.items() if not identities.members_with_same_uid(name, uid)}

    def _late_observations(self) -> dict[str, AwaitObservation]:
        """Return how the observation of members ended that are late, or fell silent while they were observed."""
        if self.record is None:
            return {}
        observation = self.record.observation
        silent = {
            member.cluster: partial(_same_failure, member.failure_of_silent_cluster)
            for member in observation.members
            if member.unread and member.failure_of_silent_cluster
        }
        return {**silent, **{name: observed.failure for name, observed in observation.late.items()}}

    def plan_members(self, inventories: Mapping[str, Inventory]) -> tuple[ClusterReport, ...]:
        """Observe every chosen member and plan by these inventories; nothing is written."""
        identities = self._identities(inventories)
        observing = replace(self._fleet_options(identities), is_observing=True)
        held = self._held_members(self._hold_rules(self.clock()), inventories)
        jobs = self._jobs_of_members(held, {}, None, threading.Lock())
        return tuple(apply_fleet(jobs, self.reach, observing))

    def _agreed_orphans(self, inventories: Mapping[str, Inventory]) -> Orphans | None:
        """Observe what orphans there are and have them agreed to; None where a pass shows or ignores them."""
        if not (self.delivery.options.orphans and self.delivery.writes):
            return None
        orphans = orphans_in_reports(self.plan_members(inventories))
        self.agree(orphans)
        return orphans

    def _jobs_of_members(
        self,
        held: MemberHolds,
        remembered: Mapping[str, RememberedMember],
        orphans: Orphans | None,
        turn: threading.Lock,
    ) -> list[ClusterJob | JobIfChanged]:
        """Return the job of each member: of one that may be idle it is made in its own thread, when it is needed."""

        def history_place(commit: str, given: str) -> HistoryPlace:
            with turn:
                return self._history_place(given, commit)

        def is_elsewhere(cluster: str, ref: ObjectRef) -> bool:
            with turn:
                return held.is_elsewhere(cluster, ref)

        def awaited_in(cluster: str, ref: ObjectRef) -> str:
            with turn:
                return held.awaited_in(cluster, ref)

        def made(cluster: str) -> ClusterJob:
            job = self._job_of_member(cluster, orphans, held)
            asking = replace(
                job.options,
                history_place=partial(history_place, job.desired.commit),
                is_elsewhere=partial(is_elsewhere, cluster),
                awaited_in=partial(awaited_in, cluster),
            )
            return replace(job, options=asking)

        def made_later(cluster: str) -> ClusterJob:
            with turn:
                return made(cluster)

        names = (member.name for member in self.delivery.members)
        return [
            held.refused_job(name) or self._idle_job(name, held, remembered, made_later) or made(name) for name in names
        ]

    def _idle_job(
        self,
        cluster: str,
        held: MemberHolds,
        remembered: Mapping[str, RememberedMember],
        made_later: Callable[[str], ClusterJob],
    ) -> JobIfChanged | None:
        """Return the job of a member that an earlier pass left idle; None for any other."""
        if cluster not in remembered:
            return None
        idle = partial(self._report_if_still_idle, remembered[cluster], held.commit_for(cluster))
        later = partial(made_later, cluster)
        return JobIfChanged(cluster=cluster, inventory=held.inventory(cluster), report=idle, job=later)

    def _history_place(self, given: str, commit: str) -> HistoryPlace:
        """Return the place of a commit that a cluster was given; one of a newer pass may not have been here before."""
        place = self._commits.history_place(given, commit)
        if place is HistoryPlace.ELSEWHERE and self.commits is None:
            with suppress(GitError):  # a remote that does not answer tells no newer commit
                tip = self.context.publication.newest_tip(self.context.fleet.rendered_branch)
                if tip and self._commits.history_place(given, tip) is HistoryPlace.BEFORE:
                    return HistoryPlace.AFTER
        return place

    def _members_without_news(self, identities: Identities, held: MemberHolds) -> dict[str, RememberedMember]:
        """Return the members of which the commit and the status branch say nothing new since they were idle."""
        if not self.remembered:
            return {}
        works, now = self.context.status.folders("works", self.context.status.tip()), epoch_text(self.clock())
        return {
            name: known
            for name, known in self.remembered.items()
            if (inventory := held.inventories.get(name)) is not None and inventory.manager == self.applyset.manager
            if {known.commit, held.commit_for(name)}.issuperset(inventory.attempted)
            if not identities.members_with_same_uid(name, inventory.uid)
            if known.is_recorded(inventory, works.get(name, ""), now)
            if self._commits.ask_the_same(name, known.commit, held.commit_for(name))
            if not self._commits.is_ancestor_of(held.commit_for(name), known.commit)
        }

    def _report_if_still_idle(self, known: RememberedMember, commit: str, client: Client) -> ClusterReport | None:
        """Return the report of a member that is as it was left, None for any other."""
        return known.report(commit) if is_still_idle(client, known.answers) else None

    def _job_of_member(self, cluster: str, orphans: Orphans | None, held: MemberHolds) -> ClusterJob:
        """Return the job of a member; ``orphans`` are those agreed to, None for all that its options ask for."""
        commits, known = self._commits, held.inventory(cluster)
        commit = held.commit_for(cluster)
        trusted = with_trusted_objects(known, commits, commit, held.newest if cluster in held.by_cluster else None)
        options = self._plan_options(trusted, commit)
        # Who holds a cluster at a commit has said that it goes back, for as long as the hold stands.
        allow_older = options.allow_older or cluster in held.by_cluster
        options = replace(options, allow_older=allow_older, last_copies=held.last_copies(cluster))
        if orphans is not None:
            options = replace(options, orphans=orphans.get(cluster, frozenset()))
        elif self.delivery.options.orphans:
            options = replace(options, orphans=formerly_rendered_refs(trusted, commits, commit))
        if not known.converged and (recovered := commits.departed_objects(cluster, (commit,))):
            options = replace(options, recovered=recovered)
        return ClusterJob(desired=commits.desired(cluster, commit), inventory=trusted, options=options)

    def _plan_options(self, inventory: Inventory, commit: str) -> PlanOptions:
        options, cluster, converged = self.delivery.options, inventory.cluster, inventory.converged
        member = next((each for each in self.context.members if each.name == cluster), Cluster(name=cluster))
        return PlanOptions(
            applyset=replace(self.applyset, member=cluster),
            former_names=member.former_names,
            is_older=bool(converged) and self._commits.is_ancestor_of(commit, converged),
            names_commit=self.commits is not None,
            allow_older=options.allow_older,
            guard=self.context.fleet.removal_guard,
            allowed_removals=_most_generous_allowance(
                [self._commits.allowed_removals(cluster, converged, commit), *self._allowed_removals(cluster)]
            ),
            confirmed=frozenset(options.confirmed),
            confirm_all=options.confirm_all,
            prune=not options.no_prune,
            migrate_from=frozenset(options.migrate_from),
            take_from=frozenset(options.take_from),
            remove_foreign=options.remove_foreign,
            field_rules=self.context.fleet.field_rules,
            retain=retention_rule_by_interpreter(self.context.interpreter or Interpreter()),
            changed=self._commits.changed_objects(cluster, inventory.commits, commit),
            is_drained=is_drained(member),
        )

    def _allowed_removals(self, cluster: str) -> Iterator[int]:
        return (self.delivery.allowed[name] for name in (cluster, "*") if name in self.delivery.allowed)

    def _fleet_options(self, identities: Identities, holder: LeaseHolder | None = None) -> FleetOptions:
        return FleetOptions(
            twins=identities.members_with_same_uid,
            spent=self.record.observation.seconds_by_member if self.record is not None else {},
            looks={each.cluster: each for each in self.record.observation.members} if self.record is not None else {},
            is_observing=self.delivery.is_observing,
            is_stopping=self.delivery.is_stopping,
            is_making_way=self.delivery.is_making_way,
            on_waiting=self.on_waiting,
            decrypt=self._decryption.desired_decrypted,
            apply=ApplySettings(
                dry_run=self.delivery.dry_run,
                rehearse=self.delivery.options.rehearse,
                holder=holder or LeaseHolder(name="argosy"),
                tell=self.say,
                version=engine_version(),
            ),
        )


def _most_generous_allowance(allowances: Iterable[int | None]) -> int | None:
    """Return the most generous of some allowances; None where nothing is allowed, so that the guard's limits count."""
    return max((count for count in allowances if count is not None), default=None)
