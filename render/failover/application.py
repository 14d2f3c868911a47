"""Application failover: a workload leaves a cluster in which it has been unhealthy for longer than is tolerated.

A timer starts when a cluster first reports that the workload is unhealthy, and is forgotten when it reports anything
else, or is no target. Timers are the instants at which they started.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.binding import AggregatedStatusItem, GracefulEvictionTask
from render.model import Manifest
from render.timing import Flip, first_whole_second_after, has_passed_since

from .eviction import (
    GRACEFULLY,
    NEVER,
    Leaving,
    PreservationError,
    evict_cluster,
    is_already_leaving,
    labels_preserved_from_status,
)
from .tasks import HEALTHY, UNHEALTHY, UNKNOWN_HEALTH

REASON = "ApplicationFailure"
PRODUCER = "resource-binding-application-failover-controller"
CLUSTER_SCOPED_PRODUCER = f"cluster-{PRODUCER}"
DEFAULT_TOLERATION_SECONDS = 300

Timers = Mapping[str, datetime]
"""The instant at which each cluster was first seen to be unhealthy."""


class FailoverGates(Struct, frozen=True, kw_only=True):
    """Karmada's feature gates that application failover asks."""

    graceful_eviction: bool = True
    stateful_failover_injection: bool = False


class FailingWorkload(Struct, frozen=True, kw_only=True):
    """The inputs of application failover for one workload: its targets, what they report, and its policy's behavior.

    ``application`` is the policy's ``failover.application``.
    """

    state: Leaving
    reported: Sequence[AggregatedStatusItem]
    application: Manifest
    producer: str = PRODUCER


class FailoverPass(Struct, frozen=True, kw_only=True):
    """Targets, tasks and timers after one look; ``left`` are the clusters that it leaves now.

    ``wait`` is the number of seconds after which Karmada looks again (0: not by itself). ``error``: nothing changed,
    for no task could be made.
    """

    state: Leaving
    timers: Timers
    left: tuple[str, ...] = ()
    wait: int = 0
    error: str = ""
    flip: Flip | None = None


def pass_of_application_failover(
    workload: FailingWorkload, timers: Timers, now: datetime, gates: FailoverGates | None = None
) -> FailoverPass:
    """Return what a workload leaves after one look at the health that its clusters report."""
    seconds = toleration_seconds(workload.application)
    running, left, waits = dict(timers), list[str](), list[int]()
    for cluster in _clusters_reporting_unhealthy(workload):
        started = running.setdefault(cluster, now)
        if has_passed_since(now, started, seconds):
            left.append(cluster)
        else:
            waits.append(seconds - int((now - started).total_seconds()))
    state = workload.state
    try:
        for cluster in left:
            state = evict_cluster(state, _graceful_eviction_task(cluster, workload, gates or FailoverGates()))
    except PreservationError as error:
        return FailoverPass(state=workload.state, timers=running, error=str(error))
    kept = _timers_of_unhealthy_clusters(running, state, workload.reported)
    ends = [first_whole_second_after(started, seconds) for started in kept.values()]
    flip = Flip(min(ends)) if ends else None
    return FailoverPass(state=state, timers=kept, left=tuple(left), wait=min(waits, default=0), flip=flip)


def toleration_seconds(application: Manifest) -> int:
    """Return for how long a workload may be unhealthy."""
    found = (application.get("decisionConditions") or {}).get("tolerationSeconds")
    return DEFAULT_TOLERATION_SECONDS if found is None else int(found)


def _clusters_reporting_unhealthy(workload: FailingWorkload) -> list[str]:
    """Return the clusters that report the workload unhealthy, but for those that it is leaving."""
    return [
        item.cluster
        for item in workload.reported
        if item.health == UNHEALTHY and not is_already_leaving(item.cluster, workload.state.tasks)
    ]


def _timers_of_unhealthy_clusters(running: Timers, state: Leaving, reported: Sequence[AggregatedStatusItem]) -> Timers:
    well = {item.cluster for item in reported if item.health in {HEALTHY, UNKNOWN_HEALTH}}
    return {name: since for name, since in running.items() if name in state.target_names and name not in well}


def _graceful_eviction_task(cluster: str, workload: FailingWorkload, gates: FailoverGates) -> GracefulEvictionTask:
    """Return the task by which a workload leaves a cluster."""
    application = workload.application
    task = GracefulEvictionTask(
        from_cluster=cluster,
        purge_mode=application.get("purgeMode") or "",
        reason=REASON,
        producer=workload.producer,
    )
    if rules := _state_preservation_rules(application) if gates.stateful_failover_injection else ():
        task = replace(
            task,
            preserved_label_state=labels_preserved_from_status(rules, cluster, workload.reported),
            clusters_before_failover=workload.state.target_names,
        )
    if task.purge_mode == NEVER:
        return replace(task, suppress_deletion=True)
    if task.purge_mode != GRACEFULLY:
        return task
    if not gates.graceful_eviction:
        raise PreservationError("GracefulEviction featureGate must be enabled when purgeMode is Gracefully")
    return replace(task, grace_period_seconds=application.get("gracePeriodSeconds"))


def _state_preservation_rules(application: Manifest) -> Sequence[Manifest]:
    return (application.get("statePreservation") or {}).get("rules") or ()
