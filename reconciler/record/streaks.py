"""Changes of a record in a row, and the pause that each further one has to wait for.

A record is written at every change of what it tells, until the changes come one close after the other: the fifth in a
row makes it *unsettled*. From then on it is written after pauses that grow from one minute to five, and says since when
it is unsettled, so that whoever reads it shows its age. Two minutes after a pause in which nothing differs end that.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from reconciler.observe.cluster_status import seconds_between

GAP_SECONDS = 300.0
MOST_AT_ONCE = 5
LEAST_PAUSE, LONGEST_PAUSE = 60.0, 300.0
SETTLING_SECONDS = 120.0
"""The seconds after a pause in which nothing may differ: what has few states is by chance as it was now and then."""


class Due(Enum):
    """The time at which a record is due to be written: never as it is, later though it differs, or now."""

    NEVER = auto()
    LATER = auto()
    NOW = auto()


class Streak(Struct, frozen=True, kw_only=True):
    """Changes of a record in a row: the times of the first and the last, and how many they are."""

    since: str
    last: str
    times: int = 1

    @classmethod
    def parse(cls, plain: Mapping[str, Any] | None, observed_at: str) -> Self:
        """Read a streak back; without one, the time of the record is that of its only change."""
        known = plain or {}
        since, last = (str(known.get(name) or observed_at) for name in ("since", "last"))
        return cls(since=since, last=last, times=int(known.get("times") or 1))

    def plain(self) -> dict[str, Any]:
        """Return this as plain data."""
        return {"since": self.since, "last": self.last, "times": self.times}

    @property
    def is_unsettled(self) -> bool:
        """Say whether further changes wait."""
        return self.times >= MOST_AT_ONCE

    @property
    def seconds_until_write(self) -> float:
        """The seconds from the last change to the next time of writing."""
        return min(max(seconds_between(self.since, self.last), LEAST_PAUSE), LONGEST_PAUSE)

    def is_over(self, now: str) -> bool:
        """Say whether a change that comes now is none in a row with these."""
        return seconds_between(self.last, now) > GAP_SECONDS + (self.seconds_until_write if self.is_unsettled else 0)

    def next_due_write(self, now: str, *, differs: bool) -> Due:
        """Return when a record is due that differs now from what it tells, or does not."""
        is_waiting = self.is_unsettled and not self.is_over(now)
        if is_waiting and seconds_between(self.last, now) < self.seconds_until_write:
            return Due.LATER if differs else Due.NEVER
        return Due.NOW if differs or self._is_unchanged_after_pause(now) else Due.NEVER

    def _is_unchanged_after_pause(self, now: str) -> bool:
        """Say whether a record that does not differ has settled: looks after the pause would have found a change."""
        return self.is_unsettled and seconds_between(self.last, now) >= self.seconds_until_write + SETTLING_SECONDS

    def streak_begun_at(self, since: str) -> Self:
        """Return a streak that began then, and of which every further change waits."""
        return replace(self, since=since or self.last, times=MOST_AT_ONCE)

    def streak_after_write(self, now: str, *, differs: bool) -> Self:
        """Return the streak of a record that is written now, because it differs or because it has settled.

        One that has settled is as close to being unsettled again as can be.
        """
        if self.is_over(now):
            return type(self)(since=now, last=now)
        if differs:
            return replace(self, last=now, times=self.times + 1)
        return replace(self, last=now, times=MOST_AT_ONCE - 1) if self._is_unchanged_after_pause(now) else self
