"""Going back by waves in reverse, over fleets that change at random: who goes back when, told from the inputs alone."""

from datetime import datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from render.limits import Limit
from render.rollouts.policy import (
    FailureAction,
    Gate,
    RollbackOrder,
    RolloutControl,
    RolloutPolicy,
    RolloutVerb,
    Wave,
)
from render.rollouts.state import Change, ClusterObservation, RolloutFacts, RolloutPhase, RolloutState, RolloutStep
from render.rollouts.step import next_step
from tests.living_fleet import START, Fleet

NAMES = tuple("abcdefgh")
CHANGE = Change(digest="1")


class Members:
    """Clusters that stand at the version before or at the newer one, and are well with it unless they are broken."""

    def __init__(self, chance: Random) -> None:
        self.fleet = Fleet()
        self.fleet.tiers = dict.fromkeys(NAMES, "prod")
        self.chance = chance
        self.newer: set[str] = set()
        self.well: dict[str, datetime] = {}
        self.back: dict[str, datetime] = {}

    def facts(self, now: datetime, *controls: RolloutControl) -> RolloutFacts:
        facts = self.fleet.facts(now)
        observed = {
            name: ClusterObservation(
                is_reachable=name not in self.fleet.silent,
                is_suspended=name in self.fleet.suspended,
                well_since=self.well.get(name),
            )
            for name in NAMES
        }
        return replace(facts, observed=observed, away=frozenset(self.newer), controls=controls)

    def take(self, step: RolloutStep, now: datetime) -> None:
        """Give clusters their version; what was known of another one says nothing of it."""
        after = (self.newer | step.due) - step.withdrawn
        for name in after ^ self.newer:
            self.well.pop(name, None)
        self.back |= dict.fromkeys(self.newer - after, now)
        self.newer = after

    def calm_down(self, now: datetime) -> None:
        """Let every cluster that answers become well."""
        self.fleet.broken.clear()
        for name in set(NAMES) - self.fleet.silent:
            self.well.setdefault(name, now)

    def live(self, now: datetime) -> None:
        """Let something happen, and clusters that are not broken become well."""
        self.fleet.happens(self.chance.choice(("silence", "break", "mend", "mend")), self.chance.choice(NAMES), "prod")
        for name in self.fleet.broken:
            self.well.pop(name, None)
        for name in set(NAMES) - self.fleet.broken - self.fleet.silent:
            if self.chance.random() < 0.7:
                self.well.setdefault(name, now)


def a_random_policy(chance: Random) -> RolloutPolicy:
    waves = tuple(
        Wave(
            name=name,
            size=size,
            max_concurrent=chance.choice([None, Limit(1), Limit(2)]),
            gate=Gate(deadline=chance.choice([None, 300])),
            is_empty_allowed=True,
        )
        for name, size in (("w0", Limit(2)), ("w1", Limit(3)), ("w2", None))
    )
    return RolloutPolicy(
        name="web",
        namespace="shop",
        waves=waves,
        max_failures=Limit(8),
        on_failure=FailureAction.ROLLBACK,
        rollback=RollbackOrder.REVERSE_WAVES,
    )


@given(seed=st.integers(0, 2**32))
def test_the_last_wave_goes_back_first_and_never_more_at_once_than_may_be(seed: int) -> None:
    chance = Random(seed)
    policy, members, now = a_random_policy(chance), Members(chance), START
    abort = RolloutControl(name="stop", rollout=str(policy), change="1", verb=RolloutVerb.ABORT)
    state: RolloutState | None = None
    for _ in range(chance.randint(1, 8)):
        step = next_step(policy, state, CHANGE, members.facts(now))
        state = step.state
        members.take(step, now)
        members.live(now)
        now += timedelta(seconds=30)
    assert state is not None
    if state.is_completed:
        return
    for number in range(60):
        facts = members.facts(now, abort)
        step = next_step(policy, state, CHANGE, facts)
        assert step.state is not None
        assert (step.state.phase, bool(step.state.next_step)) == (RolloutPhase.HELD, True)
        assert step.due <= members.newer, "nobody gets the change any more"
        _expect_right_way(policy, step, facts, members)
        state = step.state
        members.take(step, now)
        assert next_step(policy, state, CHANGE, members.facts(now, abort)).state == state, "one step is enough"
        (members.live if number < 20 else members.calm_down)(now)
        now += timedelta(seconds=chance.choice([0, 30, 200]))
        if step.state.reason == "AbortedByControl":
            break
    assert (state.reason, members.newer, state.given, state.back) == ("AbortedByControl", set(), (), ())


def _expect_right_way(policy: RolloutPolicy, step: RolloutStep, facts: RolloutFacts, members: Members) -> None:
    """Check who begins the way back in a step against what is known of those that began it before."""
    assert step.state is not None
    numbers = {wave.name: number for number, wave in enumerate(policy.waves)}
    wave_of = {name: numbers[wave] for name, wave in step.state.seats.items()}
    waves = dict(enumerate(policy.waves))
    asked = set(NAMES) - members.fleet.silent
    earlier = set(members.back)
    leaving = members.newer & step.withdrawn
    began = {**members.back, **dict.fromkeys(leaving, facts.now)}

    def is_unwell(name: str) -> bool:
        deadline = waves[wave_of[name]].gate.deadline
        late = deadline is not None and began[name] + timedelta(seconds=deadline) <= facts.now
        return name in asked and not late and (name not in earlier or facts.observed[name].well_since is None)

    for name in leaving:
        later = {each for each in members.newer if wave_of[each] > wave_of[name]}
        assert later <= step.withdrawn, "a wave goes back before one after it"
        unwell = {each for each in began if is_unwell(each)}
        assert not {each for each in unwell if wave_of[each] > wave_of[name]}, "before those are well again"
        limit = waves[wave_of[name]].max_concurrent
        if limit is not None and name in asked:
            assert len(unwell) <= limit.of_total(sum(1 for each in wave_of.values() if each == wave_of[name]))
