"""The Ready condition of a cluster that reports by itself to Karmada, which is Unknown once its heartbeat stays away.

No pass asks this: agents here say when they will report next. Only the recordings of Karmada do, whose taints follow
from it.
"""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.cluster import ClusterCondition
from render.failover.health import READY, UNKNOWN
from render.timing import Flip, Timed, first_whole_second_after, has_passed_since, instant_text

_NEVER_REPORTED = ClusterCondition(
    type=READY,
    status=UNKNOWN,
    reason="ClusterStatusNeverUpdated",
    message="Cluster status controller never posted cluster status.",
)
_STOPPED_REPORTING = ClusterCondition(
    type=READY,
    status=UNKNOWN,
    reason="ClusterStatusUnknown",
    message="Cluster status controller stopped posting cluster status.",
)


class GracePeriods(Struct, frozen=True, kw_only=True):
    """Seconds that a heartbeat may stay away, and that the first one may after a cluster was made."""

    heartbeat: float = 40
    startup: float = 60


class Heartbeat(Struct, frozen=True, kw_only=True):
    """The memory of a cluster that reports by itself: its Ready condition, its lease, and the last sign of it.

    ``is_lease_saved`` is told apart from ``renewed``: Karmada also saves a lease that it could not read, and counts no
    later one as newer than that.
    """

    seen: datetime
    condition: ClusterCondition | None = None
    renewed: datetime | None = None
    is_lease_saved: bool = False


class SelfReport(Struct, frozen=True, kw_only=True):
    """The posts of a cluster that reports by itself: its Ready condition, and the renewal of its lease."""

    created: datetime
    condition: ClusterCondition | None = None
    renewed: datetime | None = None


def ready_by_heartbeat(
    report: SelfReport, heartbeat: Heartbeat | None, now: datetime, grace: GracePeriods
) -> Timed[tuple[ClusterCondition | None, Heartbeat]]:
    """Return the Ready condition of a cluster that reports by itself, and what to remember of it.

    It becomes Unknown when more than the grace period has gone by since the last sign of it: another condition, or a
    renewed lease.
    """
    current = report.condition
    seconds = grace.startup if current is None else grace.heartbeat
    is_first_lease = heartbeat is None or not heartbeat.is_lease_saved
    saved = heartbeat.renewed if heartbeat else None
    beat = _seen(report, heartbeat, now)
    if report.renewed and (is_first_lease or (saved is not None and saved < report.renewed)):
        beat = replace(beat, renewed=report.renewed, is_lease_saved=True, seen=now)
    if not has_passed_since(now, beat.seen, seconds):
        is_flipping = current is None or current.status != UNKNOWN
        flip = Flip(first_whole_second_after(beat.seen, seconds), "Ready becomes Unknown") if is_flipping else None
        return Timed((current, beat), flip)
    if current is not None and current.status == UNKNOWN:
        return Timed((current, beat))
    lost = replace(_NEVER_REPORTED if current is None else _STOPPED_REPORTING, since=instant_text(now))
    return Timed((lost, replace(beat, condition=lost, renewed=report.renewed, is_lease_saved=True)))


def _seen(report: SelfReport, heartbeat: Heartbeat | None, now: datetime) -> Heartbeat:
    """Return what is remembered, begun again where the condition is another one; the lease is then forgotten."""
    if report.condition is None:
        return Heartbeat(seen=report.created) if heartbeat is None else replace(heartbeat, condition=None)
    if heartbeat is None or heartbeat.condition != report.condition:
        return Heartbeat(seen=now, condition=report.condition)
    return heartbeat
