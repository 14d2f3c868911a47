"""The progress of live objects: kstatus' rules, made stricter where "current" would call a failure fine.

What applies to every kind comes first - being deleted, a controller that has not seen the newest generation, the
conditions ``Reconciling`` and ``Stalled`` - then the rules of the kind, then its ``Ready`` condition, if it has one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from reconciler.console.cleaning import on_one_line
from render.interpretation.progress import (
    NOT_OBSERVED,
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
NOT_HEALTHY = LiveState(Progress.IN_PROGRESS, "NotHealthy", "its health rule says that it is not")
"""The state of an object that is not healthy, where nothing of it tells why."""


def progress_of_live_object(live: Manifest) -> LiveState:
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
        return LiveState(Progress.IN_PROGRESS, NOT_OBSERVED, "its controller has not seen the newest generation")
    if has_condition(live, "Reconciling", "True"):
        return state_under_way(live_condition(live, "Reconciling"))
    if has_condition(live, "Stalled", "True"):
        return state_of_broken_object(live_condition(live, "Stalled"))
    return None


_WORDS = ("phase", "state", "lifecycleState", "jobStatus", "jobDeploymentStatus", "ready", "error")
"""The fields in which controllers tell in a word how an object is."""
_BAD_IF_TRUE = frozenset({"Failed", "Degraded", "Stalled", "RayClusterReplicaFailure"})
"""The types of conditions of which the true ones are bad."""
_MOST_DETAILS, _MOST_TEXT = 3, 300


def unmet_health(live: Manifest) -> LiveState:
    """Return what an object lacks that is not healthy, though nothing is under way: by its kind, or by its status."""
    kind = BUILT_IN.get((group_of(str(live.get("apiVersion") or "")), str(live.get("kind"))))
    rule = kind.interpretation.lacking if kind is not None else None
    if rule is not None and (found := rule(live)) is not None:
        return LiveState(Progress.IN_PROGRESS, *found)
    if not status_of(live):
        message = f"{NOT_HEALTHY.message}: it has no status, so that no controller has told how it is"
        return LiveState(Progress.IN_PROGRESS, "NoStatus", message)
    details = [*_telling_conditions(live), *_telling_words(status_of(live))][:_MOST_DETAILS]
    return NOT_HEALTHY._replace(message=": ".join(filter(None, (NOT_HEALTHY.message, "; ".join(details)))))


def _telling_conditions(live: Manifest) -> Iterator[str]:
    """Yield the conditions that are not as they are of an object that is well."""
    conditions = status_of(live).get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, Mapping) and (each.get("status") == "True") == (each.get("type") in _BAD_IF_TRUE):
            why = ": ".join(str(each[field]) for field in ("reason", "message") if each.get(field))
            yield on_one_line(f"{each.get('type')} is {each.get('status')}{f' ({why})' if why else ''}")[:_MOST_TEXT]


def _telling_words(status: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the words of a status for how the object is, and those one level below."""
    for field, value in status.items():
        if isinstance(value, str | bool) and field in _WORDS:
            yield on_one_line(f"{above}{field} is {value or 'empty'}")[:_MOST_TEXT]
        elif isinstance(value, Mapping) and not above:
            yield from _telling_words(value, f"{field}.")
