"""The words of waiting: what is not there yet, whenever that changes, and who would bring it about if nothing does."""

from collections.abc import Iterable, Iterator, Sequence

from reconciler.console.log import Log
from reconciler.record.cluster_files import ObjectReason
from render.cluster import is_applied_by_own_agent
from render.timing import epoch_text
from render.words import first_few

from .branches import RecordedFleet
from .staleness import SILENT_AGENT_HINT, time_since_in_words

STILL_SECONDS = 20.0
"""After so long without any change of the branches it is said who would renew them, and again after twice as long."""
_NOT_RENDERED = "NotRendered"


class WaitingLines:
    """The lines for somebody who waits: on a terminal one that is replaced, elsewhere one for whatever is new."""

    def __init__(self, log: Log, wish: str, *, begun: float, timeout: float) -> None:
        self._log = log
        self._wish = wish
        self._begun = begun
        self._timeout = timeout
        self._last_missing: tuple[str, ...] = ()
        self._changed_at = begun
        self._seconds_to_standstill = STILL_SECONDS

    @property
    def has_said_standstill(self) -> bool:
        """Say whether somebody was told who would renew what is missing, since it was last new."""
        return self._seconds_to_standstill > STILL_SECONDS

    def tell(self, missing: Sequence[str], standstill: str, now: float) -> None:
        """Tell what is missing, if that is new, and ``standstill``, if it has not been new for a while."""
        first = missing[0].partition("\n")[0]
        words = first if len(missing) == 1 else f"{first} (and {len(missing) - 1} more)"
        if tuple(missing) != self._last_missing:
            self._last_missing, self._changed_at, self._seconds_to_standstill = tuple(missing), now, STILL_SECONDS
            if not self._log.is_terminal:
                self._log.info(f"waiting for {self._wish}: {words}")
        if standstill and now - self._changed_at >= self._seconds_to_standstill:
            self._log.warning(f"nothing has changed for {now - self._changed_at:g} s; {standstill}")
            self._seconds_to_standstill *= 2
        self._log.progress(f"{now - self._begun:.0f} of {self._timeout:g} s, {len(missing)} to go: {words}")


def line_about_standstill(branches: RecordedFleet, missing: Iterable[ObjectReason]) -> str:
    """Return who renews what is missing, and what to run, with the time of what was recorded last; one line and a hint.

    Nothing is asked of clusters, so that what happens there is known only once a pass, or an agent, has recorded it.
    """
    waits = tuple(missing)
    recorded = ""
    if branches.recorded.files:
        at = epoch_text(branches.status_time)
        recorded = f" (the newest record is of {at}, {time_since_in_words(at, branches.now)} ago)"
    if any(each.reason == _NOT_RENDERED for each in waits):
        return (
            f"a pass renders the newest source{recorded}"
            "\n  hint: argosy reconcile, or see whether 'argosy run' or your pipeline still runs it"
        )
    return f"{' and '.join(_those_who_record(branches, waits))}{recorded}\n  hint: {_hint_to_renew(branches, waits)}"


def _those_who_record(branches: RecordedFleet, waits: Sequence[ObjectReason]) -> Iterator[str]:
    """Yield who applies to the clusters that are waited for, and records what is in them."""
    pulling, others = _clusters_by_way(branches, waits)
    if branches.fleet.source.desired.fleet.is_reported_by_tools:
        yield "a pass reads what the tool that applies the folders did"
    elif others or not pulling:
        yield f"a pass applies to {first_few(others) if others else 'clusters'} and records what is there"
    if pulling:
        verb, whose = ("reports", "its own agent") if len(pulling) == 1 else ("report", "their own agents")
        yield f"{first_few(pulling)} {verb} by {whose}"


def _hint_to_renew(branches: RecordedFleet, waits: Sequence[ObjectReason]) -> str:
    pulling, others = _clusters_by_way(branches, waits)
    if pulling and not others:
        return SILENT_AGENT_HINT
    return "argosy reconcile, or see whether 'argosy run' or your pipeline still runs it"


def _clusters_by_way(branches: RecordedFleet, waits: Sequence[ObjectReason]) -> tuple[list[str], list[str]]:
    """Return the clusters that are waited for: those that pull, and the others."""
    names = sorted({each.cluster for each in waits if each.cluster in branches.fleet.members})
    pulling = [name for name in names if is_applied_by_own_agent(branches.fleet.members[name])]
    return pulling, [name for name in names if name not in pulling]
