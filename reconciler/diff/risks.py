"""The risk of a change in one line: how many clusters it touches, what moves, and what of it would not go back."""

from msgspec import Struct

from reconciler.console.cleaning import on_one_line
from render.rollouts.state import OneWayChange
from render.words import counted_noun, first_few


class FreezeInForce(Struct, frozen=True, kw_only=True, order=True):
    """A freeze that holds something of a change back: its end, and its reason."""

    until: str
    reason: str

    def __str__(self) -> str:
        return f"the freeze until {self.until} ({self.reason})"


class Risk(Struct, frozen=True, kw_only=True):
    """The risk of a change.

    ``clusters`` of ``members`` are touched, and ``moved`` of ``replicas`` move or are placed anew. As many workloads as
    ``alone_before`` and ``alone_after`` say are in one cluster alone. Of the losses of clusters that objects have to
    survive, ``lost`` are survived no more, and ``gained`` are since. ``one_way`` would not go back; ``freezes`` are
    about something of it.
    """

    clusters: int
    members: int
    moved: int
    replicas: int
    alone_before: int
    alone_after: int
    lost: int = 0
    gained: int = 0
    one_way: tuple[OneWayChange, ...] = ()
    freezes: tuple[FreezeInForce, ...] = ()


def words_of_risk(risk: Risk | None) -> str:
    """Return the risk of a change in one line; empty where it touches no cluster.

    >>> words_of_risk(Risk(clusters=2, members=3, moved=1, replicas=8, alone_before=0, alone_after=0))
    'risk: touches 2 of 3 clusters, moves 1 of 8 replicas'
    """
    if risk is None or not risk.clusters:
        return ""
    parts = [f"touches {risk.clusters} of {counted_noun(risk.members, 'cluster')}"]
    if risk.moved:
        parts.append(f"moves {risk.moved} of {counted_noun(risk.replicas, 'replica')}")
    if risk.alone_before != risk.alone_after:
        parts.append(f"workloads in one cluster alone: {risk.alone_before} -> {risk.alone_after}")
    for count, since in ((risk.lost, "no more"), (risk.gained, "anew")):
        if count:
            parts.append(f"{counted_noun(count, 'object')} {'survives' if count == 1 else 'survive'} a loss {since}")
    if risk.one_way:
        refs = first_few(sorted({str(each.ref) for each in risk.one_way}))
        parts.append(f"{counted_noun(len(risk.one_way), 'part')} of it cannot go back ({refs})")
    parts += (f"{each} is in force" for each in risk.freezes)
    return on_one_line(f"risk: {', '.join(parts)}")
