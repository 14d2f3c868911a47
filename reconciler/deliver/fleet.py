"""Many clusters applied to at once: each in its own thread, with its own time limit, reported as it finishes.

A cluster that hangs, refuses or answers slowly costs itself alone. One that exceeds its time is reported and left
behind in its thread, which keeps neither the pass nor the process from ending.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue

from reconciler.members.boundary import guarded
from reconciler.members.exchange import Client, Failure, FailureKind, OpenClient
from reconciler.observe.findings import observe_findings
from reconciler.observe.objects import observe_cluster
from reconciler.plans.cluster import make_plan
from reconciler.plans.inventory import Inventory
from reconciler.plans.model import ClusterDesired, Plan, PlanOptions

from .cluster import apply_plan
from .results import ApplySettings, ClusterReport, live_objects


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterJob:
    """The work on one cluster: all it must hold, all it may hold, and the permissions of the plan."""

    desired: ClusterDesired
    inventory: Inventory
    options: PlanOptions = field(default_factory=PlanOptions)


def _write_anyway(_plan: Plan) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    """The limits of an apply to a fleet.

    ``timeout`` is each cluster's own, in seconds; its client ends with it, and ``grace`` later it is given up whatever
    it is at. ``is_observing``: only observe and plan. ``before_writing`` is called before a cluster's first write, one
    cluster at a time: this is where the attempt is written down.
    """

    max_parallel: int = 32
    timeout: float = 300.0
    grace: float = 2.0
    is_observing: bool = False
    apply: ApplySettings = field(default_factory=ApplySettings)
    before_writing: Callable[[Plan], None] = _write_anyway
    clock: Callable[[], float] = time.monotonic


def apply_fleet(
    jobs: Iterable[ClusterJob], open_client: OpenClient, options: FleetOptions | None = None
) -> Iterator[ClusterReport]:
    """Observe, plan and apply every cluster, yielding each one's report as it comes."""
    threads = _FleetThreads(open_client, options or FleetOptions())
    yield from threads.reports(jobs)


class _FleetThreads:
    """The threads of one apply, and the clusters they work on with the time each ends."""

    def __init__(self, open_client: OpenClient, options: FleetOptions) -> None:
        self._open_client = open_client
        self._options = options
        self._finished: SimpleQueue[ClusterReport | BaseException] = SimpleQueue()
        self._ends: dict[str, float] = {}
        self._recording = threading.Lock()

    def reports(self, jobs: Iterable[ClusterJob]) -> Iterator[ClusterReport]:
        waiting = deque(jobs)
        while waiting or self._ends:
            while waiting and len(self._ends) < self._options.max_parallel:
                self._start(waiting.popleft())
            if self._ends:
                yield from self._next()

    def _start(self, job: ClusterJob) -> None:
        end = self._options.clock() + self._options.timeout
        self._ends[job.desired.cluster] = end
        threading.Thread(target=self._work, args=(job, end), daemon=True, name=job.desired.cluster).start()

    def _work(self, job: ClusterJob, end: float) -> None:
        try:
            self._finished.put(self._visited(job, end))
        except BaseException as error:  # noqa: BLE001 - raised again where the report is awaited
            self._finished.put(error)

    def _next(self) -> Iterator[ClusterReport]:
        """Yield the next report, and those of clusters whose time is over."""
        latest = min(self._ends.values()) + self._options.grace
        try:
            report = self._finished.get(timeout=max(0.0, latest - self._options.clock()))
        except Empty:
            now = self._options.clock()
            for cluster in [name for name, end in self._ends.items() if end + self._options.grace <= now]:
                del self._ends[cluster]
                yield self._overdue(cluster)
            return
        if isinstance(report, BaseException):
            raise report
        # A report that comes after its cluster was given up says nothing new.
        if self._ends.pop(report.cluster, None) is not None:
            yield report

    def _overdue(self, cluster: str) -> ClusterReport:
        failure = Failure(
            kind=FailureKind.DEADLINE,
            message=f"it did not finish within {self._options.timeout:g} s",
            hint="see what is slow there, or give it more time with --timeout",
        )
        return ClusterReport(cluster=cluster, failure=failure, seconds=self._options.timeout)

    def _visited(self, job: ClusterJob, end: float) -> ClusterReport:
        cluster, began = job.desired.cluster, self._options.clock()
        client = guarded(lambda: self._open_client(cluster, end))
        report = client if isinstance(client, Failure) else guarded(lambda: self._applied(client, job))
        if isinstance(report, Failure):
            report = ClusterReport(cluster=cluster, failure=report)
        return replace(report, seconds=self._options.clock() - began)

    def _applied(self, client: Client, job: ClusterJob) -> ClusterReport:
        cluster = job.desired.cluster
        observed = observe_cluster(client, job.desired, job.inventory, job.options.applyset)
        plan = make_plan(job.desired, observed, job.inventory, job.options)
        if plan.refusal or self._options.is_observing:
            return ClusterReport(cluster=cluster, observed=observed, plan=plan, failure=plan.refusal)
        if plan.writes and not self._options.apply.dry_run:
            with self._recording:
                self._options.before_writing(plan)
        applied = apply_plan(client, plan, self._options.apply)
        report = ClusterReport(cluster=cluster, observed=observed, plan=plan, applied=applied, failure=applied.failure)
        if report.failure is not None or self._options.apply.dry_run:
            return report
        findings = guarded(lambda: observe_findings(client, observed.discovery, live_objects(report)))
        if isinstance(findings, Failure):
            return replace(report, failure=findings)
        return replace(report, findings=findings)
