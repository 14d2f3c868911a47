"""The pace of one fleet: when its source is looked at, and when a pass runs over it.

``next_state`` is a pure function: what is known of the fleet, an event and the time in, what is known then out; and
``next_step`` reads off what is to be done now. Nothing is counted that could be lost: an event only brings a look
forward, and a look compares where the source stands with what the last pass was for. So any number of events are one
look, and whatever comes during a look or a pass has the source looked at once more.

A pass runs when the source has moved, when members are due to be looked at for drift, when a time rule asked for a
pass, and again after a failure: later each time, by a span that is drawn between half and all of it, so that many
fleets do not come back at once. What was refused is not tried again before it changes, or drift is due.

``now`` counts seconds on a clock that never jumps. ``wall`` is the time of day, and only compared with what a time rule
asked for: it may jump.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf


class Activity(StrEnum):
    """The work that is under way for a fleet."""

    RESTING = "Resting"
    LOOKING = "Looking"
    PASSING = "Passing"


class PassCause(StrEnum):
    """The cause of a pass."""

    START = "Start"
    CHANGE = "Change"
    DRIFT = "Drift"
    RETRY = "Retry"
    TIME = "Time"


class Ending(StrEnum):
    """The end of a pass, as far as it says when the next one is due.

    ``DONE``: another pass would do the same, be it that all is done or that the source is refused. ``INCOMPLETE``:
    something did not answer or failed, and may go well next time. ``FAILED``: the pass itself could not be done.
    """

    DONE = "Done"
    INCOMPLETE = "Incomplete"
    FAILED = "Failed"


class NextStep(StrEnum):
    """The thing to do for a fleet now."""

    WAIT = "Wait"
    LOOK = "Look"
    RECONCILE = "Reconcile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The intervals of a fleet in seconds.

    ``poll`` is how often its source is looked at without being told (infinite: never). ``least_gap`` is the least time
    between two looks.
    """

    poll: float = inf
    drift: float = 300.0
    first_retry: float = 5.0
    longest_retry: float = 300.0
    least_gap: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeNow:
    """The time: seconds on a clock that never jumps, the time of day, and a random number from 0 to 1."""

    now: float
    wall: float = 0.0
    chance: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetState:
    """The state of one fleet's pace.

    ``tip`` is the source commit that the last pass was for ("": none yet). ``is_woken``: something happened during what
    is under way. ``look_at`` and ``pass_at`` are when the next look and the next pass are due, ``cause`` that of the
    pass; ``wall_at`` is the time of day at which a time rule asks for one. ``failures`` and ``lost`` count passes and
    looks that failed, one after another.
    """

    activity: Activity = Activity.RESTING
    is_leading: bool = True
    is_woken: bool = False
    tip: str = ""
    cause: PassCause = PassCause.START
    looked_at: float = -inf
    look_at: float = inf
    pass_at: float = -inf
    wall_at: float = inf
    failures: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Woken:
    """Somebody said that the source may have changed."""


@dataclass(frozen=True, slots=True)
class Began:
    """The step that was due has begun."""

    step: NextStep


@dataclass(frozen=True, slots=True)
class Looked:
    """A look ended: the source stands at this commit, or could not be asked (None)."""

    tip: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassEnded:
    """A pass ended: what came of it, the source it was for ("": not known), and when a time rule asks for the next."""

    ending: Ending
    source: str = ""
    next_wall: float = inf


@dataclass(frozen=True, slots=True)
class LeadershipChanged:
    """Leadership came to this process, or went to another."""

    is_leading: bool


@dataclass(frozen=True, slots=True)
class PaceChanged:
    """Somebody set other intervals."""


Event = Woken | Began | Looked | PassEnded | LeadershipChanged | PaceChanged


def next_step(state: FleetState, time_now: TimeNow) -> NextStep:
    """Return what is to be done for a fleet now."""
    if state.activity is not Activity.RESTING or not state.is_leading:
        return NextStep.WAIT
    if min(state.pass_at, _due(state, time_now)) <= time_now.now:
        return NextStep.RECONCILE
    return NextStep.LOOK if state.look_at <= time_now.now else NextStep.WAIT


def seconds_to_wait(state: FleetState, time_now: TimeNow) -> float:
    """Return for how long nothing is to be done unless something happens."""
    if state.activity is not Activity.RESTING or not state.is_leading:
        return inf
    return max(0.0, min(state.pass_at, state.look_at, _due(state, time_now)) - time_now.now)


def cause_of_pass(state: FleetState, time_now: TimeNow) -> PassCause:
    """Return why a pass that is due now is due."""
    return state.cause if state.pass_at <= time_now.now else PassCause.TIME


def _due(state: FleetState, time_now: TimeNow) -> float:
    """Return when the time of a time rule comes, on the clock that never jumps."""
    return time_now.now + max(0.0, state.wall_at - time_now.wall)


def next_state(state: FleetState, event: Event, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state of a fleet after an event."""
    match event:
        case Woken():
            return _woken(state, time_now, pace)
        case Began():
            return _begun(state, event.step, time_now)
        case Looked():
            return _rested(_looked(state, event.tip, time_now, pace), time_now, pace)
        case PassEnded():
            return _rested(_passed(state, event, time_now, pace), time_now, pace)
        case LeadershipChanged():
            return replace(state, is_leading=event.is_leading, pass_at=time_now.now, cause=PassCause.START)
        case PaceChanged():
            return _paced_anew(state, time_now, pace)


def _woken(state: FleetState, time_now: TimeNow, pace: Pace) -> FleetState:
    if state.activity is not Activity.RESTING:
        return replace(state, is_woken=True)
    return replace(state, look_at=min(state.look_at, max(time_now.now, state.looked_at + pace.least_gap)))


def _paced_anew(state: FleetState, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state under other intervals: shorter ones count from now, longer ones from what comes next."""
    if state.activity is not Activity.RESTING:
        return state
    pass_at, drift_at = state.pass_at, time_now.now + pace.drift
    if drift_at < pass_at:
        return replace(
            state, look_at=min(state.look_at, time_now.now + pace.poll), pass_at=drift_at, cause=PassCause.DRIFT
        )
    return replace(state, look_at=min(state.look_at, time_now.now + pace.poll))


def _begun(state: FleetState, begun: NextStep, time_now: TimeNow) -> FleetState:
    if begun is NextStep.LOOK:
        return replace(state, activity=Activity.LOOKING, is_woken=False, look_at=inf, looked_at=time_now.now)
    return replace(state, activity=Activity.PASSING, is_woken=False, look_at=inf, pass_at=inf, wall_at=inf)


def _looked(state: FleetState, tip: str | None, time_now: TimeNow, pace: Pace) -> FleetState:
    if tip is None:
        lost = state.lost + 1
        return replace(state, lost=lost, look_at=time_now.now + backoff(lost, pace, time_now.chance))
    state = replace(state, lost=0, look_at=time_now.now + pace.poll)
    # A commit that is tried already waits for its next try.
    return (
        state if tip == state.tip else replace(state, tip=tip, pass_at=time_now.now, cause=PassCause.CHANGE, failures=0)
    )


def _passed(state: FleetState, event: PassEnded, time_now: TimeNow, pace: Pace) -> FleetState:
    failures = 0 if event.ending is Ending.DONE else state.failures + 1
    state = replace(state, failures=failures, tip=event.source or state.tip, wall_at=event.next_wall)
    state = replace(state, look_at=time_now.now + pace.poll)
    drift_in = pace.drift * (0.9 + time_now.chance / 10)
    retry_in = backoff(failures, pace, time_now.chance) if failures else inf
    if event.ending is Ending.INCOMPLETE and drift_in <= retry_in:
        retry_in = inf
    if retry_in < inf:
        return replace(state, pass_at=time_now.now + retry_in, cause=PassCause.RETRY)
    return replace(state, pass_at=time_now.now + drift_in, cause=PassCause.DRIFT)


def _rested(state: FleetState, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state after something ended, looked at again soon where something happened meanwhile."""
    resting = replace(state, activity=Activity.RESTING, is_woken=False)
    return _woken(resting, time_now, pace) if state.is_woken else resting


def backoff(failures: int, pace: Pace, chance: float) -> float:
    """Return the seconds before the next try, doubled with each failure, and between half and all of that.

    >>> [backoff(count, Pace(), 1.0) for count in (1, 2, 3, 100)], backoff(1, Pace(), 0.0)
    ([5.0, 10.0, 20.0, 300.0], 2.5)
    """
    doubled = pace.first_retry * 2.0 ** min(failures - 1, 30)
    return min(doubled, pace.longest_retry) * (0.5 + chance / 2)
