"""The time for which a move has gone without a step, and whether that is a problem: once its deadline has passed.

Nothing is taken from a cluster for that. The move goes on by itself once what it waits for is ready.
"""

from datetime import datetime, timedelta

from msgspec import Struct

from render.binding import Binding
from render.model import ObjectRef
from render.timing import Flip, instant_text, parse_instant

from .eviction_notes import MOVE_STOPPED


class MoveWait(Struct, frozen=True, kw_only=True):
    """The wait of a move for its next step: ``since`` when, as text ("": it has no deadline), and the ``deadline``.

    ``is_over``: it has passed.
    """

    since: str = ""
    deadline: datetime | None = None
    is_over: bool = False

    @classmethod
    def of_pass(cls, before: Binding, seconds: int | None, now: datetime | None, *, is_step: bool) -> "MoveWait":
        """Return the wait of a move after a pass; a step of it begins it anew.

        While time rests (``now`` is None) it is what it was.
        """
        if seconds is None:
            return cls()
        known = before.moving.since if before.moving is not None else ""
        if now is None:
            return cls(since=known, is_over=any(each.reason == MOVE_STOPPED for each in before.conditions))
        since = (None if is_step else parse_instant(known)) or now
        deadline = since + timedelta(seconds=seconds)
        return cls(since=instant_text(since), deadline=deadline, is_over=deadline <= now)

    def flip(self, ref: ObjectRef) -> Flip | None:
        """Return when the deadline passes."""
        if self.deadline is None or self.is_over:
            return None
        return Flip(self.deadline, f"the deadline of the move of {ref} has passed")

    def words(self, step: str) -> str:
        """Return where an object is on its way, in words that only another step, or the deadline, changes."""
        if not self.is_over:
            return step
        return (
            f"{step}; its deadline has passed without a step, and nothing is taken away: mend what its successors wait"
            " for, choose other clusters, or set moves: AtOnce"
        )
