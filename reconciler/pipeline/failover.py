"""Failover in a pass: what leaves clusters by itself, what stays there meanwhile, and when that changes by itself.

1. clusters get the taints that follow from their conditions (``taints``);
2. tasks of earlier passes end, NoExecute taints and failing workloads evict (``render.failover.workload``);
3. all is scheduled; an eviction without another cluster that fits is taken back, and scheduling is done once more.

Without ``now`` nothing of this happens: what is there stays as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reconciler.source.desired import Desired
from render.binding import Binding, Condition, GracefulEvictionTask
from render.cluster import Cluster, Taint
from render.failover.application import FailoverGates, toleration_seconds
from render.failover.eviction import Leaving
from render.failover.purge import directly_purged
from render.failover.taint_eviction import NO_EXECUTE, TaintedBinding
from render.failover.tasks import HEALTHY
from render.failover.workload import (
    FailoverRules,
    WorkloadHealth,
    after_failures,
    after_taints,
    after_tasks,
    stamped,
)
from render.fleet import Fleet, NoExecuteEviction
from render.layout import object_path
from render.model import ObjectRef
from render.timing import Flip, after, earliest, parse_instant

from .health import ObservedHealth
from .schedules import Schedule, has_no_place
from .taints import TaintedClusters, Taints, tainted_clusters

EVICTED = "Evicted"
BLOCKED = "EvictionBlocked"
_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverInputs:
    """The inputs of failover: the time of the pass (None: it takes no part), health, and the recorded taints."""

    now: datetime | None = None
    health: ObservedHealth = field(default_factory=ObservedHealth)
    taints: Taints = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedOver:
    """The bindings of a pass after failover, and what it did.

    ``left`` are the clusters that workloads leave in this pass, ``ended`` those whose task ended. ``is_timed``: it
    asked for the time. ``flip`` is when the same facts give another outcome. ``waits`` has that
    of each object. ``notes`` are for people.
    """

    bindings: tuple[Binding, ...]
    left: Mapping[ObjectRef, tuple[str, ...]] = field(default_factory=dict)
    ended: Mapping[ObjectRef, tuple[str, ...]] = field(default_factory=dict)
    is_timed: bool = False
    flip: Flip | None = None
    waits: Mapping[ObjectRef, Flip] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def removed_paths(self) -> Mapping[str, frozenset[tuple[str, ...]]]:
        """The paths below the folder of each cluster that may be gone because of these rules."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for ref, clusters in (*self._left_directly(), *self.ended.items()):
            for cluster in clusters:
                found.setdefault(cluster, set()).add(tuple(object_path(ref)))
        return {cluster: frozenset(paths) for cluster, paths in found.items()}

    def _left_directly(self) -> Iterator[tuple[ObjectRef, tuple[str, ...]]]:
        """Yield what leaves clusters in this pass without staying there for a while."""
        for binding in self.bindings if self.left else ():
            names = self.left.get(binding.ref, ())
            if found := tuple(sorted(directly_purged(binding.eviction_tasks).intersection(names))):
                yield binding.ref, found


def with_taints(clusters: tuple[Cluster, ...], desired: Desired, inputs: FailoverInputs) -> TaintedClusters:
    """Return the clusters with the taints that time and conditions give them, where the fleet asks for that."""
    if inputs.now is None or not desired.fleet.feature_gates.failover:
        return TaintedClusters(clusters=clusters)
    return tainted_clusters(clusters, desired.taint_policies, inputs.health, inputs.taints, inputs.now)


def failed_over(
    bindings: Sequence[Binding], tainted: TaintedClusters, fleet: Fleet, inputs: FailoverInputs
) -> FailedOver:
    """Return the bindings before they are scheduled, without the clusters that they leave by themselves."""
    if inputs.now is None:
        return FailedOver(bindings=tuple(map(_without_note, bindings)))
    round_ = _Round(tainted, fleet, inputs, inputs.now, _begun_since(bindings, inputs.now))
    done = tuple(round_.passed(binding) for binding in bindings)
    is_timed = bool(tainted.recorded or round_.flips or round_.left or round_.ended) or any(
        binding.eviction_tasks for binding in bindings
    )
    return FailedOver(
        bindings=done,
        left=round_.left,
        ended=round_.ended,
        is_timed=is_timed,
        flip=earliest(round_.flips),
        waits=round_.waits,
        notes=tuple(round_.notes),
    )


def scheduled(
    before: Sequence[Binding], done: FailedOver, schedule: Callable[[Sequence[Binding]], Schedule], fleet: Fleet
) -> tuple[FailedOver, Schedule]:
    """Schedule bindings; what cannot go elsewhere stays where it was, if the fleet keeps last copies."""
    result = schedule(done.bindings)
    while fleet.failover.guard.keeps_last_copy:
        blocked = {ref for ref in done.left if has_no_place(result, ref)}
        if not blocked:
            break
        original = {binding.ref: binding for binding in before if binding.ref in blocked}
        bindings = tuple(
            _blocked(original[each.ref], done.left[each.ref]) if each.ref in blocked else each for each in done.bindings
        )
        left = {ref: at for ref, at in done.left.items() if ref not in blocked}
        waits = {ref: flip for ref, flip in done.waits.items() if ref not in blocked}
        done = replace(done, bindings=bindings, left=left, waits=waits)
        result = schedule(done.bindings)
    return done, result


def with_stamps(bindings: Iterable[Binding], now: datetime | None) -> Iterator[Binding]:
    """Yield bindings whose tasks of this pass have its time."""
    for binding in bindings:
        if now is None or all(task.creation_timestamp for task in binding.eviction_tasks):
            yield binding
        else:
            yield replace(binding, eviction_tasks=stamped(binding.eviction_tasks, now))


def _blocked(binding: Binding, clusters: Iterable[str]) -> Binding:
    message = f"stays in {', '.join(clusters)}: no other cluster takes it"
    note = Condition(type=EVICTED, status="False", reason=BLOCKED, message=message, clusters=tuple(clusters))
    return replace(_without_note(binding), conditions=(*_without_note(binding).conditions, note))


def _without_note(binding: Binding) -> Binding:
    if not any(each.type == EVICTED for each in binding.conditions):
        return binding
    return replace(binding, conditions=tuple(each for each in binding.conditions if each.type != EVICTED))


def _begun_since(bindings: Iterable[Binding], now: datetime) -> list[datetime]:
    """Return when the evictions of the last minute began."""
    times = (parse_instant(task.creation_timestamp) for each in bindings for task in each.eviction_tasks)
    return sorted(time for time in times if time is not None and time > after(now, -_MINUTE))


class _Round:
    """One round of the rules over all bindings of a pass, and what came of it."""

    def __init__(
        self, tainted: TaintedClusters, fleet: Fleet, inputs: FailoverInputs, now: datetime, begun: list[datetime]
    ) -> None:
        self._settings, self._health, self._now, self._begun = fleet.failover, inputs.health, now, begun
        gates = fleet.feature_gates
        self._rules = FailoverRules(
            evicts_by_taint=gates.failover,
            gates=FailoverGates(
                graceful_eviction=gates.graceful_eviction,
                stateful_failover_injection=gates.stateful_failover_injection,
            ),
            purge_mode=fleet.failover.purge_mode,
            grace_seconds=fleet.failover.grace_seconds,
        )
        self._by_policy = {name: set(found) for name, found in tainted.by_policy.items()}
        self._taints = _evicting(tainted.clusters) if gates.failover else {}
        self._is_blind = self._is_mass_failure([cluster.name for cluster in tainted.clusters])
        self.left: dict[ObjectRef, tuple[str, ...]] = {}
        self.ended: dict[ObjectRef, tuple[str, ...]] = {}
        self.flips: list[Flip] = []
        self.waits: dict[ObjectRef, Flip] = {}
        self.notes: list[str] = []
        if self._is_blind and self._taints:
            self.notes.append("so many clusters are not ready at once that taints evict nothing")

    def passed(self, binding: Binding) -> Binding:
        """Return one binding after the rules."""
        known = len(self.flips)
        after_all = self._after_all(_without_note(binding))
        if found := earliest(self.flips[known:]):
            self.waits[binding.ref] = found
        return after_all

    def _after_all(self, binding: Binding) -> Binding:
        health = self._health.of(binding.ref)
        state = Leaving(binding.targets, binding.eviction_tasks)
        state = self._after_tasks(binding, state, health)
        state = self._after_taints(binding, state, health)
        state = self._after_failures(binding, state, health)
        if state == Leaving(binding.targets, binding.eviction_tasks):
            return binding
        gone = {target.name for target in state.targets}
        self.flips += self._ends(binding.ref, state.tasks)
        if left := tuple(target.name for target in binding.targets if target.name not in gone):
            self.left[binding.ref] = left
        return replace(binding, targets=state.targets, eviction_tasks=state.tasks)

    def _ends(self, ref: ObjectRef, tasks: Sequence[GracefulEvictionTask]) -> Iterator[Flip]:
        """Yield when tasks that begin now end at the latest."""
        for task in tasks:
            seconds = task.grace_period_seconds
            if task.suppress_deletion is None and not task.creation_timestamp:
                grace = self._rules.grace_seconds if seconds is None else seconds
                yield Flip(after(self._now, grace + 1), f"{ref.name} ends in {task.from_cluster}")

    def _after_tasks(self, binding: Binding, state: Leaving, health: WorkloadHealth) -> Leaving:
        if not state.tasks:
            return state
        done = after_tasks(state, health, self._now, self._rules)
        if done.ended and self._keeps(state, health):
            return state
        if done.ended:
            self.ended[binding.ref] = done.ended
        if done.due is not None and done.due >= self._now:
            names = ", ".join(task.from_cluster for task in done.tasks if task.suppress_deletion is None)
            self.flips.append(Flip(after(done.due, 1), f"{binding.ref.name} ends in {names}"))
        return replace(state, tasks=done.tasks)

    def _keeps(self, state: Leaving, health: WorkloadHealth) -> bool:
        """Say whether tasks go on because no healthy copy is known to replace what is left."""
        if not self._settings.guard.keeps_last_copy or not health.reported:
            return False
        names = set(state.target_names)
        return not any(item.health == HEALTHY and item.cluster in names for item in health.reported)

    def _after_taints(self, binding: Binding, state: Leaving, health: WorkloadHealth) -> Leaving:
        taints = {name: found for name in state.target_names if (found := self._taints_for(binding, name))}
        if not taints or self._is_blind:
            return state
        if (wait := self._wait()) is not None:
            self.flips.append(Flip(wait, f"{binding.ref.name} may leave {', '.join(taints)}"))
            return state
        tainted = TaintedBinding(
            state=state,
            failover=binding.failover,
            reported=health.reported,
            purge_mode=self._rules.purge_mode,
            is_state_preserved=self._rules.gates.stateful_failover_injection,
        )
        done = after_taints(tainted, binding, taints, self._now)
        self._begun += [self._now] * (len(state.targets) - len(done.state.targets))
        self.notes += (f"{binding.ref}: {error}" for error in done.errors.values())
        if done.flip:
            self.flips.append(done.flip)
        return done.state

    def _after_failures(self, binding: Binding, state: Leaving, health: WorkloadHealth) -> Leaving:
        done = after_failures(state, binding, health, self._now, self._rules)
        if done.error:
            self.notes.append(f"{binding.ref}: {done.error}")
        for cluster, since in done.timers.items():
            seconds = toleration_seconds((binding.failover or {})["application"])
            self.flips.append(Flip(after(since, seconds + 1), f"{binding.ref.name} leaves {cluster}"))
        return done.state

    def _taints_for(self, binding: Binding, cluster: str) -> tuple[Taint, ...]:
        """Return the taints of a cluster that may evict a binding: the source's, and policies' where it asks for it."""
        found = self._taints.get(cluster, ())
        if self._settings.no_execute_eviction is NoExecuteEviction.ALWAYS or "cluster" in (binding.failover or {}):
            return found
        return tuple(taint for taint in found if taint not in self._by_policy.get(cluster, ()))

    def _wait(self) -> datetime | None:
        """Return until when no more evictions may begin; None where one may begin now."""
        limit = self._settings.guard.per_minute
        if limit is None or len(self._begun) < limit:
            return None
        return after(sorted(self._begun)[-limit], _MINUTE)

    def _is_mass_failure(self, names: Sequence[str]) -> bool:
        failed = [name for name in names if self._is_failed(name)]
        return self._settings.guard.is_mass_failure(len(failed), len(names))

    def _is_failed(self, name: str) -> bool:
        return any(each.type == "Ready" and each.status != "True" for each in self._health.conditions.get(name, ()))


def _evicting(clusters: Iterable[Cluster]) -> dict[str, tuple[Taint, ...]]:
    found = ((each.name, tuple(t for t in each.taints if t.effect == NO_EXECUTE)) for each in clusters)
    return {name: taints for name, taints in found if taints}
