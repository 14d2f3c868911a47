"""Rollouts over fleets that change at random: what must hold at every step, told from the inputs alone."""

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from render.limits import Limit
from render.rollouts.policy import DeadlineAction, Gate, NewChangeAction, RolloutPolicy, Wave
from render.rollouts.queue import newer_changes_wait
from render.rollouts.state import Change, RolloutFacts, RolloutPhase, RolloutState, RolloutStep, WaitingChange
from render.rollouts.step import next_step
from tests.living_fleet import START, Fleet, a_tier

NAMES = tuple("abcdefgh")
TIERS = ("canary", "early", "prod")


def a_random_limit(chance: Random) -> Limit | None:
    return chance.choice([None, Limit(1), Limit(1), Limit(2), Limit(25, is_percentage=True)])


def a_random_gate(chance: Random) -> Gate:
    return Gate(
        healthy_for=chance.choice([0, 60]),
        deadline=chance.choice([None, 300]),
        share=chance.choice([None, None, Limit(1), Limit(50, is_percentage=True)]),
    )


def a_random_policy(chance: Random) -> RolloutPolicy:
    waves = tuple(
        Wave(
            name=f"w{number}",
            cluster_affinity=chance.choice([None, *map(a_tier, TIERS)]),
            size=a_random_limit(chance),
            max_concurrent=a_random_limit(chance),
            max_failures=chance.choice([None, Limit(0), Limit(1)]),
            gate=a_random_gate(chance),
            is_empty_allowed=chance.random() < 0.5,
        )
        for number in range(chance.randint(0, 3))
    )
    return RolloutPolicy(
        name="web",
        namespace="shop",
        waves=waves,
        gate=a_random_gate(chance),
        max_concurrent=a_random_limit(chance),
        max_failures=Limit(chance.randint(0, 2)),
        max_unreachable=chance.choice([None, Limit(0), Limit(1)]),
        on_deadline=chance.choice([DeadlineAction.FAIL, DeadlineAction.FAIL, DeadlineAction.WAIT]),
    )


EVENTS = ("join", "leave", "relabel", "silence", "suspend", "break", "break", "mend", "mend", *("pass",) * 6)


@given(seed=st.integers(0, 2**32))
def test_no_step_gives_a_change_to_a_cluster_that_may_not_have_it(seed: int) -> None:
    """Clusters join, leave, are relabelled, fall silent, break and recover, and newer changes come, at random."""
    chance = Random(seed)
    policy, fleet, now, change = a_random_policy(chance), Fleet(), START, Change(digest="0")
    state: RolloutState | None = None
    for name in chance.sample(NAMES, 6):
        fleet.happens("join", name, chance.choice(TIERS))
    for number in range(50):
        if chance.random() < 0.05 or (state and state.is_completed):
            change = Change(digest=f"{number}")
            fleet.well_since.clear()
        fleet.happens(chance.choice(EVENTS), chance.choice(NAMES), chance.choice(TIERS))
        now += timedelta(seconds=chance.choice([0, 30, 30, 60, 400]))
        facts = fleet.facts(now)
        step = next_step(policy, state, change, facts)
        _expect_right_step(policy, state if state and state.change == change.digest else None, step, facts)
        _expect_nothing_without_a_flip(policy, step, change, facts)
        state = step.state
        fleet.apply(step.due, now)


class Oracle:
    """The truth about clusters at a step, told from its inputs and the seats it gave."""

    def __init__(
        self, policy: RolloutPolicy, before: RolloutState | None, after: RolloutState, facts: RolloutFacts
    ) -> None:
        self.names = [*(wave.name for wave in policy.waves), "others"]
        self.waves = {wave.name: wave for wave in (*policy.waves, policy.implicit_wave)}
        self.policy, self.seats, self.facts = policy, after.seats, facts
        self.had = {each.cluster for each in before.given} & facts.clusters if before else set()
        self.given = {each.cluster: each for each in after.given}
        evidence = {name: facts.observed[name] for name in facts.clusters}
        self.asked = {name for name, each in evidence.items() if each.is_reachable and not each.is_suspended}
        self.silent = {name for name, each in evidence.items() if not each.is_reachable and not each.is_suspended}
        self.through = {name for name in self.had & self.asked if self._is_through(name)}
        self.failed = {name for name in self.had & self.asked - self.through if self._is_failed(name)}
        self.under_way = self.asked & set(self.given) - self.through - self.failed

    def _is_through(self, name: str) -> bool:
        since, gate = self.facts.observed[name].well_since, self.waves[self.seats[name]].gate
        if since is None:
            return False
        return max(since, self.given[name].at) + timedelta(seconds=gate.healthy_for) <= self.facts.now

    def _is_failed(self, name: str) -> bool:
        deadline = self.waves[self.seats[name]].gate.deadline
        if self.policy.on_deadline is DeadlineAction.WAIT or deadline is None:
            return False
        return self.given[name].at + timedelta(seconds=deadline) <= self.facts.now

    def of_wave(self, wave: str) -> set[str]:
        return {name for name, seat in self.seats.items() if seat == wave}

    def is_enough_through(self, wave: str) -> bool:
        asked, share = self.of_wave(wave) & self.asked, self.waves[wave].gate.share
        if share is None:
            return asked <= self.through | self.failed
        quota = len(asked) * share.amount / 100 if share.is_percentage else min(share.amount, len(asked))
        return len(asked & self.through) >= quota

    def expect_right_start(self, name: str, begun: str) -> None:
        number, seat = self.names.index(self.seats[name]), self.seats[name]
        assert name in self.asked
        assert number <= self.names.index(begun), "before its wave"
        assert all(self.is_enough_through(wave) for wave in self.names[:number]), "before its turn"
        for wave in self.policy.waves[:number]:
            proofs = [each for each in self.of_wave(wave.name) & set(self.given) if self.given[each].through]
            empty = not self.of_wave(wave.name) or wave.is_empty_allowed
            assert empty or proofs, "after a wave that showed nothing"
        limit = self.waves[seat].max_concurrent
        if limit is not None:
            most = limit.of_total(len(self.of_wave(seat)), at_least=1)
            # A wave that begins in the same step, for a share is through, goes by a limit of its own.
            started_later = {each for each in self.given if self.names.index(self.seats[each]) > number} - self.had
            assert len(self.under_way - started_later) <= most, "more under way than may be"


def _expect_right_step(
    policy: RolloutPolicy, before: RolloutState | None, step: RolloutStep, facts: RolloutFacts
) -> None:
    state = step.state
    assert state is not None
    assert state.next_step
    if state.is_completed:
        assert step.due == facts.clusters
        return
    oracle = Oracle(policy, before, state, facts)
    assert step.due == set(oracle.given)
    assert oracle.had <= step.due, "nobody is taken back what he was given"
    started = step.due - oracle.had
    if len(oracle.failed) > policy.max_failures.of_total(len(facts.clusters)):
        assert not started, "more have failed than may"
        assert state.phase is RolloutPhase.FAILED
    limit = policy.max_unreachable
    if limit and len(oracle.silent) > limit.of_total(len(facts.clusters)):
        assert not started, "more are out of reach than may be"
    for name in started:
        oracle.expect_right_start(name, state.wave)


def _expect_nothing_without_a_flip(
    policy: RolloutPolicy, step: RolloutStep, change: Change, facts: RolloutFacts
) -> None:
    """The same facts give the same state until the flip, and another one at the flip."""
    again = next_step(policy, step.state, change, facts)
    assert again.state == step.state
    assert again.due == step.due
    latest = step.flip.at - timedelta(seconds=1) if step.flip else facts.now + timedelta(days=30)
    assert next_step(policy, again.state, change, replace(facts, now=max(latest, facts.now))).state == again.state


@given(seed=st.integers(0, 2**32))
def test_a_fleet_that_is_well_comes_to_the_end(seed: int) -> None:
    """Each wait of a fleet that is well ends at its flip, and the rollout is completed or has an empty wave."""
    chance = Random(seed)
    policy, fleet, now, change = a_random_policy(chance), Fleet(), START, Change(digest="1")
    state: RolloutState | None = None
    for name in chance.sample(NAMES, chance.randint(1, 8)):
        fleet.happens("join", name, chance.choice(TIERS))
    for _ in range(40):
        step = next_step(policy, state, change, fleet.facts(now))
        state = step.state
        assert state is not None
        if state.is_completed:
            assert step.due == set(fleet.tiers)
            return
        fleet.apply(step.due, now)
        after = next_step(policy, state, change, fleet.facts(now))
        if after.state == state and after.flip is None:
            assert state.reason == "WaveEmpty"
            return
        now = max(now, after.flip.at if after.flip else now)
    pytest.fail(f"it never ends: {state}")


@given(data=st.data(), percentage=st.integers(1, 100))
def test_nobody_is_moved_between_waves_by_those_who_join_or_leave(data: st.DataObject, percentage: int) -> None:
    """Also where waves take percentages; who has no seat gets a free one."""
    policy = RolloutPolicy(
        name="web",
        namespace="shop",
        waves=(Wave(name="first", size=Limit(percentage, is_percentage=True)), Wave(name="second", size=Limit(2))),
    )
    fleet, state, now = Fleet(), None, START
    fleet.happens("join", "a", "prod")
    for _ in range(data.draw(st.integers(1, 12))):
        event, name = data.draw(st.sampled_from(["join", "leave"])), data.draw(st.sampled_from(NAMES))
        fleet.happens(event, name, "prod")
        step = next_step(policy, state, Change(digest="1"), fleet.facts(now))
        assert step.state is not None
        if state is not None:
            moved = {each for each, seat in step.state.seats.items() if state.seats.get(each, seat) != seat}
            seats = {seat for each, seat in step.state.seats.items() if each not in moved}
            to_come = {"first", "second"} if not state.wave else {"second"} - {state.wave}
            assert {step.state.seats[each] for each in moved} <= to_come - seats, "only into an empty wave"
        state = step.state if not step.state.is_completed else None


def test_a_newer_change_waits_only_for_one_that_goes_on() -> None:
    """``onNewChange: Wait`` would wait forever for one that has failed or was aborted."""
    policy = RolloutPolicy(name="web", namespace="shop")
    step = next_step(policy, None, Change(digest="1"), Fleet().facts(START))
    assert step.state is not None
    found = {
        f"{action.value} {phase.value}"
        for action in NewChangeAction
        for phase in RolloutPhase
        if newer_changes_wait(replace(policy, on_new_change=action), replace(step.state, phase=phase))
    }
    waiting = replace(step.state, queue=(WaitingChange(digest="2"),), phase=RolloutPhase.FAILED)
    assert (waiting.waits_for_clusters, replace(waiting, queue=()).waits_for_clusters) == (True, False)
    assert found == {
        f"{action} {phase}"
        for action in ("Wait", "Coalesce", "Expedite")
        for phase in ("Progressing", "Waiting", "Paused")
    }
