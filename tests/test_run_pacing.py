"""The pace of a fleet: single steps as a table, and hours of simulated time."""

from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from random import Random
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.run.pacing import (
    Activity,
    Began,
    Ending,
    Event,
    FleetState,
    LeadershipChanged,
    Looked,
    NextStep,
    Pace,
    PaceChanged,
    PassCause,
    PassEnded,
    SourceRead,
    TimeNow,
    Woken,
    cause_of_pass,
    due_step,
    seconds_until_next_step,
    state_after_event,
)

from .tables import each_row

TOLD = Pace(drift=300.0)
POLLED = Pace(poll=30.0, drift=300.0)
AT_REST = FleetState(tip="a", looked_at=0.0, pass_at=390.0, cause=PassCause.DRIFT)
LOOKING = replace(AT_REST, activity=Activity.LOOKING, looked_at=100.0)
PASSING = replace(AT_REST, activity=Activity.PASSING, pass_at=inf)
WAITING = Activity.WAITING
NOW = TimeNow(now=100.0, wall=5000.0, chance=1.0)


class Step(NamedTuple):
    why: str
    state: FleetState
    event: Event
    want: FleetState
    pace: Pace = TOLD


STEPS = [
    Step("somebody who wakes has it looked at now", AT_REST, Woken(), replace(AT_REST, look_at=100.0)),
    Step(
        "looks keep their distance, however many wake",
        replace(AT_REST, looked_at=99.5),
        Woken(),
        replace(AT_REST, looked_at=99.5, look_at=100.5),
    ),
    Step("who wakes during a look is remembered", LOOKING, Woken(), replace(LOOKING, is_woken=True)),
    Step(
        "and has it looked at once more",
        replace(LOOKING, is_woken=True),
        Looked("a"),
        replace(LOOKING, activity=WAITING, look_at=101.0),
    ),
    Step(
        "a source that did not move is polled again where nobody tells",
        LOOKING,
        Looked("a"),
        replace(LOOKING, activity=WAITING, look_at=130.0),
        POLLED,
    ),
    Step(
        "a source that moved gets a pass",
        LOOKING,
        Looked("b"),
        replace(LOOKING, activity=WAITING, tip="b", pass_at=100.0, cause=PassCause.CHANGE),
    ),
    Step(
        "one that did not, and that somebody has accepted since, gets one, too",
        LOOKING,
        Looked("a", is_accepted=True),
        replace(LOOKING, activity=WAITING, tip="a", pass_at=100.0, cause=PassCause.CHANGE),
    ),
    Step(
        "a remote that is lost is asked again soon",
        LOOKING,
        Looked(None),
        replace(LOOKING, activity=WAITING, lost=1, look_at=105.0),
    ),
    Step(
        "and later each time",
        replace(LOOKING, lost=2),
        Looked(None),
        replace(LOOKING, activity=WAITING, lost=3, look_at=120.0),
    ),
    Step(
        "a pass that is done waits for drift",
        PASSING,
        PassEnded(ending=Ending.DONE, source="b"),
        replace(PASSING, activity=WAITING, tip="b", pass_at=400.0),
    ),
    Step(
        "a time rule may ask for an earlier one",
        PASSING,
        PassEnded(ending=Ending.DONE, source="b", next_wall=5010.0),
        replace(PASSING, activity=WAITING, tip="b", pass_at=400.0, wall_at=5010.0),
    ),
    Step(
        "a rollout that waits for clusters has them looked at sooner",
        PASSING,
        PassEnded(ending=Ending.DONE, source="b", waits_for_clusters=True),
        replace(PASSING, activity=WAITING, tip="b", pass_at=110.0, cause=PassCause.ROLLOUT),
    ),
    Step(
        "but not where they are looked at more often for drift",
        PASSING,
        PassEnded(ending=Ending.DONE, source="b", waits_for_clusters=True),
        replace(PASSING, activity=WAITING, tip="b", pass_at=105.0),
        Pace(drift=5.0),
    ),
    Step(
        "and for it clusters that do not answer are not waited for any longer",
        replace(PASSING, failures=9),
        PassEnded(ending=Ending.INCOMPLETE, source="a", waits_for_clusters=True),
        replace(PASSING, activity=WAITING, failures=10, pass_at=110.0, cause=PassCause.ROLLOUT),
    ),
    Step(
        "clusters that were written to are looked at soon where workloads are not well yet",
        PASSING,
        PassEnded(ending=Ending.DONE, source="b", has_written=True, has_unwell=True),
        replace(PASSING, activity=WAITING, tip="b", pass_at=101.0, cause=PassCause.HEALTH, unwell=1),
    ),
    Step(
        "later each time",
        replace(PASSING, unwell=2),
        PassEnded(ending=Ending.DONE, source="a", has_unwell=True),
        replace(PASSING, activity=WAITING, pass_at=104.0, cause=PassCause.HEALTH, unwell=3),
    ),
    Step(
        "and never sooner than the pass took, so that a large fleet has rests",
        PASSING,
        PassEnded(ending=Ending.DONE, source="a", has_written=True, has_unwell=True, seconds=7.0),
        replace(PASSING, activity=WAITING, pass_at=107.0, cause=PassCause.HEALTH, unwell=1),
    ),
    Step(
        "until that is no sooner than for drift",
        replace(PASSING, unwell=9),
        PassEnded(ending=Ending.DONE, source="a", has_unwell=True),
        replace(PASSING, activity=WAITING, pass_at=400.0, unwell=10),
    ),
    Step(
        "or until they are well",
        replace(PASSING, unwell=3),
        PassEnded(ending=Ending.DONE, source="a"),
        replace(PASSING, activity=WAITING, pass_at=400.0),
    ),
    Step(
        "what is written again and again is waited for no longer",
        replace(PASSING, unwell=3),
        PassEnded(ending=Ending.DONE, source="a", has_written=True, has_unwell=True),
        replace(PASSING, activity=WAITING, pass_at=108.0, cause=PassCause.HEALTH, unwell=4),
    ),
    Step(
        "what turned unwell by itself is seen with the next drift",
        PASSING,
        PassEnded(ending=Ending.DONE, source="a", has_unwell=True),
        replace(PASSING, activity=WAITING, pass_at=400.0),
    ),
    Step(
        "another commit is waited for anew",
        replace(LOOKING, unwell=5),
        Looked("b"),
        replace(LOOKING, activity=WAITING, tip="b", pass_at=100.0, cause=PassCause.CHANGE),
    ),
    Step(
        "clusters that did not answer are tried again before that",
        PASSING,
        PassEnded(ending=Ending.INCOMPLETE, source="a"),
        replace(PASSING, activity=WAITING, failures=1, pass_at=105.0, cause=PassCause.RETRY),
    ),
    Step(
        "but never later than drift",
        replace(PASSING, failures=50),
        PassEnded(ending=Ending.INCOMPLETE, source="a"),
        replace(PASSING, activity=WAITING, failures=51, pass_at=160.0),
        Pace(drift=60.0),
    ),
    Step(
        "a pass that failed knows no source, and keeps the commit that was tried",
        PASSING,
        PassEnded(ending=Ending.FAILED),
        replace(PASSING, activity=WAITING, failures=1, pass_at=105.0, cause=PassCause.RETRY),
    ),
    Step(
        "a new commit does not wait for the next try",
        replace(LOOKING, failures=9, cause=PassCause.RETRY),
        Looked("b"),
        replace(LOOKING, activity=WAITING, tip="b", pass_at=100.0, cause=PassCause.CHANGE),
    ),
    Step(
        "somebody who wakes during a pass has the source looked at",
        PASSING,
        Woken(),
        replace(PASSING, look_at=100.0),
    ),
    Step(
        "a look during a pass says where the source stands",
        replace(PASSING, is_looking=True, reading="a"),
        Looked("b"),
        replace(PASSING, reading="a", seen="b"),
    ),
    Step(
        "one that finds nobody is done again soon",
        replace(PASSING, is_looking=True, reading="a", seen="a"),
        Looked(None),
        replace(PASSING, reading="a", seen="a", lost=1, look_at=105.0),
    ),
    Step(
        "a pass is asked to make way",
        replace(PASSING, reading="a", seen="b"),
        Began(NextStep.MAKE_WAY),
        replace(PASSING, reading="a", seen="b", is_making_way=True),
    ),
    Step(
        "and its end begins the next, however it ended",
        replace(PASSING, reading="a", seen="b", is_making_way=True, failures=3),
        PassEnded(ending=Ending.INCOMPLETE, source="a"),
        replace(AT_REST, tip="b", pass_at=100.0, cause=PassCause.CHANGE),
    ),
    Step(
        "a look that outlasts its pass goes on",
        replace(PASSING, is_looking=True, is_woken=True),
        PassEnded(ending=Ending.DONE, source="a"),
        replace(PASSING, activity=Activity.LOOKING, is_woken=True, pass_at=400.0),
    ),
    Step(
        "who follows does nothing",
        AT_REST,
        LeadershipChanged(False),
        replace(AT_REST, is_leading=False, pass_at=100.0, cause=PassCause.START),
    ),
    Step(
        "shorter intervals count from now",
        AT_REST,
        PaceChanged(),
        replace(AT_REST, pass_at=160.0),
        Pace(drift=60.0),
    ),
    Step("longer ones from what comes next", AT_REST, PaceChanged(), AT_REST, Pace(drift=900.0)),
    Step("polling begins at once", AT_REST, PaceChanged(), replace(AT_REST, look_at=130.0), POLLED),
    Step(
        "and so it is during a look",
        replace(AT_REST, activity=Activity.LOOKING),
        PaceChanged(),
        replace(AT_REST, activity=Activity.LOOKING, pass_at=160.0),
        Pace(drift=60.0),
    ),
    Step("and what is under way goes on", PASSING, PaceChanged(), PASSING, Pace(poll=1.0, drift=1.0)),
    Step(
        "a pass that begins forgets what woke it",
        replace(AT_REST, look_at=3.0, wall_at=1.0),
        Began(NextStep.RECONCILE),
        PASSING,
    ),
]


@each_row("case", STEPS, ids=lambda case: case.why)
def test_an_event_changes_the_state(case: Step) -> None:
    assert state_after_event(case.state, case.event, NOW, case.pace) == case.want


class Due(NamedTuple):
    why: str
    state: FleetState
    want: tuple[NextStep, float]


DUE = [
    Due("a fleet that was never looked at gets a pass", FleetState(), (NextStep.RECONCILE, 0.0)),
    Due("one idle waits for drift", AT_REST, (NextStep.WAIT, 290.0)),
    Due("one that was woken is looked at", replace(AT_REST, look_at=99.0), (NextStep.LOOK, 0.0)),
    Due("a pass that is due needs no look", replace(AT_REST, look_at=1.0, pass_at=2.0), (NextStep.RECONCILE, 0.0)),
    Due("a time rule counts by the time of day", replace(AT_REST, wall_at=5010.0), (NextStep.WAIT, 10.0)),
    Due("and is due once that has passed", replace(AT_REST, wall_at=4999.0), (NextStep.RECONCILE, 0.0)),
    Due("nothing is begun during a look", replace(LOOKING, look_at=1.0), (NextStep.WAIT, inf)),
    Due("nor during a pass", replace(PASSING, pass_at=1.0), (NextStep.WAIT, inf)),
    Due("but a look", replace(PASSING, look_at=100.0), (NextStep.LOOK, 0.0)),
    Due("one at a time", replace(PASSING, look_at=100.0, is_looking=True), (NextStep.WAIT, inf)),
    Due("a pass makes way for a newer commit", replace(PASSING, reading="a", seen="b"), (NextStep.MAKE_WAY, inf)),
    Due("and is asked once", replace(PASSING, reading="a", seen="b", is_making_way=True), (NextStep.WAIT, inf)),
    Due("and only once it has read its own", replace(PASSING, seen="b"), (NextStep.WAIT, inf)),
    Due("nor where another process leads", replace(FleetState(), is_leading=False), (NextStep.WAIT, inf)),
]


@each_row("case", DUE, ids=lambda case: case.why)
def test_what_is_due(case: Due) -> None:
    assert (due_step(case.state, NOW), seconds_until_next_step(case.state, NOW)) == case.want


def test_the_cause_of_a_pass_is_the_moment_that_came_first() -> None:
    assert cause_of_pass(replace(AT_REST, wall_at=4999.0), NOW) is PassCause.TIME
    assert cause_of_pass(replace(AT_REST, pass_at=99.0), NOW) is PassCause.DRIFT


@dataclass(kw_only=True)
class World:
    """A fleet in simulated time: where its source stands, when it can be asked, and every pass that ran."""

    pace: Pace
    pass_seconds: float = 2.0
    now: float = 0.0
    wall: float = 1e9
    tip: int = 1
    rendered: int = 0
    is_remote_lost: bool = False
    is_member_lost: bool = False
    alarms: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    passes: list[tuple[float, PassCause]] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    state: FleetState = field(default_factory=FleetState)
    dice: Random = field(default_factory=lambda: Random(7))
    due: list[tuple[float, Event]] = field(default_factory=list)
    seen: int | None = None
    yield_seconds: float = 1.0
    made_way: int = 0

    @property
    def time_now(self) -> TimeNow:
        return TimeNow(now=self.now, wall=self.wall, chance=self.dice.random())

    def advance(self, seconds: float) -> None:
        """Let time pass, doing at each point what is to be done then."""
        end = self.now + seconds
        while True:
            time_now = self.time_now
            decided = due_step(self.state, time_now)
            if decided is not NextStep.WAIT:
                self.begin(decided, time_now)
                continue
            wait = min(
                seconds_until_next_step(self.state, time_now),
                *(at - self.now for at, _ in self.due),
                end - self.now,
                30,
            )
            self.now, self.wall = self.now + wait, self.wall + wait
            ready = [each for each in self.due if each[0] <= self.now]
            for each in ready:
                self.due.remove(each)
                self.tell(self.ended() if isinstance(each[1], PassEnded) else each[1])
            if self.now >= end:
                return

    def begin(self, decided: NextStep, time_now: TimeNow) -> None:
        if decided is NextStep.LOOK:
            self.looks.append(self.now)
            seen = None if self.is_remote_lost else str(self.tip)
            self.due.append((self.now + 0.1, Looked(seen)))
        elif decided is NextStep.MAKE_WAY:
            self.made_way += 1
            (end,) = [each for each in self.due if isinstance(each[1], PassEnded)]
            self.due.remove(end)
            self.due.append((min(end[0], self.now + self.yield_seconds), end[1]))
        else:
            self.passes.append((self.now, cause_of_pass(self.state, time_now)))
            self.seen = None if self.is_remote_lost else self.tip
            if self.seen is not None:
                self.due.append((self.now + 0.2, SourceRead(str(self.seen))))
            self.due.append((self.now + self.pass_seconds, PassEnded(ending=Ending.DONE)))
        self.state = state_after_event(self.state, Began(decided), time_now, self.pace)

    def ended(self) -> PassEnded:
        """Commit what the source was when the pass began, once, and say how it ended."""
        self.alarms = [at for at in self.alarms if at > self.wall]
        next_wall = min(self.alarms, default=inf)
        if self.seen is None:
            return PassEnded(ending=Ending.FAILED)
        if self.seen != self.rendered:
            self.rendered = self.seen
            self.commits.append(self.seen)
        ending = Ending.INCOMPLETE if self.is_member_lost else Ending.DONE
        return PassEnded(ending=ending, source=str(self.seen), next_wall=next_wall)

    def tell(self, event: Event) -> None:
        self.state = state_after_event(self.state, event, self.time_now, self.pace)

    def push(self, *, is_told: bool = True) -> None:
        self.tip += 1
        if is_told:
            self.tell(Woken())


def test_a_push_has_its_pass_at_once_and_one_pass_only() -> None:
    world = World(pace=TOLD)
    world.advance(10)
    world.push()
    world.advance(20)
    assert world.passes == [(0.0, PassCause.START), (10.1, PassCause.CHANGE)]
    assert world.commits == [1, 2]


def test_a_storm_of_ten_thousand_wakes_is_a_look_a_second_and_no_pass() -> None:
    world = World(pace=TOLD)
    world.advance(10)
    for _ in range(10_000):
        world.tell(Woken())
        world.advance(0.001)
    world.advance(10)
    assert len(world.looks) in {11, 12}
    assert world.passes == [(0.0, PassCause.START)]


def test_a_pass_makes_way_for_a_push() -> None:
    world = World(pace=TOLD, pass_seconds=60)
    world.advance(10)
    world.push()
    world.advance(120)
    assert world.passes == [(0.0, PassCause.START), (11.1, PassCause.CHANGE)]
    assert (world.commits, world.made_way) == ([1, 2], 1)


def test_a_push_is_found_during_a_pass_by_polling() -> None:
    world = World(pace=POLLED, pass_seconds=300)
    world.advance(10)
    world.push(is_told=False)
    world.advance(120)
    assert world.passes == [(0.0, PassCause.START), (31.1, PassCause.CHANGE)]


def test_a_push_a_second_is_never_missed_and_asks_each_pass_once() -> None:
    world = World(pace=TOLD, pass_seconds=60, yield_seconds=5.0)
    for _ in range(60):
        world.advance(1)
        world.push()
    world.advance(120)
    assert (world.rendered, world.made_way) == (61, len(world.passes) - 1)
    assert 8 <= len(world.passes) <= 13


def test_what_a_pass_has_read_itself_does_not_interrupt_it() -> None:
    """A push comes while the pass begins, and it reads that commit: the look finds nothing newer."""
    world = World(pace=TOLD, pass_seconds=60)
    world.push()
    world.advance(120)
    assert (world.made_way, world.passes) == (0, [(0.0, PassCause.START)])


def test_a_pass_that_cannot_make_way_is_followed_by_another() -> None:
    world = World(pace=TOLD, pass_seconds=60, yield_seconds=60.0)
    for _ in range(5):
        world.advance(10)
        world.push()
    world.advance(120)
    assert world.commits == [1, 6]
    assert [cause for _, cause in world.passes] == [PassCause.START, PassCause.CHANGE]


def test_whoever_tells_nobody_is_found_by_polling() -> None:
    world = World(pace=POLLED)
    world.advance(100)
    world.push(is_told=False)
    world.advance(31)
    assert world.passes[-1][1] is PassCause.CHANGE
    assert len(world.looks) == 4


def test_a_fleet_that_is_told_is_never_polled() -> None:
    world = World(pace=TOLD)
    world.advance(7200)
    assert world.looks == []
    assert {cause for _, cause in world.passes[1:]} == {PassCause.DRIFT}
    assert 24 <= len(world.passes) <= 27


def test_a_remote_that_is_lost_for_an_hour_is_asked_rarely_and_found_again() -> None:
    world = World(pace=POLLED)
    world.advance(60)
    world.is_remote_lost = True
    world.push(is_told=False)
    looks, passes = len(world.looks), len(world.passes)
    world.advance(3600)
    assert len(world.looks) - looks < 40
    assert len(world.passes) - passes < 40
    world.is_remote_lost = False
    world.advance(310)
    assert world.commits == [1, 2]


def test_members_that_are_lost_get_fewer_and_fewer_passes() -> None:
    world = World(pace=TOLD, is_member_lost=True)
    world.advance(3600)
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(world.passes)]
    assert gaps[0] < 8
    assert max(gaps) <= 305
    assert len(world.passes) < 30
    world.is_member_lost = False
    world.advance(620)
    assert (world.state.failures, world.state.cause) == (0, PassCause.DRIFT)


def test_a_time_rule_has_its_pass_to_the_second_however_the_clock_jumps() -> None:
    world = World(pace=replace(TOLD, drift=7200.0), alarms=[1e9 + 1000])
    world.advance(100)
    world.wall += 500
    world.advance(300)
    world.wall -= 500
    world.advance(200)
    assert world.passes == [(0.0, PassCause.START)]
    world.advance(405)
    assert world.passes[1:] == [(1000.0, PassCause.TIME)]


@pytest.mark.parametrize("seed", range(5))
def test_two_hours_of_everything_end_with_the_newest_commit_and_no_other(seed: int) -> None:
    """Pushes, outages, clock jumps both ways and rewound branches, drawn by the seed."""
    draw = Random(seed)
    world = World(pace=POLLED, dice=Random(seed), alarms=[1e9 + draw.randrange(7200) for _ in range(5)])
    while world.now < 7200:
        world.advance(draw.expovariate(1 / 20))
        happening = draw.random()
        if happening < 0.5:
            world.push(is_told=draw.random() < 0.8)
        elif happening < 0.6:
            world.is_remote_lost = not world.is_remote_lost
        elif happening < 0.7:
            world.is_member_lost = not world.is_member_lost
        elif happening < 0.85:
            world.wall += draw.uniform(-5000, 5000)
        elif world.tip > 1:
            world.tip -= 1
            world.tell(Woken())
    world.is_remote_lost = world.is_member_lost = False
    world.advance(400)
    assert world.rendered == world.tip
    assert all(earlier != later for earlier, later in pairwise(world.commits))
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(world.looks))
    passes = [at for at, _ in world.passes]
    assert all(later - earlier >= world.yield_seconds for earlier, later in pairwise(passes))
