"""Windows and freezes: whether a change may go out at a time, and when that changes."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from render.rollouts.calendar import closed_reason
from render.rollouts.policy import Freeze, RolloutPolicy, Window
from render.timing import SECOND, instant_text, parse_instant
from tests.tables import each_row

NIGHT = Window(days=(0, 1, 2, 3, 4), begins=22 * 60, ends=6 * 60, time_zone="Europe/Berlin")
NOON = Window(days=(6,), begins=12 * 60, ends=13 * 60)
ALL_DAY = Window(days=(0,), begins=0, ends=0)
JANUARY = Freeze(begins=datetime(2026, 1, 1, tzinfo=UTC), ends=datetime(2026, 2, 1, tzinfo=UTC), reason="stock-taking")


def asked(text: str, *windows: Window, freezes: tuple[Freeze, ...] = ()) -> str:
    now = parse_instant(text)
    assert now is not None
    found = closed_reason(RolloutPolicy(name="web", windows=windows, freezes=freezes), now)
    return f"{found.answer or 'open'}, {instant_text(found.flip.at) if found.flip else 'for ever'}"


TIMES = (
    ("always", "2026-03-01T08:00:00Z", (), "open, for ever"),
    ("before it opens, on Sunday", "2026-03-01T11:59:59Z", (NOON,), "its next window, 2026-03-01T12:00:00Z"),
    ("as it opens", "2026-03-01T12:00:00Z", (NOON,), "open, 2026-03-01T13:00:00Z"),
    ("as it closes", "2026-03-01T13:00:00Z", (NOON,), "its next window, 2026-03-08T12:00:00Z"),
    ("winter: 22:00 is 21:00 UTC", "2026-03-02T21:00:00Z", (NIGHT,), "open, 2026-03-03T05:00:00Z"),
    ("summer: 22:00 is 20:00 UTC", "2026-06-01T19:59:59Z", (NIGHT,), "its next window, 2026-06-01T20:00:00Z"),
    ("over midnight, begun on Friday", "2026-03-07T04:00:00Z", (NIGHT,), "open, 2026-03-07T05:00:00Z"),
    ("no night begins on Saturday", "2026-03-07T23:00:00Z", (NIGHT,), "its next window, 2026-03-09T21:00:00Z"),
    ("the night of the summer time", "2026-03-27T23:00:00Z", (NIGHT,), "open, 2026-03-28T05:00:00Z"),
    ("a whole day", "2026-03-02T13:00:00Z", (ALL_DAY,), "open, 2026-03-03T00:00:00Z"),
    ("two windows", "2026-03-01T13:00:00Z", (NOON, NIGHT), "its next window, 2026-03-02T21:00:00Z"),
)


@each_row("why, now, windows, want", TIMES)
def test_a_window_opens_and_closes_at_its_times(why: str, now: str, windows: tuple[Window, ...], want: str) -> None:
    assert asked(now, *windows) == want, why


FREEZES = (
    ("2025-12-31T23:59:59Z", "open, 2026-01-01T00:00:00Z"),
    ("2026-01-01T00:00:00Z", "the end of the freeze (stock-taking), 2026-02-01T00:00:00Z"),
    ("2026-02-01T00:00:00Z", "open, for ever"),
)


@each_row("now, want", FREEZES)
def test_a_freeze_ends_by_itself(now: str, want: str) -> None:
    assert asked(now, freezes=(JANUARY,)) == want


def test_a_freeze_counts_whatever_the_windows_say() -> None:
    assert asked("2026-01-04T12:30:00Z", NOON, freezes=(JANUARY,)).startswith("the end of the freeze (stock-taking)")


@given(
    days=st.sets(st.integers(0, 6), min_size=1),
    begins=st.integers(0, 1439),
    ends=st.integers(0, 1439),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"]),
    seconds=st.integers(0, 3 * 365 * 86400),
)
def test_an_answer_holds_until_its_flip_and_no_longer(
    days: set[int], begins: int, ends: int, zone: str, seconds: int
) -> None:
    """Every window opens and closes at some time, and between flips the answer stays."""
    window = Window(days=tuple(sorted(days)), begins=begins, ends=ends, time_zone=zone)
    policy = RolloutPolicy(name="web", windows=(window,))
    now = datetime.fromtimestamp(1_750_000_000 + seconds, UTC)
    found = closed_reason(policy, now)
    assert found.flip is not None
    assert found.flip.at > now
    assert closed_reason(policy, found.flip.at - SECOND).answer == found.answer
