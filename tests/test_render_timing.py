"""Instants, limits and flips: time as the rules have it."""

from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.timing import (
    FIRST,
    LAST,
    Flip,
    earliest_flip,
    first_whole_second_after,
    has_passed_since,
    instant_after,
    instant_text,
    parse_instant,
)

from .tables import each_row

EIGHT = datetime(2026, 3, 1, 8, tzinfo=UTC)


class Reading(NamedTuple):
    why: str
    text: str
    instant: datetime | None


READINGS = [
    Reading("UTC is written Z", "2026-03-01T08:00:00Z", EIGHT),
    Reading("another zone is the same instant", "2026-03-01T13:30:00+05:30", EIGHT),
    Reading("a fraction is kept", "2026-03-01T08:00:00.25Z", EIGHT + timedelta(milliseconds=250)),
    Reading("a comma begins a fraction as well", "2026-03-01T08:00:00,25Z", EIGHT + timedelta(milliseconds=250)),
    Reading("more than microseconds are cut", "2026-03-01T08:00:00.0000019Z", EIGHT + timedelta(microseconds=1)),
    Reading("a time without a zone is none", "2026-03-01T08:00:00", None),
    Reading("a day alone is none", "2026-03-01", None),
    Reading("a day that does not exist is none", "2026-02-30T08:00:00Z", None),
    Reading("a zone that leads out of the calendar is none", "0001-01-01T00:00:00+01:00", None),
    Reading("digits of another script are none", "\uff12026-03-01T08:00:00Z", None),
    Reading("nothing is none", "", None),
]


@each_row("case", READINGS, ids=lambda case: case.why)
def test_instants_are_read_as_rfc_3339(case: Reading) -> None:
    assert parse_instant(case.text) == case.instant


def test_an_instant_is_written_in_utc_with_whole_seconds() -> None:
    zone = timezone(timedelta(hours=2))
    assert instant_text(datetime(2026, 3, 1, 10, 0, 0, 900000, tzinfo=zone)) == "2026-03-01T08:00:00Z"


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_reads_back_to_the_whole_second(instant: datetime) -> None:
    assert parse_instant(instant_text(instant)) == instant.replace(microsecond=0)


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-(10**19), 10**19))
def test_a_limit_never_overflows_and_its_flip_is_the_first_second_past_it(start: datetime, seconds: int) -> None:
    end, flip = instant_after(start, seconds), first_whole_second_after(start, seconds)
    assert FIRST <= end <= datetime.max.replace(tzinfo=UTC)
    if end < LAST:
        assert has_passed_since(flip, start, seconds)
        assert not has_passed_since(flip - timedelta(seconds=1), start, seconds)


def test_a_limit_is_not_past_at_its_very_end() -> None:
    assert not has_passed_since(EIGHT + timedelta(seconds=30), EIGHT, 30)
    assert has_passed_since(EIGHT + timedelta(seconds=31), EIGHT, 30)


def test_the_earliest_flip_wins_and_rules_without_one_do_not_count() -> None:
    later, sooner = Flip(EIGHT + timedelta(hours=1), "api leaves oslo"), Flip(EIGHT, "web leaves paris")
    assert earliest_flip([None, later, sooner, None]) == sooner
    assert earliest_flip([Flip(EIGHT, "web leaves paris"), Flip(EIGHT, "api leaves oslo")]) == Flip(
        EIGHT, "api leaves oslo"
    )
    assert earliest_flip([None]) is None
