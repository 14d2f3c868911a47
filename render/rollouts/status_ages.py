"""Ages of what is known of clusters: a gate may say how old the status may be that it goes by.

What clusters looked like at a look at them is known; what they look like since then nobody knows. So a status that is
older than the ``maxStatusAge`` of a gate counts as not healthy, until somebody looks again.

A pass knows when each cluster was looked at last. A commit records the answers that it was decided by, and never a
time: so no byte changes because time passes, and whoever makes the commit again answers as the pass did.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field

from render.timing import Flip, Timed, first_whole_second_after, has_passed_since


class StatusAge(Struct, frozen=True, kw_only=True, order=True):
    """The answer whether the status of a cluster is older than so many seconds."""

    cluster: str
    seconds: int = field(name="maxStatusAge")
    is_too_old: bool = field(name="tooOld")


class StatusLooks(Struct, frozen=True, kw_only=True):
    """The last looks at clusters: their times, as far as anybody knows; or the answers that a commit has recorded."""

    times: Mapping[str, datetime] = {}
    recorded: Mapping[tuple[str, int], bool] = {}

    @classmethod
    def of(cls, times: Mapping[str, datetime], recorded: Iterable[StatusAge]) -> "StatusLooks":
        """Return looks by their times; where there are recorded answers, these count."""
        return cls(times=times, recorded={(each.cluster, each.seconds): each.is_too_old for each in recorded})

    def age_of(self, cluster: str, seconds: int, now: datetime) -> Timed[StatusAge]:
        """Return whether the status of a cluster is older than so many seconds.

        It is where nobody knows of a look, and where the look would be in the future: some clock was wrong then.
        """
        known, at = self.recorded.get((cluster, seconds)), self.times.get(cluster)
        is_too_old = at is None or at > now or has_passed_since(now, at, seconds) if known is None else known
        answer = StatusAge(cluster=cluster, seconds=seconds, is_too_old=is_too_old)
        if is_too_old or at is None:
            return Timed(answer)
        ends = first_whole_second_after(at, seconds)
        return Timed(answer, Flip(ends, f"the last look at {cluster} is more than {seconds} s ago"))


def answers_in_order(answers: Iterable[StatusAge | None]) -> tuple[StatusAge, ...]:
    """Return the answers that there are once each, in an order that does not depend on how they came."""
    return tuple(sorted({each for each in answers if each is not None}))
