"""The metrics of a controller: every name is declared here, and no object has a label of its own.

They are kept in a registry of their own, which ``/metrics`` prints. Fleets, clusters and rollouts are labels, for there
are as many as somebody wrote down; namespaces, objects and commits are none.
"""

import time
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from reconciler.repository.trailers import engine_version

from .pass_job import PassReport, RolloutEnd

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_RESULTS = {
    0: "converged",
    1: "incomplete",
    3: "refused",
    4: "git",
    5: "unreachable",
    6: "guard",
    7: "partial",
    130: "stopped",
}
"""The word for each exit code of a pass; any other is a bug or a process that was killed: ``failed``."""


class PassMetrics:
    """The metrics of passes, by fleet."""

    def __init__(self, registry: CollectorRegistry) -> None:
        one = partial(Gauge, labelnames=["fleet"], registry=registry)
        count = partial(Counter, labelnames=["fleet"], registry=registry)
        spread = partial(Histogram, labelnames=["fleet"], registry=registry, buckets=_SECONDS)
        self.passes = Counter(
            "argosy_reconcile_total", "Reconcile passes by how they ended.", ["fleet", "result"], registry=registry
        )
        self.seconds = spread("argosy_reconcile_duration_seconds", "The time of passes.")
        self.render_seconds = spread("argosy_render_duration_seconds", "The time that passes rendered.")
        self.cache_hits = count("argosy_render_cache_hits_total", "Passes that found nothing new.")
        self.git_operations = Counter(
            "argosy_git_operations_total", "Looks, fetches, commits.", ["fleet", "op", "result"], registry=registry
        )
        self.conflicts = count("argosy_git_push_conflicts_total", "Renders done again: somebody else moved a branch.")
        self.unplaced = one("argosy_unschedulable_bindings", "Objects that could not be placed or built.")
        self.moves = count("argosy_replica_moves_total", "Replicas that moved between clusters.")
        self.guard_refusals = count("argosy_guard_refusals_total", "Passes that a guard refused.")
        self.source_up = one("argosy_source_up", "1 where the source could be asked.")
        self.source_refused = one("argosy_source_refused", "1 where the newest source is refused.")
        self.failures = one("argosy_consecutive_failures", "Passes that failed one after another.")

    def note_pass(self, fleet: str, report: PassReport, *, failures: int) -> None:
        """Count a pass."""
        self.passes.labels(fleet, _RESULTS.get(report.code, "failed")).inc()
        self.seconds.labels(fleet).observe(report.seconds)
        self.failures.labels(fleet).set(failures)
        self.conflicts.labels(fleet).inc(report.conflicts)
        self.moves.labels(fleet).inc(report.moved)
        self.guard_refusals.labels(fleet).inc(1 if report.code == 6 else 0)
        self.cache_hits.labels(fleet).inc(1 if report.is_unchanged else 0)
        if "render" in report.steps:
            self.render_seconds.labels(fleet).observe(report.steps["render"])
        for step, operation in (("fetch source", "fetch"), ("commit", "commit")):
            if step in report.steps:
                result = "failed" if step in report.failed_steps else "ok"
                self.git_operations.labels(fleet, operation, result).inc()
        if report.code in {0, 1, 3, 5, 6, 7}:
            self.source_refused.labels(fleet).set(1 if report.code in {3, 6} else 0)
        if report.code in {0, 1, 5, 7}:
            self.unplaced.labels(fleet).set(len(report.unplaced))

    def forget_fleet(self, fleet: str) -> None:
        """Drop the gauges of a fleet that is gone, so that no alert waits for it for ever."""
        for gauge in (self.unplaced, self.source_up, self.source_refused, self.failures):
            gauge.remove_by_labels({"fleet": fleet})


class ClusterMetrics:
    """The metrics of member clusters."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ["fleet", "cluster"]
        one = partial(Gauge, labelnames=labels, registry=registry)
        self.objects = Counter(
            "argosy_apply_objects_total", "Objects applied, by what was done.", [*labels, "action"], registry=registry
        )
        self.seconds = Summary(
            "argosy_apply_duration_seconds", "The time of applying to a cluster.", labels, registry=registry
        )
        self.up = one("argosy_cluster_up", "1 where the last pass reached the cluster.")
        self.unseen = Gauge(
            "argosy_cluster_unseen",
            "1 where a fault of ours hides how the cluster is: credentials, rights, names, proxies.",
            [*labels, "reason"],
            registry=registry,
        )
        self.held = one("argosy_cluster_held", "1 where somebody holds the cluster at an earlier commit.")
        self.lag = one("argosy_cluster_lag_commits", "Rendered commits since it converged, as this process saw them.")
        self.last_success = one("argosy_cluster_last_success_timestamp_seconds", "The time when it last converged.")
        self.drift = one("argosy_drift_objects", "Objects of an older commit that the last pass had to write again.")

    def note_clusters(self, fleet: str, report: PassReport) -> None:
        """Count what a pass did in each cluster, and drop the gauges of those that it is not for any more."""
        if report.members is not None:
            self._remove_gauges_of_others(fleet, report.members)
        self._note_holds(fleet, report.held)
        for cluster, end in report.clusters.items():
            self.up.labels(fleet, cluster).set(1 if end.is_reached else 0)
            self.unseen.remove_by_labels({"fleet": fleet, "cluster": cluster})
            if end.unseen:
                self.unseen.labels(fleet, cluster, end.unseen).set(1)
            self.drift.labels(fleet, cluster).set(0 if report.is_unchanged else end.drifted)
            if end.is_converged:
                self.lag.labels(fleet, cluster).set(0)
                self.last_success.labels(fleet, cluster).set(time.time())
            elif report.is_committed:
                self.lag.labels(fleet, cluster).inc()
            if not report.is_unchanged:
                self.seconds.labels(fleet, cluster).observe(end.seconds)
                for action, number in end.actions.items():
                    self.objects.labels(fleet, cluster, action).inc(number)

    def _note_holds(self, fleet: str, held: Iterable[str] | None) -> None:
        """Say of these clusters alone that they are held; None: a pass said nothing of that."""
        if held is not None:
            self.held.remove_by_labels({"fleet": fleet})
        for cluster in held or ():
            self.held.labels(fleet, cluster).set(1)

    def _remove_gauges_of_others(self, fleet: str, members: Container[str]) -> None:
        labels = [sample.labels for metric in self.up.collect() for sample in metric.samples]
        for gone in (each for each in labels if each["fleet"] == fleet and each["cluster"] not in members):
            for gauge in (self.up, self.unseen, self.lag, self.last_success, self.drift):
                gauge.remove_by_labels(gone)

    def forget_fleet(self, fleet: str) -> None:
        """Drop the gauges of a fleet that is gone."""
        for gauge in (self.up, self.unseen, self.held, self.lag, self.last_success, self.drift):
            gauge.remove_by_labels({"fleet": fleet})


class RolloutMetrics:
    """The metrics of rollouts, by the name of each: there are as many as somebody wrote policies."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ["fleet", "rollout"]
        self.phase = Gauge(
            "argosy_rollout_phase",
            "1 for the phase that a rollout is in.",
            [*labels, "phase", "reason"],
            registry=registry,
        )
        self.clusters = Gauge(
            "argosy_rollout_clusters",
            "The clusters of a rollout: waiting for the change, under way with it, or through their gates.",
            [*labels, "state"],
            registry=registry,
        )

        self.emergencies = Gauge(
            "argosy_rollout_emergencies",
            "The changes let out in an emergency: unconfirmed by a second person, or overdue.",
            ["fleet", "state"],
            registry=registry,
        )

    def note_emergencies(self, fleet: str, emergencies: Mapping[str, int] | None) -> None:
        """Set the gauge of emergencies of a fleet; None: a pass said nothing of them."""
        for state, count in (emergencies or {}).items():
            self.emergencies.labels(fleet, state).set(count)

    def note_rollouts(self, fleet: str, rollouts: Mapping[str, RolloutEnd] | None) -> None:
        """Set the gauges of all rollouts of a fleet; None: a pass said nothing of them."""
        if rollouts is None:
            return
        self.forget_fleet(fleet)
        for name, end in rollouts.items():
            self.phase.labels(fleet, name, end.phase, end.reason).set(1)
            counts = {
                "waiting": end.clusters - end.given,
                "under_way": end.given - end.through,
                "through": end.through,
            }
            for state, count in counts.items():
                self.clusters.labels(fleet, name, state).set(count)

    def forget_fleet(self, fleet: str) -> None:
        """Drop the gauges of a fleet."""
        for gauge in (self.phase, self.clusters):
            gauge.remove_by_labels({"fleet": fleet})


class RunMetrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.passes, self.clusters = PassMetrics(registry), ClusterMetrics(registry)
        self.rollouts = RolloutMetrics(registry)
        self.leader = Gauge("argosy_leader", "1 where this process leads, 0 where it follows.", registry=registry)
        self.webhooks = Counter(
            "argosy_webhook_requests_total",
            "Webhook requests by what was answered.",
            ["provider", "result"],
            registry=registry,
        )
        self.notifications = Counter(
            "argosy_notifications_total",
            "Notifications by whether they were taken.",
            ["kind", "result"],
            registry=registry,
        )
        build = Gauge("argosy_build_info", "The version of this process.", ["version"], registry=registry)
        build.labels(engine_version()).set(1)

    def text(self) -> bytes:
        """Return what ``/metrics`` prints."""
        return generate_latest(self.registry)

    def names(self) -> Iterator[str]:
        """Yield the name of every series, as a dashboard writes it."""
        for family in self.registry.collect():
            if family.type == "counter":
                yield f"{family.name}_total"
            elif family.type in {"histogram", "summary"}:
                parts = ("count", "sum", "bucket") if family.type == "histogram" else ("count", "sum")
                yield from (f"{family.name}_{part}" for part in parts)
            else:
                yield family.name

    def count_look_at_source(self, fleet: str, *, is_answered: bool) -> None:
        """Count a look at where a source stands."""
        self.passes.git_operations.labels(fleet, "look", "ok" if is_answered else "failed").inc()
        self.passes.source_up.labels(fleet).set(1 if is_answered else 0)

    def count_pass(self, fleet: str, report: PassReport, *, failures: int) -> None:
        """Count a pass and what it did."""
        self.passes.note_pass(fleet, report, failures=failures)
        self.clusters.note_clusters(fleet, report)
        self.rollouts.note_rollouts(fleet, report.rollouts)
        self.rollouts.note_emergencies(fleet, report.emergencies)
        for what, count in report.notified.items():
            self.notifications.labels(*what.split(" ")).inc(count)

    def forget_fleet(self, fleet: str) -> None:
        """Drop what is known of a fleet that is gone."""
        self.passes.forget_fleet(fleet)
        self.clusters.forget_fleet(fleet)
        self.rollouts.forget_fleet(fleet)
        self.rollouts.emergencies.remove_by_labels({"fleet": fleet})
