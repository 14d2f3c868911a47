"""The state of an object in a cluster: one of five, and the reason for each that is not well.

A state is what is known. What no pass has recorded, or what was recorded of a cluster that does not answer any more,
is ``Unknown``, and never well.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from reconciler.ledger.conditions import condition_of_type
from reconciler.record.recorded_status import reason_in_work
from reconciler.record.work_status import APPLIED, HEALTHY
from reconciler.status.staleness import HELD, MemberProgress
from render.interpretation.progress import REASONS_UNDER_WAY
from render.model import Manifest

NOT_RECORDED, DISCONNECTED_CLUSTER, NOT_APPLIED_YET = "NotRecorded", "Disconnected", "NotAppliedYet"


class SurveyedState(StrEnum):
    """The state of an object, a cluster or a group of them, the worst first."""

    UNWELL = "Unwell"
    UNKNOWN = "Unknown"
    WAITING = "Waiting"
    PROGRESSING = "Progressing"
    WELL = "Well"


_RANK = {state: place for place, state in enumerate(SurveyedState)}


class StateReason(NamedTuple):
    """A state with its reason in a word and in a sentence, and the time since when it is so ("": nobody knows).

    ``is_applied`` is false where a cluster does not have the object as it must be.
    """

    state: SurveyedState
    reason: str = ""
    message: str = ""
    since: str = ""
    is_applied: bool = True


WELL = StateReason(SurveyedState.WELL)


def rank_of_state(state: SurveyedState) -> int:
    """Return the place of a state among all of them; the worst is the first."""
    return _RANK[state]


def worst_state(states: Iterable[SurveyedState]) -> SurveyedState:
    """Return the worst of some states; nothing to be unwell is well.

    >>> str(worst_state([SurveyedState.WELL, SurveyedState.WAITING])), str(worst_state([]))
    ('Waiting', 'Well')
    """
    return min(states, key=_RANK.__getitem__, default=SurveyedState.WELL)


def state_of_member(progress: MemberProgress | None) -> StateReason:
    """Return the state of a member by its progress towards the newest rendered commit; None: nothing is applied."""
    if progress is None:
        return StateReason(SurveyedState.UNKNOWN, NOT_RECORDED)
    words = progress.reason, progress.message, progress.since
    if not progress.is_known:
        return StateReason(SurveyedState.UNKNOWN, *words)
    if progress.reason == HELD:
        return StateReason(SurveyedState.WAITING, *words)
    if not progress.is_reached:
        return StateReason(SurveyedState.PROGRESSING, *words)
    if not progress.is_complete:
        return StateReason(SurveyedState.UNWELL, "Incomplete", "not all of it could be applied", progress.since)
    return WELL


def state_of_work(work: Manifest) -> StateReason:
    """Return the state of an object in a cluster by what is recorded of it."""
    conditions = (work.get("status") or {}).get("conditions")
    applied = condition_of_type(conditions, APPLIED).get("status")
    healthy = condition_of_type(conditions, HEALTHY).get("status")
    if applied == healthy == "True":
        return WELL
    why = reason_in_work(work, "")
    words = why.reason, why.message, why.since
    if applied == "False":
        return StateReason(SurveyedState.UNWELL, *words, is_applied=False)
    if applied != "True" or healthy != "False":
        return StateReason(SurveyedState.UNKNOWN, *words)
    return StateReason(SurveyedState.PROGRESSING if why.reason in REASONS_UNDER_WAY else SurveyedState.UNWELL, *words)


def ready_replicas_in_work(work: Manifest) -> int | None:
    """Return how many replicas of an object are ready in a cluster; None where it counts none."""
    entry: Mapping[str, Any] = next(iter((work.get("status") or {}).get("manifestStatuses") or ()), {})
    status = entry.get("status")
    if not isinstance(status, Mapping) or "replicas" not in status:
        return None
    ready = status.get("readyReplicas", 0)
    return ready if isinstance(ready, int) else None
