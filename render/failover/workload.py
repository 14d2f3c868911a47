"""One pass of all failover rules over one binding, in the order in which they are taken.

1. ``tasks_that_stay``: tasks of earlier passes end where they are due, or where healthy targets replace what was left;
2. ``pass_of_taint_eviction``: NoExecute taints evict;
3. ``pass_of_failover_by_policy``: application failover evicts.

Scheduling follows, and then ``tasks_with_creation_times`` gives the tasks of this pass their time. A task never ends in
the pass that made it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import AggregatedStatusItem, Binding, GracefulEvictionTask
from render.cluster import Taint
from render.timing import Flip, earliest_flip, instant_text

from .application import (
    CLUSTER_SCOPED_PRODUCER,
    PRODUCER,
    FailingWorkload,
    FailoverGates,
    FailoverPass,
    Timers,
    pass_of_application_failover,
)
from .eviction import GRACEFULLY, Leaving, PreservationError
from .taint_eviction import TaintedBinding, no_execute_taints, state_after_taint_eviction, time_of_taint_eviction
from .tasks import DEFAULT_GRACE_SECONDS, TaskPass, are_all_healthy, reported_health_by_cluster, tasks_after_one_look


class FailoverRules(Struct, frozen=True, kw_only=True):
    """The rules that a fleet switches on, and its defaults for them."""

    gates: FailoverGates = field(default_factory=FailoverGates)
    purge_mode: str = GRACEFULLY
    grace_seconds: int = DEFAULT_GRACE_SECONDS


class WorkloadHealth(Struct, frozen=True, kw_only=True):
    """The reports of clusters about a workload, and since when it is unhealthy in some.

    ``healthy_since`` is since when it is healthy in others, ``healthy_until`` when it was last seen healthy where it is
    not. ``is_readable``: the health of its kind can be read. ``is_observed``: its schedule is up to date.
    """

    reported: Sequence[AggregatedStatusItem] = ()
    unhealthy_since: Timers = field(default_factory=dict)
    healthy_since: Timers = field(default_factory=dict)
    healthy_until: Timers = field(default_factory=dict)
    is_readable: bool = True
    is_observed: bool = True


class TaintPass(Struct, frozen=True):
    """Targets and tasks after NoExecute taints, errors by cluster, and when the next taint evicts."""

    state: Leaving
    errors: Mapping[str, str] = field(default_factory=dict)
    flip: Flip | None = None


def tasks_that_stay(state: Leaving, health: WorkloadHealth, now: datetime, rules: FailoverRules) -> TaskPass:
    """Return the tasks that stay after one look at them."""
    is_replaced = health.is_observed and are_all_healthy(
        state.target_names, reported_health_by_cluster(health.reported)
    )
    return tasks_after_one_look(state.tasks, now, is_replaced=is_replaced, grace=rules.grace_seconds)


def pass_of_taint_eviction(
    binding: TaintedBinding, applied: Binding, taints_by_cluster: Mapping[str, Sequence[Taint]], now: datetime
) -> TaintPass:
    """Return what a binding keeps after the NoExecute taints of its clusters, by the placement last applied to it."""
    if applied.applied_placement is None:
        return TaintPass(binding.state)
    tolerations = applied.applied_placement.cluster_tolerations
    state, errors, flips = binding.state, dict[str, str](), list[Flip]()
    for cluster, found in taints_by_cluster.items():
        taints = no_execute_taints(found)
        at = time_of_taint_eviction(taints, tolerations) if taints and cluster in state.target_names else None
        if at is None:
            continue
        if at > now:
            flips.append(Flip(at, f"{applied.ref.name} leaves {cluster}"))
            continue
        try:
            state = state_after_taint_eviction(replace(binding, state=state), cluster)
        except PreservationError as error:
            errors[cluster] = str(error)
    return TaintPass(state, errors, earliest_flip(flips))


def pass_of_failover_by_policy(
    state: Leaving, binding: Binding, health: WorkloadHealth, now: datetime, rules: FailoverRules
) -> FailoverPass:
    """Return what a binding keeps after application failover, where its policy asks for it."""
    application = (binding.failover or {}).get("application")
    is_followed = binding.propagate_deps or not binding.ref.namespace
    if application is None or not health.reported or not health.is_readable or not is_followed:
        return FailoverPass(state=state, timers={})
    failing = FailingWorkload(
        state=state,
        reported=health.reported,
        application=application,
        producer=PRODUCER if binding.ref.namespace else CLUSTER_SCOPED_PRODUCER,
    )
    return pass_of_application_failover(failing, health.unhealthy_since, now, rules.gates)


def tasks_with_creation_times(tasks: Sequence[GracefulEvictionTask], now: datetime) -> tuple[GracefulEvictionTask, ...]:
    """Return tasks with their time: those of this pass get ``now``."""
    return tuple(
        task if task.creation_timestamp else replace(task, creation_timestamp=instant_text(now)) for task in tasks
    )
