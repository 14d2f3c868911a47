"""The pace of one fleet: when its source is looked at, and when a pass runs over it.

``state_after_event`` is a pure function: what is known of the fleet, an event and the time in, what is known then out;
and ``due_step`` reads off what is to be done now. Nothing is counted that could be lost: an event only brings a look
forward, and a look compares where the source stands with what the last pass was for. So any number of events are one
look, and whatever comes during a look has the source looked at once more.

The source is looked at during a pass as well. Where it stands at another commit than the pass has read, the pass is
asked once to make way: it finishes the members it is at, and the next one begins at once.

A pass runs when the source has moved, when members are due to be looked at for drift, sooner while a rollout waits for
members, when a time rule asked for a pass, and again after a failure: later each time, by a span that is drawn between
half and all of it, so that many fleets do not come back at once. After one that wrote, members are looked at until
their workloads are well: after a second, later each time, and never sooner than the pass itself took. What was refused
is not tried again before it changes, somebody accepts it, or members are due to be looked at.

``now`` counts seconds on a clock that never jumps. ``wall`` is the time of day, and only compared with what a time rule
asked for: it may jump.
"""

from enum import StrEnum
from math import inf

from msgspec import Struct
from msgspec.structs import replace


class Activity(StrEnum):
    """The work that is under way for a fleet."""

    WAITING = "Waiting"
    LOOKING = "Looking"
    PASSING = "Passing"


class PassCause(StrEnum):
    """The cause of a pass."""

    START = "Start"
    CHANGE = "Change"
    DRIFT = "Drift"
    HEALTH = "Health"
    ROLLOUT = "Rollout"
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
    MAKE_WAY = "MakeWay"


class Pace(Struct, frozen=True, kw_only=True):
    """The intervals of a fleet in seconds.

    ``poll`` is how often its source is looked at without being told (infinite: never). Members are looked at each
    ``drift``, and each ``rollout`` while a rollout waits for them. ``health`` is when they are looked at for the first
    time after workloads were written. ``least_gap`` is the least time between two looks.
    """

    poll: float = inf
    drift: float = 300.0
    rollout: float = 10.0
    health: float = 1.0
    first_retry: float = 5.0
    longest_retry: float = 300.0
    least_gap: float = 1.0


class TimeNow(Struct, frozen=True, kw_only=True):
    """The time: seconds on a clock that never jumps, the time of day, and a random number from 0 to 1."""

    now: float
    wall: float = 0.0
    chance: float = 1.0


class FleetState(Struct, frozen=True, kw_only=True):
    """The state of one fleet's pace.

    ``tip`` is the source commit that the last pass was for ("": none yet). ``is_woken``: something happened during the
    look that is under way. During a pass, ``reading`` is the source that it has read, ``seen`` where the source stood
    at the last look ("": not known), ``is_looking``: a look is under way, and ``is_making_way``: it was asked to make
    way. ``look_at`` and ``pass_at`` are when the next look and the next pass are due, ``cause`` that of the
    pass; ``wall_at`` is the time of day at which a time rule asks for one. ``failures`` and ``lost`` count passes and
    looks that failed, one after another, ``unwell`` those passes after one that wrote which found workloads that are
    not as they should be yet.
    """

    activity: Activity = Activity.WAITING
    is_leading: bool = True
    is_woken: bool = False
    is_looking: bool = False
    is_making_way: bool = False
    tip: str = ""
    reading: str = ""
    seen: str = ""
    cause: PassCause = PassCause.START
    looked_at: float = -inf
    look_at: float = inf
    pass_at: float = -inf
    wall_at: float = inf
    failures: int = 0
    lost: int = 0
    unwell: int = 0


class Woken(Struct, frozen=True):
    """Somebody said that the source may have changed."""


class Began(Struct, frozen=True):
    """The step that was due has begun."""

    step: NextStep


class Looked(Struct, frozen=True):
    """A look ended: the source stands at this commit, or could not be asked (None).

    ``is_accepted``: the last pass was refused, and somebody has accepted since what it was refused for.
    """

    tip: str | None
    is_accepted: bool = False


class SourceRead(Struct, frozen=True):
    """The pass that is under way has found its source commit."""

    source: str


class PassEnded(Struct, frozen=True, kw_only=True):
    """A pass ended: its ending, the source it was for ("": not known), and when a time rule asks for the next.

    ``waits_for_clusters``: a rollout or a move goes on by what the next pass sees of members. ``has_written``: it wrote
    to members, and ``has_unwell``: workloads there are not as they should be yet. It took so many ``seconds``.
    """

    ending: Ending
    source: str = ""
    next_wall: float = inf
    waits_for_clusters: bool = False
    has_written: bool = False
    has_unwell: bool = False
    seconds: float = 0.0


class LeadershipChanged(Struct, frozen=True):
    """Leadership came to this process, or went to another."""

    is_leading: bool


class PaceChanged(Struct, frozen=True):
    """Somebody set other intervals."""


Event = Woken | Began | Looked | SourceRead | PassEnded | LeadershipChanged | PaceChanged


def due_step(state: FleetState, time_now: TimeNow) -> NextStep:
    """Return what is to be done for a fleet now."""
    if state.activity is Activity.LOOKING or not state.is_leading:
        return NextStep.WAIT
    if state.activity is Activity.PASSING:
        if _has_source_moved(state) and not state.is_making_way:
            return NextStep.MAKE_WAY
        return NextStep.LOOK if not state.is_looking and state.look_at <= time_now.now else NextStep.WAIT
    if min(state.pass_at, _due_time_of_time_rule(state, time_now)) <= time_now.now:
        return NextStep.RECONCILE
    return NextStep.LOOK if state.look_at <= time_now.now else NextStep.WAIT


def seconds_until_next_step(state: FleetState, time_now: TimeNow) -> float:
    """Return for how long nothing is to be done unless something happens."""
    if state.activity is Activity.LOOKING or not state.is_leading or state.is_looking:
        return inf
    if state.activity is Activity.PASSING:
        return max(0.0, state.look_at - time_now.now)
    return max(0.0, min(state.pass_at, state.look_at, _due_time_of_time_rule(state, time_now)) - time_now.now)


def _has_source_moved(state: FleetState) -> bool:
    """Return whether the source stands at another commit than the pass under way has read."""
    return bool(state.reading and state.seen) and state.seen != state.reading


def cause_of_pass(state: FleetState, time_now: TimeNow) -> PassCause:
    """Return why a pass that is due now is due."""
    return state.cause if state.pass_at <= time_now.now else PassCause.TIME


def _due_time_of_time_rule(state: FleetState, time_now: TimeNow) -> float:
    """Return when the time of a time rule comes, on the clock that never jumps."""
    return time_now.now + max(0.0, state.wall_at - time_now.wall)


def state_after_event(state: FleetState, event: Event, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state of a fleet after an event."""
    match event:
        case Woken():
            state = _state_after_waking(state, time_now, pace)
        case Began():
            state = _state_at_begin(state, event.step, time_now, pace)
        case Looked():
            state = _state_after_look(state, event, time_now, pace)
        case SourceRead():
            state = replace(state, reading=event.source)
        case PassEnded():
            state = _state_after_pass(state, event, time_now, pace)
        case LeadershipChanged():
            state = replace(state, is_leading=event.is_leading, pass_at=time_now.now, cause=PassCause.START)
        case PaceChanged():
            state = _state_under_other_pace(state, time_now, pace)
    return state


def _state_after_waking(state: FleetState, time_now: TimeNow, pace: Pace) -> FleetState:
    if state.activity is Activity.LOOKING or state.is_looking:
        return replace(state, is_woken=True)
    return replace(state, look_at=min(state.look_at, max(time_now.now, state.looked_at + pace.least_gap)))


def _state_under_other_pace(state: FleetState, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state under other intervals: shorter ones count from now, longer ones from what comes next."""
    if state.activity is Activity.PASSING:
        return state
    pass_at, drift_at = state.pass_at, time_now.now + pace.drift
    if drift_at < pass_at:
        return replace(
            state, look_at=min(state.look_at, time_now.now + pace.poll), pass_at=drift_at, cause=PassCause.DRIFT
        )
    return replace(state, look_at=min(state.look_at, time_now.now + pace.poll))


def _state_at_begin(state: FleetState, begun: NextStep, time_now: TimeNow, pace: Pace) -> FleetState:
    if begun is NextStep.MAKE_WAY:
        return replace(state, is_making_way=True)
    if begun is NextStep.LOOK:
        state = replace(state, is_woken=False, look_at=inf, looked_at=time_now.now)
        if state.activity is Activity.PASSING:
            return replace(state, is_looking=True)
        return replace(state, activity=Activity.LOOKING)
    look_at = time_now.now + pace.poll
    return replace(state, activity=Activity.PASSING, is_woken=False, look_at=look_at, pass_at=inf, wall_at=inf)


def _state_with_next_look(state: FleetState, tip: str | None, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state with the next look: soon, and later each time, where the source could not be asked."""
    lost = 0 if tip is not None else state.lost + 1
    wait = seconds_before_retry(lost, pace, time_now.chance) if lost else pace.poll
    return replace(state, lost=lost, look_at=time_now.now + wait)


def _state_after_look(state: FleetState, looked: Looked, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state after a look; whoever woke the fleet during it has it looked at once more."""
    is_woken, tip = state.is_woken, looked.tip
    state = _state_with_next_look(replace(state, is_woken=False), tip, time_now, pace)
    if state.activity is Activity.PASSING:
        state = replace(state, is_looking=False, seen=tip or state.seen)
    else:
        state = replace(state, activity=Activity.WAITING)
        # A commit that is tried already waits for its next try, unless it may go otherwise now.
        is_known = tip is None or (tip == state.tip and not looked.is_accepted)
        state = state if is_known else _state_after_move(state, str(tip), time_now)
    return _state_after_waking(state, time_now, pace) if is_woken else state


def _state_after_move(state: FleetState, tip: str, time_now: TimeNow) -> FleetState:
    """Return the state of a fleet whose source moved: a pass is due."""
    return replace(state, tip=tip, pass_at=time_now.now, cause=PassCause.CHANGE, failures=0, unwell=0)


def _state_after_pass(state: FleetState, event: PassEnded, time_now: TimeNow, pace: Pace) -> FleetState:
    """Return the state after a pass; a look that is under way goes on."""
    seen, read = state.seen, event.source or state.reading
    activity = Activity.LOOKING if state.is_looking else Activity.WAITING
    look_at = min(state.look_at, time_now.now + pace.poll)
    rest = replace(state, activity=activity, is_looking=False, is_making_way=False, reading="", seen="")
    rest = replace(rest, tip=event.source or state.tip, wall_at=event.next_wall, look_at=look_at)
    if seen and read and seen != read:
        return _state_after_move(rest, seen, time_now)
    failures = 0 if event.ending is Ending.DONE else state.failures + 1
    rest = replace(rest, failures=failures, unwell=_count_of_unwell_passes(state, event))
    interval, cause = _interval_until_look_at_members(rest, event, pace)
    look_in = interval * (0.9 + time_now.chance / 10)
    retry_in = seconds_before_retry(failures, pace, time_now.chance) if failures else inf
    if event.ending is Ending.INCOMPLETE and look_in <= retry_in:
        retry_in = inf
    if retry_in < inf:
        return replace(rest, pass_at=time_now.now + retry_in, cause=PassCause.RETRY)
    return replace(rest, pass_at=time_now.now + look_in, cause=cause)


def _count_of_unwell_passes(state: FleetState, event: PassEnded) -> int:
    """Return how many passes have found unwell workloads since one wrote; 0 where nobody has to look for them.

    Another write begins nothing anew: an object may be written by others as often as by us.
    """
    if not event.has_unwell or not (state.unwell or event.has_written):
        return 0
    return state.unwell + 1


def _interval_until_look_at_members(state: FleetState, event: PassEnded, pace: Pace) -> tuple[float, PassCause]:
    """Return after how long members are looked at again, and why then: the first reason that there is."""
    is_rolling = event.waits_for_clusters and pace.rollout < pace.drift
    interval, cause = (pace.rollout, PassCause.ROLLOUT) if is_rolling else (pace.drift, PassCause.DRIFT)
    if not state.unwell:
        return interval, cause
    health = max(pace.health, event.seconds) * 2.0 ** min(state.unwell - 1, 30)
    return (health, PassCause.HEALTH) if health < interval else (interval, cause)


def seconds_before_retry(failures: int, pace: Pace, chance: float) -> float:
    """Return the seconds before the next try, doubled with each failure, and between half and all of that.

    >>> [seconds_before_retry(count, Pace(), 1.0) for count in (1, 2, 3, 100)], seconds_before_retry(1, Pace(), 0.0)
    ([5.0, 10.0, 20.0, 300.0], 2.5)
    """
    doubled = pace.first_retry * 2.0 ** min(failures - 1, 30)
    return min(doubled, pace.longest_retry) * (0.5 + chance / 2)
