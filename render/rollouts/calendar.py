"""The times at which a rollout may give a change to clusters: in its windows, and in none of its freezes.

A window is of some days of the week, from one time of the day to another one (of the next day where that is not later),
in a time zone. Without windows every time is one. Clusters that have the change already go on through their gates.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from render.cron.occurrences import time_zone
from render.timing import Flip, Timed

from .policy import Freeze, RolloutPolicy, Window

_DAYS_TO_COME = 8
"""A window comes again within a week; a day more, as it may begin at an hour that summer time leaves out."""


def closed_reason(policy: RolloutPolicy, now: datetime) -> Timed[str]:
    """Return why a rollout may give nothing now ("" where it may), and when that changes.

    A freeze is named by its reason and its end, whatever the windows say.
    """
    freeze = next((each for each in policy.freezes if is_frozen_by(each, now)), None)
    reason = f"the end of the freeze ({freeze.reason})" if freeze else ""
    if not reason and policy.windows and not any(is_window_open(each, now) for each in policy.windows):
        reason = "its next window"
    changes = (
        *(next_change_of_freeze(each, now) for each in policy.freezes),
        *(next_change_of_window(each, now) for each in policy.windows),
    )
    flip = min(filter(None, changes), default=None)
    return Timed(reason, None if flip is None else Flip(flip, f"{policy} may go on, or no longer"))


def is_frozen_by(freeze: Freeze, now: datetime) -> bool:
    """Say whether a freeze holds now."""
    return (freeze.begins is None or freeze.begins <= now) and now < freeze.ends


def next_change_of_freeze(freeze: Freeze, now: datetime) -> datetime | None:
    """Return when a freeze begins or ends next; None for one that is over."""
    if freeze.begins is not None and freeze.begins > now:
        return freeze.begins
    return freeze.ends if freeze.ends > now else None


def is_window_open(window: Window, now: datetime) -> bool:
    """Say whether a window is open now."""
    return any(begin <= now < end for begin, end in _times_of_window(window, now))


def next_change_of_window(window: Window, now: datetime) -> datetime | None:
    """Return when a window opens or closes next."""
    return min((instant for each in _times_of_window(window, now) for instant in each if instant > now), default=None)


def ended_freezes(freezes: Iterable[Freeze], now: datetime) -> Iterator[int]:
    """Yield the numbers of the freezes that are over."""
    return (number for number, freeze in enumerate(freezes) if freeze.ends <= now)


def _times_of_window(window: Window, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield when a window is open, from one that may be open now to one that is to come."""
    zone = time_zone(window.time_zone)
    today = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    for distance in range(-1, _DAYS_TO_COME + 1):
        day = today + timedelta(days=distance)
        if day.weekday() in window.days:
            minutes = window.ends + (0 if window.ends > window.begins else 24 * 60)
            begin, end = (day + timedelta(minutes=each) for each in (window.begins, minutes))
            yield begin.replace(tzinfo=zone).astimezone(now.tzinfo), end.replace(tzinfo=zone).astimezone(now.tzinfo)
