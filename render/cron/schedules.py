"""Schedules in the notation that Karmada runs: five fields, or a macro such as ``@daily``.

Libraries read other notations: they take 7 for Sunday, ``L`` and ``#``, and treat changes of the clock as Debian's
cron does. Of 600 recorded schedules cronsim answers 433 as Karmada does, and croniter 455; hence this module.

* A field is a comma-separated list of ``*``, ``?`` (the same), ``N``, ``N-M``, each with an optional ``/STEP``;
  ``N/STEP`` goes on to the field's end. Empty items mean nothing.
* Months and days of the week have names of three letters, in any case; Sunday is 0, and 7 is none.
* A field with ``*`` (also ``*/1``, but not ``*/2``) is no restriction of the day; if neither the day of the month nor
  the day of the week is such a field, one of the two is enough.
* ``@every 90s`` comes again and again after a duration. ``TZ=`` or ``CRON_TZ=`` before all of it names a time zone.
"""

import re
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from render.expressions import lazy_expression

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_WEEKDAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_NUMBER = lazy_expression(r"\+?[0-9]{1,9}", re.ASCII)
_UNIT = "(?:ns|us|µs|μs|ms|s|m|h)"
_DURATION = lazy_expression(rf"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){_UNIT})+")
_DURATION_PART = lazy_expression(rf"(?<![0-9.])([0-9.]++)({_UNIT})")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MACROS = tuple(sorted(_MACROS))
MOST_TEXT = 1_000
"""The characters of the longest schedule that is read; one that names every minute has fewer than 200."""
_MOST_SECONDS = 2**63 / 10**9
"""The seconds that Go's durations end below."""


class _Range(NamedTuple):
    """The values that a field of a schedule may have, and what it and its names are called."""

    what: str
    first: int
    last: int
    names: dict[str, int]


_RANGES = (
    _Range("minute", 0, 59, {}),
    _Range("hour", 0, 23, {}),
    _Range("day of the month", 1, 31, {}),
    _Range("month", 1, 12, _MONTHS),
    _Range("day of the week", 0, 6, _WEEKDAYS),
)


class FieldSchedule(Struct, frozen=True, kw_only=True):
    """A schedule of five fields; ``is_any_day`` says that the day of the month or of the week is unrestricted."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_any_day: bool
    zone: str | None = None


class Every(Struct, frozen=True, kw_only=True):
    """A schedule that comes again and again after so many seconds."""

    seconds: int
    zone: str | None = None


Schedule = FieldSchedule | Every


def parse_schedule(text: str) -> Schedule:
    """Return the schedule that a text means; a ValueError says what is wrong with it.

    >>> sorted(parse_schedule("0,30 8-18/5 * * mon-fri").hours)
    [8, 13, 18]
    """
    if len(text) > MOST_TEXT:
        raise ValueError(f"has {len(text)} characters, but at most {MOST_TEXT} are read")
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, rest = text.partition(" ")
        return replace(_schedule_without_zone(rest.strip()), zone=zone.partition("=")[2])
    return _schedule_without_zone(text)


def _schedule_without_zone(text: str) -> Schedule:
    """Return a schedule without a time zone before it; there may be one at most."""
    if text.startswith("@every "):
        return Every(seconds=_duration_in_text(text.removeprefix("@every ")))
    if text.startswith("@") and text not in _MACROS:
        raise ValueError(f"there is no macro {text!r}; there are {', '.join(MACROS)}")
    words = _MACROS.get(text, text).split()
    if len(words) != len(_RANGES):
        raise ValueError(f"has {len(words)} fields, not five: minute, hour, day of the month, month, day of the week")
    fields = [_values_of_cron_field(word, expected) for word, expected in zip(words, _RANGES, strict=True)]
    minutes, hours, days, months, weekdays = (frozenset(values) for values, _ in fields)
    return FieldSchedule(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        is_any_day=fields[2][1] or fields[4][1],
    )


def _values_of_cron_field(text: str, expected: _Range) -> tuple[set[int], bool]:
    """Return the values of a field, and whether it is unrestricted."""
    values: set[int] = set()
    is_any = False
    for item in filter(None, text.split(",")):
        first, last, step, is_star = _range_of_item(item, expected)
        values.update(range(first, last + 1, step))
        is_any = is_any or is_star
    return values, is_any


def _range_of_item(item: str, expected: _Range) -> tuple[int, int, int, bool]:
    span, *steps = item.split("/")
    ends = span.split("-")
    is_star = ends[0] in {"*", "?"}
    if len(steps) > 1 or (len(ends) > 2 and not is_star):
        raise ValueError(f"{expected.what}: {item!r} is no value, range or step")
    first, last = expected.first, expected.last
    if not is_star:
        first = _number_in_text(ends[0], expected)
        last = _number_in_text(ends[1], expected) if len(ends) == 2 else expected.last if steps else first
    step = _number_in_text(steps[0], expected._replace(names={})) if steps else 1
    if first < expected.first or last > expected.last:
        raise ValueError(f"{expected.what}: {item!r} is not within {expected.first} to {expected.last}")
    if first > last:
        raise ValueError(f"{expected.what}: {item!r} ends before it begins")
    if step == 0:
        raise ValueError(f"{expected.what}: {item!r} has a step of 0")
    return first, last, step, is_star and step == 1


def _number_in_text(text: str, expected: _Range) -> int:
    named = expected.names.get(text.lower())
    if named is not None:
        return named
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{expected.what}: {text!r} is no number")
    return int(text)


def _duration_in_text(text: str) -> int:
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is no duration such as 90s or 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _DURATION_PART.findall(text))
    if seconds >= _MOST_SECONDS:
        raise ValueError("is a duration of more than 290 years")
    return max(1, int(-seconds if text.startswith("-") else seconds))
