"""Sources, previous commits and outcomes that a process has read already, for when it renders again.

Two sides of a diff, or a file just saved, share most of them. Everything is kept by content - parses by blob id,
commits by theirs - so nothing here can be out of date.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from reconciler.branches.reading import Source, read_previous, read_source
from reconciler.pipeline.previous import Previous
from reconciler.repository import Repository
from reconciler.source.manifests import ParsedBlob
from render.settings.fleet import Fleet

if TYPE_CHECKING:  # a validation remembers parses alone and need not load the pipeline
    from .outcome import Outcome

OutcomeKey = tuple[str, str, str]
"""The source commit, the previous commit and the commit of the facts."""


class SourceMemory(Struct):
    """Parsed blobs, the previous commits read, and the last outcome of a commit."""

    parsed: dict[bytes, ParsedBlob] = field(default_factory=dict)
    _previous: dict[str, Previous] = field(default_factory=dict)
    _outcomes: dict[OutcomeKey, "Outcome"] = field(default_factory=dict)

    def source(
        self,
        repository: Repository,
        commit: str,
        judged_by: Fleet | None = None,
        contents: Mapping[str, bytes | None] | None = None,
    ) -> Source:
        """Return the source of a commit, or of the work tree for ""; all else as for ``read_source``."""
        return read_source(repository, commit, self.parsed, judged_by=judged_by, contents=contents)

    def previous(self, repository: Repository, commit: str) -> Previous:
        """Return a rendered commit, the last one asked for without reading it again."""
        if commit not in self._previous:
            self._previous = {commit: read_previous(repository, commit)}
        return self._previous[commit]

    def outcome(self, key: OutcomeKey) -> "Outcome | None":
        """Return the outcome remembered for these commits."""
        return self._outcomes.get(key)

    def remember_outcome(self, key: OutcomeKey, outcome: "Outcome") -> None:
        """Remember one outcome and forget the one before."""
        self._outcomes = {key: outcome}
