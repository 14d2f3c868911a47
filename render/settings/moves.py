"""``spec.moves``, ``surge``, ``maxUnavailable`` and ``moveDeadline``: how replicas get from one cluster to another."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from render.limits import Limit
from render.notations import seconds_of_duration

from .durations import faults_of_duration
from .setting import FleetSetting, SettingFault

AT_ONCE, MAKE_BEFORE_BREAK = "AtOnce", "MakeBeforeBreak"


def _faults_of_deadline(text: str) -> Iterator[SettingFault]:
    yield from faults_of_duration(text)
    if seconds_of_duration(text) == 0:
        yield SettingFault("", "is over before any replica can be ready", "write it as '30m' or '2h'")


class MoveSettings(Struct, frozen=True, kw_only=True):
    """The way in which replicas move: at once, or step by step, each made elsewhere before it goes.

    At most ``surge`` more than are asked for stand meanwhile, and no step leaves fewer healthy than are asked for, but
    for ``max_unavailable``. A move without a step for as long as ``deadline`` says ("": for ever) is a problem.
    """

    is_make_before_break: Annotated[
        bool,
        FleetSetting(
            "moves",
            "How replicas get from one cluster to another. `AtOnce`: one commit takes them from the one and gives them"
            " to the other. `MakeBeforeBreak`: they leave a cluster only when their successors elsewhere are healthy,"
            " step by step, whatever moves them but the death of their cluster. A RolloutPolicy may say it for what it"
            " selects.",
            choices={AT_ONCE: False, MAKE_BEFORE_BREAK: True},
            in_karmada="Karmada moves replicas at once, but for those of graceful eviction",
        ),
    ] = False
    surge: Annotated[
        Limit,
        FleetSetting(
            "surge",
            "With `MakeBeforeBreak`, so many replicas more than an object asks for may stand while they move: a number,"
            " or a percentage of it, rounded up. Where neither this nor `maxUnavailable` leaves room for one, it is 1.",
            in_karmada="Karmada knows no limit of this kind",
        ),
    ] = Limit(25, is_percentage=True)
    max_unavailable: Annotated[
        Limit,
        FleetSetting(
            "maxUnavailable",
            "With `MakeBeforeBreak`, a move may leave so many healthy replicas fewer than an object asks for: a number,"
            " or a percentage of it, rounded down.",
            in_karmada="Karmada knows no limit of this kind",
        ),
    ] = Limit(0)
    deadline: Annotated[
        str,
        FleetSetting(
            "moveDeadline",
            "With `MakeBeforeBreak`, how long a move may go without a step, such as `30m`. After that it is a problem"
            " of its object (`MoveStopped`), which passes and status name with what it waits for, as with the"
            " `progressDeadlineSeconds` of a Deployment. Nothing is taken from any cluster then; it goes on by itself"
            " once its successors are ready. Left out, it may wait for ever.",
            faults=_faults_of_deadline,
            in_karmada="Karmada knows no limit of this kind",
        ),
    ] = ""

    @property
    def deadline_seconds(self) -> int | None:
        """The seconds for which a move may go without a step; None for as long as it takes."""
        return int(seconds_of_duration(self.deadline) or 0) or None


MOVES = FleetSetting("", "")
"""The fields stand in ``spec`` itself."""
