"""Requests of people about a rollout: the RolloutControls about its change, in the order in which they were written."""

from collections.abc import Iterable

from msgspec import Struct

from .policy import RolloutControl, RolloutVerb
from .state import RolloutState


class Requests(Struct, frozen=True, kw_only=True):
    """The requests of people about the change that goes out.

    ``paused`` and ``aborted`` are the controls that hold it now. ``approved`` are the waves that may begin. ``retries``
    are those that have had no effect yet.
    """

    paused: RolloutControl | None = None
    aborted: RolloutControl | None = None
    approved: frozenset[str] = frozenset()
    retries: tuple[RolloutControl, ...] = ()


def requests_about_rollout(state: RolloutState, controls: Iterable[RolloutControl]) -> Requests:
    """Return what the controls about the change of a rollout ask for; the last of those that contradict counts."""
    asked = str(state.plan), state.group, state.change
    about = [each for each in controls if (each.rollout, each.group, each.change) == asked]
    ordered = sorted(about, key=lambda each: (each.at, each.name))
    last_pause = _last_control(ordered, RolloutVerb.PAUSE, RolloutVerb.RESUME)
    last_abort = _last_control(ordered, RolloutVerb.ABORT, RolloutVerb.RETRY)
    return Requests(
        paused=last_pause if last_pause and last_pause.verb is RolloutVerb.PAUSE else None,
        aborted=last_abort if last_abort and last_abort.verb is RolloutVerb.ABORT else None,
        approved=frozenset(each.wave for each in ordered if each.verb is RolloutVerb.APPROVE),
        retries=tuple(each for each in ordered if each.verb is RolloutVerb.RETRY and each.name not in state.heard),
    )


def _last_control(ordered: Iterable[RolloutControl], *verbs: RolloutVerb) -> RolloutControl | None:
    """Return the last of the controls that ask for one of some things."""
    return next((each for each in reversed(list(ordered)) if each.verb in verbs), None)
