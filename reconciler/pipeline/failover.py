"""Failover in a pass: what is evicted from clusters, what stays there meanwhile, and when that changes by itself.

1. clusters get the taints that follow from their conditions (``taints``);
2. tasks of earlier passes end, NoExecute taints and failing workloads evict (``render.failover.workload``);
3. all is scheduled; an eviction without another cluster that fits is taken back, and scheduling is done once more.

Without ``now`` nothing of this happens: what is there stays as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth
from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster import Cluster, ClusterCondition, Taint, loses_last_copies
from render.failover.application import FailoverGates, toleration_seconds
from render.failover.eviction import Leaving, clusters_purged_directly
from render.failover.health import READY, is_reporting_though_not_ready
from render.failover.moves import stays_in_place_until
from render.failover.recovery import binding_with_comeback
from render.failover.taint_eviction import NO_EXECUTE, TaintedBinding, time_of_taint_eviction
from render.failover.tasks import HEALTHY
from render.failover.workload import (
    FailoverRules,
    WorkloadHealth,
    pass_of_failover_by_policy,
    pass_of_taint_eviction,
    tasks_that_stay,
)
from render.layout import object_path
from render.model import ObjectRef
from render.settings.failover import NoExecuteEviction
from render.settings.fleet import Fleet
from render.timing import Flip, earliest_flip, instant_after, instant_text, parse_instant

from .eviction_notes import REPORTS, UNSEEN, with_blocked_note, with_pause_note, with_sparing_note, without_note
from .schedules import Schedule, has_no_place, refs_all_unproven, refs_gaining_unproven
from .sight import sight_of
from .taints import TaintedClusters, Taints, tainted_clusters
from .under_way import UnderWay, comeback_of, last_move_of_binding, under_way_by_current_policy

_MINUTE = 60


class FailoverInputs(Struct, frozen=True, kw_only=True):
    """The inputs of failover: the time of the pass (None: it takes no part), health, and the recorded taints."""

    now: datetime | None = None
    health: ObservedHealth = field(default_factory=ObservedHealth)
    taints: Taints = field(default_factory=dict)


class FailedOver(Struct, frozen=True, kw_only=True):
    """The bindings of a pass after failover, and what it did.

    ``left`` are the clusters that workloads leave in this pass, ``ended`` those whose task ended. ``is_timed``: it
    asked for the time. ``waits`` has for each object when the same facts give it another outcome. ``restless`` are the
    objects whose outcome also depends on what others do, or could not be had. ``notes`` are for people. ``followers``
    are the paths of what leaves clusters because what requires it does.
    """

    bindings: tuple[Binding, ...]
    left: Mapping[ObjectRef, tuple[str, ...]] = field(default_factory=dict)
    ended: Mapping[ObjectRef, tuple[str, ...]] = field(default_factory=dict)
    is_timed: bool = False
    waits: Mapping[ObjectRef, Flip] = field(default_factory=dict)
    restless: frozenset[ObjectRef] = frozenset()
    notes: tuple[str, ...] = ()
    followers: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)

    @property
    def flip(self) -> Flip | None:
        """The next instant at which the same facts give another outcome."""
        return earliest_flip(self.waits.values())

    def with_flips_of_others(self, others: Mapping[ObjectRef, Flip]) -> "FailedOver":
        """Return this with the waits of the objects that were not looked at."""
        return replace(self, waits={**others, **self.waits}, is_timed=self.is_timed or bool(others))

    @property
    def removed_paths(self) -> Mapping[str, frozenset[tuple[str, ...]]]:
        """The paths below the folder of each cluster that may be gone because of these rules."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for ref, clusters in self.clusters_left_by_object:
            for cluster in clusters:
                found.setdefault(cluster, set()).add(tuple(object_path(ref)))
        for cluster, paths in self.followers.items():
            found.setdefault(cluster, set()).update(paths)
        return {cluster: frozenset(paths) for cluster, paths in found.items()}

    @property
    def clusters_left_by_object(self) -> tuple[tuple[ObjectRef, tuple[str, ...]], ...]:
        """The objects that are gone from clusters with this pass, each with these clusters."""
        return (*self._left_directly(), *self.ended.items())

    def _left_directly(self) -> Iterator[tuple[ObjectRef, tuple[str, ...]]]:
        """Yield what leaves clusters in this pass without staying there for a while."""
        for binding in self.bindings if self.left else ():
            names = self.left.get(binding.ref, ())
            if found := tuple(sorted(clusters_purged_directly(binding.eviction_tasks).intersection(names))):
                yield binding.ref, found


def clusters_with_taints(clusters: tuple[Cluster, ...], desired: Desired, inputs: FailoverInputs) -> TaintedClusters:
    """Return the clusters with the taints that time and conditions give them, where the fleet asks for that."""
    if inputs.now is None or not desired.fleet.feature_gates.failover:
        return TaintedClusters(clusters=clusters)
    return tainted_clusters(clusters, desired.taint_policies, inputs.health, inputs.taints, inputs.now)


def bindings_after_failover(
    bindings: Sequence[Binding],
    tainted: TaintedClusters,
    fleet: Fleet,
    inputs: FailoverInputs,
    staying: Mapping[ObjectRef, tuple[str, ...]] | None = None,
) -> FailedOver:
    """Return the bindings before they are scheduled, without the clusters that they leave by themselves.

    ``staying`` are those that no other cluster takes, with the clusters that they would leave.
    """
    if inputs.now is None:
        return FailedOver(bindings=tuple(map(without_note, bindings)))
    round_ = _Round(tainted, fleet, inputs, inputs.now, _evictions_begun_since(bindings, inputs.now))
    done = tuple(round_.fail_over_binding(binding, (staying or {}).get(binding.ref, ())) for binding in bindings)
    is_timed = bool(tainted.recorded or round_.waits or round_.left or round_.ended or staying) or any(
        binding.eviction_tasks for binding in bindings
    )
    return FailedOver(
        bindings=done,
        left=round_.left,
        ended=round_.ended,
        is_timed=is_timed,
        waits=round_.waits,
        restless=frozenset(round_.restless),
        notes=tuple(round_.notes),
    )


def blocked_evictions(done: FailedOver, schedule: Schedule, fleet: Fleet) -> Mapping[ObjectRef, tuple[str, ...]]:
    """Return what would leave clusters though no other takes it, with these clusters, if the fleet keeps last copies.

    It has to stay, and does not count among the evictions that may begin within a minute: all is decided again.
    """
    if not fleet.failover.guard.keeps_last_copy or not done.left:
        return {}
    gaining = refs_gaining_unproven(done.bindings, schedule, done.left)
    blind = refs_all_unproven(done.bindings, schedule, done.left)
    return {ref: left for ref, left in done.left.items() if ref in gaining | blind or has_no_place(schedule, ref)}


def _evictions_begun_since(bindings: Iterable[Binding], now: datetime) -> list[datetime]:
    """Return when the evictions of the last minute began."""
    times = (parse_instant(task.creation_timestamp) for each in bindings for task in each.eviction_tasks)
    return sorted(time for time in times if time is not None and time > instant_after(now, -_MINUTE))


class _Round:
    """One round of the rules over all bindings of a pass, and its outcome."""

    def __init__(
        self, tainted: TaintedClusters, fleet: Fleet, inputs: FailoverInputs, now: datetime, begun: list[datetime]
    ) -> None:
        self._settings, self._health, self._now, self._begun = fleet.failover, inputs.health, now, begun
        gates = fleet.feature_gates
        self._rules = FailoverRules(
            gates=FailoverGates(
                graceful_eviction=gates.graceful_eviction,
                stateful_failover_injection=gates.stateful_failover_injection,
            ),
            purge_mode=fleet.failover.purge_mode,
            grace_seconds=fleet.failover.grace_seconds,
        )
        self._by_policy = {name: set(found) for name, found in tainted.by_policy.items()}
        self._taints = _evicting_taints(tainted.clusters) if gates.failover else {}
        self._sight = sight_of(tainted.clusters, fleet, inputs.health)
        heard = {
            name: found for name, found in inputs.health.conditions.items() if is_reporting_though_not_ready(found)
        }
        self._spared = {**self._sight.unseen, **{name: _words_of_heard(name, found) for name, found in heard.items()}}
        self._is_blind = self._is_mass_failure([cluster.name for cluster in tainted.clusters])
        self.left: dict[ObjectRef, tuple[str, ...]] = {}
        self.ended: dict[ObjectRef, tuple[str, ...]] = {}
        self.waits: dict[ObjectRef, Flip] = {}
        self.restless: set[ObjectRef] = set()
        self.notes: list[str] = []
        self._flips: list[Flip] = []
        self._paused: tuple[tuple[str, ...], str] = ((), "")
        self._clusters = tainted.clusters
        self._losing = frozenset(each.name for each in tainted.clusters if loses_last_copies(each))
        if self._is_blind and self._taints:
            self.notes.append("so many clusters are not ready at once that taints evict nothing")

    def fail_over_binding(self, binding: Binding, staying: tuple[str, ...]) -> Binding:
        """Return one binding after the rules; one that is ``staying`` leaves nothing, and says so."""
        self._flips.clear()
        plain = without_note(binding)
        self._paused = ((), "")
        done = self._staying(plain, staying) if staying else self._after_all(plain)
        if not staying and (spared_there := self._spared_clusters(done)):
            done = with_sparing_note(
                done, spared_there, UNSEEN if spared_there.keys() & self._sight.unseen.keys() else REPORTS
            )
        elif not staying and self._paused[0]:
            done = with_pause_note(done, *self._paused)
        if found := earliest_flip(flip for flip in self._flips if flip.at > self._now):
            self.waits[binding.ref] = found
        return done

    def _after_all(self, binding: Binding) -> Binding:
        if not self._may_be_left(binding):  # before its health is read, which may be that of a thousand clusters
            return binding
        before = Leaving(binding.targets, binding.eviction_tasks)
        going = self._under_way(binding, before)
        back = comeback_of(going.state, binding, self._seen_health(binding.ref), self._settings, self._now)
        state = self._after_evictions(binding, self._after_tasks(binding, back.state), is_paced=True)
        if state == before:
            return binding
        if back.clusters:
            returned = tuple(sorted(set(before.target_names) - set(back.state.target_names)))
            self._note_ended_tasks(binding.ref, returned)
            binding = binding_with_comeback(binding, back.clusters, returned, self._clusters, self._now)
        if left := tuple(name for name in back.state.target_names if name not in state.target_names):
            self.left[binding.ref] = left
            tasks = [task for task in state.tasks if not task.creation_timestamp and task.from_cluster in left]
            moved = last_move_of_binding(binding, tasks, self._seen_health(binding.ref), self._taints, self._now)
            binding = replace(binding, moved=moved) if tasks else binding
        unproven = self._sight.unproven
        return replace(binding, targets=state.targets, eviction_tasks=state.tasks, unproven=unproven)

    def _may_be_left(self, binding: Binding) -> bool:
        """Say whether a rule may have a binding leave a cluster, or it is leaving one."""
        return bool(binding.eviction_tasks or "application" in (binding.failover or {})) or (
            bool(self._taints) and any(target.name in self._taints for target in binding.targets)
        )

    def _under_way(self, binding: Binding, state: Leaving) -> UnderWay:
        """Return what is under way as the policy asks for it by now."""
        going = under_way_by_current_policy(binding, state, self._seen_health(binding.ref), self._settings, self._now)
        if going.purged:
            self._note_ended_tasks(binding.ref, going.purged)
        self._flips += going.flips
        return going

    def _note_ended_tasks(self, ref: ObjectRef, clusters: tuple[str, ...]) -> None:
        self.ended[ref] = tuple(dict.fromkeys((*self.ended.get(ref, ()), *clusters)))

    def _staying(self, binding: Binding, clusters: tuple[str, ...]) -> Binding:
        going = self._under_way(binding, Leaving(binding.targets, binding.eviction_tasks))
        state = self._after_tasks(binding, going.state)
        begun = len(self._begun)
        self._after_evictions(binding, state, is_paced=False)
        del self._begun[begun:]
        others = self._sight.unproven.difference(clusters)
        return with_blocked_note(replace(binding, eviction_tasks=state.tasks), clusters, others)

    def _after_evictions(self, binding: Binding, state: Leaving, *, is_paced: bool) -> Leaving:
        state = self._after_taints(binding, state, is_paced=is_paced)
        return self._after_failures(binding, state)

    def _after_tasks(self, binding: Binding, state: Leaving) -> Leaving:
        if not state.tasks:
            return state
        health = self._seen_health(binding.ref)
        done = tasks_that_stay(state, health, self._now, self._rules)
        if done.ended and not self._losing.issuperset(done.ended) and self._is_task_kept(state, health):
            return state
        if done.ended:
            self._note_ended_tasks(binding.ref, done.ended)
        if done.due is not None and done.due >= self._now:
            names = ", ".join(task.from_cluster for task in done.tasks if task.suppress_deletion is None)
            self._flips.append(Flip(instant_after(done.due, 1), f"{binding.ref.name} ends in {names}"))
        return replace(state, tasks=done.tasks)

    def _is_task_kept(self, state: Leaving, health: WorkloadHealth) -> bool:
        """Say whether tasks go on because no healthy copy is known to replace what is left."""
        if not self._settings.guard.keeps_last_copy or not (health.reported or self._sight.is_any_observed):
            return False
        names = set(state.target_names)
        return not any(item.health == HEALTHY and item.cluster in names for item in health.reported)

    def _after_taints(self, binding: Binding, state: Leaving, *, is_paced: bool) -> Leaving:
        if not self._taints or self._is_blind:
            return state
        evicting = (name for name in state.target_names if name in self._taints)
        taints = {name: found for name in evicting if (found := self._taints_for(binding, name))}
        if not taints:
            return state
        if is_paced and (wait := self._next_eviction_time()) is not None:
            self._flips.append(Flip(wait, f"{binding.ref.name} may leave {', '.join(taints)}"))
            self.restless.add(binding.ref)
            return state
        tainted = TaintedBinding(
            state=state,
            failover=binding.failover,
            reported=self._seen_health(binding.ref).reported,
            purge_mode=self._rules.purge_mode,
            is_state_preserved=self._rules.gates.stateful_failover_injection,
        )
        done = pass_of_taint_eviction(tainted, binding, taints, self._now)
        self._begun += [self._now] * (len(state.targets) - len(done.state.targets))
        self._note_state_errors(binding.ref, done.errors.values())
        if done.flip:
            self._flips.append(done.flip)
        return done.state

    def _after_failures(self, binding: Binding, state: Leaving) -> Leaving:
        done = pass_of_failover_by_policy(state, binding, self._seen_health(binding.ref), self._now, self._rules)
        self._note_state_errors(binding.ref, [done.error] if done.error else [])
        if not done.left and not done.timers:
            return done.state
        seconds = toleration_seconds((binding.failover or {})["application"])
        until = stays_in_place_until(binding.moved, seconds) if self._settings.guard.has_pauses else None
        left = tuple(name for name in done.left if name in state.target_names)
        if left and until is not None and until > self._now:
            self._paused = left, instant_text(until)
            self._flips.append(Flip(until, f"{binding.ref.name} leaves {', '.join(left)}"))
            done = replace(done, state=state)
        for cluster, since in done.timers.items():
            self._flips.append(Flip(instant_after(since, seconds + 1), f"{binding.ref.name} leaves {cluster}"))
        return done.state

    def _seen_health(self, ref: ObjectRef) -> WorkloadHealth:
        return self._sight.of(self._health.of(ref))

    def _note_state_errors(self, ref: ObjectRef, errors: Iterable[str]) -> None:
        """Note why a binding could not leave a cluster: its state could not be read there."""
        for error in errors:
            self.notes.append(f"{ref}: {error}")
            self.restless.add(ref)

    def _spared_clusters(self, binding: Binding) -> dict[str, str]:
        """Return the clusters that a binding would leave for their conditions, but which may be well, and why."""
        if not self._spared:
            return {}
        placement = binding.applied_placement
        tolerations = placement.cluster_tolerations if placement else ()
        spared_there = {}
        # While so many fail that taints evict nothing, that is said of the fleet.
        spared = self._spared.keys() - (self._sight.unseen.keys() if self._is_blind else frozenset())
        for name in sorted({target.name for target in binding.targets} & spared):
            taints = self._taints_asked_for(binding, name)
            if (
                taints
                and taints != self._taints_for(binding, name)
                and time_of_taint_eviction(taints, tolerations) is not None
            ):
                spared_there[name] = self._spared[name]
        return spared_there

    def _taints_for(self, binding: Binding, cluster: str) -> tuple[Taint, ...]:
        """Return the taints that evict a binding from a cluster; of one that may be well, the source's alone."""
        found = self._taints_asked_for(binding, cluster)
        if cluster not in self._spared:
            return found
        return tuple(taint for taint in found if taint not in self._by_policy.get(cluster, ()))

    def _taints_asked_for(self, binding: Binding, cluster: str) -> tuple[Taint, ...]:
        """Return the taints of a cluster that may evict a binding: the source's, and policies' where it asks for it."""
        found = self._taints.get(cluster, ())
        if self._settings.no_execute_eviction is NoExecuteEviction.ALWAYS or "cluster" in (binding.failover or {}):
            return found
        return tuple(taint for taint in found if taint not in self._by_policy.get(cluster, ()))

    def _next_eviction_time(self) -> datetime | None:
        """Return until when no more evictions may begin; None where one may begin now."""
        limit = self._settings.guard.per_minute
        if limit is None or len(self._begun) < limit:
            return None
        return instant_after(sorted(self._begun)[-limit], _MINUTE)

    def _is_mass_failure(self, names: Sequence[str]) -> bool:
        failed = [name for name in names if self._is_failed(name)]
        return self._settings.guard.is_mass_failure(len(failed), len(names))

    def _is_failed(self, name: str) -> bool:
        found = self._health.conditions.get(name, ())
        return name in self._sight.unseen or any(each.type == READY and each.status != "True" for each in found)


def _words_of_heard(name: str, conditions: Iterable[ClusterCondition]) -> str:
    since = next(each.since for each in conditions if each.type == READY)
    return f"{name}, which has not answered us since {since}: its own agent still reports"


def _evicting_taints(clusters: Iterable[Cluster]) -> dict[str, tuple[Taint, ...]]:
    found = ((each.name, tuple(t for t in each.taints if t.effect == NO_EXECUTE)) for each in clusters)
    return {name: taints for name, taints in found if taints}
