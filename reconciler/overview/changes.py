"""Changes of the source as they were rendered: what each touched, by which commits it went out, and what took it back.

A change is a rendered commit that was made from another source than the one before it, with the commits by which its
rollout went on. The first rendered commit of a fleet is none: before it there was nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import takewhile

from msgspec import Struct, field

from reconciler.backtest.past import RecordedInstant
from reconciler.branches.reading import read_previous
from reconciler.branches.source_commits import FleetFolder
from reconciler.pipeline.rollouts.state_files import ROLLOUTS_FOLDER, has_rollout_states, rollout_states_of_tree
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.changing_commits import ChangingCommit, ListingLimits, commits_changing_files
from render.errors import GitError
from render.expressions import lazy_expression
from render.rollouts.state import RolloutReason, RolloutState

from .timelines import MOST_FILES

_CLUSTERS = "clusters"
_PATTERNS = (f"{_CLUSTERS}/**", f"{ROLLOUTS_FOLDER}/**")
_REVERTS = lazy_expression(r"^This reverts commit ([0-9a-f]{40,64})\b", re.MULTILINE)
_ROLLED_BACK = lazy_expression(r"^Roll .*\bback to ([0-9a-f]{12})$", re.MULTILINE)
_FAILED = frozenset(
    {
        RolloutReason.CLUSTERS_FAILED,
        RolloutReason.TOO_MANY_FAILURES,
        RolloutReason.ROLLING_BACK,
        RolloutReason.ROLLED_BACK,
        RolloutReason.ABORTED_BY_CONTROL,
    }
)
_MOST_BROUGHT = 200
WITHIN = timedelta(hours=1)
"""The time after a change in which what goes wrong counts as its failure."""


class RenderedChange(Struct, frozen=True, kw_only=True):
    """A change: its pass, the source commit and who wrote it, and what it touched.

    ``later`` are the rendered commits from it on, ``own`` those of them up to the next change.
    ``files`` are the objects by cluster, as paths below its folder, each with whether the cluster has it afterwards.
    ``count`` is how many files it changed; where these are too many to be looked at one by one, ``files`` has none.
    ``went_back`` is the later source commit that took it back within an hour ("": none did), ``rollout`` says how its
    rollout failed ("": it has none, or did not). ``is_going_out``: its rollout is not over.
    """

    step: RecordedInstant
    later: frozenset[str]
    own: frozenset[str]
    source: CommitInfo
    files: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    count: int = 0
    went_back: str = ""
    rollout: str = ""
    is_going_out: bool = False

    @property
    def clusters(self) -> int:
        """The number of clusters that it touched."""
        return len(self.files)

    @property
    def objects(self) -> int:
        """The number of objects that it touched."""
        return len({below for found in self.files.values() for below in found})


class ChangeReader(Struct, kw_only=True, dict=True):
    """The passes of a fleet, the oldest first, and what each of them changed."""

    repository: Repository
    passes: Sequence[RecordedInstant]
    _commits: dict[str, ChangingCommit] = field(default_factory=dict)
    _iterator: Iterator[ChangingCommit] | None = None
    _read_back_to: int = 1 << 62
    _places: dict[str, int] = field(default_factory=dict)
    _states: dict[int, tuple[RolloutState, ...]] = field(default_factory=dict)
    _folders: dict[int, bytes | None] = field(default_factory=dict)

    @property
    def positions(self) -> list[int]:
        """The positions of the passes that rendered another source than the one before."""
        return [number for number in range(1, len(self.passes)) if self.is_of_new_source(number)]

    def is_of_new_source(self, number: int) -> bool:
        """Say whether a pass rendered another source than the one before; that outside the fleet's folder is none."""
        if not number:
            return True
        own, before = self.passes[number].source, self.passes[number - 1].source
        return own != before and self._folder_of_fleet.differs(before, own)

    def source_of_pass(self, number: int) -> CommitInfo:
        """Return the newest source commit of a pass that changes the fleet's folder; else the one that it rendered."""
        source = self.repository.commit_info(self.passes[number].source)
        if not number:
            return source
        return self._folder_of_fleet.newest_change(self.passes[number - 1].source, source, _MOST_BROUGHT)

    @cached_property
    def _folder_of_fleet(self) -> FleetFolder:
        return FleetFolder(self.repository, self.passes[-1].source)

    def change(self, number: int) -> RenderedChange:
        """Return the change that a pass began."""
        step, spans = self.passes[number], self._commits_of_change(number)
        files, count = self._files_of_commits(spans.commits)
        return RenderedChange(
            step=step,
            later=frozenset(each.commit.id for each in self.passes[number:]),
            own=frozenset(each.commit.id for each in self._passes_until_next_change(number)),
            source=self.source_of_pass(number),
            files=files,
            count=count,
            went_back=self._commit_that_took_back(number),
            rollout=spans.failed,
            is_going_out=spans.is_going_out,
        )

    def _passes_until_next_change(self, number: int) -> Iterator[RecordedInstant]:
        yield self.passes[number]
        later = takewhile(lambda each: not self.is_of_new_source(each), range(number + 1, len(self.passes)))
        yield from (self.passes[each] for each in later)

    def _commits_of_change(self, number: int) -> "_Span":
        """Return the passes by which a change went out: the first, and those that went on with its rollout."""
        source, found = self.passes[number].source, [number]
        for later in range(number, len(self.passes)):
            states = [each for each in self._rollouts(later) if source in each.commits and not each.is_completed]
            if not states:
                return _Span(commits=found)
            if later > number and self._is_step_of_rollout(later):
                found.append(later)
            failed = next((each for each in states if each.reason in _FAILED), None)
            if failed is not None:
                return _Span(commits=found, failed=f"{failed.name}: {failed.phase} ({failed.reason})")
        return _Span(commits=found, is_going_out=True)

    def _rollouts(self, number: int) -> tuple[RolloutState, ...]:
        if number not in self._states:
            tree = read_previous(self.repository, self.passes[number].commit.id).tree
            self._states[number] = tuple(rollout_states_of_tree(tree).values()) if has_rollout_states(tree) else ()
        return self._states[number]

    def _is_step_of_rollout(self, number: int) -> bool:
        changed = self._changing_commit(number)
        return changed is not None and any(each.path.startswith(f"{ROLLOUTS_FOLDER}/") for each in changed.files)

    def files_of_pass(self, number: int) -> tuple[dict[str, dict[str, bool]], int]:
        """Return the files of clusters that a pass changed, by cluster, and how many they are."""
        return self._files_of_commits([number])

    def _files_of_commits(self, numbers: Iterable[int]) -> tuple[dict[str, dict[str, bool]], int]:
        files: dict[str, dict[str, bool]] = {}
        total, is_listed = 0, True
        for number in numbers:
            changed = self._changing_commit(number)
            if changed is None:
                continue
            is_listed = is_listed and bool(changed.files)
            found = [each for each in changed.files if each.path.startswith(f"{_CLUSTERS}/")]
            total += len(found) or (0 if changed.files else changed.total)
            for each in found:
                _, cluster, below = each.path.split("/", 2)
                files.setdefault(cluster, {})[below] = each.after is not None
        return (files if is_listed else {}), total

    def _changing_commit(self, number: int) -> ChangingCommit | None:
        """Return what a pass changed; None where that is nothing of what is looked for."""
        if self._iterator is None:
            tip, limits = self.passes[-1].commit.id, ListingLimits(with_first=False, files=MOST_FILES)
            self._iterator = commits_changing_files(self.repository, tip, _PATTERNS, limits)
        if not self._places:
            self._places = {each.commit.id: place for place, each in enumerate(self.passes)}
        while self._read_back_to > number:
            commit = next(self._iterator, None)
            if commit is None:
                self._read_back_to = -1
                break
            self._commits[commit.id] = commit
            self._read_back_to = self._places.get(commit.id, self._read_back_to)
        return self._commits.get(self.passes[number].commit.id)

    def _commit_that_took_back(self, number: int) -> str:
        """Return the source of the first pass within an hour that took a change back; empty where none did."""
        end, former = self.passes[number].at + WITHIN, {each.commit.id[:12] for each in self.passes[:number]}
        own = self._sources_brought(number)
        for later in range(number + 1, len(self.passes)):
            step = self.passes[later]
            if step.at > end:
                break
            if not self.is_of_new_source(later):
                continue
            message = self.repository.commit_info(step.source).message
            reverted = set(_REVERTS.findall(message)) & own
            if reverted or set(_ROLLED_BACK.findall(message)) & former or self._is_as_before(later, number):
                return step.source
        return ""

    def _sources_brought(self, number: int) -> frozenset[str]:
        """Return the source commits that a change brought, as far as they are here."""
        old, new = self.passes[number - 1].source, self.passes[number].source
        try:
            between = self.repository.commits_between(old, new, _MOST_BROUGHT)
        except GitError:  # the source was rewound, or a shallow clone lacks them
            return frozenset({new})
        return frozenset({new, *(each.id for each in between)})

    def _is_as_before(self, later: int, number: int) -> bool:
        """Say whether a later pass left in clusters what was there before a change, which changed something there."""
        was, is_ = self._folder(number - 1), self._folder(later)
        return was == is_ and was != self._folder(number)

    def _folder(self, number: int) -> bytes | None:
        if number not in self._folders:
            root = self.passes[number].commit.tree
            entries = self.repository.read_trees([root])[root]
            self._folders[number] = next((each.id for each in entries if each.text == _CLUSTERS), None)
        return self._folders[number]


class _Span(Struct, frozen=True, kw_only=True):
    """The passes by which a change went out; ``failed`` says how its rollout failed."""

    commits: list[int]
    failed: str = ""
    is_going_out: bool = False


class RecentChange(Struct, frozen=True, kw_only=True):
    """A rendered commit of late: its time, its source, who wrote that, and how much of clusters it touched.

    ``author`` and ``subject`` are those of the newest commit of that source which changes the fleet's folder.

    ``is_of_new_source`` is false where passes went on with the same source: by facts, time, or a wave.
    """

    commit: str
    at: datetime
    source: str
    author: str
    subject: str
    is_of_new_source: bool
    is_first: bool = False
    clusters: int = 0
    objects: int = 0


def recent_changes(reader: ChangeReader, since: datetime) -> Iterator[RecentChange]:
    """Yield the rendered commits since a time, the newest first."""
    for number in range(len(reader.passes) - 1, -1, -1):
        step = reader.passes[number]
        if step.at < since:
            return
        files, count = reader.files_of_pass(number) if number else ({}, 0)
        source = reader.source_of_pass(number)
        objects = {below for found in files.values() for below in found}
        yield RecentChange(
            commit=step.commit.id,
            at=step.at,
            source=step.source,
            author=source.author,
            subject=source.subject,
            is_of_new_source=reader.is_of_new_source(number),
            is_first=not step.commit.parents,
            clusters=len(files),
            objects=len(objects) if files else count,
        )
