"""Holds: a cluster stays at a rendered commit that somebody chose, and passes give it no newer one meanwhile.

A person who goes back says so once, and everything that applies to the cluster goes by it. A hold keeps out what was
rendered of one source, and is over with the first rendered commit of another one. If the person said until when, newer
sources do not end it: it is over at that time. In any case it is over when somebody releases the cluster.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from render.timing import Flip, earliest_flip, parse_instant

from .branch_file import FileFault

HOLD_KEY = b"\nhold:"
"""The beginning of a hold in the content of an inventory: most have none, and need not be read for it."""
RELEASED = "released"
"""The ``until`` of a hold that only a person ends."""
_CommitId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")]


class ClusterHold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hold on a cluster: the rendered ``commit`` it stays at, and the ``source`` whose outcome is kept out.

    ``by`` is who wanted that and ``reason`` why, and ``since`` is the time when it began. ``until`` is the time at
    which it ends whatever is rendered, or ``RELEASED``; where it is empty, a newer source ends it.
    """

    commit: _CommitId
    source: _CommitId
    by: str
    since: str
    reason: str = ""
    until: str = ""

    def keeps_out(self, source: str, now: str) -> bool:
        """Say whether a rendered commit of a source is not for the cluster, at a time as RFC 3339 text."""
        if not self.outlasts_sources:
            return self.source == source
        return self.until == RELEASED or now < self.until

    @property
    def outlasts_sources(self) -> bool:
        """True where newer sources are kept out as well."""
        return bool(self.until)

    def flip(self, cluster: str) -> Flip | None:
        """Return when the hold on a cluster ends by itself; None where no time ends it."""
        at = parse_instant(self.until) if self.until not in {"", RELEASED} else None
        return Flip(at, f"the hold on {cluster} ends") if at else None

    def plain(self) -> dict[str, Any]:
        """Return the hold as plain data."""
        plain: dict[str, Any] = to_builtins(self)
        return plain

    def __str__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        until = f", until {self.until}" if self.until else ""
        return f"held at {self.commit[:12]} by {self.by} since {self.since}{until}{why}"


ClusterHolds = Mapping[str, ClusterHold]
"""The holds that are in force, by cluster."""


class EndedHold(Struct, frozen=True, kw_only=True):
    """A hold that is over, and what ended it, in words."""

    hold: ClusterHold
    ended_by: str

    def __str__(self) -> str:
        return f"no longer held (ended by {self.ended_by}): it was {self.hold}"


def lines_of_ended_holds(ended: Mapping[str, EndedHold]) -> list[str]:
    """Return a line for each cluster whose hold is over."""
    return [f"{cluster} is {each}" for cluster, each in sorted(ended.items())]


def check_hold(hold: ClusterHold | None) -> None:
    """Raise FileFault where a recorded hold has a time that is none."""
    if hold is None:
        return
    for time in (hold.since, *(() if hold.until in {"", RELEASED} else (hold.until,))):
        if parse_instant(time) is None:
            raise FileFault(f"hold has {time!r} for a time")


def end_of_first_hold(holds: ClusterHolds) -> Flip | None:
    """Return when the first hold ends by itself; None where none does."""
    return earliest_flip(hold.flip(cluster) for cluster, hold in holds.items())


def hold_lines(holds: Mapping[str, ClusterHold | None]) -> list[str]:
    """Return a line for each cluster that is held, or is not any more (None)."""
    return [f"{name} is {hold or 'not held'}" for name, hold in sorted(holds.items())]


def release_hint(hold: ClusterHold, *clusters: str) -> str:
    """Return what ends a hold on clusters."""
    if hold.until == RELEASED:
        ending = "no newer source and no time ends it; it ends by hand"
    elif hold.until:
        ending = "no newer source ends it; it ends at that time, or by hand"
    else:
        ending = "it ends with a newer source, or by hand"
    return f"{ending}: argosy cluster release {' '.join(clusters)}"


class HoldRules(Struct, frozen=True, kw_only=True):
    """The holds that an apply of a rendered commit goes by: what was rendered of the commit's ``source`` at ``now``.

    A person may have it set the hold of some clusters (``set_for``) to ``hold`` (None: it ends theirs). The ``members``
    are those that the apply is for, from which holds that are over are taken.
    """

    commit: str
    source: str = ""
    now: str = ""
    set_for: frozenset[str] = frozenset()
    hold: ClusterHold | None = None
    members: frozenset[str] = frozenset()

    def ended_hold(self, cluster: str, known: ClusterHold | None) -> EndedHold | None:
        """Return the hold on a cluster that is over once the apply begins, with what ended it; None where none is."""
        if known is None or self.hold_after(cluster, known) is not None:
            return None
        if cluster in self.set_for:
            ended_by = f"applying {self.commit[:12]} by hand"
        else:
            ended_by = "its time" if known.outlasts_sources else f"source {self.source[:12]}"
        return EndedHold(hold=known, ended_by=ended_by)

    def hold_after(self, cluster: str, known: ClusterHold | None) -> ClusterHold | None:
        """Return the hold on a cluster once the apply begins; ``known`` is the recorded one."""
        if cluster in self.set_for:
            return self.hold
        return known if known is not None and known.keeps_out(self.source, self.now) else None

    def commit_for(self, cluster: str, known: ClusterHold | None) -> str:
        """Return the commit that the apply gives a cluster: that which it is held at, or the new one."""
        hold = self.hold_after(cluster, known)
        return hold.commit if hold is not None else self.commit
