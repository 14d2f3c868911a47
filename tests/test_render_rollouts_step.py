"""A step of a rollout: situations of a fleet that lives, each with what every pass decides."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from render.limits import Limit
from render.placement import SpreadField
from render.rollouts.policy import (
    DeadlineAction,
    FailureAction,
    Freeze,
    Gate,
    LimitByField,
    NewChangeAction,
    RolloutControl,
    RolloutPolicy,
    RolloutVerb,
    Wave,
    Window,
)
from render.rollouts.queue import newer_changes_wait
from render.rollouts.state import Change, RolloutState
from render.rollouts.step import next_step, state_with_renamed_clusters
from tests.living_fleet import START, Fleet, a_tier
from tests.tables import each_row

GATE = Gate(healthy_for=60, deadline=300)


def a_rollout_policy(*waves: Wave, **fields: Any) -> RolloutPolicy:
    return RolloutPolicy(**{"name": "web", "namespace": "shop", "waves": waves, "gate": GATE, **fields})


def a_wave(name: str, *, gate: Gate = GATE, **fields: Any) -> Wave:
    return Wave(**{"name": name, "cluster_affinity": a_tier(name), "gate": gate, **fields})


POLICY = a_rollout_policy(a_wave("canary"), a_wave("early"), Wave(name="prod", gate=GATE, max_concurrent=Limit(1)))
"""Canary a, early b and c, and then the rest, p and q, one after the other."""


def a_fleet() -> Fleet:
    fleet = Fleet()
    fleet.tiers = {"a": "canary", "b": "early", "c": "early", "p": "prod", "q": "prod"}
    return fleet


def a_control(name: str, verb: RolloutVerb, *, change: str = "1", wave: str = "", at: str = "1") -> RolloutControl:
    return RolloutControl(name=name, rollout=str(POLICY), change=change, verb=verb, wave=wave, at=at)


class Rollout:
    """A rollout whose passes are run one after the other over a fleet."""

    def __init__(self, policy: RolloutPolicy | None = POLICY, fleet: Fleet | None = None) -> None:
        self.policy, self.fleet = policy, fleet or a_fleet()
        self.state: RolloutState | None = None
        self.change = Change(digest="1")
        self.seconds = 0
        self.due: frozenset[str] = frozenset()
        self.withdrawn: frozenset[str] = frozenset()

    def pass_after(self, seconds: int) -> str:
        """Run a pass some seconds later; return who is due, the phase and the reason."""
        self.seconds += seconds
        now = START + timedelta(seconds=self.seconds)
        facts = self.fleet.facts(now)
        change = self.change
        if self.state is not None and newer_changes_wait(self.policy, self.state):
            change = Change(digest=self.state.change)
        step = next_step(self.policy, self.state, change, facts)
        self.state, self.due, self.withdrawn = step.state, step.due, step.withdrawn
        self.fleet.apply(step.due, now)
        if self.state is None:
            return f"{''.join(sorted(step.due))} no rollout"
        return f"{''.join(sorted(step.due))} {self.state.phase.value} {self.state.reason.value}"

    def run_to_end(self) -> None:
        for _ in range(20):
            self.pass_after(60)
        assert self.state is not None
        assert self.state.is_completed


def test_waves_go_out_in_their_order_each_after_the_gate_of_the_one_before() -> None:
    rollout = Rollout()
    assert [rollout.pass_after(seconds) for seconds in (0, 59, 1, 60, 60, 59, 1)] == [
        "a Progressing ClustersUnderWay",
        "a Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
        "abcp Progressing ClustersUnderWay",
        "abcpq Progressing ClustersUnderWay",
        "abcpq Progressing ClustersUnderWay",
        "abcpq Completed EveryClusterThrough",
    ]


Script = Sequence[tuple[int, str, str]]
"""Seconds to the next pass, what happens before it, and what the pass comes to."""

SITUATIONS: dict[str, Script] = {
    "a cluster that joins a wave that is over gets the change next": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (10, "join d canary", "abcd Progressing ClustersUnderWay"),
        (50, "", "abcd Progressing ClustersUnderWay"),
    ],
    "a cluster that joins a wave to come waits for it": [
        (0, "join d early", "a Progressing ClustersUnderWay"),
        (60, "", "abcd Progressing ClustersUnderWay"),
    ],
    "a cluster that leaves holds nobody up": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (1, "break b", "abc Progressing ClustersUnderWay"),
        (60, "leave b", "acp Progressing ClustersUnderWay"),
    ],
    "a cluster that is relabelled into a wave to come waits for it no longer if it has the change": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "relabel a prod", "abc Progressing ClustersUnderWay"),
    ],
    "the only canary that leaves before it is through leaves an empty wave that has begun": [
        (0, "", "a Progressing ClustersUnderWay"),
        (10, "leave a", "bc Progressing ClustersUnderWay"),
    ],
    "one unhealthy observation starts the clock anew": [
        (0, "", "a Progressing ClustersUnderWay"),
        (50, "break a", "a Progressing ClustersUnderWay"),
        (5, "mend a", "a Progressing ClustersUnderWay"),
        (59, "", "a Progressing ClustersUnderWay"),
        (1, "", "abc Progressing ClustersUnderWay"),
    ],
    "a cluster that was through and is unwell keeps others from getting the change": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (60, "break a", "abc Progressing ClustersUnderWay"),
        (30, "mend a", "abc Progressing ClustersUnderWay"),
        (60, "", "abcp Progressing ClustersUnderWay"),
    ],
    "a cluster that joins a wave that has begun waits for those before it to be well": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "break a", "a Progressing ClustersUnderWay"),
        (1, "mend a", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (10, "break a", "abc Progressing ClustersUnderWay"),
        (1, "join d early", "abc Progressing ClustersUnderWay"),
        (1, "mend a", "abc Progressing ClustersUnderWay"),
        (60, "", "abcd Progressing ClustersUnderWay"),
    ],
    "the deadline of a cluster that was through begins when it is seen unwell": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (400, "break a", "abc Progressing ClustersUnderWay"),
        (299, "", "abc Progressing ClustersUnderWay"),
        (1, "", "abc Failed TooManyFailures"),
    ],
    "after too many failures nobody gets the change, also when they have recovered": [
        (0, "break a", "a Progressing ClustersUnderWay"),
        (299, "", "a Progressing ClustersUnderWay"),
        (1, "", "a Failed TooManyFailures"),
        (1, "mend a", "a Failed TooManyFailures"),
        (60, "", "a Failed TooManyFailures"),
    ],
    "a retry gives clusters that have failed their time again, once": [
        (0, "break a", "a Progressing ClustersUnderWay"),
        (300, "", "a Failed TooManyFailures"),
        (1, "Retry r", "a Progressing ClustersUnderWay"),
        (299, "", "a Progressing ClustersUnderWay"),
        (1, "", "a Failed TooManyFailures"),
        (1, "mend a", "a Failed TooManyFailures"),
        (59, "Retry s", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
    ],
    "a silent canary that was not through yet proves nothing": [
        (0, "", "a Progressing ClustersUnderWay"),
        (10, "silence a", "a Waiting NobodyReachable"),
        (60, "mend a", "abc Progressing ClustersUnderWay"),
    ],
    "a silent canary that was through holds nobody up": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (10, "silence a", "abc Progressing ClustersUnderWay"),
        (60, "", "abcp Progressing ClustersUnderWay"),
    ],
    "a wave of silent clusters waits": [
        (0, "silence a", " Waiting NobodyReachable"),
        (60, "mend a", "a Progressing ClustersUnderWay"),
    ],
    "a wave of suspended clusters waits, as it proves nothing to later ones": [
        (0, "suspend a", " Waiting NobodyReachable"),
    ],
    "one silent cluster of several is passed over": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "silence b", "ac Progressing ClustersUnderWay"),
        (60, "", "acp Progressing ClustersUnderWay"),
        (1, "mend b", "abcp Progressing ClustersUnderWay"),
        (60, "", "abcpq Progressing ClustersUnderWay"),
    ],
    "a last wave of silent clusters holds nobody up, as nothing comes after it": [
        (0, "silence p", "a Progressing ClustersUnderWay"),
        (60, "silence q", "abc Progressing ClustersUnderWay"),
        (60, "", "abcpq Completed EveryClusterThrough"),
        (60, "mend p", "abcpq Completed EveryClusterThrough"),
    ],
    "an empty wave waits": [(0, "leave a", " Waiting WaveEmpty")],
    "a pause lets nobody begin, and a resume ends it": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "Pause 1", "a Paused PausedByControl"),
        (60, "", "a Paused PausedByControl"),
        (1, "Resume 2", "abc Progressing ClustersUnderWay"),
    ],
    "an abort holds the change where it is until a retry": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "Abort 1", "a Held AbortedByControl"),
        (600, "", "a Held AbortedByControl"),
        (1, "Retry 2", "abc Progressing ClustersUnderWay"),
    ],
    "an abort holds no newer change": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "Abort 1", "a Held AbortedByControl"),
        (1, "change 2", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
    ],
    "a newer change begins with the first wave": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
        (10, "change 2", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
    ],
    "a policy that is deleted is gone by to the end": [
        (0, "", "a Progressing ClustersUnderWay"),
        (60, "delete policy", "abc Progressing ClustersUnderWay"),
        (60, "", "abcp Progressing ClustersUnderWay"),
        (60, "", "abcpq Progressing ClustersUnderWay"),
        (60, "", "abcpq Completed EveryClusterThrough"),
        (1, "", "abcpq no rollout"),
    ],
    "a clock that jumps back delays, and does nothing else": [
        (0, "", "a Progressing ClustersUnderWay"),
        (-3600, "", "a Progressing ClustersUnderWay"),
        (3600, "", "a Progressing ClustersUnderWay"),
        (60, "", "abc Progressing ClustersUnderWay"),
    ],
}


def _let_happen(rollout: Rollout, event: str) -> None:
    words = event.split()
    if not words:
        return
    if words[0] in {*RolloutVerb}:
        verb = RolloutVerb(words[0])
        rollout.fleet.controls.append(a_control(words[1], verb, change=rollout.change.digest, at=words[1]))
    elif words[0] == "change":
        rollout.change = Change(digest=words[1])
        rollout.fleet.well_since.clear()
    elif words[0] == "delete":
        rollout.policy = None
    else:
        rollout.fleet.happens(words[0], words[1], words[2] if len(words) > 2 else "")


@each_row("name, script", SITUATIONS.items())
def test_a_fleet_that_changes_is_the_ordinary_case(name: str, script: Script) -> None:
    """p and q are given the change in an order that their names decide on; here p is the first."""
    rollout, found = Rollout(), []
    for seconds, event, _ in script:
        _let_happen(rollout, event)
        found.append((seconds, event, rollout.pass_after(seconds)))
    assert found == list(script), name


def test_an_approval_is_of_one_change_and_one_wave() -> None:
    early = a_wave("early", is_approval_required=True)
    rollout = Rollout(a_rollout_policy(a_wave("canary"), early))
    rollout.pass_after(0)
    assert rollout.pass_after(60) == "a Waiting ApprovalMissing"
    rollout.fleet.controls = [
        a_control("other", RolloutVerb.APPROVE, change="0", wave="early"),
        a_control("wave", RolloutVerb.APPROVE, wave="canary"),
    ]
    assert rollout.pass_after(1) == "a Waiting ApprovalMissing"
    rollout.fleet.controls.append(a_control("right", RolloutVerb.APPROVE, wave="early"))
    assert rollout.pass_after(1) == "abc Progressing ClustersUnderWay"


def test_a_freeze_holds_nobody_but_those_who_do_not_have_the_change() -> None:
    freeze = Freeze(begins=START + timedelta(seconds=30), ends=START + timedelta(seconds=90), reason="a fair")
    rollout = Rollout(replace(POLICY, freezes=(freeze,)))
    assert [rollout.pass_after(seconds) for seconds in (0, 60, 29, 1)] == [
        "a Progressing ClustersUnderWay",
        "a Waiting Frozen",
        "a Waiting Frozen",
        "abc Progressing ClustersUnderWay",
    ]


def test_a_freeze_that_is_committed_meanwhile_holds_at_once_and_says_why() -> None:
    rollout = Rollout()
    rollout.pass_after(0)
    freeze = Freeze(ends=START + timedelta(days=9), reason="a fire")
    rollout.policy = replace(POLICY, freezes=(freeze,))
    assert rollout.pass_after(60) == "a Waiting Frozen"
    assert rollout.state is not None
    assert rollout.state.next_step == "waits for the end of the freeze (a fire)"


def test_nobody_begins_outside_of_the_windows() -> None:
    """The first pass is on a Sunday at eight; nobody begins after half past."""
    window = Window(days=(6,), begins=8 * 60, ends=8 * 60 + 30)
    rollout = Rollout(replace(POLICY, windows=(window,)))
    assert [rollout.pass_after(seconds) for seconds in (0, 1800, 7 * 86400 - 1801, 1)] == [
        "a Progressing ClustersUnderWay",
        "a Waiting OutsideWindow",
        "a Waiting OutsideWindow",
        "abc Progressing ClustersUnderWay",
    ]


def test_more_silent_clusters_than_may_be_let_nobody_begin_until_they_are_back() -> None:
    rollout = Rollout(replace(POLICY, max_unreachable=Limit(1)))
    rollout.pass_after(0)
    rollout.fleet.silent |= {"p", "q"}
    assert rollout.pass_after(60) == "a Waiting TooManyUnreachable"
    rollout.fleet.silent -= {"p"}
    assert rollout.pass_after(1) == "abc Progressing ClustersUnderWay"


def test_a_failure_that_is_allowed_holds_up_neither_its_wave_nor_the_next() -> None:
    """It is not completed with it, either: somebody has to say what becomes of that cluster."""
    rollout = Rollout(replace(POLICY, max_failures=Limit(1)))
    rollout.fleet.broken.add("b")
    assert [rollout.pass_after(seconds) for seconds in (0, 60, 300, 60, 60)] == [
        "a Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
        "abcp Progressing ClustersUnderWay",
        "abcpq Progressing ClustersUnderWay",
        "abcpq Waiting ClustersFailed",
    ]
    rollout.fleet.broken.clear()
    rollout.pass_after(1)
    assert rollout.pass_after(60) == "abcpq Completed EveryClusterThrough"


def test_failures_of_a_wave_are_counted_beside_those_of_all() -> None:
    canary = a_wave("canary", max_failures=Limit(0))
    rollout = Rollout(a_rollout_policy(canary, max_failures=Limit(4)))
    rollout.fleet.broken.add("a")
    rollout.pass_after(0)
    assert rollout.pass_after(300) == "a Failed TooManyFailures"


def test_a_rollback_takes_the_change_back_and_holds_it_until_a_retry() -> None:
    """It begins with the first wave again then, also for clusters that had come through."""
    rollout = Rollout(replace(POLICY, on_failure=FailureAction.ROLLBACK))
    rollout.fleet.broken.add("b")
    assert [rollout.pass_after(seconds) for seconds in (0, 60, 300)] == [
        "a Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
        " Held RolledBack",
    ]
    assert rollout.withdrawn == set(rollout.fleet.tiers), "also those that stand at a change before this one"
    rollout.fleet.broken.clear()
    rollout.fleet.well_since.clear()
    assert rollout.pass_after(600) == " Held RolledBack"
    rollout.fleet.controls.append(a_control("again", RolloutVerb.RETRY))
    assert [rollout.pass_after(1), rollout.pass_after(60)] == [
        "a Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
    ]


def test_an_abort_takes_back_where_failures_would() -> None:
    rollout = Rollout(replace(POLICY, on_failure=FailureAction.ROLLBACK))
    rollout.pass_after(0)
    rollout.fleet.controls.append(a_control("stop", RolloutVerb.ABORT))
    assert rollout.pass_after(1) == " Held AbortedByControl"
    assert rollout.withdrawn == set(rollout.fleet.tiers)


HALF = replace(GATE, share=Limit(50, is_percentage=True))


def test_a_share_of_a_wave_that_is_through_lets_the_next_begin_while_the_others_go_on() -> None:
    """Half of early is c, which its names let come first; b still counts: as under way, and for the end of it all."""
    early = a_wave("early", gate=HALF, max_concurrent=Limit(1))
    prod = Wave(name="prod", gate=GATE, max_concurrent=Limit(2))
    rollout = Rollout(a_rollout_policy(a_wave("canary"), early, prod, max_failures=Limit(1)))
    rollout.fleet.broken.add("b")
    assert [rollout.pass_after(seconds) for seconds in (0, 60, 60, 60, 60, 180)] == [
        "a Progressing ClustersUnderWay",
        "ac Progressing ClustersUnderWay",
        "abcp Progressing ClustersUnderWay",
        "abcpq Progressing ClustersUnderWay",
        "abcpq Progressing ClustersUnderWay",
        "abcpq Waiting ClustersFailed",
    ]


def test_failed_clusters_are_no_part_of_a_share_that_has_to_be_through() -> None:
    """Of two, one that failed leaves one that would do without a share; two of two are asked for here."""
    early = a_wave("early", gate=replace(GATE, share=Limit(2)))
    rollout = Rollout(a_rollout_policy(a_wave("canary"), early, max_failures=Limit(1)))
    rollout.fleet.broken.add("b")
    assert [rollout.pass_after(seconds) for seconds in (0, 60, 60, 240)] == [
        "a Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
        "abc Waiting ClustersFailed",
    ]


def test_a_share_is_of_clusters_that_can_be_reached_and_is_looked_at_again() -> None:
    rollout = Rollout(a_rollout_policy(a_wave("canary"), a_wave("early", gate=HALF), Wave(name="prod", gate=GATE)))
    rollout.pass_after(0)
    rollout.pass_after(60)
    rollout.fleet.silent.add("b")
    rollout.fleet.happens("break", "c", "")
    assert rollout.pass_after(60) == "abc Progressing ClustersUnderWay"
    rollout.fleet.happens("mend", "c", "")
    rollout.pass_after(0)
    assert rollout.pass_after(60) == "abcpq Progressing ClustersUnderWay"
    rollout.fleet.happens("break", "c", "")
    rollout.fleet.happens("join", "r", "prod")
    assert rollout.pass_after(1) == "abcpq Progressing ClustersUnderWay"


def test_a_deadline_that_only_waits_is_no_failure() -> None:
    rollout = Rollout(replace(POLICY, on_deadline=DeadlineAction.WAIT))
    rollout.fleet.broken.add("a")
    rollout.pass_after(0)
    assert rollout.pass_after(3000) == "a Progressing ClustersUnderWay"


def test_a_cluster_that_is_well_when_its_time_is_over_only_has_to_stay_so() -> None:
    """Nobody had looked at it in time; that is no failure of the cluster."""
    rollout = Rollout()
    rollout.fleet.broken.add("a")
    rollout.pass_after(0)
    rollout.fleet.well_since["a"] = START + timedelta(seconds=400)

    assert rollout.pass_after(400) == "a Progressing ClustersUnderWay"
    assert rollout.pass_after(59) == "a Progressing ClustersUnderWay"
    assert rollout.pass_after(1) == "abc Progressing ClustersUnderWay"


def test_a_cluster_that_is_unwell_after_its_time_has_failed() -> None:
    rollout = Rollout()
    rollout.fleet.broken.add("a")
    rollout.pass_after(0)
    rollout.fleet.well_since["a"] = START + timedelta(seconds=400)
    rollout.pass_after(400)
    rollout.fleet.happens("break", "a", "")

    assert rollout.pass_after(10) == "a Failed TooManyFailures"


def test_an_approval_is_void_after_any_other_change() -> None:
    """Also when the change that it was of comes back."""
    rollout = Rollout(a_rollout_policy(a_wave("canary"), a_wave("early", is_approval_required=True)))
    rollout.fleet.controls.append(a_control("yes", RolloutVerb.APPROVE, wave="early"))
    rollout.pass_after(0)
    rollout.change = Change(digest="2")
    rollout.pass_after(10)
    rollout.change = Change(digest="1")
    rollout.pass_after(10)

    assert rollout.pass_after(60) == "a Waiting ApprovalMissing"
    rollout.fleet.controls.append(a_control("again", RolloutVerb.APPROVE, wave="early"))
    assert rollout.pass_after(1) == "abc Progressing ClustersUnderWay"


def test_a_change_that_waits_goes_out_after_the_one_under_way() -> None:
    rollout = Rollout(replace(POLICY, on_new_change=NewChangeAction.WAIT))
    rollout.pass_after(0)
    rollout.change = Change(digest="2")
    for _ in range(4):
        rollout.pass_after(60)
        assert rollout.state is not None
        assert rollout.state.change == "1"
    assert rollout.state is not None
    assert rollout.state.is_completed
    rollout.fleet.well_since.clear()
    assert rollout.pass_after(1) == "a Progressing ClustersUnderWay"


def test_waves_that_have_begun_go_by_what_they_began_with_and_others_by_the_edit() -> None:
    rollout = Rollout()
    rollout.pass_after(0)
    short = Gate(healthy_for=1)
    rollout.policy = a_rollout_policy(
        a_wave("canary", gate=short), a_wave("early", gate=short), Wave(name="prod", gate=short), gate=short
    )
    assert rollout.pass_after(59) == "a Progressing ClustersUnderWay"
    assert rollout.pass_after(1) == "abc Progressing ClustersUnderWay"
    assert rollout.pass_after(1) == "abcpq Progressing ClustersUnderWay"


def test_a_rollout_without_waves_has_one_of_all_clusters() -> None:
    rollout = Rollout(a_rollout_policy(max_concurrent=Limit(40, is_percentage=True)))
    assert [len(rollout.due) for _ in range(4) if rollout.pass_after(60)] == [2, 4, 5, 5]


def test_of_each_region_no_more_are_under_way_than_may_be() -> None:
    """The regions of this fleet are its tiers: canary has a, early b and c, prod p and q."""
    by_region = LimitByField(field=SpreadField.REGION, limit=Limit(1))
    rollout = Rollout(a_rollout_policy(max_concurrent_by_field=(by_region,)))
    rollout.pass_after(0)
    assert sorted(rollout.fleet.tiers[name] for name in rollout.due) == ["canary", "early", "prod"]
    rollout.pass_after(60)
    assert len(rollout.due) == 5


def test_both_limits_count() -> None:
    by_region = LimitByField(field=SpreadField.REGION, limit=Limit(50, is_percentage=True))
    rollout = Rollout(a_rollout_policy(max_concurrent_by_field=(by_region,), max_concurrent=Limit(2)))
    rollout.pass_after(0)
    assert len({rollout.fleet.tiers[name] for name in rollout.due}) == len(rollout.due) == 2


def test_clusters_that_are_renamed_keep_what_they_were_given() -> None:
    rollout = Rollout()
    rollout.pass_after(0)
    assert rollout.state is not None
    rollout.state = state_with_renamed_clusters(rollout.state, {"a": "z"})
    rollout.fleet.tiers["z"] = rollout.fleet.tiers.pop("a")
    rollout.fleet.well_since["z"] = rollout.fleet.well_since.pop("a")
    assert rollout.pass_after(60) == "bcz Progressing ClustersUnderWay"


def test_health_counts_from_when_the_cluster_was_given_the_change() -> None:
    rollout = Rollout()
    rollout.fleet.well_since["a"] = START - timedelta(days=1)
    assert [rollout.pass_after(seconds) for seconds in (0, 59, 1)] == [
        "a Progressing ClustersUnderWay",
        "a Progressing ClustersUnderWay",
        "abc Progressing ClustersUnderWay",
    ]


def test_a_change_that_is_gone_leaves_nothing_to_do() -> None:
    rollout = Rollout()
    rollout.pass_after(0)
    step = next_step(POLICY, rollout.state, None, rollout.fleet.facts(START))
    assert step.state is not None
    assert step.state.is_completed
    assert step.state.next_step == "nothing: every cluster that can be reached and is not suspended is through its gate"


def test_a_change_that_is_completed_is_due_everywhere() -> None:
    rollout = Rollout()
    rollout.run_to_end()
    rollout.fleet.happens("join", "d", "prod")
    rollout.fleet.silent.add("p")
    assert rollout.pass_after(1) == "abcdpq Completed EveryClusterThrough"


def test_an_approval_is_waited_for_since_it_alone_is_missing() -> None:
    """Before it a freeze is waited for: the phase is the same, and what a person is asked for is not."""
    freeze = Freeze(begins=START + timedelta(seconds=30), ends=START + timedelta(seconds=90), reason="a fair")
    early = a_wave("early", is_approval_required=True)
    rollout = Rollout(a_rollout_policy(a_wave("canary"), early, freezes=(freeze,)))
    assert [rollout.pass_after(seconds) for seconds in (0, 60, 40, 100)] == [
        "a Progressing ClustersUnderWay",
        "a Waiting Frozen",
        "a Waiting ApprovalMissing",
        "a Waiting ApprovalMissing",
    ]
    assert rollout.state is not None
    since = rollout.state.phase_since, rollout.state.waits_since
    assert since == (START + timedelta(seconds=60), START + timedelta(seconds=100))
    rollout.fleet.controls = [replace(a_control("yes", RolloutVerb.APPROVE, wave="early"), rollout=str(rollout.policy))]
    assert rollout.pass_after(20) == "abc Progressing ClustersUnderWay"
    assert rollout.state.phase_since == rollout.state.waits_since == START + timedelta(seconds=220)
