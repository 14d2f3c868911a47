"""The progress of a live object, and the readers that the rules of kinds about it are made of.

The rules are kstatus', made stricter where "current" would call a failure fine.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from render.model import Manifest, mapping_or_empty


class Progress(StrEnum):
    """The progress of an object: done, under way, broken, being deleted, or nobody knows."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    TERMINATING = "Terminating"
    UNKNOWN = "Unknown"


NOT_OBSERVED = "NotObserved"
"""The reason of what has a status that its controller wrote before it saw the newest generation."""
OLD_REPLICAS = "OldReplicas"
"""The reason of what has all its replicas ready, and some of them of an older revision."""
JOB_RUNNING = "JobRunning"
"""The reason of a Job that has neither completed nor failed."""
REASONS_UNDER_WAY = frozenset({NOT_OBSERVED, OLD_REPLICAS, JOB_RUNNING})
"""The reasons of what is not done and on its way, as far as its own status tells: all that is to be ready is."""


class LiveState(NamedTuple):
    """An object's progress, and the reason for it."""

    progress: Progress
    reason: str = ""
    message: str = ""


ProgressRule = Callable[[Manifest], LiveState | None]
"""From a live object to its progress; None where it is done."""


def state_of_missing_replicas(counter: str, count: int, wanted: int) -> LiveState:
    """Return the progress of a workload that has too few replicas by a counter of its status."""
    return LiveState(Progress.IN_PROGRESS, "ReplicasMissing", f"{counter}: {count} of {wanted}")


def state_of_old_replicas(counter: str, count: int, wanted: int) -> LiveState:
    """Return the progress of a workload that has all its replicas ready, and too few of them of the newest revision."""
    return LiveState(Progress.IN_PROGRESS, OLD_REPLICAS, f"{counter}: {count} of {wanted}")


def state_of_broken_object(cause: Mapping[str, Any]) -> LiveState:
    """Return the progress of an object that a condition says has failed."""
    return LiveState(Progress.FAILED, str(cause.get("reason") or ""), str(cause.get("message") or ""))


def state_under_way(cause: Mapping[str, Any]) -> LiveState:
    """Return the progress of an object that a condition says is not ready yet."""
    reason = str(cause.get("reason") or "") or "NotReady"
    return LiveState(Progress.IN_PROGRESS, reason, str(cause.get("message") or ""))


def status_of(live: Manifest) -> Mapping[str, Any]:
    """Return the status of a live object; an empty one where it has none."""
    return mapping_or_empty(live.get("status"))


def live_condition(live: Manifest, kind: str) -> Mapping[str, Any]:
    """Return the condition of a type that a live object has; an empty one where it has none."""
    conditions = status_of(live).get("conditions")
    known = [each for each in conditions if isinstance(each, Mapping)] if isinstance(conditions, list) else []
    return next((each for each in known if each.get("type") == kind), {})


def has_condition(live: Manifest, kind: str, status: str) -> bool:
    """Say whether a condition of a live object has this status."""
    return live_condition(live, kind).get("status") == status


def wanted_replicas(live: Manifest) -> int:
    """Return the replicas that a workload is to have; one where it does not say."""
    replicas = (live.get("spec") or {}).get("replicas")
    return replicas if isinstance(replicas, int) else 1


def counter_in_status(status: Mapping[str, Any], counter: str) -> int:
    """Return a counter of a status; none where it is no number."""
    count = status.get(counter)
    return count if isinstance(count, int) else 0
