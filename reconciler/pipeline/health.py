"""The health of clusters and workloads, with the time since when: what the rules of failover are told.

It is observed, and recorded by value beside the facts: on the status branch as a pass found it, in a rendered commit as
the pass used it. Only what some rule asks for is in it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import AggregatedStatusItem, Binding
from render.cluster import ClusterCondition
from render.documents import emit, parse_documents
from render.failover.tasks import HEALTHY, UNHEALTHY
from render.failover.workload import WorkloadHealth
from render.model import ARGOSY_API_VERSION, Manifest, ObjectRef
from render.rescheduling.descheduling import PendingPods, PendingReplicas
from render.settings.fleet import Fleet
from render.timing import parse_instant

KIND = "ObservedHealth"
FILE = "_health.yaml"
"""Its name in the folder of facts; no cluster can be called like that."""


PendingByCluster = Mapping[str, Mapping[ObjectRef, PendingReplicas]]
"""The replicas that clusters were found unable to start, by cluster; one without an entry was not asked."""


class ReportedHealth(Struct, frozen=True, kw_only=True):
    """The health of an object in one cluster, since when it is so, and its status where a rule reads it.

    ``healthy_until`` is when one that is not healthy was last seen so ("": never).
    """

    cluster: str
    health: str
    since: str = ""
    healthy_until: str = ""
    status: Any = None


class ObservedHealth(Struct, frozen=True, kw_only=True):
    """The conditions of clusters by name, and the health of workloads in their clusters.

    ``pending`` are the replicas of workloads that clusters cannot start; only a descheduler asks for them.
    """

    conditions: Mapping[str, tuple[ClusterCondition, ...]] = field(default_factory=dict)
    workloads: Mapping[ObjectRef, tuple[ReportedHealth, ...]] = field(default_factory=dict)
    pending: Mapping[ObjectRef, tuple[PendingReplicas, ...]] = field(default_factory=dict)

    def of(self, ref: ObjectRef) -> WorkloadHealth:
        """Return the health of one workload, as the rules take it."""
        reports = self.workloads.get(ref, ())
        return WorkloadHealth(
            reported=tuple(
                AggregatedStatusItem(cluster=each.cluster, health=each.health, status=each.status) for each in reports
            ),
            unhealthy_since=_times((each.cluster, each.since) for each in reports if each.health == UNHEALTHY),
            healthy_since=_times((each.cluster, each.since) for each in reports if each.health == HEALTHY),
            healthy_until=_times((each.cluster, each.healthy_until) for each in reports),
        )


def _times(texts: Iterable[tuple[str, str]]) -> dict[str, datetime]:
    times = ((cluster, parse_instant(text)) for cluster, text in texts)
    return {cluster: time for cluster, time in times if time is not None}


def is_asked_for(fleet: Fleet, binding: Binding) -> bool:
    """Say whether a rule of failover asks for the health of a binding's workload."""
    failover = binding.failover or {}
    by_cluster = fleet.feature_gates.failover and "cluster" in failover
    return bool("application" in failover or by_cluster or binding.eviction_tasks)


def is_status_asked_for(binding: Binding) -> bool:
    """Say whether a rule reads labels out of the status of a binding's workload."""
    behaviors = (binding.failover or {}).values()
    return any((each.get("statePreservation") or {}).get("rules") for each in behaviors)


def health_file(health: ObservedHealth) -> bytes:
    """Return observed health as the file that records it; nothing where there is none."""
    if not health.conditions and not health.workloads and not health.pending:
        return b""
    clusters = [
        {"name": name, "conditions": [_plain(vars_of(each)) for each in found]}
        for name, found in sorted(health.conditions.items())
    ]
    workloads = [
        {"object": _plain(vars_of(ref)), "clusters": [_plain(vars_of(each)) for each in found]}
        for ref, found in sorted(health.workloads.items())
    ]
    pending = [
        {"object": _plain(vars_of(ref)), "clusters": [_plain_pending(each) for each in found]}
        for ref, found in sorted(health.pending.items())
    ]
    head = {"apiVersion": ARGOSY_API_VERSION, "kind": KIND, "clusters": clusters, "workloads": workloads}
    return emit({**head, **({"pending": pending} if pending else {})})


def parsed_health(content: bytes) -> ObservedHealth:
    """Read observed health back from its file."""
    if not content:
        return ObservedHealth()
    value = parse_documents(content)[0].value
    return ObservedHealth(
        conditions={
            each["name"]: tuple(ClusterCondition(**found) for found in each["conditions"])
            for each in value.get("clusters") or ()
        },
        workloads={
            _ref(each["object"]): tuple(ReportedHealth(**found) for found in each["clusters"])
            for each in value.get("workloads") or ()
        },
        pending={_ref(each["object"]): tuple(map(_pending, each["clusters"])) for each in value.get("pending") or ()},
    )


def _plain_pending(pending: PendingReplicas) -> dict[str, Any]:
    return {**vars_of(pending), "pending": [vars_of(each) for each in pending.pending]}


def _pending(plain: Manifest) -> PendingReplicas:
    return PendingReplicas(**{**plain, "pending": tuple(PendingPods(**each) for each in plain["pending"])})


def cluster_conditions(status: Manifest) -> tuple[ClusterCondition, ...]:
    """Return the conditions of a Cluster's status."""
    return tuple(
        ClusterCondition(
            type=str(each["type"]),
            status=str(each.get("status") or ""),
            reason=str(each.get("reason") or ""),
            since=str(each.get("lastTransitionTime") or ""),
        )
        for each in status.get("conditions") or ()
    )


def vars_of(value: Any) -> dict[str, Any]:
    """Return the fields of a value by name."""
    return {name: getattr(value, name) for name in value.__struct_fields__}


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _ref(plain: Manifest) -> ObjectRef:
    return ObjectRef(plain.get("group", ""), plain["kind"], plain.get("namespace", ""), plain["name"])


def of_members(health: ObservedHealth, names: Iterable[str]) -> ObservedHealth:
    """Return the health of some clusters alone."""
    known = frozenset(names)
    return ObservedHealth(
        conditions={name: found for name, found in health.conditions.items() if name in known},
        workloads={
            ref: tuple(each for each in found if each.cluster in known) for ref, found in health.workloads.items()
        },
        pending={
            ref: there
            for ref, found in health.pending.items()
            if (there := tuple(each for each in found if each.cluster in known))
        },
    )


def with_pending(health: ObservedHealth, found: PendingByCluster) -> ObservedHealth:
    """Return health with what was found now in some clusters, in place of what was known of them."""
    kept = {ref: [each for each in there if each.cluster not in found] for ref, there in health.pending.items()}
    for there in found.values():
        for ref, each in there.items():
            kept.setdefault(ref, []).append(each)
    pending = {ref: tuple(sorted(there, key=lambda each: each.cluster)) for ref, there in kept.items() if there}
    return replace(health, pending=pending)
