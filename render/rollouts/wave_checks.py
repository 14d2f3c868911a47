"""The checks of whole waves: those that a wave has to pass before it begins, and those before it is over.

What is asked once a wave is through is asked from the instant on at which enough of it was, so that an answer is about
the change and not about what was there before. Checks go on being asked until the rollout is over: a wave whose check
is not met any more is not over any more. A wave that has not passed its checks by the deadline of its gate has failed
as a whole.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct

from render.timing import Flip, instant_after

from .checks import Asking, ChecksLook
from .policy import Wave
from .state import Given


class WaveLook(Struct, frozen=True, kw_only=True):
    """A look at the checks of a wave that is through, since then."""

    wave: Wave
    checks: ChecksLook
    since: datetime
    now: datetime

    @property
    def are_passed(self) -> bool:
        """Say whether all checks are passed."""
        return self.checks.are_passed(self.now)

    @property
    def is_late(self) -> bool:
        """Say whether the deadline has passed by which they had to be."""
        ends = self._deadline
        return ends is not None and ends <= self.now and not self.are_passed

    @property
    def flips(self) -> Iterator[Flip]:
        """Yield when the checks are passed, or their time is over."""
        if (flip := self.checks.flip(self.now)) is not None:
            yield flip
        ends = self._deadline
        if ends is not None and ends > self.now and not self.are_passed:
            yield Flip(ends, f"the deadline of the checks of wave {self.wave.name} has passed")

    @property
    def _deadline(self) -> datetime | None:
        seconds = self.wave.gate.deadline
        return None if seconds is None else instant_after(self.since, seconds)


def look_at_wave(wave: Wave, given: Iterable[Given], asking: Asking, asked: int) -> WaveLook | None:
    """Return the look at the checks of a wave that is through; None where it has none, or nobody is through.

    ``given`` are its clusters that were given the change, and ``asked`` is how many of them are asked about.
    """
    times = sorted(each.through for each in given if each.through is not None)
    checks, share = wave.gate.checks_after_wave, wave.gate.share
    if not times or not checks:
        return None
    needed = len(times) if share is None else max(1, share.needed_of_total(asked))
    since = times[min(needed, len(times)) - 1]
    return WaveLook(wave=wave, checks=asking.look(checks, wave.name, since), since=since, now=asking.now)


def look_before_wave(wave: Wave, given: Iterable[Given], asking: Asking, began: datetime) -> ChecksLook:
    """Return the look at the checks that a wave has to pass before it begins, asked since all before it is through.

    ``began`` is when the rollout did.
    """
    times = (each.through for each in given if each.through is not None)
    return asking.look(wave.gate.checks_before_wave, wave.name, max((began, *times)))
