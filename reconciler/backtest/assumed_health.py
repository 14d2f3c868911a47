"""The health of workloads where a replay has them: as it was recorded, or as it is assumed of places they never had.

Of a cluster that really had the workload the record tells. Of another one nobody knows. A workload is assumed to be
healthy there a second after it came, and only while the cluster was ready; of a cluster that was not, nothing is known.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from render.binding import Binding
from render.failover.tasks import HEALTHY
from render.model import ObjectRef
from render.timing import SECOND, instant_text

Bindings = Mapping[ObjectRef, Binding]
Arrivals = Mapping[tuple[ObjectRef, str], datetime]
"""The time since when an object is in a cluster, by both; of one that is not listed, since before the first pass."""

KnownReports = dict[ObjectRef, tuple[tuple[Any, ...], tuple[ReportedHealth, ...]]]
"""The reports of objects, each with the values that they were made of."""


class ReplayedPlaces(Struct, frozen=True, kw_only=True):
    """The places of objects in truth and in a replay, at a time; ``ready`` are the clusters that were ready then.

    The replay has ``begin`` as its first instant. ``reports`` are those of earlier times, for most stay the same.
    """

    truth: Bindings
    replay: Bindings
    elsewhere: Iterable[ObjectRef]
    arrivals: Arrivals
    ready: frozenset[str]
    begin: datetime
    at: datetime
    reports: KnownReports = field(default_factory=dict)

    def health(self, recorded: ObservedHealth) -> ObservedHealth:
        """Return recorded health with what is assumed of objects whose places are not those that they really had."""
        refs = [ref for ref in self.elsewhere if ref in self.replay]
        if not refs:
            return recorded
        workloads = {ref: self._known_reports(ref, recorded.workloads.get(ref, ())) for ref in refs}
        same = {ref: self._clusters_with_same_replicas(ref) for ref in refs}
        pending = {
            ref: tuple(each for each in recorded.pending.get(ref, ()) if each.cluster in same[ref]) for ref in refs
        }
        runs = {ref: tuple(each for each in recorded.runs.get(ref, ()) if each.cluster in same[ref]) for ref in refs}
        return replace(
            recorded,
            workloads={**recorded.workloads, **workloads},
            pending={ref: found for ref, found in {**recorded.pending, **pending}.items() if found},
            runs={ref: found for ref, found in {**recorded.runs, **runs}.items() if found},
        )

    def _known_reports(self, ref: ObjectRef, recorded: tuple[ReportedHealth, ...]) -> tuple[ReportedHealth, ...]:
        """Return the reports of an object, as they were made before from the same knowledge."""
        made_of = self.replay[ref], self.truth.get(ref), recorded, self.ready
        known = self.reports.get(ref)
        if known is not None and all(one is other for one, other in zip(known[0], made_of, strict=True)):
            return known[1]
        found = tuple(self._reports(ref, recorded))
        if all(self._healthy_since(ref, name) <= self.at for name in clusters_of_binding(self.replay[ref])):
            self.reports[ref] = made_of, found
        return found

    def _reports(self, ref: ObjectRef, recorded: Iterable[ReportedHealth]) -> Iterator[ReportedHealth]:
        """Yield what is known or assumed of an object in each cluster that has it in the replay."""
        binding, known = self.replay[ref], {each.cluster: each for each in recorded}
        really = clusters_of_binding(self.truth.get(ref))
        for name in sorted(clusters_of_binding(binding)):
            replicas = binding.target_replicas.get(name, 0)
            if name in known and name in really:
                report = known[name]
                is_counted = report.ready is not None and report.health == HEALTHY
                yield replace(report, ready=replicas) if is_counted else report
            elif name in self.ready and (since := self._healthy_since(ref, name)) <= self.at:
                yield ReportedHealth(
                    cluster=name,
                    health=HEALTHY,
                    since=instant_text(since),
                    version=_version_in_cluster(binding, name),
                    ready=replicas,
                )

    def _healthy_since(self, ref: ObjectRef, cluster: str) -> datetime:
        arrival = self.arrivals.get((ref, cluster))
        return self.begin if arrival is None else arrival + SECOND

    def _clusters_with_same_replicas(self, ref: ObjectRef) -> frozenset[str]:
        """Return the clusters in which an object really had the replicas that it has in the replay."""
        truth, replay = self.truth.get(ref), self.replay[ref].target_replicas
        really = truth.target_replicas if truth is not None else {}
        return frozenset(name for name, replicas in replay.items() if really.get(name) == replicas)


def clusters_of_binding(binding: Binding | None) -> frozenset[str]:
    """Return the clusters that have an object: its targets, and those that it leaves gracefully."""
    if binding is None:
        return frozenset()
    leaving = (task.from_cluster for task in binding.eviction_tasks)
    return frozenset((*(target.name for target in binding.targets), *leaving))


def _version_in_cluster(binding: Binding, cluster: str) -> str:
    rollout = binding.rollout
    return "" if rollout is None else rollout.version_by_cluster.get(cluster, rollout.completed)
