"""Whatever happens to a rollout, its state names a next step, and what people can do brings it to an end.

Clusters break, fall silent, are suspended, join and leave, people pause, abort, approve and expedite, and changes come,
at random. Then everything is mended, and everything that a next step can ask for is done.
"""

from datetime import datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from render.limits import Limit
from render.rollouts.policy import (
    DeadlineAction,
    FailureAction,
    Gate,
    NewChangeAction,
    RollbackOrder,
    RolloutControl,
    RolloutPolicy,
    RolloutVerb,
    Wave,
)
from render.rollouts.state import Change, ClusterObservation, RolloutFacts, RolloutPhase, RolloutState, RolloutStep
from render.rollouts.step import next_step
from tests.living_fleet import START, Fleet, a_tier

NAMES = tuple("abcdefgh")
TIERS = ("canary", "early", "prod")
EVENTS = ("join", "leave", "relabel", "silence", "suspend", "break", "break", "mend", "mend", "pass", "pass")
ADA = "ada@example.com"
VERBS = (RolloutVerb.PAUSE, RolloutVerb.RESUME, RolloutVerb.ABORT, RolloutVerb.RETRY, RolloutVerb.EXPEDITE)


class Members:
    """Clusters, the change that each stands at ("": the version that was completed last), and since when it is well."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.fleet = Fleet()
        self.stands: dict[str, str] = {}
        self.well: dict[str, datetime] = {}
        for name in chance.sample(NAMES, 6):
            self.happens("join", name)

    def happens(self, event: str, name: str) -> None:
        self.fleet.happens(event, name, self.chance.choice(TIERS))
        if name not in self.fleet.tiers:
            self.stands.pop(name, None)
            self.well.pop(name, None)

    def settle(self, now: datetime) -> None:
        """Let clusters that answer and are not broken become well."""
        for name in self.fleet.broken:
            self.well.pop(name, None)
        for name in self.fleet.tiers.keys() - self.fleet.broken - self.fleet.silent - self.fleet.suspended:
            self.well.setdefault(name, now)

    def facts(self, now: datetime, change: str, controls: list[RolloutControl]) -> RolloutFacts:
        facts = self.fleet.facts(now)
        observed = {
            name: ClusterObservation(
                is_reachable=name not in self.fleet.silent,
                is_suspended=name in self.fleet.suspended,
                well_since=self.well.get(name),
            )
            for name in self.fleet.tiers
        }
        away = frozenset(name for name, stands in self.stands.items() if stands)
        there = frozenset(name for name, stands in self.stands.items() if stands == change)
        return replace(facts, observed=observed, away=away, given_before=there, controls=tuple(controls))

    def take(self, step: RolloutStep, change: str) -> None:
        """Give clusters their version; what was known of another one says nothing of it."""
        for name in self.fleet.tiers:
            before = self.stands.get(name, "")
            after = change if name in step.due else "" if name in step.withdrawn else before
            self.stands[name] = after
            if after != before:
                self.well.pop(name, None)


def a_random_policy(chance: Random) -> RolloutPolicy:
    def gate() -> Gate:
        share = chance.choice([None, Limit(1), Limit(50, is_percentage=True)])
        return Gate(healthy_for=chance.choice([0, 60]), deadline=chance.choice([None, 300]), share=share)

    waves = tuple(
        Wave(
            name=f"w{number}",
            cluster_affinity=chance.choice([None, *map(a_tier, TIERS)]),
            size=chance.choice([None, Limit(2)]),
            max_concurrent=chance.choice([None, Limit(1), Limit(2)]),
            gate=gate(),
            is_approval_required=chance.random() < 0.3,
            is_empty_allowed=True,
        )
        for number in range(chance.randint(0, 3))
    )
    return RolloutPolicy(
        name="web",
        namespace="shop",
        waves=waves,
        gate=gate(),
        max_failures=Limit(chance.randint(0, 2)),
        max_unreachable=chance.choice([None, Limit(1)]),
        on_deadline=chance.choice(list(DeadlineAction)),
        on_failure=chance.choice(list(FailureAction)),
        rollback=chance.choice(list(RollbackOrder)),
        on_new_change=NewChangeAction.EXPEDITE,
        approvers=(ADA,),
    )


def a_control(policy: RolloutPolicy, change: str, verb: RolloutVerb, number: int, wave: str = "") -> RolloutControl:
    name = f"{number:04}-{verb}-{wave}"
    return RolloutControl(
        name=name, rollout=str(policy), change=change, verb=verb, wave=wave, at=f"{number:04}", verified_by=ADA
    )


@given(seed=st.integers(0, 2**32))
def test_every_state_has_a_next_step_and_an_end_that_people_can_bring_about(seed: int) -> None:
    chance = Random(seed)
    policy, members, now, change = a_random_policy(chance), Members(chance), START, "0"
    controls: list[RolloutControl] = []
    state: RolloutState | None = None
    for number in range(40):
        if chance.random() < 0.07:
            change = f"{number}"
        if chance.random() < 0.15:
            controls.append(a_control(policy, change, chance.choice(VERBS), number))
        members.happens(chance.choice(EVENTS), chance.choice(NAMES))
        now += timedelta(seconds=chance.choice([0, 30, 60, 400]))
        state = _pass_once(policy, state, change, members, controls, now)
        members.settle(now)
    for name in NAMES:
        members.happens("mend", name)
    waves = [wave.name for wave in policy.waves]
    controls += [a_control(policy, change, RolloutVerb.APPROVE, 9000, wave) for wave in waves]
    controls += [a_control(policy, change, verb, 9001) for verb in (RolloutVerb.RESUME, RolloutVerb.RETRY)]
    for _ in range(60):
        state = _pass_once(policy, state, change, members, controls, now)
        if state.phase is RolloutPhase.COMPLETED:
            return
        members.settle(now)
        now += timedelta(seconds=61)
    raise AssertionError(f"it does not end: {state}")


def _pass_once(
    policy: RolloutPolicy,
    state: RolloutState | None,
    change: str,
    members: Members,
    controls: list[RolloutControl],
    now: datetime,
) -> RolloutState:
    step = next_step(policy, state, Change(digest=change), members.facts(now, change, controls))
    assert step.state is not None
    assert step.state.next_step, "every state names what comes next"
    assert not step.due & step.withdrawn, "nobody is given the change and taken back at once"
    if step.state.is_completed:
        assert step.due == members.fleet.tiers.keys()
    members.take(step, "" if step.state.is_completed else change)
    return step.state
