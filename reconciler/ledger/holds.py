"""Holds: a cluster stays at a rendered commit that somebody chose, and passes give it no newer one meanwhile.

A person who goes back says so once, and everything that applies to the cluster goes by it. A hold keeps out what was
rendered of one source. It is over with the first rendered commit of another source, at its time if it has one, or when
somebody releases the cluster.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from render.timing import Flip, earliest_flip, parse_instant

from .branch_file import FileFault

HOLD_KEY = b"\nhold:"
"""The beginning of a hold in the content of an inventory: most have none, and need not be read for it."""
_CommitId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")]


class ClusterHold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hold on a cluster: the rendered ``commit`` it stays at, and the ``source`` whose outcome is kept out.

    ``by`` is who wanted that and ``reason`` why, ``since`` is the time when it began, and ``until`` the one at which it
    ends by itself ("": it does not).
    """

    commit: _CommitId
    source: _CommitId
    by: str
    since: str
    reason: str = ""
    until: str = ""

    def keeps_out(self, source: str, now: str) -> bool:
        """Say whether a rendered commit of a source is not for the cluster, at a time as RFC 3339 text."""
        return self.source == source and not (self.until and now >= self.until)

    def flip(self, cluster: str) -> Flip | None:
        """Return when the hold on a cluster ends by itself; None where it does not."""
        at = parse_instant(self.until) if self.until else None
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


def check_hold(hold: ClusterHold | None) -> None:
    """Raise FileFault where a recorded hold has a time that is none."""
    for time in (hold.since, hold.until or hold.since) if hold is not None else ():
        if parse_instant(time) is None:
            raise FileFault(f"hold has {time!r} for a time")


def end_of_first_hold(holds: ClusterHolds) -> Flip | None:
    """Return when the first hold ends by itself; None where none does."""
    return earliest_flip(hold.flip(cluster) for cluster, hold in holds.items())


def hold_lines(holds: Mapping[str, ClusterHold | None]) -> list[str]:
    """Return a line for each cluster that is held, or is not any more (None)."""
    return [f"{name} is {hold or 'not held'}" for name, hold in sorted(holds.items())]


def release_hint(*clusters: str) -> str:
    """Return what ends holds on clusters."""
    return f"it ends with a newer source, or by hand: argosy cluster release {' '.join(clusters)}"


class HoldRules(Struct, frozen=True, kw_only=True):
    """The holds that an apply of a rendered commit goes by: what was rendered of the commit's ``source`` at ``now``.

    A person may have it set the hold of some clusters (``set_for``) to ``hold`` (None: it ends theirs).
    """

    commit: str
    source: str = ""
    now: str = ""
    set_for: frozenset[str] = frozenset()
    hold: ClusterHold | None = None

    def hold_after(self, cluster: str, known: ClusterHold | None) -> ClusterHold | None:
        """Return the hold on a cluster once the apply begins; ``known`` is the recorded one."""
        if cluster in self.set_for:
            return self.hold
        return known if known is not None and known.keeps_out(self.source, self.now) else None

    def commit_for(self, cluster: str, known: ClusterHold | None) -> str:
        """Return the commit that the apply gives a cluster: that which it is held at, or the new one."""
        hold = self.hold_after(cluster, known)
        return hold.commit if hold is not None else self.commit
