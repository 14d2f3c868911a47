"""Pauses of rollouts that somebody asked for at once, without a change of the source.

They are recorded by value: on the status branch as somebody wrote them, in a rendered commit as the pass went by them.
"""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct

from render.rollouts.policy import RolloutControl, RolloutVerb

from .branch_file import BranchFile


class _RecordedPause(Struct, frozen=True, kw_only=True, omit_defaults=True):
    rollout: str
    group: str = ""
    change: str
    reason: str = ""
    by: str
    at: str


class PausesFile(BranchFile, frozen=True, kw_only=True):
    """The pauses as they are recorded, ordered by what they are about. No cluster can be called like this file."""

    NAME: ClassVar[str] = "_pauses.yaml"
    PATH: ClassVar[str] = f"facts/{NAME}"
    KIND: ClassVar[str] = "RolloutPauses"
    ABOUT: ClassVar[str] = "The rollouts that somebody has paused at once, with the change that each is about."

    pauses: tuple[_RecordedPause, ...]

    @classmethod
    def of_controls(cls, controls: Iterable[RolloutControl]) -> "PausesFile | None":
        """Return pauses as a file; None where there are none."""
        found = [
            _RecordedPause(
                rollout=each.rollout,
                group=each.group,
                change=each.change,
                reason=each.reason,
                by=each.by,
                at=each.at,
            )
            for each in controls
        ]
        if not found:
            return None
        return cls(pauses=tuple(sorted(found, key=lambda each: (each.rollout, each.group, each.change, each.at))))

    @property
    def controls(self) -> tuple[RolloutControl, ...]:
        """The pauses as what people say about rollouts: they go by the name of who wrote them."""
        return tuple(
            RolloutControl(
                name=each.by,
                rollout=each.rollout,
                group=each.group,
                change=each.change,
                verb=RolloutVerb.PAUSE,
                reason=each.reason,
                by=each.by,
                at=each.at,
            )
            for each in self.pauses
        )
