"""The changes of an object's status that are worth a commit, and those that are not."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from reconciler.record.work_changes import Occasion, time_of_unrecorded_numbers, work_to_record
from render.timing import instant_text

from .tables import each_row

BEFORE, NOW, MUCH_LATER = "2026-11-21T12:00:00Z", "2026-11-21T12:09:59Z", "2026-11-21T12:10:00Z"
SOON, LATER = "2026-11-21T12:00:59Z", "2026-11-21T12:01:00Z"


def work(
    *,
    kind: str = "Deployment",
    healthy: str = "True",
    reason: str = "Healthy",
    message: str = "",
    applied: str = "",
    status: Any = None,
    findings: tuple[Mapping[str, str], ...] = (),
    live: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    word = "False" if applied else "True"
    conditions = [
        {"type": "Applied", "status": word, "reason": "R", "message": applied},
        {"type": "Healthy", "status": healthy, "reason": reason, "message": message},
    ]
    health = "Healthy" if healthy == "True" else "Unhealthy"
    entry = {"identifier": {"kind": kind}, "health": health, "status": status}
    recorded = {"status": {"conditions": conditions, "manifestStatuses": [entry]}, "findings": list(findings)}
    return recorded if live is None else {**recorded, "live": dict(live)}


class Change(NamedTuple):
    why: str
    before: dict[str, Any]
    after: dict[str, Any]
    now: str
    recorded: bool


def cron_job(**status: str) -> dict[str, Any]:
    return work(kind="CronJob", status=status)


def budget(current: int, allowed: int) -> dict[str, Any]:
    return work(kind="PodDisruptionBudget", status={"currentHealthy": current, "disruptionsAllowed": allowed})


ILL: dict[str, Any] = {"healthy": "False", "reason": "CrashLoopBackOff"}
CRASH = {"about": "Pod web-a", "container": "web", "reason": "CrashLoopBackOff", "message": "back-off 10s"}
MINE = {"replicas": 3}
CHANGES = [
    Change("health that turns", work(), work(**ILL), NOW, True),
    Change("a reason that changes", work(**ILL), work(healthy="False", reason="OOMKilled"), NOW, True),
    Change(
        "a reason told in other words", work(**ILL, message="back-off 10s"), work(**ILL, message="up 20s"), NOW, False
    ),
    Change("being refused", work(), work(applied="forbidden"), NOW, True),
    Change("being refused for something else", work(applied="quota"), work(applied="forbidden"), NOW, True),
    Change("being refused at another number", work(applied="retry in 10s"), work(applied="retry in 25s"), NOW, False),
    Change(
        "another pod of the same ill",
        work(**ILL, findings=(CRASH,)),
        work(**ILL, findings=({**CRASH, "about": "Pod web-b"},)),
        MUCH_LATER,
        False,
    ),
    Change(
        "another ill", work(**ILL, findings=(CRASH,)), work(**ILL, findings=({**CRASH, "reason": "Error"},)), NOW, True
    ),
    Change("an ill that is over", work(findings=(CRASH,)), work(), NOW, True),
    Change(
        "counts on the way",
        work(**ILL, status={"readyReplicas": 1}),
        work(**ILL, status={"readyReplicas": 2}),
        SOON,
        False,
    ),
    Change(
        "counts on the way, a minute later",
        work(**ILL, status={"readyReplicas": 1}),
        work(**ILL, status={"readyReplicas": 2}),
        LATER,
        True,
    ),
    Change(
        "counts of what is healthy, as an autoscaler left them",
        work(status={"replicas": 3}),
        work(status={"replicas": 5}),
        NOW,
        True,
    ),
    Change(
        "live replicas on the way", work(**ILL, live={"replicas": 1}), work(**ILL, live={"replicas": 2}), SOON, True
    ),
    Change("live replicas of what is healthy", work(live={"replicas": 1}), work(live={"replicas": 2}), NOW, True),
    Change("live replicas that others own now", work(live=MINE), work(live={**MINE, "manager": "kubectl"}), NOW, True),
    Change("live replicas that an earlier version did not record", work(), work(live=MINE), NOW, True),
    Change("live replicas as before", work(live=MINE), work(live=MINE), MUCH_LATER, False),
    Change(
        "counts nobody knows the meaning of",
        work(kind="Thing", status={"done": 3}),
        work(kind="Thing", status={"done": 4}),
        NOW,
        True,
    ),
    Change("a CronJob that fires", cron_job(lastScheduleTime=BEFORE), cron_job(lastScheduleTime=NOW), NOW, True),
    Change("a budget of disruptions", budget(0, 0), budget(2, 1), NOW, True),
    Change("a new generation", work(**ILL, status={"generation": 1}), work(**ILL, status={"generation": 2}), NOW, True),
    Change("a first status", work(kind="Thing"), work(kind="Thing", status={"done": 1}), NOW, True),
    Change(
        "times alone, ever",
        work(kind="Thing", status={"at": [{"t": BEFORE, "v": 1}]}),
        work(kind="Thing", status={"at": [{"t": "2026-11-22T00:00:00.5+01:00", "v": 1}]}),
        MUCH_LATER,
        False,
    ),
    Change(
        "versions of other objects",
        work(kind="Thing", status={"ref": {"resourceVersion": "1"}}),
        work(kind="Thing", status={"ref": {"resourceVersion": "2"}}),
        MUCH_LATER,
        False,
    ),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_work_after(case: Change) -> None:
    before = work_to_record(None, case.before, BEFORE)
    after = work_to_record(before, case.after, case.now)
    assert (after is not before) == case.recorded


def test_a_condition_keeps_its_time_while_it_says_the_same() -> None:
    before = work_to_record(None, work(), BEFORE)
    after = work_to_record(before, work(**ILL), NOW)
    times = [(each["type"], each["lastTransitionTime"]) for each in after["status"]["conditions"]]
    assert (times, after["observedAt"]) == ([("Applied", BEFORE), ("Healthy", NOW)], NOW)


def test_what_cannot_be_told_now_stays_as_it_was_told_last() -> None:
    before = work_to_record(None, work(kind="Thing", status={"done": 3}), BEFORE)
    untold = {"type": "StatusReflected", "status": "False", "reason": "ReflectStatusFailed", "message": "it is down"}
    seen = work(kind="Thing")
    seen["status"]["conditions"].append(untold)
    after = work_to_record(before, seen, NOW)
    assert after["status"]["manifestStatuses"] == before["status"]["manifestStatuses"]
    assert after["status"]["conditions"][2] == {**untold, "lastTransitionTime": NOW}
    assert work_to_record(after, seen, MUCH_LATER) is after
    again = work_to_record(after, work(kind="Thing", status={"done": 4}), MUCH_LATER)
    assert [each["type"] for each in again["status"]["conditions"]] == ["Applied", "Healthy"]


FIRST = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Flapper:
    """An object that is observed every so many seconds, and the Works that were written of it."""

    def __init__(self, occasion: Occasion | None = None) -> None:
        self.now, self.occasion = FIRST, occasion
        self.recorded = work_to_record(None, work(), self.written_now)
        self.writes = [self.now]

    @property
    def written_now(self) -> str:
        return instant_text(self.now)

    def see(self, observed: dict[str, Any], seconds: float = 15) -> None:
        self.now += timedelta(seconds=seconds)
        after = work_to_record(self.recorded, observed, self.written_now, self.occasion)
        if after is not self.recorded:
            self.writes.append(self.now)
        self.recorded = after

    @property
    def health(self) -> tuple[str, str]:
        condition = self.recorded["status"]["conditions"][1]
        return condition["status"], condition["reason"]


UP, DOWN = work(status={"readyReplicas": 3}), work(**ILL, status={"readyReplicas": 2})


def test_a_workload_that_flaps_for_twenty_minutes_is_written_fifteen_times_at_most_and_is_not_known() -> None:
    flapper = Flapper()
    for number in range(80):
        flapper.see((DOWN, UP)[number % 2])
    assert len(flapper.writes) <= 15
    assert flapper.health == ("Unknown", "Flapping")
    assert flapper.recorded["unsettled"] == instant_text(FIRST)
    assert flapper.recorded["status"]["manifestStatuses"][0]["health"] == "Unknown"


def test_a_workload_that_has_settled_is_said_to_be_as_it_is_after_two_pauses() -> None:
    flapper = Flapper()
    for number in range(41):
        flapper.see((DOWN, UP)[number % 2])
    ended = flapper.now
    while flapper.health[1] == "Flapping":
        flapper.see(DOWN)
    assert (flapper.now - ended).total_seconds() <= 300 + 300 + 120
    assert (flapper.health, "unsettled" in flapper.recorded) == (("False", "CrashLoopBackOff"), False)
    written_then = len(flapper.writes)
    for _ in range(80):
        flapper.see(DOWN)
    assert len(flapper.writes) == written_then


def test_numbers_that_move_for_ever_are_written_every_five_minutes_with_their_age() -> None:
    flapper = Flapper()
    for number in range(240):
        flapper.see(work(kind="HorizontalPodAutoscaler", status={"desiredReplicas": number}))
    assert len(flapper.writes) <= 4 + 60 / 5 + 4
    assert (flapper.health, flapper.recorded["unsettled"]) == (("True", "Healthy"), instant_text(FIRST))


def test_replicas_that_are_set_anew_for_ever_are_written_with_their_age() -> None:
    for known in ({}, ILL):
        flapper = Flapper()
        for number in range(240):
            flapper.see(work(**known, live={"replicas": number}))
            if flapper.writes[-1] != flapper.now:
                assert flapper.recorded["unsettled"] == instant_text(FIRST)
        assert len(flapper.writes) <= 4 + 60 / 5 + 4


def test_a_turn_of_health_does_not_begin_a_row_of_numbers_anew() -> None:
    """A budget of flapping pods is unhealthy whenever none is ready: it was then written five times more."""
    flapper = Flapper()
    for number in range(60):
        ready = number * 7 % 5
        seen = budget(ready, max(ready - 1, 0)) if ready else work(kind="PodDisruptionBudget", **ILL, status={"x": 0})
        flapper.see(seen)
    assert len(flapper.writes) <= 15


def test_a_turn_of_health_is_written_at_once_though_numbers_move_for_ever() -> None:
    flapper = Flapper()
    for number in range(40):
        flapper.see(work(status={"replicas": number}))
    flapper.see(work(**ILL, status={"replicas": 40}))
    assert (flapper.writes[-1], flapper.health) == (flapper.now, ("False", "CrashLoopBackOff"))


def test_the_health_that_a_rule_of_failover_reads_is_written_at_every_turn() -> None:
    flapper = Flapper(Occasion(is_asked_for=True))
    for number in range(20):
        flapper.see((DOWN, UP)[number % 2])
        assert flapper.health == (("False", "CrashLoopBackOff"), ("True", "Healthy"))[number % 2]


def test_what_flaps_is_known_again_once_a_rule_of_failover_asks_for_it() -> None:
    flapper = Flapper()
    for number in range(20):
        flapper.see((DOWN, UP)[number % 2])
    flapper.occasion = Occasion(is_asked_for=True)
    flapper.see(UP)
    assert flapper.health == ("True", "Healthy")


def test_what_a_pass_has_applied_is_never_restless_because_of_that() -> None:
    flapper = Flapper(Occasion(is_applied=True))
    for number in range(20):
        flapper.see(work(status={"generation": number}))
        assert (flapper.writes[-1], "unsettled" in flapper.recorded) == (flapper.now, False)


def test_what_waits_goes_along_with_the_commit_of_others() -> None:
    flapper = Flapper()
    for number in range(6):
        flapper.see((DOWN, UP)[number % 2])
    assert flapper.writes[-1] < flapper.now
    flapper.occasion = Occasion(has_commit=True)
    flapper.see(work(**ILL, status={"readyReplicas": 1}))
    assert flapper.writes[-1] == flapper.now
    assert flapper.recorded["status"]["manifestStatuses"][0]["status"] == {"readyReplicas": 1}


STEPS = st.lists(st.tuples(st.integers(1, 400), st.integers(0, 2), st.booleans()), max_size=60)


@given(STEPS)
def test_what_is_recorded_is_as_it_was_last_seen_or_says_that_it_is_unsettled(
    steps: list[tuple[int, int, bool]],
) -> None:
    flapper = Flapper()
    for seconds, ready, is_well in steps:
        observed = work(status={"ready": ready}) if is_well else work(**ILL, status={"ready": ready})
        flapper.see(observed, seconds)
        if not time_of_unrecorded_numbers(flapper.recorded):
            (recorded,), (seen,) = (each["status"]["manifestStatuses"] for each in (flapper.recorded, observed))
            assert recorded == seen


def test_a_work_with_less_than_is_recorded_today_tells_of_no_move() -> None:
    """A file that an agent pushed, or somebody wrote by hand, is read like any other of the branch."""
    bare = {"identifier": {"kind": "Deployment", "name": "web"}, "status": {"replicas": 2}}
    statuses: list[Any] = [None, {}, {"manifestStatuses": [{}]}, {"manifestStatuses": [{"identifier": None}]}]
    statuses.append({"manifestStatuses": [bare]})
    assert [time_of_unrecorded_numbers({"status": each}) for each in statuses] == [""] * 5
    assert time_of_unrecorded_numbers({}) == ""
