"""The progress of an apply: a line that is replaced on a terminal, and elsewhere a line now and then.

An apply that is over within moments has its table, and nothing else. One that takes longer says what is done, and what
is under way.
"""

from collections.abc import Callable, Sequence

from reconciler.console.log import Log
from reconciler.deliver.results import ClusterReport
from render.words import counted_noun, first_few

SECONDS_BETWEEN_LINES = 5.0
"""So long an apply takes before it says anything, and as long it is quiet after each line, where no terminal is."""


class ApplyProgress:
    """The clusters of an apply: those under way, and those that are done and were not told of yet."""

    def __init__(self, log: Log, clusters: Sequence[str], clock: Callable[[], float]) -> None:
        self._log = log
        self._total = len(clusters)
        self._clock = clock
        self._begun = self._last_line_at = clock()
        self._done = 0
        self._reports_since_last_line: list[ClusterReport] = []
        self._log.progress(f"applying to {counted_noun(self._total, 'cluster')}: {first_few(sorted(clusters))}")

    def add(self, report: ClusterReport) -> None:
        """Count a cluster that is done."""
        self._done += 1
        self._reports_since_last_line.append(report)
        if self._log.is_terminal:  # in words they take time for each that is not told of yet
            self._log.progress(self._line(()))

    def tell(self, under_way: Sequence[str]) -> None:
        """Tell what is done and what is under way: at once on a terminal, elsewhere if there was no line for long."""
        if self._log.is_terminal:
            self._log.progress(self._line(under_way))
        elif self._clock() - self._last_line_at >= SECONDS_BETWEEN_LINES:
            self._log.info(self._line(under_way))
            self._last_line_at = self._clock()
            self._reports_since_last_line.clear()

    def _line(self, under_way: Sequence[str]) -> str:
        states: dict[str, list[str]] = {}
        for each in self._reports_since_last_line:
            states.setdefault(each.state, []).append(each.cluster)
        parts = [f"{self._done} of {counted_noun(self._total, 'cluster')} done"]
        parts += [f"under way: {first_few(under_way)}"] if under_way else []
        parts += [f"{state}: {first_few(names)}" for state, names in states.items()]
        return f"{self._clock() - self._begun:.0f} s: {'; '.join(parts)}"
