"""Instants: which commits of the branches stand for the fleet now, at a time, or at a commit.

An instant of the past is what the branches said then: the newest rendered commit that had been made by then, and the
newest record of the members. A rendered commit says when it was made only where a rule asked for the time; of any other
it is known when that was at the earliest, and that time counts. A commit means the end of the time in which it was the
newest. A source that is not rendered, such as an unmerged branch, means the fleet as it is, beside that source.

Commands and pages go by this alone, so that both say the same of the same words.
"""

import time
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reconciler.backtest.inputs import InputsReader
from reconciler.backtest.past import (
    RecordedInstant,
    chain_of_rendered_commits,
    looks_recorded,
    passes_with_times,
)
from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import Publication, branch_of_head, publication_of, remote_of_branch
from reconciler.branches.rendered_history import rendered_commit_meant
from reconciler.console.log import Log
from reconciler.repository import Repository
from reconciler.repository.pinned import PinnedRepository
from reconciler.repository.trailers import SOURCE
from reconciler.status.branches import RecordedFleet, read_recorded_fleet, recorded_fleet_of_commits
from reconciler.status.fleet import last_good_before
from render.errors import GitError, InputError, NoSuchRevision, ReconcileError, UnknownName
from render.settings.fleet import Fleet
from render.timing import instant_text, parse_instant

from .asked_times import FORMS

_MOST_PASSES, _MOST_LOOKS = 2_000, 10_000


class FleetInstant(Struct, frozen=True, kw_only=True):
    """An instant of a fleet: the commits of its branches that stand for it; None for a branch that is not there.

    ``now`` is the time to tell ages by, in seconds, 0 for the time of day. ``is_past`` says that newer commits stand.
    ``preview`` is the branch or commit of the source that is meant, where the fleet does not have it yet.
    """

    source: str
    rendered: str | None
    status: str | None
    now: float = 0.0
    is_past: bool = False
    preview: str = ""

    @property
    def key(self) -> tuple[str | float | None, ...]:
        """The same for instants of which the same is told."""
        return (self.source, self.rendered, self.status, self.now)


class FleetRefs(Struct, frozen=True, kw_only=True):
    """The refs of a fleet's branches: of the source ("": HEAD alone), of what is rendered and of what is seen."""

    source: str
    rendered: str
    status: str
    name: str


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


def refs_of_fleet(repository: Repository) -> FleetRefs:
    """Return where a fleet's branches are, by the settings that are in force, or were before these were broken."""
    return _refs_of_publication(repository, *_published(repository))


def newest_instant(repository: Repository, refs: FleetRefs) -> FleetInstant:
    """Return the instant of the newest commits that are known here."""
    return FleetInstant(
        source=repository.resolve("HEAD"), rendered=repository.tip(refs.rendered), status=repository.tip(refs.status)
    )


def instant_meant(repository: Repository, text: str, refs: FleetRefs | None = None) -> FleetInstant:
    """Return the instant that a time, a commit or a branch means ("": the newest); an error where it means none.

    A commit of the source means the rendered commit that was made of it, or of one before it. The time of a commit is
    that at which the next one was made, or that of the newest record where it is the newest.
    """
    newest = newest_instant(repository, refs or refs_of_fleet(repository))
    if not text:
        return newest
    if newest.rendered is None:
        raise _error_of_nothing_rendered(repository)
    at = parse_instant(text)
    if at is None and (preview := _source_not_rendered(repository, newest.rendered, text)):
        return replace(newest, source=preview, preview=text)
    branches = known_branches(repository, newest.rendered, newest.status)
    found = (
        _instant_of_commit(branches, rendered_commit_meant(repository, newest.rendered, text).commit)
        if at is None
        else _instant_of_time(branches, at, text)
    )
    return replace(
        found,
        source=_source_of_rendered(repository, found.rendered) or newest.source,
        is_past=(found.rendered, found.status) != (newest.rendered, newest.status),
    )


def repository_at(repository: Repository, refs: FleetRefs, instant: FleetInstant) -> Repository:
    """Return a repository whose branches stand where they stood at an instant, wherever they are moved meanwhile."""
    tips = {"HEAD": instant.source, refs.rendered: instant.rendered, refs.status: instant.status}
    if refs.source and instant.is_past:
        tips[refs.source] = instant.source
    return PinnedRepository(repository, tips)


def recorded_fleet_at(
    repository: Repository, log: Log, text: str = "", clock: Callable[[], float] = time.time
) -> RecordedFleet:
    """Return the fleet at the instant that a time, a commit or a branch means; without one, as it is known now."""
    pinned, instant = repository_meant(repository, log, text)
    return fleet_of_instant(pinned, log, instant, clock) if instant else read_recorded_fleet(pinned, log, clock)


def repository_meant(repository: Repository, log: Log, text: str) -> tuple[Repository, FleetInstant | None]:
    """Return a repository as its branches stood at the instant that is meant, and that; as it is without a text."""
    if not text:
        return repository, None
    refs = refs_of_fleet(repository)
    instant = instant_meant(repository, text, refs)
    if instant.preview:
        log.warning(f"{instant.preview} is not rendered: this is the fleet as it is, beside that source")
    return repository_at(repository, refs, instant), instant


def fleet_of_instant(
    pinned: Repository,
    log: Log,
    instant: FleetInstant,
    clock: Callable[[], float] = time.time,
    former: RecordedFleet | None = None,
) -> RecordedFleet:
    """Return the fleet at an instant, from a repository whose branches stand there.

    ``former`` is what was read of another instant: what is the same at both is not read again.
    """
    if not instant.now:
        return read_recorded_fleet(pinned, log, clock, former=former)
    return recorded_fleet_of_commits(pinned, instant.rendered or "", instant.status or "", instant.now, former)


def _published(repository: Repository) -> tuple[Publication, Fleet]:
    head = repository.resolve("HEAD")
    try:
        fleet = fleet_in_force(repository, head, rendered_tip_or_none)[0]
    except InputError as error:
        fleet = last_good_before(error, repository, head).fleet
    return publication_of(repository, fleet), fleet


def _refs_of_publication(repository: Repository, publication: Publication, fleet: Fleet) -> FleetRefs:
    current = branch_of_head(repository)
    remote = remote_of_branch(repository, current)
    return FleetRefs(
        source=f"refs/remotes/{remote}/{current}" if remote and current else "",
        rendered=publication.ref(fleet.rendered_branch),
        status=publication.ref(fleet.status_branch),
        name=fleet.name,
    )


def _error_of_nothing_rendered(repository: Repository) -> ReconcileError:
    """Return the error for a fleet of which nothing is rendered; where nobody ever fetched that, it says so."""
    publication, fleet = _published(repository)
    try:
        publication.known_tip(fleet.rendered_branch)
    except GitError as error:
        return error
    return publication.nothing_rendered(fleet.rendered_branch)


def _source_not_rendered(repository: Repository, rendered: str, text: str) -> str:
    """Return the commit of the source that a text names, where what is rendered was not made with it; else nothing."""
    if text.startswith("-"):
        raise NoSuchRevision(f"{text!r} is not a revision", hint="name a branch, a tag, a commit or a time")
    try:
        commit = repository.resolve(text)
    except (GitError, UnknownName) as error:
        raise NoSuchRevision(
            f"{text!r} is no time, and no commit or branch that is here", hint=f"ask for {FORMS}"
        ) from error
    if repository.commit_info(commit).trailer(SOURCE):
        return ""
    source = _source_of_rendered(repository, rendered)
    return "" if source and repository.is_ancestor(commit, source) else commit


def _source_of_rendered(repository: Repository, rendered: str | None) -> str:
    """Return the source of a rendered commit; empty where that is not in this clone."""
    source = next(iter(repository.commit_info(rendered).trailer(SOURCE)), "") if rendered else ""
    try:
        return repository.resolve(source) if source else ""
    except GitError:
        return ""


def _instant_of_time(branches: KnownBranches, at: datetime, text: str) -> FleetInstant:
    """Return the commits that had been made by a time."""
    made = [each for each in branches.passes if each.at <= at]
    if made:
        return _instant(made[-1].commit.id, branches, at)
    first = branches.passes[0].at if branches.passes else None
    since = f"the first rendered commit that is here is of {instant_text(first)}" if first else "nothing is rendered"
    hint = "git fetch --unshallow" if branches.is_cut_off else ""
    raise UnknownName(f"nothing that is here tells of {text}: {since}", hint=hint)


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
        return _instant(commit, branches, newest)
    return _instant(commit, branches, following[0].at)


def _instant(rendered: str, branches: KnownBranches, at: datetime) -> FleetInstant:
    """Return a rendered commit with the newest record of members that was made by a time."""
    looks = [each.commit.id for each in branches.looks if each.at <= at]
    return FleetInstant(source="", rendered=rendered, status=looks[-1] if looks else None, now=at.timestamp())
