"""Many clusters applied to at once: each in its own thread, with its own time limit, reported as it finishes.

A cluster that hangs, refuses or answers slowly costs itself alone. When only such are left the caller is told, so that
it can record the others. One that exceeds its time is reported and left behind in its thread, which keeps neither the
pass nor the process from ending.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.inventory import Inventory
from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import SILENT, Client, Failure, FailureKind
from reconciler.members.patience import VisitTimes, time_to_stop_waiting
from reconciler.members.visits import MemberReach, Visit
from reconciler.observe.cluster_status import MemberObservation
from reconciler.observe.findings import all_unwell_workloads, findings_about_unwell, is_status_of_generation
from reconciler.observe.members import MOST_SECONDS
from reconciler.observe.objects import observe_cluster, read_uid
from reconciler.plans.cluster import failure_of_another_cluster, make_plan
from reconciler.plans.equal_objects import PlansOfEquals
from reconciler.plans.model import WRITES, ClusterDesired, ObservedCluster, Plan, PlanOptions

from .adoption import plan_without_doubts
from .cluster import apply_plan
from .decryption import Decrypt, desired_left_encrypted
from .questions import plan_with_answers
from .repairs import is_another_round_due, merged_cluster_result, plan_without_repetitions
from .results import ApplySettings, ClusterReport, live_objects
from .shared_answers import MANY, SharedAnswers

ORDINARY_SECONDS = 5.0
"""The time that idle clusters, which are done at once, count as having taken where others are waited for."""
BELIEVED_SECONDS = 30.0
"""For so long a cluster is believed to be the one that a look found, and to serve what it did then."""
WAITING_SECONDS = 1.0
"""The time between two calls that say which clusters are under way."""
STOPPING_SECONDS = 0.5
"""The longest time between two questions whether a run is to stop, while clusters wait for their turn."""


class ClusterJob(Struct, frozen=True, kw_only=True):
    """The work on one cluster: all it must hold, all it may hold, and the permissions of the plan."""

    desired: ClusterDesired
    inventory: Inventory
    options: PlanOptions = field(default_factory=PlanOptions)

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.desired.cluster


class JobIfChanged(Struct, frozen=True, kw_only=True):
    """The work on a cluster that was idle: none where it still is so, which its report says, else the ``job``."""

    cluster: str
    inventory: Inventory
    report: Callable[[Client], ClusterReport | None]
    job: Callable[[], ClusterJob]


def _accept_any_plan(_plan: Plan) -> None:
    return None


def ignore_clusters(_clusters: tuple[str, ...]) -> None:
    """Do nothing about clusters."""


def _never_stop() -> bool:
    return False


def _no_twins(_cluster: str, _uid: str) -> tuple[str, ...]:
    return ()


AwaitObservation = Callable[[], Failure | None]
"""Wait for the observation of a member that came late; the failure of one that could not be observed."""


class FleetOptions(Struct, frozen=True, kw_only=True):
    """The options of an apply to a fleet, beside its reach.

    Of each cluster's time those seconds that are ``spent`` were had before; its client ends with it, and ``grace``
    later it is given up whatever it is at. ``observe_seconds`` are those of its observation. ``is_observing``: only
    observe and plan. ``before_writing`` is called before a cluster's first write, in its own thread: this is where the
    attempt is written down; with a failure that it returns, nothing is written there. ``decrypt`` is called before a
    cluster is planned. ``late`` are clusters whose observation is awaited first, ``looks`` the observations of the
    others in the same pass, which tell for a while which cluster it is and what it serves. ``twins`` returns the other
    clusters that have the UID of one. ``on_slow`` is called once, as soon as only slow clusters are left, with their
    names: no later than ``patience`` seconds or twice the time of the slowest of the others. ``on_waiting`` is called
    every second, with those under way. Clusters that are not begun when ``is_stopping`` says so are left out, and get
    no report. Where ``is_making_way`` says so those are left out that are not begun with the first, and slow ones once
    the others are recorded.
    """

    spent: Mapping[str, float] = field(default_factory=dict)
    observe_seconds: float = MOST_SECONDS
    grace: float = 2.0
    patience: float = 2.0
    is_observing: bool = False
    apply: ApplySettings = field(default_factory=ApplySettings)
    decrypt: Decrypt = desired_left_encrypted
    before_writing: Callable[[Plan], Failure | None] = _accept_any_plan
    late: Mapping[str, AwaitObservation] = field(default_factory=dict)
    looks: Mapping[str, MemberObservation] = field(default_factory=dict)
    twins: Callable[[str, str], tuple[str, ...]] = _no_twins
    on_slow: Callable[[tuple[str, ...]], None] = ignore_clusters
    on_waiting: Callable[[tuple[str, ...]], None] = ignore_clusters
    is_stopping: Callable[[], bool] = _never_stop
    is_making_way: Callable[[], bool] = _never_stop


def apply_fleet(
    jobs: Iterable[ClusterJob | JobIfChanged], reach: MemberReach, options: FleetOptions | None = None
) -> Iterator[ClusterReport]:
    """Observe, plan and apply every cluster, yielding each one's report as it comes."""
    run = _FleetRun({job.cluster: job for job in jobs}, reach, options or FleetOptions())
    yield from run.reports()


class _FleetRun:
    """One apply: its jobs by cluster, and the visits to these."""

    def __init__(
        self, jobs: Mapping[str, ClusterJob | JobIfChanged], reach: MemberReach, options: FleetOptions
    ) -> None:
        self._jobs = jobs
        self._reach = reach
        self._options = options
        self._equals = PlansOfEquals()
        self._shared_answers = SharedAnswers()
        # Whoever missed the most commits comes first, so that no member is left out again and again.
        ordered = sorted(jobs, key=lambda name: (name in options.late, -len(jobs[name].inventory.attempted)))
        self._visits = reach.visits(self._visit_cluster, ordered)

    def reports(self) -> Iterator[ClusterReport]:
        is_caller_informed, waiting_at = False, self._reach.clock() + WAITING_SECONDS
        while not self._visits.are_over:
            self._leave_out_unwanted_clusters(is_caller_informed=is_caller_informed)
            slow_at = math.inf if is_caller_informed or self._is_anybody_waiting() else self._time_when_slow()
            asked_at = (
                self._reach.clock() + STOPPING_SECONDS if self._visits.waiting or is_caller_informed else math.inf
            )
            visit = self._visits.next_ended_visit(
                min([slow_at, asked_at, waiting_at, *map(self._end_time_of_visit, self._visits_under_way())])
            )
            if visit is not None and visit.result is not None:
                yield visit.result
            now = self._reach.clock()
            if visit is None and slow_at <= now:
                is_caller_informed = True
                self._options.on_slow(tuple(sorted(self._visits.under_way)))
            if waiting_at <= now:
                waiting_at = now + WAITING_SECONDS
                self._options.on_waiting(tuple(sorted(self._visits.under_way)))
            for each in self._visits_under_way():
                if self._end_time_of_visit(each) <= now:
                    self._visits.give_up(each)
                    yield self._report_of_overdue_cluster(each.name)

    def _leave_out_unwanted_clusters(self, *, is_caller_informed: bool) -> None:
        """Leave out the clusters that are not to be begun, or waited for, any more."""
        is_making_way = self._options.is_making_way() and bool(self._visits.begun)
        if is_making_way or self._options.is_stopping():
            self._visits.waiting.clear()
        for each in self._visits_under_way() if is_making_way and is_caller_informed else ():
            self._visits.give_up(each)

    def _visits_under_way(self) -> tuple[Visit[ClusterReport], ...]:
        return tuple(self._visits.under_way.values())

    def _is_anybody_waiting(self) -> bool:
        return any(name not in self._options.late for name in self._visits.waiting)

    def _time_when_slow(self) -> float:
        visits = self._visits.begun.values()
        times = (
            self._times_of_visit(each)
            for each in visits
            if each.ended is not None or each.name in self._visits.under_way
        )
        until = time_to_stop_waiting(times, self._options.patience)
        # Where all have ended, only their reports have yet to come.
        return until if math.isfinite(until) else math.inf

    def _times_of_visit(self, visit: Visit[ClusterReport]) -> VisitTimes:
        report = visit.result
        times = visit.times(
            is_answered=report is not None and report.failure is None, failed_before=visit.name in self._options.late
        )
        if report is None or not report.is_repeated or times.ended is None:
            return times
        return replace(times, ended=max(times.ended, times.began + ORDINARY_SECONDS))

    def _end_time_of_visit(self, visit: Visit[ClusterReport]) -> float:
        return self._deadline_of_visit(visit) + self._options.grace

    def _deadline_of_visit(self, visit: Visit[ClusterReport]) -> float:
        return visit.began + self._reach.timeout - self._options.spent.get(visit.name, 0.0)

    def _report_of_overdue_cluster(self, cluster: str) -> ClusterReport:
        failure = Failure(
            kind=FailureKind.DEADLINE,
            message=f"it did not finish within {self._reach.timeout:g} s",
            hint="see what is slow there, or give it more time with --timeout",
        )
        return ClusterReport(cluster=cluster, failure=failure, seconds=self._reach.timeout)

    def _visit_cluster(self, visit: Visit[ClusterReport]) -> ClusterReport:
        report = result_or_failure(lambda: self._observed_and_applied(visit))
        if isinstance(report, Failure):
            report = ClusterReport(cluster=visit.name, failure=report)
        if len(self._jobs) >= MANY:
            report = self._shared_answers.shared_report(report)
        return replace(report, seconds=self._reach.clock() - visit.began)

    def _observed_and_applied(self, visit: Visit[ClusterReport]) -> ClusterReport | Failure:
        late = self._options.late.get(visit.name)
        failure = late() if late else None
        # A member that did not answer a moment ago is not asked the same again.
        if failure is not None and failure.kind in SILENT:
            return failure
        client = self._reach.open_client(visit.name, self._deadline_of_visit(visit))
        if isinstance(client, Failure):
            return client
        heard, job = visit.heard_through(client), self._jobs[visit.name]
        observing = heard.within(self._options.observe_seconds)
        if isinstance(job, JobIfChanged):
            report = job.report(observing)
            if report is not None:
                return report
            job = job.job()
        return self._apply_job(heard, observing, job)

    def _apply_job(self, client: Client, observing: Client, job: ClusterJob) -> ClusterReport:
        job = replace(job, desired=self._options.decrypt(client, job.desired))
        look = self._recent_look(job.cluster)
        observed, plan = self._observe_and_plan(observing, job, look)
        plan = plan_without_doubts(client, plan)
        if self._options.is_observing:
            plan = plan_with_answers(client, plan)
        if plan.refusal or self._options.is_observing:
            return ClusterReport(cluster=job.cluster, observed=observed, plan=plan, failure=plan.refusal)
        if plan.writes and not self._options.apply.dry_run and (failure := self._options.before_writing(plan)):
            return ClusterReport(cluster=job.cluster, observed=observed, plan=plan, failure=failure)
        if look is not None and (failure := _failure_if_exchanged(client, plan)):
            return ClusterReport(cluster=job.cluster, observed=observed, plan=plan, failure=failure)
        applied = apply_plan(client, plan, self._options.apply)
        report = ClusterReport(
            cluster=job.cluster, observed=observed, plan=plan, applied=applied, failure=applied.failure
        )
        if report.failure is not None or self._options.apply.dry_run:
            return report
        if is_another_round_due(client, plan, applied, self._options.apply):
            report = self._report_of_second_round(client, job, report)
        return self._with_findings(client, report)

    def _recent_look(self, cluster: str) -> MemberObservation | None:
        """Return the observation of a cluster in this pass, while what it says of the whole cluster is believed."""
        look = self._options.looks.get(cluster)
        return look if look is not None and self._reach.clock() < look.at + BELIEVED_SECONDS else None

    def _observe_and_plan(
        self, client: Client, job: ClusterJob, look: MemberObservation | None = None
    ) -> tuple[ObservedCluster, Plan]:
        observed = observe_cluster(client, job.desired, job.inventory, job.options.applyset, look)
        twins = self._options.twins(job.cluster, observed.uid)
        options = replace(job.options, twins=twins, is_observing=self._options.is_observing)
        return observed, make_plan(job.desired, observed, job.inventory, options, self._equals)

    def _report_of_second_round(self, client: Client, job: ClusterJob, first: ClusterReport) -> ClusterReport:
        """Apply what the first round could not, now that it can be read; where that fails, the first round counts."""
        assert first.applied is not None
        observed, plan = self._observe_and_plan(client.within(self._options.observe_seconds), job)
        if plan.refusal:
            return first
        plan = plan_without_repetitions(plan, first.applied)
        applied = merged_cluster_result(first.applied, apply_plan(client, plan, self._options.apply))
        return replace(first, observed=observed, plan=plan, applied=applied, failure=applied.failure)

    def _with_findings(self, client: Client, report: ClusterReport) -> ClusterReport:
        if report.observed is None or report.failure is not None:
            return report
        found = result_or_failure(lambda: _report_with_findings(client, report))
        return replace(report, failure=found) if isinstance(found, Failure) else found


def _failure_if_exchanged(client: Client, plan: Plan) -> Failure | None:
    """Ask a cluster that was believed to be the one that was looked at, where nothing will be written to it.

    What writes asks by itself.
    """
    if plan.writes or plan.members != plan.recorded:
        return None
    uid = read_uid(client)
    if isinstance(uid, Failure):
        return uid
    return None if uid == plan.uid else failure_of_another_cluster(plan.cluster, uid, plan.uid)


def _report_with_findings(client: Client, report: ClusterReport) -> ClusterReport:
    """Return a report with the findings about what is not well, but for what was written and no controller has seen.

    The pods of that are those of before, and say nothing of it.
    """
    if report.observed is None or report.applied is None:
        return report
    unwell = all_unwell_workloads(live_objects(report))
    written = {result.ref for result in report.applied.results if result.action in WRITES}
    seen = {ref: each for ref, each in unwell.items() if ref not in written or is_status_of_generation(each)}
    findings = findings_about_unwell(client, report.observed.discovery, seen)
    return replace(report, findings=findings, has_unwell=bool(unwell))
