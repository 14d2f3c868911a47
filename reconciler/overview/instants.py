"""Instants: which commits of the rendered and of the status branch stood for the fleet at a time, or at a commit.

An instant of the past is what the branches said then: the newest rendered commit that had been made by then, and the
newest record of the members. A rendered commit says when it was made only where a rule asked for the time; of any other
it is known when that was at the earliest, and that time counts.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from reconciler.backtest.inputs import InputsReader
from reconciler.backtest.past import (
    RecordedInstant,
    chain_of_rendered_commits,
    looks_recorded,
    passes_with_times,
)
from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import publication_of
from reconciler.branches.rendered_history import rendered_commit_meant
from reconciler.console.log import Log
from reconciler.repository import Repository
from reconciler.status.branches import RecordedFleet, read_recorded_fleet, recorded_fleet_of_commits
from render.errors import UnknownName
from render.timing import instant_text, parse_instant

_MOST_PASSES, _MOST_LOOKS = 2_000, 10_000


class FleetInstant(Struct, frozen=True, kw_only=True):
    """An instant of a fleet: its rendered commit, the record of its members ("": none), and the time in seconds."""

    rendered: str
    status: str = ""
    now: float


class KnownBranches(Struct, frozen=True, kw_only=True):
    """The passes and the looks at members that the branches here tell of, the oldest first, as far back as was asked.

    ``is_cut_off``: there are earlier rendered commits, or their sources are not in this clone.
    """

    passes: tuple[RecordedInstant, ...]
    looks: tuple[RecordedInstant, ...]
    is_cut_off: bool = False


def known_branches(
    repository: Repository, rendered: str, status: str | None, passes: int = _MOST_PASSES, looks: int = _MOST_LOOKS
) -> KnownBranches:
    """Return the newest passes and looks at members up to two commits, with their times; so many at most."""
    chain = chain_of_rendered_commits(repository, rendered, passes)
    seen = tuple(looks_recorded(repository, status, looks))
    times = tuple(passes_with_times(chain.commits, seen, InputsReader(repository)))
    return KnownBranches(passes=times, looks=seen, is_cut_off=chain.is_cut_off)


def instant_meant(repository: Repository, text: str) -> FleetInstant:
    """Return the instant that a time or a commit means; UnknownName where nothing that is here tells of it.

    A commit of the source means the rendered commit that was made of it, or of one before it. The time of a commit is
    that at which the next one was made, or that of the newest record where it is the newest.
    """
    rendered, status = _tips_of_fleet(repository)
    branches = known_branches(repository, rendered, status)
    at = parse_instant(text)
    if at is None:
        return _instant_of_commit(branches, rendered_commit_meant(repository, rendered, text).commit)
    made = [each for each in branches.passes if each.at <= at]
    if not made:
        first = branches.passes[0].at if branches.passes else None
        since = (
            f"the first rendered commit that is here is of {instant_text(first)}" if first else "nothing is rendered"
        )
        hint = "git fetch --unshallow" if branches.is_cut_off else ""
        raise UnknownName(f"nothing that is here tells of {text}: {since}", hint=hint)
    return FleetInstant(rendered=made[-1].commit.id, status=_newest_look(branches.looks, at), now=at.timestamp())


def recorded_fleet_at(
    repository: Repository, log: Log, text: str = "", clock: Callable[[], float] = time.time
) -> RecordedFleet:
    """Return the fleet at the instant that a time or a commit means; without one, as it is known now."""
    if not text:
        return read_recorded_fleet(repository, log, clock)
    instant = instant_meant(repository, text)
    return recorded_fleet_of_commits(repository, instant.rendered, instant.status, instant.now)


def _tips_of_fleet(repository: Repository) -> tuple[str, str | None]:
    fleet, _ = fleet_in_force(repository, repository.resolve("HEAD"), rendered_tip_or_none)
    publication = publication_of(repository, fleet)
    rendered = publication.known_tip(fleet.rendered_branch)
    if rendered is None:
        raise publication.nothing_rendered(fleet.rendered_branch)
    return rendered, repository.tip(publication.ref(fleet.status_branch))


def _instant_of_commit(branches: KnownBranches, commit: str) -> FleetInstant:
    """Return the last instant at which a rendered commit was the newest one."""
    places = {each.commit.id: number for number, each in enumerate(branches.passes)}
    if commit not in places:
        raise UnknownName(
            f"{commit[:12]} is not among the newest {len(branches.passes)} rendered commits whose sources are here",
            hint="argosy history lists rendered commits; git fetch --unshallow brings older ones",
        )
    following = branches.passes[places[commit] + 1 : places[commit] + 2]
    own = branches.passes[places[commit]].at
    if not following:
        newest = max((own, *(each.at for each in branches.looks[-1:])))
        return FleetInstant(rendered=commit, status=_newest_look(branches.looks, newest), now=newest.timestamp())
    ended = following[0].at
    return FleetInstant(rendered=commit, status=_newest_look(branches.looks, ended), now=ended.timestamp())


def _newest_look(looks: Sequence[RecordedInstant], at: datetime) -> str:
    """Return the newest record of members that was made by a time; an empty text where none was."""
    found = [each.commit.id for each in looks if each.at <= at]
    return found[-1] if found else ""
