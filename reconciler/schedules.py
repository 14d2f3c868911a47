"""Scheduling a pass: every binding decided in one total order, and what was decided written into it."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.fleet import Fleet
from render.model import ObjectRef
from render.scheduling.batch import Surroundings, explanations, schedule_all
from render.scheduling.decisions import Decision, recorded
from render.scheduling.explanation import Explanation
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The bindings of a pass with their decisions, and all they were taken from, for who asks why."""

    bindings: tuple[Binding, ...]
    decisions: Mapping[ObjectRef, Decision]
    scheduler: Scheduler
    undecided: Sequence[Binding] = ()
    surroundings: Surroundings | None = None

    def explanations(self, among: Container[ObjectRef]) -> Iterator[Explanation]:
        """Take the decisions once more and explain those about some objects."""
        state = self.scheduler.state
        return explanations(self.undecided, state.index, state.options, self.surroundings, among=among)


def schedule_bindings(
    bindings: Sequence[Binding], index: ClusterIndex, fleet: Fleet, surroundings: Surroundings | None = None
) -> Schedule:
    """Decide every binding in the order of ``render.scheduling.batch``."""
    batch = schedule_all(bindings, index, SchedulingOptions.of(fleet), surroundings)
    decisions = {decision.ref: decision for decision in batch.decisions}
    done = tuple(recorded(binding, decisions[binding.ref]) for binding in bindings)
    return Schedule(
        bindings=done,
        decisions=decisions,
        scheduler=batch.scheduler,
        undecided=bindings,
        surroundings=surroundings,
    )
