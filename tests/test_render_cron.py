"""Cron: schedules that are refused and why, next times where clocks change, and rules run, missed and exchanged."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from render.cron import next_time, parse_schedule, time_zone
from render.cron.execution import state_after_due_rules, state_with_rules_in_force
from render.cron.rules import CronRule, CronState, Execution, RuleHistory, Scale
from render.timing import instant_text, parse_instant

from .tables import each_row


class Refused(NamedTuple):
    """A schedule that is none, and what is said of it."""

    why: str
    schedule: str
    message: str


REFUSED = [
    Refused("four fields", "0 0 * *", "has 4 fields, not five: minute, hour, day of the month, month, day of the week"),
    Refused(
        "a field of seconds",
        "0 0 0 * * *",
        "has 6 fields, not five: minute, hour, day of the month, month, day of the week",
    ),
    Refused("Sunday is 0", "0 0 * * 7", "day of the week: '7' is not within 0 to 6"),
    Refused("a range that turns round", "0 18-8 * * *", "hour: '18-8' ends before it begins"),
    Refused("a step of nothing", "*/0 * * * *", "minute: '*/0' has a step of 0"),
    Refused("the last day", "0 0 L * *", "day of the month: 'L' is no number"),
    Refused("two steps", "0/5/5 * * * *", "minute: '0/5/5' is no value, range or step"),
    Refused("a name in another field", "0 mon * * *", "hour: 'mon' is no number"),
    Refused(
        "an unknown macro",
        "@Daily",
        "there is no macro '@Daily'; there are @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly",
    ),
    Refused("no duration", "@every day", "'day' is no duration such as 90s or 1h30m"),
]


@each_row("case", REFUSED, ids=lambda case: case.why)
def test_a_schedule_that_cannot_run_is_refused(case: Refused) -> None:
    with pytest.raises(ValueError, match=re.escape(case.message)) as refused:
        parse_schedule(case.schedule)
    assert str(refused.value) == case.message


class Coming(NamedTuple):
    """A schedule in a zone, and its next times after an instant."""

    why: str
    schedule: str
    zone: str
    start: str
    want: list[str]


COMING = [
    Coming("the same minute is over", "0 9 * * *", "", "2026-03-01T09:00:00Z", ["2026-03-02T09:00:00Z"]),
    Coming(
        "a skipped hour has no occurrence",
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T02:00:00Z",
        ["2026-03-30T00:30:00Z"],
    ),
    Coming(
        "a repeated hour has two",
        "30 1 * * *",
        "America/New_York",
        "2026-11-01T00:00:00Z",
        ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"],
    ),
    Coming(
        "either day is enough where both are restricted",
        "0 0 13 * fri",
        "",
        "2026-03-05T00:00:00Z",
        ["2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z", "2026-03-20T00:00:00Z"],
    ),
    Coming("a macro", "@weekly", "Asia/Tokyo", "2026-03-04T00:00:00Z", ["2026-03-07T15:00:00Z"]),
    Coming("a zone in the schedule", "TZ=Asia/Tokyo 0 6 * * *", "", "2026-03-04T00:00:00Z", ["2026-03-04T06:00:00Z"]),
    Coming(
        "a duration", "@every 1h30m", "", "2026-03-04T00:00:00.7Z", ["2026-03-04T01:30:00Z", "2026-03-04T03:00:00Z"]
    ),
    Coming("a day that never comes", "0 0 31 2 *", "", "2026-03-04T00:00:00Z", []),
    Coming("no minute is left", "* * * * *", "", "9999-12-31T23:59:59Z", []),
    Coming("no hour is left", "0 * * * *", "Asia/Tokyo", "9999-12-31T14:59:00Z", []),
    Coming("no month is left", "0 0 1 1 *", "", "9999-02-01T00:00:00Z", []),
    Coming("a zone in which the calendar has not begun", "@daily", "America/New_York", "0001-01-01T00:00:00Z", []),
    Coming("a duration beyond the calendar", "@every 24h", "", "9999-12-31T00:00:00Z", []),
]


@each_row("case", COMING, ids=lambda case: case.why)
def test_next_times(case: Coming) -> None:
    schedule, zone = parse_schedule(case.schedule), time_zone(case.zone)
    found: list[str] = []
    at: datetime | None = parse_instant(case.start)
    while at is not None and len(found) < max(1, len(case.want)) and (at := next_time(schedule, at, zone)):
        found.append(instant_text(at))
    assert found == case.want


@pytest.mark.parametrize("name", ["utc", "Mars/Base", "../etc/passwd"])
def test_an_unknown_zone_is_a_lookup_error(name: str) -> None:
    with pytest.raises(LookupError, match=f"there is no time zone '{name}'"):
        time_zone(name)


def _at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, 1, hour, minute, tzinfo=UTC)


MORNING = CronRule(name="morning", schedule="0 8 * * *", scale=Scale(replicas=5))
HOURLY = CronRule(name="hourly", schedule="0 * * * *", scale=Scale(replicas=3), successes_kept=2, failures_kept=1)


def _started(*rules: CronRule) -> CronState:
    return state_with_rules_in_force(CronState(), rules, _at(5, 30)).state


def test_a_rule_seen_first_counts_from_then_on() -> None:
    assert _started(MORNING) == CronState(
        in_force={"morning": MORNING}, histories=(RuleHistory(name="morning", upcoming=_at(8)),)
    )


def test_what_is_due_fires_in_the_order_of_time_and_the_latest_runs_are_kept() -> None:
    applied: list[Scale] = []

    def scale(wanted: Scale) -> str:
        applied.append(wanted)
        return ""

    state = state_after_due_rules(_started(HOURLY, MORNING), _at(8, 30), scale)
    assert applied == [Scale(replicas=3), Scale(replicas=3), Scale(replicas=3), Scale(replicas=5)]
    runs = tuple(Execution(due=_at(hour), ran=_at(hour), scale=Scale(replicas=3)) for hour in (8, 7))
    assert state.histories[0] == RuleHistory(name="hourly", upcoming=_at(9), successes=runs)


def test_of_several_missed_runs_only_the_latest_is_made_up_for() -> None:
    state = state_after_due_rules(_started(HOURLY), _at(10, 20), lambda _scale: "", only_latest=True)
    run = Execution(due=_at(10), ran=_at(10, 20), scale=Scale(replicas=3))
    assert state.histories == (RuleHistory(name="hourly", upcoming=_at(11), successes=(run,)),)


def test_a_failed_run_is_kept_apart_and_sets_nothing() -> None:
    state = state_after_due_rules(_started(HOURLY), _at(7), lambda _scale: "no such workload")
    run = Execution(due=_at(7), ran=_at(7), failure="no such workload")
    assert state.histories == (RuleHistory(name="hourly", upcoming=_at(8), failures=(run,)),)


def test_a_changed_rule_starts_anew_and_one_that_left_takes_its_history_along() -> None:
    later = CronRule(name="morning", schedule="0 9 * * *", scale=Scale(replicas=5))
    state = state_with_rules_in_force(_started(HOURLY, MORNING), [later], _at(8, 30)).state
    assert state == CronState(in_force={"morning": later}, histories=(RuleHistory(name="morning", upcoming=_at(9)),))


def test_a_suspended_rule_keeps_its_history_and_has_no_next_time() -> None:
    paused = CronRule(name="morning", schedule="0 8 * * *", scale=Scale(replicas=5), is_suspended=True)
    state = state_with_rules_in_force(_started(MORNING), [paused], _at(6)).state
    assert state == CronState(in_force={}, histories=(RuleHistory(name="morning"),))
    assert state_after_due_rules(state, _at(9), lambda _scale: "") == state


def test_a_rule_that_cannot_start_ends_the_exchange() -> None:
    wrong = CronRule(name="wrong", schedule="0 0 * * 7")
    exchanged = state_with_rules_in_force(_started(MORNING), [wrong, HOURLY], _at(6))
    assert exchanged.failure == "wrong: day of the week: '7' is not within 0 to 6"
    assert exchanged.state == _started(MORNING)
