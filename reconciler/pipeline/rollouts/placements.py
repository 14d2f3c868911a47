"""Changed placements that go out wave by wave, where a rollout policy asks for it, or wait for the end of a freeze.

1. A placement has changed where a policy says otherwise than in the commit before how an object is placed. What is
   decided anew without that (by scaling, failover, rebalancing) is given at once, as always.
2. While it goes out, each cluster has what it had, or what is decided for it once it stands at the version with the new
   placement; nothing becomes less there until all that become more are through. What is left is left last.
3. Where the calendar of argosy.yaml closes a cluster that is to have more or less, this waits until it is open; then
   it goes on by the waves of the policy that selects the object, and at once where none does.
4. What all clusters together have that are not failing is never less than what is decided: what misses after scaling,
   or because a cluster fails, goes to those that have the object, in proportion to what they have.

The targets by versions beside the newest stand in the binding (``ObjectRollout.splits``).
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import plain_data
from render.binding import Binding, Moving
from render.cluster_index import ClusterIndex
from render.documents import emit
from render.failover.taint_eviction import NO_EXECUTE
from render.model import ObjectRef, TargetCluster, Template
from render.object_rollout import ABSENT, ObjectRollout, SplitOfVersion
from render.placement import Placement
from render.rescheduling.rollbacks import ROLLBACK
from render.rollouts.policy import GradualAction, RolloutPolicy
from render.rollouts.selection import RolloutIndex, only_scales
from render.rollouts.state import RolloutPhase, RolloutReason, RolloutState, RolloutStep, times_of_phase
from render.words import first_few

from .calendar_of_pass import CalendarOfPass

_DIGEST_LENGTH = 16

Replicas = Mapping[str, int]
"""The replicas of an object by cluster; 0 for one that is there without any."""


def asks_for_placements(policy: RolloutPolicy | None) -> bool:
    """Say whether changed placements of what a policy selects go out wave by wave."""
    return policy is not None and GradualAction.PLACEMENT in policy.also_for


def digest_of_placement(placement: Placement | None) -> str:
    """Return what names a placement, in the versions of objects that go out with it."""
    content = emit({"placement": plain_data(placement) if placement is not None else None})
    return hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]


class PlacementInRollout(Struct, frozen=True, kw_only=True):
    """The placement of an object that goes out wave by wave.

    ``decided`` are the targets that it ends with, ``given`` those that clusters have, ``splits`` those of versions in
    use that have another placement than the newest. ``failing`` are clusters that cannot be counted on. It begins in
    this pass where it ``is_new``. Without ``is_divided`` each cluster has all of the object.
    """

    decided: tuple[TargetCluster, ...]
    given: tuple[TargetCluster, ...]
    splits: Mapping[str, tuple[TargetCluster, ...]]
    failing: frozenset[str] = frozenset()
    is_divided: bool = False
    is_new: bool = False

    def targets_of_version(self, version: str, newest: str) -> tuple[TargetCluster, ...]:
        """Return the targets that an object has by a version of it."""
        return self.decided if version == newest else self.splits.get(version, self.decided)

    def names_that_gain(self, before: str, goal: str, newest: str) -> frozenset[str]:
        """Return the clusters that have more by one version than by another, or have the object only then."""
        had = _replicas(self.targets_of_version(before, newest))
        there = _replicas(self.targets_of_version(goal, newest)).items()
        return frozenset(name for name, number in there if number > had.get(name, -1))

    def of_unrecorded_version(self, version: str) -> "PlacementInRollout":
        """Return it where the version that clusters have was not recorded before, and is called so now."""
        return self.with_names_of_versions({_UNRECORDED: version})

    def with_names_of_versions(self, names: Mapping[str, str]) -> "PlacementInRollout":
        """Return it with other names of versions."""
        return replace(self, splits={names.get(version, version): each for version, each in self.splits.items()})

    def recorded_splits(self, rollout: ObjectRollout, newest: str) -> tuple[SplitOfVersion, ...]:
        """Return the targets of the versions that are in use after a step, beside the newest."""
        return tuple(
            SplitOfVersion(version=version, targets=self.splits[version])
            for version in sorted(rollout.versions - {newest})
            if version in self.splits
        )

    def binding_with(self, binding: Binding, targets: tuple[TargetCluster, ...]) -> Binding:
        """Return a binding with the targets that it is given, and what it ends with."""
        is_there = dict(_replicas(targets)) == dict(_replicas(self.decided))
        if is_there:
            return replace(binding, targets=self.decided, moving=None)
        return replace(binding, targets=targets, moving=Moving(asked=self.decided))

    def targets_after_step(self, step: "PlacementStep") -> tuple[TargetCluster, ...]:
        """Return the targets that clusters have after a step."""
        given, goal, back = _replicas(self.given), _replicas(step.goal), _replicas(step.completed)
        found: dict[str, int] = {}
        for name in sorted({*given, *goal, *back}):
            held = given.get(name) if name not in step.withdrawn else back.get(name)
            if name in step.there:
                held = goal.get(name) if step.is_freed or held is None else max(held, goal.get(name, held))
            if held is not None:
                found[name] = held
        return self._listed(self._with_missing_replicas(found))

    def _with_missing_replicas(self, found: Replicas) -> Replicas:
        """Return replicas that are as many together as what is decided, in clusters that can be counted on."""
        well = {name: number for name, number in found.items() if name not in self.failing}
        missing = sum(each.replicas for each in self.decided) - sum(well.values())
        if not self.is_divided or missing <= 0:
            return found
        if not any(well.values()):
            return {**found, **_replicas(self.decided)}
        return {**found, **replicas_in_proportion(well, sum(well.values()) + missing)}

    def _listed(self, found: Replicas) -> tuple[TargetCluster, ...]:
        """Return targets in the order of what is decided, with those that are left after them."""
        first = [each.name for each in self.decided if each.name in found]
        return tuple(TargetCluster(name, found[name]) for name in (*first, *sorted(found.keys() - {*first})))


class PlacementStep(Struct, frozen=True, kw_only=True):
    """A step of a placement: the clusters ``there`` are at the version with the targets ``goal``.

    Those that are ``withdrawn`` go back to the ``completed`` targets. ``is_freed``: all that get more are through.
    """

    goal: tuple[TargetCluster, ...]
    completed: tuple[TargetCluster, ...]
    there: Collection[str] = ()
    withdrawn: Collection[str] = ()
    is_freed: bool = False


def step_that_waits_for_gain(
    step: RolloutStep, before: RolloutState | None, names: Collection[str], now: datetime
) -> RolloutStep:
    """Return a step that would be the last one, but for clusters that are to have more, and of which nobody knows."""
    assert step.state is not None
    phase, reason = RolloutPhase.WAITING, RolloutReason.NOBODY_REACHABLE
    phase_since, reason_since = times_of_phase(before, phase, reason, now)
    state = replace(
        step.state,
        phase=phase,
        phase_since=phase_since,
        reason=reason,
        reason_since=reason_since,
        next_step=(
            f"waits for {first_few(sorted(names))} to be reached and come through the gate: until then no cluster gives"
            " up what it has"
        ),
    )
    return replace(step, state=state)


def step_that_names_clusters_left(step: RolloutStep, names: Collection[str]) -> RolloutStep:
    """Return a step that says which clusters a changed placement leaves when all others are through."""
    state = step.state
    if not names or state is None or state.phase not in {RolloutPhase.PROGRESSING, RolloutPhase.WAITING}:
        return step
    verb = "is" if len(names) == 1 else "are"
    then = f"{first_few(sorted(names))} {verb} left when all that gain are through"
    return replace(step, state=replace(state, next_step=f"{state.next_step}; {then}"))


_UNRECORDED = "unrecorded"
"""The version of an object of which none was recorded before a freeze holds its placement; no digest is this word."""


class PlacementStage(Struct, frozen=True, kw_only=True):
    """The stage before dependencies: objects whose placement goes out have all targets that they had or are to have.

    ``under_way`` are the names of rollouts that have begun. ``calendar`` is that of argosy.yaml.
    """

    before: Mapping[ObjectRef, Binding]
    policies: Sequence[RolloutPolicy]
    templates: Mapping[ObjectRef, Template]
    index: ClusterIndex
    under_way: Collection[str] = ()
    calendar: CalendarOfPass = field(default_factory=CalendarOfPass)

    def placements(self, bindings: Iterable[Binding]) -> Mapping[ObjectRef, PlacementInRollout]:
        """Return the placements that go out wave by wave, by their objects."""
        is_asked = any(map(asks_for_placements, self.policies))
        if not is_asked and not self.under_way and not self.calendar:
            return {}
        policies, found = RolloutIndex(self.policies), {}
        for binding in bindings:
            before = self.before.get(binding.ref)
            if before is None or binding.ref not in self.templates:
                continue
            if self._goes_out(binding, before, policies.policy_for_template):
                found[binding.ref] = self._placement(binding, before)
        return found

    def _goes_out(
        self,
        binding: Binding,
        before: Binding,
        policy_for_template: Callable[[Template], RolloutPolicy | None],
    ) -> bool:
        """Say whether the placement of an object has begun to go out, begins now, or waits for the calendar."""
        rollout, template = before.rollout, self.templates[binding.ref]
        has_splits = rollout is not None and bool(rollout.splits)
        if rollout is not None and has_splits and rollout.has_gates and rollout.name in self.under_way:
            return True
        if not before.targets or (rollout is not None and rollout.completed == ABSENT):
            return False
        if not has_splits and (before.placement == binding.placement or before.targets == binding.final_targets):
            return False
        is_asked = rollout is not None and asks_for_placements(policy_for_template(template))
        return is_asked or (self._is_held_by_calendar(binding, before) and not only_scales(template))

    def _is_held_by_calendar(self, binding: Binding, before: Binding) -> bool:
        """Say whether a cluster that is to have more or less of an object is closed to it.

        What a RollbackRequest gives back in this very pass is no change that a freeze holds.
        """
        answered = {*binding.answered_requests} - {*before.answered_requests}
        if not self.calendar or any(each.startswith(ROLLBACK) for each in answered):
            return False
        had, decided = _replicas(before.targets), _replicas(binding.final_targets)
        changed = self.index.clusters_named(
            name for name in {*had, *decided} if had.get(name, -1) != decided.get(name, -1)
        )
        return bool(self.calendar.closed_clusters(binding.ref).mask & changed)

    def _placement(self, binding: Binding, before: Binding) -> PlacementInRollout:
        is_counted, rollout = binding.is_divided and not binding.components, before.rollout
        known = {each.version: each.targets for each in rollout.splits} if rollout is not None else {}
        versions = rollout.versions if rollout is not None else {_UNRECORDED}
        stood = before.targets if rollout is not None and rollout.is_split_restored else before.final_targets
        change = binding.replicas - before.replicas

        def scaled(targets: tuple[TargetCluster, ...]) -> tuple[TargetCluster, ...]:
            there = tuple(each for each in targets if each.name in self.index.index_by_name)
            return _scaled_targets(there, change, binding.replicas, is_divided=is_counted) if change else there

        return PlacementInRollout(
            decided=binding.final_targets,
            given=scaled(before.targets),
            splits={version: scaled(known.get(version, stood)) for version in versions},
            failing=frozenset(
                each.name for each in self.index.clusters if any(taint.effect == NO_EXECUTE for taint in each.taints)
            ),
            is_divided=is_counted,
            is_new=not known,
        )


def bindings_with_all_targets(
    bindings: Iterable[Binding], placements: Mapping[ObjectRef, PlacementInRollout]
) -> tuple[Binding, ...]:
    """Return bindings with all targets that they had or are to have, where their placement goes out."""
    return tuple(
        _binding_with_all_targets(each, placements[each.ref]) if each.ref in placements else each for each in bindings
    )


def _binding_with_all_targets(binding: Binding, placement: PlacementInRollout) -> Binding:
    found: dict[str, int] = {}
    for targets in (placement.decided, placement.given, *placement.splits.values()):
        for each in targets:
            found[each.name] = max(each.replicas, found.get(each.name, 0))
    return placement.binding_with(binding, tuple(TargetCluster(*each) for each in found.items()))


def _scaled_targets(
    targets: tuple[TargetCluster, ...], change: int, replicas: int, *, is_divided: bool
) -> tuple[TargetCluster, ...]:
    """Return targets after an object was scaled: in proportion, or with all replicas everywhere."""
    if not is_divided:
        return tuple(TargetCluster(each.name, replicas) for each in targets)
    total = sum(each.replicas for each in targets) + change
    found = replicas_in_proportion(_replicas(targets), max(0, total))
    return tuple(TargetCluster(each.name, found[each.name]) for each in targets if found[each.name] or not replicas)


def replicas_in_proportion(replicas: Replicas, total: int) -> dict[str, int]:
    """Return so many replicas in all, in proportion to others; what is left goes to the largest remainders.

    >>> replicas_in_proportion({"oslo": 2, "rome": 1}, 7)
    {'oslo': 5, 'rome': 2}
    """
    whole = sum(replicas.values())
    if not whole:
        return dict(replicas)
    found = {name: number * total // whole for name, number in replicas.items()}
    order = sorted(replicas, key=lambda name: (-(replicas[name] * total % whole), name))
    for name in order[: total - sum(found.values())]:
        found[name] += 1
    return found


def _replicas(targets: Iterable[TargetCluster]) -> dict[str, int]:
    return {each.name: each.replicas for each in targets}
