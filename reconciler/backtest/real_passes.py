"""The passes that really ran, told from those that did not.

If a pass over the source as it was, from what really stood, would have changed something, and no rendered commit tells
of it, then no pass ran at that time, or somebody refused it.
"""

from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import Source, read_previous
from reconciler.console.log import Log
from reconciler.pipeline.previous import Previous
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import run_pass
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from render.binding import Binding
from render.timing import LAST

from .past import RecordedInstant


class RealPasses(Struct, kw_only=True):
    """Passes from what really stood; that one changed nothing is remembered until its answer flips."""

    repository: Repository
    log: Log
    _parsed: dict[bytes, Binding] = field(default_factory=dict)
    _previous: tuple[str, Previous] | None = None
    _unchanged: tuple[str, str, datetime] | None = None

    def would_change(self, last: RecordedInstant, source: Source, given: RenderInputs, observation: str) -> bool:
        """Say whether a pass by an observation would have changed what stood since the last rendered commit."""
        commit = last.commit.id
        if self._is_known_to_stay(commit, observation, given.now):
            return False
        outcome = run_pass(self.repository, source, self._read_previous(commit), given, self.log)
        if outcome.is_changed:
            return True
        self._unchanged = commit, observation, outcome.flip.at if outcome.flip is not None else LAST
        return False

    def _is_known_to_stay(self, commit: str, observation: str, now: datetime | None) -> bool:
        known = self._unchanged
        return known is not None and known[:2] == (commit, observation) and now is not None and now < known[2]

    def _read_previous(self, commit: str) -> Previous:
        if self._previous is None or self._previous[0] != commit:
            previous = read_previous(self.repository, commit, self._parsed)
            self._previous = commit, replace(previous, version=engine_version())
        return self._previous[1]
