"""Changes that the calendar of argosy.yaml holds back, of objects that no rollout policy selects.

Nothing has to be shown by a cluster, and none waits for another one: each gets the newest version of each object once
the calendar lets it, and keeps the one that it stands at until then. What is held back at a time is one change of the
rollout ``Fleet <name>``, whose state says so to people.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.admission.rollouts import IMPLICIT_WAVE
from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.object_rollout import ABSENT
from render.rollouts.emergencies import has_emergency
from render.rollouts.fleet_calendar import ClosedClusters
from render.rollouts.policy import RolloutControl, RolloutPolicy
from render.rollouts.state import RolloutPhase, RolloutReason, RolloutState
from render.timing import earliest_flip
from render.words import first_few

from .calendar_of_pass import CalendarOfPass
from .leaving import version_in_use
from .newer_changes import digest_of_change
from .objects import RolledObject, VersionedObject
from .policies import RolledPolicy


class FrozenObject(Struct, frozen=True, kw_only=True):
    """An object with the clusters that are to get another version of it, and are closed."""

    ref: ObjectRef
    goal: str
    closed: ClosedClusters
    waiting: Mask


class FrozenFleet(Struct, frozen=True, kw_only=True):
    """The objects that the calendar covers and no policy selects, and the state of the rollout that they are in."""

    plan: RolloutPolicy
    state: RolloutState | None
    objects: Sequence[VersionedObject]
    calendar: CalendarOfPass
    index: ClusterIndex
    source: str
    controls: tuple[RolloutControl, ...] = ()

    def rolled(self) -> RolledPolicy:
        """Return the objects with the versions of their clusters, and the state of what is held back."""
        held = [each for each in map(self._held_object, self.objects) if each.waiting]
        if held and has_emergency((str(self.plan), "", self._digest(held)), self.controls):
            held = []
        by_ref = {each.ref: each for each in held}
        return RolledPolicy(
            objects={each.ref: self._rolled_object(each, by_ref.get(each.ref)) for each in self.objects},
            state=self.state if self.calendar.now is None else self._next_state(held, self.calendar.now),
            flip=earliest_flip(each.closed.flip for each in held),
        )

    def _held_object(self, each: VersionedObject) -> FrozenObject:
        goal, closed = each.written.digest, self.calendar.closed_clusters(each.ref)
        return FrozenObject(ref=each.ref, goal=goal, closed=closed, waiting=each.clusters_to_move(goal) & closed.mask)

    def _rolled_object(self, each: VersionedObject, held: FrozenObject | None) -> RolledObject:
        if held is None:
            return each.with_newest_version()
        gaining = self.index.clusters_named(each.names_that_gain(held.goal))
        is_freed = not gaining & held.closed.mask
        return each.moved(held.goal, self.index.all & ~held.closed.mask, is_freed=is_freed)

    def _next_state(self, held: Sequence[FrozenObject], now: datetime) -> RolloutState | None:
        """Return the state of what is held back; the change is the same one when some of it is no more."""
        if not held:
            return None
        change, waiting = self._digest(held), 0
        for each in held:
            waiting |= each.waiting
        is_same = self.state is not None and self.state.change == change
        before = self.state if is_same and self.state is not None else self._new_state(change, now)
        is_frozen = any(each.closed.is_frozen for each in held)
        return replace(
            before,
            plan=self.plan,
            seats=dict.fromkeys(_names_of_clusters(waiting, self.index), IMPLICIT_WAVE),
            reason=RolloutReason.FROZEN if is_frozen else RolloutReason.OUTSIDE_WINDOW,
            next_step="; ".join(_sentences_about_held_objects(held, self.index)),
        )

    def _digest(self, held: Iterable[FrozenObject]) -> str:
        goals = {each.ref: each.goal for each in held}
        before = {each.ref: each.before.target for each in self.objects if each.before.is_under_way}
        if self.state is not None and goals.items() <= before.items():
            return self.state.change
        completed = {each.ref: each.before.completed for each in self.objects}
        return digest_of_change((ref, completed[ref], goal) for ref, goal in sorted(goals.items()))

    def _new_state(self, change: str, now: datetime) -> RolloutState:
        return RolloutState(
            plan=self.plan,
            change=change,
            commits=(self.source,),
            since=now,
            wave_since=now,
            phase_since=now,
            phase=RolloutPhase.WAITING,
        )


def leaves_by_calendar(before: Binding, calendar: CalendarOfPass, index: ClusterIndex) -> bool:
    """Say whether an object that nothing asks for any more stays in clusters that are closed to it, or just did."""
    rollout = before.rollout
    if rollout is None or not calendar or not version_in_use(before):
        return False
    required = (target.name for snapshot in before.required_by for target in snapshot.clusters)
    there = index.clusters_named((*(target.name for target in before.targets), *required))
    has_begun = not rollout.has_gates and rollout.target == ABSENT
    return has_begun or bool(calendar.closed_clusters(before.ref).mask & there)


def plan_of_fleet(name: str) -> RolloutPolicy:
    """Return the plan of what the calendar holds back: all clusters are one wave."""
    return RolloutPolicy(name=name, is_of_fleet=True)


def _names_of_clusters(mask: Mask, index: ClusterIndex) -> list[str]:
    return [index.names[place] for place in indexes_of_mask(mask)]


def _sentences_about_held_objects(held: Iterable[FrozenObject], index: ClusterIndex) -> Iterator[str]:
    """Yield a sentence for each reason: which objects wait for it, in which clusters."""
    objects: dict[str, list[ObjectRef]] = {}
    clusters: dict[str, Mask] = {}
    for each in held:
        for reason, mask in each.closed.by_reason:
            if there := mask & each.waiting:
                objects.setdefault(reason, []).append(each.ref)
                clusters[reason] = clusters.get(reason, 0) | there
    for reason, refs in sorted(objects.items()):
        verb = "waits" if len(refs) == 1 else "wait"
        names = first_few(_names_of_clusters(clusters[reason], index))
        yield f"{first_few(sorted(map(str, refs)))} {verb} for {reason} in {names}"
