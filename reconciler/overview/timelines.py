"""Timelines of what the status branch recorded: which commit a cluster had converged to when, and how an object was.

The branch is gone through once, from its tip back to a time. Files are read only where somebody asks for them.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TypeVar

from msgspec import Struct, field

from reconciler.backtest.past import RecordedInstant
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.pipeline.previous import StoredTrees
from reconciler.record.recorded_status import RecordedStatus
from reconciler.repository import Repository
from reconciler.repository.changing_commits import ListingLimits, commits_changing_files
from reconciler.survey.states import SurveyedState, state_of_work
from render.errors import GitError
from render.model import mapping_or_empty

_PATTERNS = ("clusters/*", "inventory/*", "works/**")
MOST_FILES = 50_000
"""The most files of one commit that are looked at one by one."""

_File = TypeVar("_File", ClusterRecord, Inventory)
State = tuple[datetime, bytes | None]
"""The time from which a file had a content, and that content's id (None: there was no such file)."""


class RecordedTimelines(Struct, frozen=True, kw_only=True, dict=True):
    """The records of members between a time and a commit of the status branch, which is read as ``recorded``.

    ``is_whole`` is false where one record changed too much to be looked at file by file.
    """

    repository: Repository
    recorded: RecordedStatus
    begin: datetime
    changes: dict[str, list[State]]
    before: dict[str, bytes | None]
    tip: bytes
    is_whole: bool = True
    _contents: dict[bytes, bytes] = field(default_factory=dict)
    _converged: dict[tuple[bytes | None, bytes | None], str] = field(default_factory=dict)
    _states: dict[bytes, SurveyedState] = field(default_factory=dict)

    def paths_of_course(self, cluster: str, files: Collection[str]) -> list[str]:
        """Return the files that tell of some objects in a cluster: of each, and of the cluster itself."""
        return [ClusterRecord.at(cluster), Inventory.at(cluster), *(f"works/{cluster}/{below}" for below in files)]

    def load(self, paths: Collection[str]) -> None:
        """Read all that files had as contents, in one go: one by one, thousands of files take seconds."""
        wanted = [path for path in paths if path not in self.changes]
        self._trees_of_tip.load_below([self.tip], (tuple(path.split("/")) for path in wanted))
        ids = {self._id_at_tip(path) for path in wanted}
        for path in paths:
            ids |= {self.before.get(path), *(id_ for _, id_ in self.changes.get(path, ()))}
        missing = {id_ for id_ in ids if id_ is not None and id_ not in self._contents}
        self._contents.update(self.repository.read_blobs(missing))

    def states(self, path: str) -> list[State]:
        """Return the states of a file, the oldest first; the first one is that at the beginning."""
        known = self.changes.get(path)
        if known is None:
            return [(self.begin, self._id_at_tip(path))]
        return [(self.begin, self.before[path]), *known]

    def converged(self, cluster: str) -> Iterator[tuple[datetime, str]]:
        """Yield since when a cluster had converged to which rendered commit ("": to none)."""
        paths = ClusterRecord.at(cluster), Inventory.at(cluster)
        merged = _merged_states(*(self.states(path) for path in paths))
        return ((at, self._converged_in(cluster, *ids)) for at, *ids in merged)

    def states_of_object(self, cluster: str, below: str) -> list[tuple[datetime, SurveyedState]]:
        """Return since when an object was in which state in a cluster."""
        path = f"works/{cluster}/{below}"
        return [(at, self._state_in_file(path, id_)) for at, id_ in self.states(path)]

    def _converged_in(self, cluster: str, record: bytes | None, inventory: bytes | None) -> str:
        if (record, inventory) not in self._converged:
            self._converged[record, inventory] = self._read_converged(cluster, record, inventory)
        return self._converged[record, inventory]

    def _read_converged(self, cluster: str, record: bytes | None, inventory: bytes | None) -> str:
        tool_record = self._file(ClusterRecord, cluster, record)
        if tool_record is not None and tool_record.deployer:
            return tool_record.applied if tool_record.outcome == ApplyOutcome.CONVERGED else ""
        held = self._file(Inventory, cluster, inventory)
        return held.converged if held is not None else ""

    def _file(self, kind: type[_File], cluster: str, id_: bytes | None) -> _File | None:
        if id_ is None:
            return None
        try:
            return self.recorded.file_of_content(kind, kind.at(cluster), self._content(id_))
        except GitError:  # a damaged record tells nothing
            return None

    def _state_in_file(self, path: str, id_: bytes | None) -> SurveyedState:
        if id_ is None:
            return SurveyedState.UNKNOWN
        if id_ not in self._states:
            try:
                work = self.recorded.object_of_content(path, self._content(id_))
            except GitError:  # a damaged record tells nothing
                work = {}
            self._states[id_] = state_of_work(mapping_or_empty(work)).state
        return self._states[id_]

    def _content(self, id_: bytes) -> bytes:
        if id_ not in self._contents:
            self._contents[id_] = self.repository.read_blobs([id_])[id_]
        return self._contents[id_]

    @cached_property
    def _trees_of_tip(self) -> StoredTrees:
        return StoredTrees(self.repository.read_trees)

    def _id_at_tip(self, path: str) -> bytes | None:
        """Return the id of a file at the tip of the branch."""
        found = self._trees_of_tip.entry(self.tip, tuple(path.split("/")))
        return found.id if found is not None else None


def timelines_since(
    repository: Repository, tip: str, recorded: RecordedStatus, looks: Sequence[RecordedInstant], begin: datetime
) -> RecordedTimelines:
    """Return what the status branch recorded from a time on; ``recorded`` is its tip."""
    times = {each.commit.id: each.at for each in looks if each.at >= begin}
    changes: dict[str, list[State]] = {}
    before: dict[str, bytes | None] = {}
    is_whole = True
    for commit in commits_changing_files(repository, tip, _PATTERNS, ListingLimits(with_first=False, files=MOST_FILES)):
        at = times.get(commit.id)
        if at is None:
            break
        is_whole = is_whole and bool(commit.files)
        for file in commit.files:
            changes.setdefault(file.path, []).insert(0, (at, file.after))
            before[file.path] = file.before
    first = min(times.values(), default=begin)
    return RecordedTimelines(
        repository=repository,
        recorded=recorded,
        begin=first,
        changes=changes,
        before=before,
        tip=repository.commit_info(tip).tree,
        is_whole=is_whole,
    )


def _merged_states(one: list[State], other: list[State]) -> Iterator[tuple[datetime, bytes | None, bytes | None]]:
    """Yield the states of two files together, whenever one of them changed."""
    for at in sorted({each[0] for each in (*one, *other)}):
        yield at, _state_at(one, at), _state_at(other, at)


def _state_at(states: list[State], at: datetime) -> bytes | None:
    return next((id_ for since, id_ in reversed(states) if since <= at), None)
