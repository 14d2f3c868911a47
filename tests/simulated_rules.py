"""The rules that a simulated fleet is judged by: what failover promises, seen from outside.

1. A commit has a cause: something new was seen, or the time has come that the pass before named. It changes an answer.
2. No workload leaves a cluster twice for one outage, which is one taint there.
3. The replicas that are asked for are planned, and stand in clusters that answer: for longer than the rules take, none
   are missing, unless the pass says why (half of the fleet is silent, nothing else takes the workload).

Time is the time of the passes, which stands still while a clock that was set back catches up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from render.binding import Binding, GracefulEvictionTask
from render.documents import parse_documents
from render.model import ObjectRef
from render.timing import instant_text, parse_instant

from .build import Repository
from .simulation import BEGIN, MINUTE, TOLERATED, Simulation, Tick

# A tick to see that a cluster is silent, one until it counts as not ready, and one to notice that the time is over.
MOST_MISSING = timedelta(seconds=TOLERATED + 3 * 60)
BLIND = "so many clusters are not ready at once"


@dataclass
class Judge:
    """The memory of one who watches a simulation; ``faults`` say in words which rules were broken."""

    simulation: Simulation
    faults: list[str] = field(default_factory=list)
    evictions: int = 0
    commits: int = 0
    _now: datetime = BEGIN
    _decided: datetime = BEGIN
    _clock: timedelta = timedelta()
    _left: set[tuple[str, str, str]] = field(default_factory=set)
    _missing: dict[ObjectRef, tuple[timedelta, tuple[str, ...]]] = field(default_factory=dict)
    _before: Mapping[ObjectRef, Binding] = field(default_factory=dict)

    def see(self, tick: Tick) -> None:
        """Judge one minute."""
        if tick.is_committed or not tick.minute:
            self._decided = self._recorded(tick.after)
        now = max(self._decided, tick.wall)
        # A clock that is set forward does not let more of the tolerated time go by than really did.
        self._clock += min(max(now - self._now, timedelta()), MINUTE)
        self._now = now
        if tick.is_committed:
            self.commits += 1
            self._judge_commit(tick)
        for ref, binding in tick.bindings.items():
            self._judge_replicas(tick, ref, binding)
        self._before = tick.bindings

    @property
    def _repository(self) -> Repository:
        return self.simulation.repository

    def _recorded(self, commit: str) -> datetime:
        """Return the time of the last commit that was decided by time."""
        if not commit:
            return BEGIN
        said = self._repository.git("log", "-1", "--format=%(trailers:key=Argosy-Now,valueonly)", commit).strip()
        return parse_instant(said) or BEGIN

    def _judge_commit(self, tick: Tick) -> None:
        is_due = bool(tick.next_flip) and instant_text(tick.wall) >= tick.next_flip
        if tick.minute and tick.before and not tick.is_news and not is_due:
            self._say(tick, "a commit without a cause")
        if tick.before:
            paths = self._repository.git("diff", "--name-only", tick.before, tick.after).splitlines()
            if not any(not path.startswith(("facts/", "README")) for path in paths):
                self._say(tick, f"a commit that changes no answer: {paths}")
        since = self._taints(tick.after)
        for ref, binding in tick.bindings.items():
            known = {task.from_cluster for task in self._tasks(ref)}
            for task in binding.eviction_tasks:
                if task.producer != "TaintManager" or task.from_cluster in known:
                    continue
                self.evictions += 1
                outage = str(ref), task.from_cluster, since.get(task.from_cluster, "")
                if outage in self._left:
                    self._say(tick, f"{ref} leaves {task.from_cluster} twice for one outage")
                self._left.add(outage)

    def _tasks(self, ref: ObjectRef) -> tuple[GracefulEvictionTask, ...]:
        return self._before[ref].eviction_tasks if ref in self._before else ()

    def _taints(self, commit: str) -> dict[str, str]:
        """Return since when clusters are tainted, as a commit records it."""
        text = self._repository.git("show", f"{commit}:taints.yaml", check=False)
        if not text:
            return {}
        clusters = parse_documents(text.encode())[0].value["clusters"]
        return {name: taint["timeAdded"] for name, found in clusters.items() for taint in found}

    def _judge_replicas(self, tick: Tick, ref: ObjectRef, binding: Binding) -> None:
        planned = sum(target.replicas for target in binding.targets)
        wanted = 12 if binding.placement and binding.placement.spread_constraints else 6
        if planned != wanted:
            self._say(tick, f"{ref} is planned with {planned} replicas")
        down = tuple(t.name for t in binding.targets if self.simulation.weather.is_down(t.name, tick.minute))
        is_excused = BLIND in tick.said or any(each.type == "Evicted" for each in binding.conditions)
        since, before = self._missing.get(ref, (self._clock, ()))
        if not down or is_excused:
            self._missing.pop(ref, None)
        elif set(down) & set(before) and self._clock - since > MOST_MISSING:
            self._say(tick, f"{ref} is missing what is in {', '.join(down)} for {self._clock - since}")
        else:
            self._missing[ref] = (since if set(down) & set(before) else self._clock, down)

    def _say(self, tick: Tick, fault: str) -> None:
        self.faults.append(f"minute {tick.minute} ({instant_text(tick.wall)}): {fault}")
