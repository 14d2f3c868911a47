"""The Ready condition of a cluster, from what was seen of it, and the taints that follow from it.

A probe is believed once it has said the same for a while: a cluster that flaps keeps its condition.
``taints_with_those_of_ready`` keeps new placements from a cluster that is not ready; what is there stays. Agents say
when they will report next, so Karmada's heartbeats have no counterpart here.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.cluster import ClusterCondition, Taint
from render.timing import Flip, Timed, instant_after, instant_text

READY = "Ready"
REPORTING = "AgentReporting"
OBSERVED = "Observed"
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
NOT_READY_KEY = "cluster.karmada.io/not-ready"
UNREACHABLE_KEY = "cluster.karmada.io/unreachable"

NOT_READY = Taint(key=NOT_READY_KEY, effect="NoSchedule")
UNREACHABLE = Taint(key=UNREACHABLE_KEY, effect="NoSchedule")

REACHABLE = ClusterCondition(
    type=READY, status=TRUE, reason="ClusterReady", message="cluster is healthy and ready to accept workloads"
)
NOT_REACHABLE = ClusterCondition(
    type=READY, status=FALSE, reason="ClusterNotReachable", message="cluster is not reachable"
)
NOT_HEALTHY = ClusterCondition(
    type=READY,
    status=FALSE,
    reason="ClusterNotReady",
    message="cluster is reachable but health endpoint responded without ok",
)


class HealthThresholds(Struct, frozen=True, kw_only=True):
    """Seconds that a probe must say the same before it is believed."""

    failure: float = 30
    success: float = 30


class Probed(Struct, frozen=True):
    """The status that the last probe said, and since when probes say it (None: since before the first one seen)."""

    status: str
    since: datetime | None = None


def condition_of_single_probe(*, is_online: bool, is_healthy: bool) -> ClusterCondition:
    """Return the condition that one probe alone speaks for."""
    if not is_online:
        return NOT_REACHABLE
    return REACHABLE if is_healthy else NOT_HEALTHY


def ready_condition_after_probe(
    found: ClusterCondition,
    current: ClusterCondition | None,
    probed: Probed | None,
    now: datetime,
    thresholds: HealthThresholds,
) -> Timed[tuple[ClusterCondition, Probed]]:
    """Return the Ready condition after a probe, and what to remember of it.

    A change between ready and not ready waits until probes have said so for the threshold, and happens at its very
    end; without anything remembered, the probe is believed at once.
    """
    if probed is None:
        return Timed((condition_with_time_of_change(current, found, now), Probed(found.status)))
    if current is None:
        return Timed((condition_with_time_of_change(current, found, now), probed))
    if probed.status != found.status:
        probed = Probed(found.status, now)
    threshold = thresholds.success if found.status == TRUE else thresholds.failure
    is_crossing = (found.status == TRUE) != (current.status == TRUE)
    if is_crossing and probed.since is not None and now < (end := instant_after(probed.since, threshold)):
        return Timed((current, probed), Flip(end, f"Ready becomes {found.status}"))
    return Timed((condition_with_time_of_change(current, found, now), probed))


def is_reporting_though_not_ready(conditions: Iterable[ClusterCondition]) -> bool:
    """Say whether a cluster that is not ready speaks for itself: its agent reports, though we get no answer."""
    status_by_type = {each.type: each.status for each in conditions}
    return status_by_type.get(READY, TRUE) != TRUE and status_by_type.get(REPORTING) == TRUE


def is_health_unknown(conditions: Iterable[ClusterCondition]) -> bool:
    """Say whether nobody knows how a cluster is: we cannot see it, or its agent is silent. It may well be alive."""
    status_by_type = {each.type: each.status for each in conditions}
    return status_by_type.get(OBSERVED, TRUE) != TRUE or status_by_type.get(READY) == UNKNOWN


def is_known_to_be_ready(conditions: Iterable[ClusterCondition]) -> bool:
    """Say whether a cluster was observed, and is ready: nothing is moved to one of which that is not known."""
    status_by_type = {each.type: each.status for each in conditions}
    return status_by_type.get(READY) == TRUE and status_by_type.get(OBSERVED, TRUE) == TRUE


def condition_with_time_of_change(
    current: ClusterCondition | None, found: ClusterCondition, now: datetime
) -> ClusterCondition:
    """Return a condition as it is recorded: its time stays where its status does."""
    is_same = current is not None and current.status == found.status and current.since
    return replace(found, since=current.since if current and is_same else instant_text(now))


def taints_with_those_of_ready(
    taints: Sequence[Taint], ready: str | None, now: datetime | None = None
) -> tuple[Taint, ...]:
    """Return a cluster's taints with those by which its Ready status keeps new placements away; None: it has none.

    Without ``now``, those that are added have no time.
    """
    wanted = {FALSE: (NOT_READY,), UNKNOWN: (UNREACHABLE,), None: (NOT_READY,)}.get(ready, ())
    unwanted = {TRUE: (NOT_READY, UNREACHABLE), FALSE: (UNREACHABLE,), UNKNOWN: (NOT_READY,)}.get(ready or "", ())
    leaving = {key_and_effect_of_taint(each) for each in unwanted}
    present = set(map(key_and_effect_of_taint, taints))
    time = instant_text(now) if now else ""
    added = (replace(each, time_added=time) for each in wanted if key_and_effect_of_taint(each) not in present)
    return (*(each for each in taints if key_and_effect_of_taint(each) not in leaving), *added)


def key_and_effect_of_taint(taint: Taint) -> tuple[str, str]:
    """Return what tells one taint of a cluster from another: its key and its effect, never its value."""
    return taint.key, taint.effect
