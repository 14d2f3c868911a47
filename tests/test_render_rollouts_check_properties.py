"""Rollouts whose checks answer at random: what must hold at every step, told from what sources say alone."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from render.limits import Limit
from render.rollouts.checks import Answers, CheckAnswer, CheckQuestion, GateCheck, HttpSource
from render.rollouts.policy import DeadlineAction, FailureAction, Gate, RolloutPolicy, Wave
from render.rollouts.state import Change, RolloutFacts, RolloutState, RolloutStep
from render.rollouts.step import next_step
from tests.living_fleet import START, Fleet, a_tier

NAMES = tuple("abcdef")
TIERS = ("canary", "prod")
EVENTS = ("join", "leave", "silence", "break", "mend", "mend", *("pass",) * 5)
CHECKS = tuple(
    GateCheck(
        name=name,
        source=HttpSource(url=f"https://x.example/{name}"),
        met_for=met_for,
        is_before_wave=name.startswith("before"),
        is_of_cluster=name.startswith("cluster"),
    )
    for name, met_for in (("before", 0), ("after", 0), ("after-long", 90), ("cluster", 0), ("cluster-long", 90))
)


class Sources:
    """Sources that say yes or no about each wave and cluster, and since when they have said so to each question."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.truth: dict[tuple[str, str], bool] = {}
        self.answers: dict[str, CheckAnswer] = {}

    def is_met(self, check: str, about: str) -> bool:
        return self.truth.setdefault((check, about), self.chance.random() < 0.7)

    def turn(self) -> None:
        for key in list(self.truth):
            if self.chance.random() < 0.2:
                self.truth[key] = not self.truth[key]

    def answer(self, questions: Iterable[CheckQuestion], now: datetime) -> bool:
        """Answer questions as they are asked in a pass; say whether an answer is another one than before."""
        before = dict(self.answers)
        for each in questions:
            is_met = self.is_met(each.check.name, each.cluster or each.wave)
            known = self.answers.get(each.id)
            if known is None or known.is_met != is_met:
                self.answers[each.id] = CheckAnswer(is_met=is_met, since=now)
        return self.answers != before


def a_random_policy(chance: Random) -> RolloutPolicy:
    def gate() -> Gate:
        checks = tuple(each for each in CHECKS if chance.random() < 0.3)
        share = chance.choice([None, None, Limit(50, is_percentage=True)])
        return Gate(healthy_for=chance.choice([0, 60]), deadline=chance.choice([None, 300]), share=share, checks=checks)

    waves = (Wave(name="canary", cluster_affinity=a_tier("canary"), gate=gate()), Wave(name="rest", gate=gate()))
    return RolloutPolicy(
        name="web",
        waves=tuple(replace(each, is_empty_allowed=chance.random() < 0.5) for each in waves),
        max_failures=Limit(chance.choice([0, 6])),
        on_deadline=chance.choice(list(DeadlineAction)),
        on_failure=chance.choice(list(FailureAction)),
    )


def asked_step(
    policy: RolloutPolicy, state: RolloutState | None, facts: RolloutFacts, sources: Sources
) -> tuple[RolloutStep, Answers]:
    """Return the step of a pass that asks until nobody says anything new, and the answers that it went by."""
    while True:
        answers = dict(sources.answers)
        step = next_step(policy, state, Change(digest="1"), replace(facts, answers=answers))
        if not sources.answer(step.questions, facts.now):
            return step, answers


@given(seed=st.integers(0, 2**32))
@example(seed=622)  # the last wave, whose check is not met in time, falls silent
def test_no_cluster_gets_a_change_past_a_check_that_is_not_met(seed: int) -> None:
    chance = Random(seed)
    policy, fleet, sources, now = a_random_policy(chance), Fleet(), Sources(chance), START
    state: RolloutState | None = None
    for name in chance.sample(NAMES, 4):
        fleet.happens("join", name, chance.choice(TIERS))
    for _ in range(30):
        fleet.happens(chance.choice(EVENTS), chance.choice(NAMES), chance.choice(TIERS))
        sources.turn()
        now += timedelta(seconds=chance.choice([0, 30, 60, 400]))
        facts = fleet.facts(now)
        step, answers = asked_step(policy, state, facts, sources)
        _expect_same_by_answers_that_are_recorded(policy, state, step, replace(facts, answers=answers))
        assert step.state is not None
        assert step.state.next_step
        _expect_right_starts(policy, state, step.state, sources)
        if step.state.is_completed:
            _expect_checks_met(policy, step.state, sources)
            break
        state = step.state
        fleet.apply(step.due, now)


def _expect_same_by_answers_that_are_recorded(
    policy: RolloutPolicy, before: RolloutState | None, step: RolloutStep, facts: RolloutFacts
) -> None:
    """A replay knows the answers to the questions of the step, and no other; done again, it changes nothing."""
    recorded = {each.id: facts.answers[each.id] for each in step.questions if each.id in facts.answers}
    again = next_step(policy, before, Change(digest="1"), replace(facts, answers=recorded))
    assert (again.state, again.due, again.questions) == (step.state, step.due, step.questions)


def _expect_right_starts(
    policy: RolloutPolicy, before: RolloutState | None, after: RolloutState, sources: Sources
) -> None:
    had = {each.cluster for each in before.given} if before else set()
    waves = [wave.name for wave in (*policy.waves, policy.implicit_wave)]
    for given_now in after.given:
        if given_now.cluster in had:
            continue
        number = waves.index(after.seats[given_now.cluster])
        wave = policy.waves[number]
        has_begun = before is not None and before.wave in waves[number:]
        if not has_begun:
            names = [each.name for each in wave.gate.checks_before_wave]
            assert all(sources.is_met(name, wave.name) for name in names), "a wave began before its check was met"
        for earlier in policy.waves[:number]:
            _expect_wave_checked(earlier, after, sources)


def _expect_wave_checked(wave: Wave, state: RolloutState, sources: Sources) -> None:
    """A wave of which somebody is through, and whose clusters have not failed, has passed its checks."""
    clusters = {name for name, seat in state.seats.items() if seat == wave.name}
    through: Mapping[str, datetime] = {
        each.cluster: each.through for each in state.given if each.through and each.cluster in clusters
    }
    is_late = wave.gate.deadline is not None and state.plan.max_failures == Limit(6)
    if through and not is_late:
        names = [each.name for each in wave.gate.checks_after_wave]
        assert all(sources.is_met(name, wave.name) for name in names), "past a wave whose check is not met"


def _expect_checks_met(policy: RolloutPolicy, state: RolloutState, sources: Sources) -> None:
    for wave in policy.waves:
        _expect_wave_checked(wave, state, sources)


@given(seed=st.integers(0, 2**32))
def test_checks_that_are_met_come_to_the_end_by_their_flips(seed: int) -> None:
    """In a fleet that is well each wait ends at its flip, or for a wave without clusters never."""
    chance = Random(seed)
    policy, fleet, sources, now = a_random_policy(chance), Fleet(), Sources(chance), START
    state: RolloutState | None = None
    for name in NAMES:
        fleet.happens("join", name, chance.choice(TIERS))
    sources.truth = {(each.name, about): True for each in CHECKS for about in (*NAMES, "canary", "rest", "others")}
    for _ in range(40):
        step, _ = asked_step(policy, state, fleet.facts(now), sources)
        assert step.state is not None
        if step.state.is_completed:
            return
        fleet.apply(step.due, now)
        after, _ = asked_step(policy, step.state, fleet.facts(now), sources)
        state = after.state
        assert state is not None
        if state == step.state and after.flip is None:
            assert state.reason == "WaveEmpty"
            return
        fleet.apply(after.due, now)
        if after.due == step.due:  # who has just got the change is looked at once more before time goes by
            now = max(now, after.flip.at if after.flip else now)
    raise AssertionError(f"it never ends: {state}")


AFTER = GateCheck(name="after", source=HttpSource(url="https://x.example/after"))
CANARY = Wave(name="canary", cluster_affinity=a_tier("canary"), gate=Gate(deadline=300, checks=(AFTER,)))


@pytest.mark.parametrize("event", ["silence", "suspend"])
@pytest.mark.parametrize(
    ("failures", "tier", "before", "after"),
    [
        (0, "prod", "a Waiting", "a Failed"),
        (0, "canary", "ab Waiting", "ab Failed"),
        (1, "prod", "a Waiting", "ab Waiting"),
    ],
)
def test_a_wave_fails_by_its_checks_whether_its_clusters_can_be_asked_or_not(
    event: str, failures: int, tier: str, before: str, after: str
) -> None:
    """The checks were about those that were through. In the second row the wave is the last one."""
    policy = RolloutPolicy(name="web", waves=(CANARY, Wave(name="rest")), max_failures=Limit(failures))
    fleet, state, seen = Fleet(), None, list[str]()
    for name, its_tier in (("a", "canary"), ("b", tier)):
        fleet.happens("join", name, its_tier)
    for seconds in (0, 0, 0, 301, 302, 303):
        if seconds == 301:
            for name in fleet.tiers if tier == "canary" else "a":
                fleet.happens(event, name, "")
        now = START + timedelta(seconds=seconds)
        step = next_step(policy, state, Change(digest="1"), fleet.facts(now))
        state = step.state
        assert state is not None
        fleet.apply(step.due, now)
        seen.append(f"{''.join(sorted(step.due))} {state.phase}")
    assert state is not None
    assert (seen[2], seen[5]) == (before, after)
    assert state.next_step.endswith("failed by check after of wave canary (not asked yet)")
