"""The next time of a schedule in a time zone, searched as robfig/cron searches, which Karmada runs.

The search walks forward: months, then days, hours and minutes, each until it fits. Whatever wraps around (January, the
1st, hour 0, minute 0) starts it again. The first step of all cuts off the finer parts; steps after it do not. Months
and days go by the calendar, hours and minutes by real time, which decides what happens where clocks change: an hour
that is skipped has no occurrence that day, and one that is repeated has two.

Time zones come from the database that the package ``tzdata`` ships. The machine's own is not asked: it may be older or
missing, and the same commit must give the same bytes everywhere. Names are those of the database, in its own case; an
empty one is UTC, and so is ``Local``, for the place where a pass runs decides nothing.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import TYPE_CHECKING

from .schedules import Every, FieldSchedule, Schedule

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from zoneinfo import ZoneInfo

_YEARS = 5
_NOON = 12
_DAY_HOURS = 24
_DECEMBER = 12
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_SUNDAY = 7


def next_time(schedule: Schedule, start: datetime, zone: tzinfo) -> datetime | None:
    """Return the first time after ``start`` that a schedule comes, in UTC; None if it does not come within five years.

    No time beyond the calendar comes, whose years are 1 to 9999.

    >>> from render.cron import parse_schedule, time_zone
    >>> next_time(parse_schedule("30 2 * * *"), datetime(2026, 3, 29, tzinfo=UTC), time_zone("Europe/Berlin"))
    datetime.datetime(2026, 3, 30, 0, 30, tzinfo=datetime.timezone.utc)
    """
    whole = start.astimezone(UTC).replace(microsecond=0)
    try:
        if isinstance(schedule, Every):
            return whole + timedelta(seconds=schedule.seconds)
        return _Search(schedule, whole + timedelta(seconds=1), zone).next_occurrence()
    except (OverflowError, ValueError):
        return None


class _Search:
    """One search: where it stands, in local time, and whether it has moved yet."""

    __slots__ = ("_has_moved", "_here", "_schedule", "_zone")

    def __init__(self, schedule: FieldSchedule, start: datetime, zone: tzinfo) -> None:
        self._schedule = schedule
        self._zone = zone
        self._here = start.astimezone(zone)
        self._has_moved = False

    def next_occurrence(self) -> datetime | None:
        limit = self._here.year + _YEARS
        while self._here.year <= limit:
            if self._walks_to_fitting_time():
                return self._here.astimezone(UTC)
        return None

    def _walks_to_fitting_time(self) -> bool:
        """Walk on until all fields fit; False where the walk wrapped around and must start again."""
        schedule = self._schedule
        return (
            self._step_until_field_fits(
                lambda here: here.month in schedule.months, self._next_month, lambda here: here.month == 1
            )
            and self._step_until_field_fits(self._is_day_of_schedule, self._next_day, lambda here: here.day == 1)
            and self._step_until_field_fits(
                lambda here: here.hour in schedule.hours, self._next_hour, lambda here: here.hour == 0
            )
            and self._step_until_field_fits(
                lambda here: here.minute in schedule.minutes, self._next_minute, lambda at: at.minute == 0
            )
            and self._step_until_field_fits(
                lambda here: here.second == 0, self._next_second, lambda here: here.second == 0
            )
        )

    def _step_until_field_fits(
        self, fits: Callable[[datetime], bool], step: Callable[[], datetime], is_round: Callable[[datetime], bool]
    ) -> bool:
        while not fits(self._here):
            self._here = step()
            self._has_moved = True
            if is_round(self._here):
                return False
        return True

    def _is_day_of_schedule(self, here: datetime) -> bool:
        in_month = here.day in self._schedule.days
        in_week = here.isoweekday() % _SUNDAY in self._schedule.weekdays
        return in_month and in_week if self._schedule.is_any_day else in_month or in_week

    def _next_month(self) -> datetime:
        here = self._here
        if not self._has_moved:
            here = self._instant_of_wall_clock(here.replace(day=1, hour=0, minute=0, second=0))
        year, month = (here.year + 1, 1) if here.month == _DECEMBER else (here.year, here.month + 1)
        # The day is carried over into the next month where this one is longer.
        return self._instant_of_wall_clock(here.replace(year=year, month=month, day=1) + _DAY * (here.day - 1))

    def _next_day(self) -> datetime:
        here = self._here
        if not self._has_moved:
            here = self._instant_of_wall_clock(here.replace(hour=0, minute=0, second=0))
        following = self._instant_of_wall_clock(here.replace(tzinfo=None) + _DAY)
        if following.hour == 0:
            return following
        hours = _DAY_HOURS - following.hour if following.hour > _NOON else -following.hour
        return self._later_with_fields_reset(following, hours * _HOUR)

    def _next_hour(self) -> datetime:
        here = self._here if self._has_moved else self._instant_of_wall_clock(self._here.replace(minute=0, second=0))
        return self._later_with_fields_reset(here, _HOUR)

    def _next_minute(self) -> datetime:
        here = self._here
        if not self._has_moved:
            here = here.astimezone(UTC).replace(second=0).astimezone(self._zone)
        return self._later_with_fields_reset(here, _MINUTE)

    def _next_second(self) -> datetime:
        return self._later_with_fields_reset(self._here, timedelta(seconds=1))

    def _later_with_fields_reset(self, here: datetime, much: timedelta) -> datetime:
        return (here.astimezone(UTC) + much).astimezone(self._zone)

    def _instant_of_wall_clock(self, wall: datetime) -> datetime:
        """Return the instant of a wall clock's time: read as UTC, moved by the offset then, corrected once."""
        read = wall.replace(tzinfo=UTC)
        guess = read - self._offset_from_utc(read)
        return (read - self._offset_from_utc(guess)).astimezone(self._zone)

    def _offset_from_utc(self, instant: datetime) -> timedelta:
        return instant.astimezone(self._zone).utcoffset() or timedelta(0)


UTC_NAMES = frozenset({"", "UTC", "Local"})


@cache
def time_zone(name: str) -> "ZoneInfo":
    """Return the zone that a name means; a LookupError where there is none.

    >>> time_zone("Europe/Berlin").key, time_zone("").key
    ('Europe/Berlin', 'UTC')
    """
    from zoneinfo import ZoneInfo  # which few passes need

    known = "UTC" if name in UTC_NAMES else name
    if known not in _names_of_time_zones():
        raise LookupError(f"there is no time zone {name!r}")
    with _files_of_time_zones().joinpath("zoneinfo", *known.split("/")).open("rb") as stored:
        return ZoneInfo.from_file(stored, key=known)


@cache
def _names_of_time_zones() -> frozenset[str]:
    return frozenset(_files_of_time_zones().joinpath("zones").read_text(encoding="utf-8").split())


def _files_of_time_zones() -> "Traversable":
    from importlib import resources

    return resources.files("tzdata")
