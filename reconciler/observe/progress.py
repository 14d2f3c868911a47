"""The progress of live objects: kstatus' rules, made stricter where "current" would call a failure fine.

What applies to every kind comes first - being deleted, a controller that has not seen the newest generation, the
conditions ``Reconciling`` and ``Stalled`` - then the rules of the kind, then its ``Ready`` condition, if it has one.
"""

from render.interpretation.progress import (
    LiveState,
    Progress,
    has_condition,
    live_condition,
    state_of_broken_object,
    state_under_way,
    status_of,
)
from render.kinds import BUILT_IN
from render.model import Manifest, group_of

CURRENT = LiveState(Progress.CURRENT)


def live_state(live: Manifest) -> LiveState:
    """Return the progress of a live object."""
    general = _state_by_common_conditions(live)
    if general is not None:
        return general
    kind = BUILT_IN.get((group_of(str(live.get("apiVersion") or "")), str(live.get("kind"))))
    if kind is not None and kind.progress is not None:
        return kind.progress(live) or CURRENT
    ready = live_condition(live, "Ready")
    if ready.get("status") in {"False", "Unknown"}:
        return state_under_way(ready)
    return CURRENT


def _state_by_common_conditions(live: Manifest) -> LiveState | None:
    metadata = live["metadata"]
    if metadata.get("deletionTimestamp"):
        return LiveState(Progress.TERMINATING, "Terminating", "it is being deleted")
    observed, generation = status_of(live).get("observedGeneration"), metadata.get("generation")
    if isinstance(observed, int) and isinstance(generation, int) and observed != generation:
        return LiveState(Progress.IN_PROGRESS, "NotObserved", "its controller has not seen the newest generation")
    if has_condition(live, "Reconciling", "True"):
        return state_under_way(live_condition(live, "Reconciling"))
    if has_condition(live, "Stalled", "True"):
        return state_of_broken_object(live_condition(live, "Stalled"))
    return None
