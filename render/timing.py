"""Time as the rules of a pass have it: an input, and an answer's next flip as a value beside the answer.

*Instant*: an aware datetime in UTC. A pass takes one ``now`` at its beginning, in whole seconds; a rule that needs the
time is given it, and reads no clock. What is written to a file is RFC 3339 text in UTC with whole seconds, cut off and
not rounded (metav1.Time): ``parse_instant`` reads it, ``instant_text`` writes it, so that text is compared as instants
are.

*Flip*: the earliest instant at which the same facts give another answer, and what happens then in words for people
(``web leaves paris``). A rule of time returns ``Timed(answer, flip)``; None means that no clock changes the answer,
only another fact does. ``earliest_flip`` joins the flips of many rules into the one that a pass sleeps until. State is
kept as the instant at which something *began*, never as the time that is left, so that no byte changes as time passes.

*Limits*: Karmada compares some of its instants strictly. ``has_passed_since(now, start, seconds)`` is false at the
equal instant, and its flip is ``first_whole_second_after(start, seconds)``, the first whole second that is past it; the
others compare with ``instant_after(start, seconds)``, which never overflows.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from msgspec import Struct

from .expressions import lazy_expression

T = TypeVar("T")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = lazy_expression(r"([0-9]{1,6})([smhdw])")

FIRST = datetime.min.replace(tzinfo=UTC)
"""The instant that a time too early to be written stands for."""
LAST = datetime.max.replace(tzinfo=UTC, microsecond=0)
"""The instant that a time too late to be written stands for."""
SECOND = timedelta(seconds=1)

_RFC3339 = lazy_expression(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)


class Flip(Struct, frozen=True, order=True):
    """The instant ``at`` which an answer changes by itself, and ``what`` happens then."""

    at: datetime
    what: str = ""


class Timed(Struct, Generic[T], frozen=True):
    """The answer of a rule of time, and when the same facts give another one (None: at no time)."""

    answer: T
    flip: Flip | None = None


def parse_instant(text: str) -> datetime | None:
    """Return the instant that RFC 3339 text names; None where it is none.

    >>> parse_instant("2026-03-01T09:00:00.5+01:00")
    datetime.datetime(2026, 3, 1, 8, 0, 0, 500000, tzinfo=datetime.timezone.utc)
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{clock}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return whole.replace(microsecond=int(f"{fraction or 0:0<6}"[:6]))


def parse_duration(text: str) -> timedelta | None:
    """Return a number with a unit as a duration; None where it is none.

    >>> parse_duration("90d"), parse_duration("main")
    (datetime.timedelta(days=90), None)
    """
    found = _DURATION.fullmatch(text)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def instant_text(instant: datetime) -> str:
    """Return an instant as files have it: UTC, whole seconds, the fraction cut off.

    >>> instant_text(datetime(2026, 3, 1, 8, 0, 59, 999999, tzinfo=UTC))
    '2026-03-01T08:00:59Z'
    """
    return f"{instant.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat()}Z"


def epoch_text(seconds: float) -> str:
    """Return a time in seconds since the epoch as files have it.

    >>> epoch_text(1_800_000_000)
    '2027-01-15T08:00:00Z'
    """
    return instant_text(datetime.fromtimestamp(seconds, UTC))


def whole_second(instant: datetime) -> datetime:
    """Return an instant without its fraction of a second."""
    return instant.replace(microsecond=0)


def instant_after(start: datetime, seconds: float) -> datetime:
    """Return the instant some seconds after another; the first or last instant there is where that is out of range."""
    try:
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return LAST if seconds > 0 else FIRST


def first_whole_second_after(start: datetime, seconds: float) -> datetime:
    """Return the first whole second that lies more than some seconds after an instant.

    >>> instant_text(first_whole_second_after(datetime(2026, 3, 1, 8, tzinfo=UTC), 30))
    '2026-03-01T08:00:31Z'
    """
    end = instant_after(start, seconds)
    return end if end >= LAST else whole_second(end) + SECOND


def has_passed_since(now: datetime, start: datetime, seconds: float) -> bool:
    """Say whether more than some seconds have gone by since an instant; no at the very end of them."""
    return now > instant_after(start, seconds)


def earliest_flip(flips: Iterable[Flip | None]) -> Flip | None:
    """Return the flip that comes first; of those at one instant the first by its words."""
    return min(filter(None, flips), default=None)


def earliest_flip_of_each_key(*waits: Mapping[T, Flip]) -> dict[T, Flip]:
    """Return the earliest flip of each key of several mappings.

    >>> soon, later = Flip(FIRST, "soon"), Flip(LAST, "later")
    >>> found = earliest_flip_of_each_key({"a": later, "b": soon}, {"a": soon, "b": later, "c": later})
    >>> {key: flip.what for key, flip in found.items()}
    {'a': 'soon', 'b': 'soon', 'c': 'later'}
    """
    found: dict[T, Flip] = {}
    for each in waits:
        for key, flip in each.items():
            found[key] = min(flip, found.get(key, flip))
    return found
