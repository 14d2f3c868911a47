"""``spec.moves``, ``spec.surge`` and ``spec.maxUnavailable``: how replicas get from one cluster to another."""

from typing import Annotated

from msgspec import Struct

from render.limits import Limit

from .setting import FleetSetting

AT_ONCE, MAKE_BEFORE_BREAK = "AtOnce", "MakeBeforeBreak"


class MoveSettings(Struct, frozen=True, kw_only=True):
    """The way in which replicas move: at once, or step by step, each made elsewhere before it goes.

    At most ``surge`` more than are asked for stand meanwhile, and no step leaves fewer healthy than are asked for, but
    for ``max_unavailable``.
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


MOVES = FleetSetting("", "")
"""The fields stand in ``spec`` itself."""
