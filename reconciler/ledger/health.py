"""The health of clusters and workloads, with the time since when: what the rules of failover are told.

It is observed, and recorded by value beside the facts: on the status branch as a pass found it, in a rendered commit as
the pass used it. Only what some rule asks for is in it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from msgspec import Struct, convert, field

from render.binding import AggregatedStatusItem
from render.cluster import ClusterCondition
from render.failover.tasks import HEALTHY, UNHEALTHY
from render.failover.workload import WorkloadHealth
from render.model import ObjectRef
from render.rescheduling.descheduling import PendingReplicas
from render.rollouts.status_ages import StatusAge
from render.runs import ReportedRun
from render.timing import parse_instant

from .branch_file import BranchFile, ObjectName


class ReportedHealth(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The health of an object in one cluster, since when it is so, and its status where a rule reads it.

    ``healthy_until`` is when one that is not healthy was last seen so ("": never). ``version`` is the one of a rollout
    that it stands at ("": none, or the last one is not applied); ``since`` is no earlier than it was first seen there.
    ``ready`` are the replicas that are ready there, where a move asks for that (None: nobody does, or knows).
    """

    cluster: str
    health: str
    since: str = ""
    healthy_until: str = ""
    version: str = ""
    status: Any = None
    ready: int | None = None


class ObservedHealth(Struct, frozen=True, kw_only=True):
    """The conditions of clusters by name, and the health of workloads in their clusters.

    ``pending`` are the replicas of workloads that clusters cannot start; only a descheduler asks for them. ``runs`` are
    those of objects that run to completion. ``status_ages`` are what a rendered commit was decided by: whether what was
    known of a cluster was too old for gates of rollouts.
    """

    conditions: Mapping[str, tuple[ClusterCondition, ...]] = field(default_factory=dict)
    workloads: Mapping[ObjectRef, tuple[ReportedHealth, ...]] = field(default_factory=dict)
    pending: Mapping[ObjectRef, tuple[PendingReplicas, ...]] = field(default_factory=dict)
    runs: Mapping[ObjectRef, tuple[ReportedRun, ...]] = field(default_factory=dict)
    status_ages: tuple[StatusAge, ...] = ()

    def of(self, ref: ObjectRef) -> WorkloadHealth:
        """Return the health of one workload, as the rules take it."""
        reports = self.workloads.get(ref, ())
        return WorkloadHealth(
            reported=tuple(
                AggregatedStatusItem(cluster=each.cluster, health=each.health, status=each.status) for each in reports
            ),
            unhealthy_since=_instants_by_cluster(
                (each.cluster, each.since) for each in reports if each.health == UNHEALTHY
            ),
            healthy_since=_instants_by_cluster(
                (each.cluster, each.since) for each in reports if each.health == HEALTHY
            ),
            healthy_until=_instants_by_cluster((each.cluster, each.healthy_until) for each in reports),
        )


def _instants_by_cluster(texts: Iterable[tuple[str, str]]) -> dict[str, datetime]:
    times = ((cluster, parse_instant(text)) for cluster, text in texts)
    return {cluster: time for cluster, time in times if time is not None}


class _Condition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""


class _ClusterHealth(Struct, frozen=True, kw_only=True):
    name: str
    conditions: tuple[_Condition, ...]


class _WorkloadHealth(Struct, frozen=True, kw_only=True):
    object: ObjectName
    clusters: tuple[ReportedHealth, ...]


class _PendingWorkload(Struct, frozen=True, kw_only=True):
    object: ObjectName
    clusters: tuple[PendingReplicas, ...]


class _RunsOfObject(Struct, frozen=True, kw_only=True):
    object: ObjectName
    clusters: tuple[ReportedRun, ...]


class HealthFile(BranchFile, frozen=True, kw_only=True):
    """Observed health as it is recorded. No cluster can be called like this file."""

    NAME: ClassVar[str] = "_health.yaml"
    PATH: ClassVar[str] = f"facts/{NAME}"
    KIND: ClassVar[str] = "ObservedHealth"
    ABOUT: ClassVar[str] = (
        "The conditions of clusters, and the health of workloads, that rules of failover ask for; and where objects"
        " that run to completion have begun, or are over. In a rendered commit, also whether what was known of a"
        " cluster was too old for gates of rollouts."
    )

    clusters: tuple[_ClusterHealth, ...]
    workloads: tuple[_WorkloadHealth, ...]
    pending: tuple[_PendingWorkload, ...] = ()
    runs: tuple[_RunsOfObject, ...] = ()
    status_ages: tuple[StatusAge, ...] = field(name="statusAges", default=())

    @classmethod
    def of_health(cls, health: ObservedHealth) -> "HealthFile | None":
        """Return observed health as a file; None where there is none."""
        if not any((health.conditions, health.workloads, health.pending, health.runs, health.status_ages)):
            return None
        return cls(
            clusters=tuple(
                _ClusterHealth(name=name, conditions=convert(found, tuple[_Condition, ...], from_attributes=True))
                for name, found in sorted(health.conditions.items())
            ),
            workloads=tuple(
                _WorkloadHealth(object=ObjectName.of_ref(ref), clusters=found)
                for ref, found in sorted(health.workloads.items())
            ),
            pending=tuple(
                _PendingWorkload(object=ObjectName.of_ref(ref), clusters=found)
                for ref, found in sorted(health.pending.items())
            ),
            runs=tuple(
                _RunsOfObject(object=ObjectName.of_ref(ref), clusters=found)
                for ref, found in sorted(health.runs.items())
            ),
            status_ages=health.status_ages,
        )

    @property
    def health(self) -> ObservedHealth:
        """The health that is recorded."""
        conditions = {
            each.name: convert(each.conditions, tuple[ClusterCondition, ...], from_attributes=True)
            for each in self.clusters
        }
        return ObservedHealth(
            conditions=conditions,
            workloads={each.object.ref: each.clusters for each in self.workloads},
            pending={each.object.ref: each.clusters for each in self.pending},
            runs={each.object.ref: each.clusters for each in self.runs},
            status_ages=self.status_ages,
        )
