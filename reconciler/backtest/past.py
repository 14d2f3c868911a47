"""The record of a fleet's past: its rendered commits, the commits of the status branch between them, and their times.

A rendered commit says when its pass was only where a rule asked for the time. Of any other it is known that it came
after the one before and after its source commit, and, where it goes by facts that were recorded then, after those.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct, field

from reconciler.repository import CommitInfo, Repository
from reconciler.repository.trailers import NOW, PREVIOUS, SOURCE, VERSION, commit_written_by_argosy, engine_version
from render.errors import ConfigError, GitError
from render.timing import LAST, parse_instant

from .inputs import InputsReader

_FARTHEST = 1_000_000


class RecordedInstant(Struct, frozen=True, kw_only=True):
    """A commit that recorded something, and the time of what it recorded.

    ``now`` is the time that its pass was told (None: no rule asked, or it is of the status branch). ``source`` is the
    commit that a rendered one was made from ("": it is of the status branch).
    """

    commit: CommitInfo
    at: datetime
    now: datetime | None = None
    source: str = ""

    @property
    def is_rendered(self) -> bool:
        """Say whether it is a rendered commit."""
        return bool(self.source)

    @property
    def engine(self) -> str:
        """The version of the engine that made a rendered commit."""
        return "".join(self.commit.trailer(VERSION)[:1])


class RecordedPast(Struct, frozen=True, kw_only=True):
    """The recorded instants of a time, the oldest first, after a rendered commit (None: they begin with the first one).

    ``begin`` and ``end`` are that time. Instants before it tell what was known when it began, and nothing more.
    ``is_cut_off``: earlier ones would belong to it, and are not in this clone; ``missing_source`` is the source commit
    for want of which ("": it is for want of rendered commits). ``status_commits`` counts all commits of the status
    branch in that time, of which many record nothing that a pass goes by.
    """

    begin: datetime
    end: datetime
    base: RecordedInstant | None
    instants: tuple[RecordedInstant, ...]
    is_cut_off: bool = False
    missing_source: str = ""
    status_commits: int = 0

    @property
    def rendered(self) -> tuple[RecordedInstant, ...]:
        """The rendered commits among the instants."""
        return tuple(each for each in self.instants if each.is_rendered)

    @property
    def other_engines(self) -> Mapping[str, tuple[str, ...]]:
        """The rendered commits that other versions of the engine made, by these."""
        found: dict[str, list[str]] = {}
        for each in self.rendered:
            if each.engine != engine_version():
                found.setdefault(each.engine, []).append(each.commit.id)
        return {version: tuple(commits) for version, commits in sorted(found.items())}


class AskedTime(Struct, frozen=True, kw_only=True):
    """The time that is asked about: from a time or a commit on, up to a time (None: to the end)."""

    since: datetime | str
    until: datetime | None = None


def past_of_time(repository: Repository, rendered: str, status: str | None, asked: AskedTime) -> RecordedPast:
    """Return what is recorded of a time; ``rendered`` and ``status`` are the tips of the two branches."""
    looks = tuple(looks_recorded(repository, status))
    chain = chain_of_rendered_commits(repository, rendered)
    passes = tuple(passes_with_times(chain.commits, looks, InputsReader(repository)))
    first = _position_of_first_pass(passes, asked.since)
    is_cut_off = chain.is_cut_off and first == 0
    if is_cut_off:  # without the state before it the oldest one cannot be made again
        first = 1
    base, chosen = passes[first - 1] if first else None, passes[first:]
    if asked.until is not None:
        chosen = tuple(each for each in chosen if each.at <= asked.until)
    since = base.at if base else chosen[0].at if chosen else LAST
    seen = [each for each in looks if since <= each.at <= (asked.until or LAST)]
    instants = tuple(_merged_by_time(chosen, _looks_that_differ(repository, seen)))
    begin = max(since, asked.since) if isinstance(asked.since, datetime) else since
    if not any(each.at >= begin for each in instants):
        raise ConfigError("nothing is recorded of that time", hint="--since takes an earlier time, or a commit")
    return RecordedPast(
        begin=begin,
        end=asked.until or instants[-1].at,
        base=base,
        instants=instants,
        is_cut_off=is_cut_off,
        missing_source=chain.missing_source if is_cut_off else "",
        status_commits=sum(1 for each in seen if each.at >= begin),
    )


class RenderedChain(NamedTuple):
    """Rendered commits, the oldest first; what is missing before them."""

    commits: list[CommitInfo]
    is_cut_off: bool
    missing_source: str = ""


def chain_of_rendered_commits(repository: Repository, tip: str, limit: int = _FARTHEST) -> RenderedChain:
    """Return the rendered commits whose sources are here, so many at most; the oldest may be without, to begin with."""
    known = {info.id: info for info in repository.history(tip, limit)}
    chain: list[CommitInfo] = []
    at: str | None = tip
    while at is not None and at in known:
        written = commit_written_by_argosy(repository, at) if len(known[at].parents) > 1 else known[at]
        if not written.trailer(SOURCE):
            return RenderedChain(chain[::-1], is_cut_off=True)
        chain.append(written)
        at = known[at].parents[0] if known[at].parents else None
    present = _commits_that_are_here(repository, {info.trailer(SOURCE)[0] for info in chain})
    # A commit without its source can be what the others begin with, and nothing more.
    missing = next((number for number, info in enumerate(chain) if info.trailer(SOURCE)[0] not in present), None)
    if missing is not None:
        return RenderedChain(chain[missing::-1], is_cut_off=True, missing_source=chain[missing].trailer(SOURCE)[0])
    return RenderedChain(chain[::-1], is_cut_off=bool(chain) and bool(chain[-1].trailer(PREVIOUS)))


def _commits_that_are_here(repository: Repository, commits: Iterable[str]) -> frozenset[str]:
    found = set()
    for commit in sorted(commits):
        try:
            found.add(repository.commit_info(commit).id)
        except GitError:
            continue
    return frozenset(found)


def looks_recorded(repository: Repository, tip: str | None, limit: int = _FARTHEST) -> Iterator[RecordedInstant]:
    """Yield the commits of the status branch, the oldest first, with times that never go back."""
    latest = None
    for info in reversed(repository.history(tip, limit) if tip else ()):
        at = datetime.fromtimestamp(info.time, UTC)
        latest = at if latest is None else max(at, latest)
        yield RecordedInstant(commit=info, at=latest)


def passes_with_times(
    chain: Sequence[CommitInfo], looks: Sequence[RecordedInstant], reader: InputsReader
) -> Iterator[RecordedInstant]:
    """Yield the rendered commits with the times that they tell, or else the earliest that they can be of."""
    before: CommitInfo | None = None
    latest: datetime | None = None
    nows = [_pass_time(info) for info in chain]
    latest_by = list(accumulate(reversed(nows), _earlier_of_two))[::-1]
    seen = _LooksByFacts(looks=looks, reader=reader)
    for number, info in enumerate(chain):
        now, at = nows[number], datetime.fromtimestamp(info.time, UTC)
        if now is not None:
            at = now
        elif before is not None and reader.facts_digest(info.tree) != reader.facts_digest(before.tree):
            at = max(at, seen.time_of_next_look_at(info.tree) or at)
        # The clocks of those who commit to a source may be wrong.
        at = _earlier_of_two(at, latest_by[number]) or at
        latest = at if latest is None else max(at, latest)
        yield RecordedInstant(commit=info, at=latest, now=now, source=info.trailer(SOURCE)[0])
        before = info


def _earlier_of_two(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two times, of which nobody may know either (None)."""
    return min((each for each in (one, other) if each is not None), default=None)


class _LooksByFacts(Struct):
    """The commits of the status branch by the facts that they recorded, each found once and in their order."""

    looks: Sequence[RecordedInstant]
    reader: InputsReader
    _positions: dict[bytes, list[int]] = field(default_factory=dict)
    _next: int = 0

    def time_of_next_look_at(self, rendered: bytes) -> datetime | None:
        """Return when the facts of a rendered tree were recorded first, after those that were asked for before."""
        if not self._positions:
            for number, each in enumerate(self.looks):
                self._positions.setdefault(self.reader.facts_digest(each.commit.tree), []).append(number)
        known = self._positions.get(self.reader.facts_digest(rendered), [])
        found = next(iter(known[bisect_left(known, self._next) :]), None)
        if found is None:
            return None
        self._next = found
        return self.looks[found].at


def _pass_time(info: CommitInfo) -> datetime | None:
    times = info.trailer(NOW)
    return parse_instant(times[0]) if times else None


def _position_of_first_pass(passes: Sequence[RecordedInstant], since: datetime | str) -> int:
    """Return the position of the first rendered commit of the time that is asked about; ConfigError if none is."""
    if isinstance(since, datetime):
        return next((number for number, each in enumerate(passes) if each.at >= since), len(passes))
    for number, each in enumerate(passes):
        if since in {each.commit.id, each.source}:
            return number + 1 if since == each.commit.id else number
    raise ConfigError(
        f"no rendered commit that is here is {since[:12]}, or was made from it",
        hint="--since takes a time, a number of days such as 90d, or a rendered or source commit",
    )


def _looks_that_differ(repository: Repository, looks: Sequence[RecordedInstant]) -> Iterator[RecordedInstant]:
    """Yield the commits of the status branch that recorded other facts or other states of clusters than before."""
    roots = repository.read_trees({each.commit.tree for each in looks})
    before = None
    for each in looks:
        found = tuple(sorted((e.text, e.id) for e in roots[each.commit.tree] if e.text in {"facts", "clusters"}))
        if found != before:
            yield each
        before = found


def _merged_by_time(passes: Sequence[RecordedInstant], looks: Iterable[RecordedInstant]) -> Iterator[RecordedInstant]:
    """Yield both in the order of their times; what was recorded at the time of a pass was recorded before it."""
    waiting = iter(looks)
    look = next(waiting, None)
    for each in passes:
        while look is not None and look.at <= each.at:
            yield look
            look = next(waiting, None)
        yield each
    while look is not None:
        yield look
        look = next(waiting, None)
