"""The step of each rollout policy in a pass: what goes out, which clusters are due, and how far it has come.

1. While an object's newest version is the one that was completed last, or is the same bytes everywhere, there is
   nothing to roll out of it.
2. Else it is part of the change that its policy lets out: all that is to be another version, or is not through yet.
   Clusters stand at the versions that the previous binding says, and a new one at the completed version.
3. The step (``render.rollouts``) says which clusters are due. They get the version that goes out; all others keep the
   one they stand at. A cluster in which two versions are the same bytes moves on at once.
4. A change that has to wait for the one under way begins in the pass that completes that one.

The same inputs give the same step again, and nothing changes because time passes, only because an answer flips.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.rollouts.policy import RolloutControl, RolloutPolicy
from render.rollouts.state import Change, RolloutFacts, RolloutState, RolloutStep
from render.rollouts.step import change_that_goes_out, next_step
from render.timing import Flip

from .objects import RolledObject, VersionedObject
from .observations import observations_of_clusters

_DIGEST_LENGTH = 16

Goals = Mapping[ObjectRef, str]
"""The versions that the objects of a change are to come to."""


class RolledPolicy(Struct, frozen=True, kw_only=True):
    """A rollout policy after a pass: its objects, the state of its rollout, and when that goes on by itself.

    ``under_way`` are the objects of the change that goes out, ``waiting`` those of a newer one that waits for its end.
    """

    objects: Mapping[ObjectRef, RolledObject]
    state: RolloutState | None
    flip: Flip | None = None
    notes: tuple[str, ...] = ()
    under_way: frozenset[ObjectRef] = frozenset()
    waiting: frozenset[ObjectRef] = frozenset()


class RolloutContext(Struct, frozen=True, kw_only=True):
    """The clusters, the health, the time (None: it rests) and the source that steps go by, and what people ask for.

    ``suspended`` are the clusters of each object to which dispatching is suspended.
    """

    index: ClusterIndex
    health: ObservedHealth
    now: datetime | None
    source: str
    controls: tuple[RolloutControl, ...] = ()
    suspended: Mapping[ObjectRef, Mask] = field(default_factory=dict)


class RollingPolicy(Struct, frozen=True, kw_only=True):
    """A rollout policy before the step of a pass; without a policy (it was deleted) the plan of the state counts.

    ``group`` is the group of its objects whose step it is, where it makes some.
    """

    policy: RolloutPolicy | None
    state: RolloutState | None
    objects: Sequence[VersionedObject]
    context: RolloutContext
    group: str = ""

    def rolled(self) -> RolledPolicy:
        """Return the policy after the pass."""
        newest = {each.ref: goal for each in self.objects if (goal := each.changed_goal())}
        going = self._goals_that_go_out(newest)
        rolled = self._rolled_to_goals(going, newest)
        is_next = going != newest and rolled.state is not None and rolled.state.is_completed
        if not is_next:
            return rolled
        later = [each.with_rollout(rolled.objects[each.ref].rollout) for each in self.objects]
        return replace(self, state=rolled.state, objects=later).rolled()

    def _goals_under_way(self) -> Goals:
        return {each.ref: each.before.target for each in self.objects if each.before.is_under_way}

    def _goals_that_go_out(self, newest: Goals) -> Goals:
        """Return the goals of the newest change, or those of the one under way where the newest has to wait."""
        if self.context.now is None:  # nothing begins while time rests
            return self._goals_under_way()
        change = Change(digest=self._digest(newest), group=self.group) if newest else None
        going = change_that_goes_out(self.policy, self.state, change)
        return newest if going is None or going == change else self._goals_under_way()

    def _digest(self, goals: Goals) -> str:
        """Return the digest of a change; it is the same one when only some of its objects are no more."""
        before = self._goals_under_way()
        if self.state is not None and not self.state.is_completed and goals.items() <= before.items():
            return self.state.change
        completed = {each.ref: each.before.completed for each in self.objects}
        lines = "".join(f"{ref}\0{completed[ref]}\0{goal}\n" for ref, goal in sorted(goals.items()))
        return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]

    def _rolled_to_goals(self, goals: Goals, newest: Goals) -> RolledPolicy:
        """Return the policy after a step to some versions; an object that only has another one waits with it."""
        objects = {
            each.ref: each.with_one_version(each.before.completed) if each.ref in newest else each.with_newest_version()
            for each in self.objects
            if each.ref not in goals
        }
        changing = [each for each in self.objects if each.ref in goals]
        if self.context.now is None:
            objects |= {each.ref: each.moved(goals[each.ref], 0) for each in changing}
            return RolledPolicy(objects=objects, state=self.state, under_way=frozenset(goals))
        step = self._step(changing, goals, self.context.now)
        is_completed = step is None or step.state is None or step.state.is_completed
        due = 0 if step is None else self.context.index.clusters_named(step.due)
        withdrawn = 0 if step is None else self.context.index.clusters_named(step.withdrawn)
        for each in changing:
            goal = goals[each.ref]
            objects[each.ref] = each.with_one_version(goal) if is_completed else each.moved(goal, due, withdrawn)
        state = self._completed_state() if step is None else step.state
        return RolledPolicy(
            objects=objects,
            state=None if is_completed and self.policy is None else state,
            flip=step.flip if step else None,
            notes=step.notes if step else (),
            under_way=frozenset(goals),
            waiting=frozenset(ref for ref, goal in newest.items() if goals.get(ref) != goal),
        )

    def _completed_state(self) -> RolloutState | None:
        """Return the state of a rollout that ended well; one whose change is no more has none."""
        return self.state if self.state is not None and self.state.is_completed else None

    def _step(self, changing: Sequence[VersionedObject], goals: Goals, now: datetime) -> RolloutStep | None:
        """Return the step of a change; None where it is for no cluster."""
        digest, index = self._digest(goals), self.context.index
        state = self.state if self.state is not None and self.state.change == digest else None
        given = frozenset(each.cluster for each in state.given) if state else frozenset()
        moving, there, every = 0, 0, 0
        for each in changing:
            every |= each.clusters
            moving |= each.clusters_to_move(goals[each.ref])
            there |= each.clusters_at_goal(goals[each.ref])
        known = index.clusters_named(given) & every | there & ~moving
        concerned = moving | known
        if not concerned:
            return None
        clusters = frozenset(index.names[place] for place in indexes_of_mask(concerned))
        versions: dict[str, dict[ObjectRef, str]] = {name: {} for name in clusters}
        for each in changing:
            for place in indexes_of_mask(known & each.clusters & concerned):
                versions[index.names[place]][each.ref] = goals[each.ref]
        suspended = self._suspended_clusters(changing)
        facts = RolloutFacts(
            fleet=index,
            clusters=clusters,
            unaffected=frozenset(index.names[place] for place in indexes_of_mask(every & ~concerned)),
            given_before=frozenset(index.names[place] for place in indexes_of_mask(there & ~moving)),
            observed=observations_of_clusters(versions, self.context.health, suspended),
            controls=self.context.controls,
            now=now,
        )
        change = Change(digest=digest, commits=(self.context.source,), group=self.group)
        return next_step(self.policy, self.state, change, facts)

    def _suspended_clusters(self, changing: Iterable[VersionedObject]) -> frozenset[str]:
        """Return the clusters to which dispatching of an object of a change is suspended."""
        mask: Mask = 0
        for each in changing:
            mask |= self.context.suspended.get(each.ref, 0)
        return frozenset(self.context.index.names[place] for place in indexes_of_mask(mask))
