"""The step of each rollout policy in a pass: what goes out, which clusters are due, and how far it has come.

1. While an object's newest version is the one that was completed last, or is the same bytes everywhere, there is
   nothing to roll out of it.
2. Else it is part of the change that its policy lets out: all that is to be another version, or is not through yet.
   Clusters stand at the versions that the previous binding says, and a new one at the completed version.
3. The step (``render.rollouts``) says which clusters are due. They get the version that goes out; all others keep the
   one they stand at. A cluster in which two versions are the same bytes moves on at once.
4. A change that has to wait for the one under way (``newer_changes``) begins in the pass that completes that one.

The same inputs give the same step again, and nothing changes because time passes, only because an answer flips.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.rollouts.checks import Answers, CheckQuestion
from render.rollouts.policy import FailureAction, RolloutControl, RolloutPolicy
from render.rollouts.queue import versions_that_wait
from render.rollouts.state import RolloutFacts, RolloutState, RolloutStep, SplitToRestore, WaitingChange
from render.rollouts.status_ages import StatusAge, StatusLooks
from render.rollouts.step import next_step
from render.timing import Flip, earliest_flip

from .calendar_of_pass import CalendarOfPass
from .newer_changes import Goals, GoingOut, NewerChanges
from .objects import RolledObject, VersionedObject
from .observations import observations_of_clusters
from .placements import step_that_names_clusters_left, step_that_waits_for_gain


class RolledPolicy(Struct, frozen=True, kw_only=True):
    """A rollout policy after a pass: its objects, the state of its rollout, and when that goes on by itself.

    ``under_way`` are the objects of the change that goes out, ``waiting`` those of newer ones that wait for its end.
    ``questions`` are those of its checks, ``status_ages`` the answers how old what is known of clusters is.
    """

    objects: Mapping[ObjectRef, RolledObject]
    state: RolloutState | None
    flip: Flip | None = None
    notes: tuple[str, ...] = ()
    under_way: frozenset[ObjectRef] = frozenset()
    waiting: frozenset[ObjectRef] = frozenset()
    questions: tuple[CheckQuestion, ...] = ()
    status_ages: tuple[StatusAge, ...] = ()


class RolloutContext(Struct, frozen=True, kw_only=True):
    """The clusters, the health, the time (None: it rests) and the source that steps go by, and what people ask for.

    ``suspended`` are the clusters of each object to which dispatching is suspended, and ``calendar`` is that of
    argosy.yaml. ``answers`` are those to questions of checks, and ``looks`` the last ones at clusters.
    """

    index: ClusterIndex
    health: ObservedHealth
    now: datetime | None
    source: str
    controls: tuple[RolloutControl, ...] = ()
    suspended: Mapping[ObjectRef, Mask] = field(default_factory=dict)
    calendar: CalendarOfPass = field(default_factory=CalendarOfPass)
    answers: Answers = field(default_factory=dict)
    looks: StatusLooks = field(default_factory=StatusLooks)


class RollingPolicy(Struct, frozen=True, kw_only=True):
    """A rollout policy before the step of a pass; without a policy (it was deleted) the plan of the state counts.

    ``group`` is the group of its objects whose step it is, where it makes some.
    ``unbuilt`` are objects of which nobody knows the bytes. ``queue`` are the changes that wait, where the state does
    not tell: one that has just ended made way for them.
    """

    policy: RolloutPolicy | None
    state: RolloutState | None
    objects: Sequence[VersionedObject]
    context: RolloutContext
    group: str = ""
    unbuilt: frozenset[ObjectRef] = frozenset()
    queue: tuple[WaitingChange, ...] = ()

    def rolled(self) -> RolledPolicy:
        """Return the policy after the pass."""
        newer = self._newer_changes
        going = newer.going_on() if self.context.now is None else newer.going_out()
        rolled = self._rolled_to_goals(going)
        rolled = replace(rolled, notes=(*rolled.notes, *newer.notes(going)))
        is_over = self.context.now is not None and (rolled.state is None or rolled.state.is_completed)
        if is_over and self.policy is None:  # nothing holds back any more what waited for its end
            objects = {each.ref: each.with_newest_version() for each in self.objects}
            return replace(rolled, objects=objects, waiting=frozenset())
        is_next = newer.is_next_built(going.queue) or newer.leaves_something_after(going.goals)
        if not (is_over and is_next):
            return rolled
        later = [each.with_rollout(rolled.objects[each.ref].rollout) for each in self.objects]
        then = replace(self, state=rolled.state, objects=later, queue=going.queue).rolled()
        return replace(  # the health of both, and the answers about both, have decided
            then,
            under_way=then.under_way | rolled.under_way,
            questions=(*rolled.questions, *then.questions),
            status_ages=(*rolled.status_ages, *then.status_ages),
        )

    @property
    def _newer_changes(self) -> NewerChanges:
        state = self.state
        return NewerChanges(
            policy=self.policy,
            state=state,
            objects=self.objects,
            source=self.context.source,
            group=self.group,
            queue=self.queue or (state.queue if state is not None else ()),
            unbuilt=self.unbuilt,
            controls=self.context.controls,
        )

    def _rolled_to_goals(self, going: GoingOut) -> RolledPolicy:
        """Return the policy after a step to some versions; objects of changes that wait keep what they have."""
        waiting = versions_that_wait(going.queue)
        objects = {
            each.ref: self._object_beside_change(each, is_waiting=each.ref in waiting)
            for each in self.objects
            if each.ref not in going.goals
        }
        changing = [each for each in self.objects if each.ref in going.goals]
        if self.context.now is None:
            objects |= {each.ref: each.as_it_rests(going.goals[each.ref]) for each in changing}
            return self._rolled_policy(objects, going, self.state)
        step, is_freed = self._step_with_what_is_left(changing, going, self.context.now)
        is_completed = step is None or step.state is None or step.state.is_completed
        due = 0 if step is None else self.context.index.clusters_named(step.due)
        withdrawn = 0 if step is None else self.context.index.clusters_named(step.withdrawn)
        for each in changing:
            goal = going.goals[each.ref]
            objects[each.ref] = (
                each.with_one_version(goal) if is_completed else each.moved(goal, due, withdrawn, is_freed=is_freed)
            )
        if step is not None and step.withdrawn and not step.due:
            objects |= {each.ref: each.rolled_back(objects[each.ref]) for each in changing}
        state = self._completed_state() if step is None else self._state_with_what_stays(step.state, changing, going)
        state = state and _state_with_splits(state, objects)
        rolled = self._rolled_policy(objects, going, None if is_completed and self.policy is None else state)
        if step is None:
            return rolled
        flip = earliest_flip([step.flip, *(each.restored.flip for each in objects.values() if each.restored)])
        return replace(rolled, flip=flip, notes=step.notes, questions=step.questions, status_ages=step.status_ages)

    def _object_beside_change(self, each: VersionedObject, *, is_waiting: bool) -> RolledObject:
        """Return an object that is not of the change which goes out."""
        if is_waiting or (self.context.now is None and each.changed_goal()):
            return each.with_one_version(each.before.completed)
        return each.waiting_to_leave() if each.is_leaving else each.with_newest_version()

    def _rolled_policy(
        self, objects: Mapping[ObjectRef, RolledObject], going: GoingOut, state: RolloutState | None
    ) -> RolledPolicy:
        """Return the policy with its objects and state, in both of which what waits is recorded."""
        waiting = versions_that_wait(going.queue)
        return RolledPolicy(
            objects={
                ref: each.with_waiting_versions(waiting[ref], self.group) if ref in waiting else each
                for ref, each in objects.items()
            },
            state=None if state is None else replace(state, queue=going.queue),
            under_way=frozenset(going.goals),
            waiting=frozenset(waiting),
        )

    def _state_with_what_stays(
        self, state: RolloutState | None, changing: Sequence[VersionedObject], going: GoingOut
    ) -> RolloutState | None:
        """Return a state that says from its beginning on what of its change would not go back."""
        if state is None or (self.state is not None and self.state.change == state.change):
            return state
        found = (one_way for each in changing for one_way in each.one_way_changes(going.goals[each.ref]))
        return replace(state, one_way=tuple(dict.fromkeys(found)))

    def _completed_state(self) -> RolloutState | None:
        """Return the state of a rollout that ended well; one whose change is no more has none."""
        return self.state if self.state is not None and self.state.is_completed else None

    def _step_with_what_is_left(
        self, changing: Sequence[VersionedObject], going: GoingOut, now: datetime
    ) -> tuple[RolloutStep | None, bool]:
        """Return the step of a change, and whether clusters are due that are left: when all others are through."""
        left: Mask = 0
        for each in changing:
            left |= each.clusters_to_leave(going.goals[each.ref])
        step = self._step(changing, going, now, is_left_last=True)
        if step is None or step.state is None:
            return self._step(changing, going, now) if left else step, True
        if not step.state.is_completed:
            return step_that_names_clusters_left(step, self._names_of_clusters(left)), False
        silent = {name for each in changing for name in each.names_that_gain(going.goals[each.ref])}
        silent &= step.state.seats.keys() - {each.cluster for each in step.state.given if each.through is not None}
        if silent:
            return step_that_waits_for_gain(step, self.state, silent, now), False
        return self._step(changing, going, now) if left else step, True

    def _step(
        self, changing: Sequence[VersionedObject], going: GoingOut, now: datetime, *, is_left_last: bool = False
    ) -> RolloutStep | None:
        """Return the step of a change; None where it is for no cluster.

        ``is_left_last``: that a changed placement leaves a cluster is not looked at yet.
        """
        goals, digest, index = going.goals, going.change.digest, self.context.index
        state = self.state if self.state is not None and self.state.change == digest else None
        given = frozenset(each.cluster for each in state.given) if state else frozenset()
        back = index.clusters_named(each.cluster for each in state.back) if state else 0
        moving, there, every, away = 0, 0, 0, 0
        for each in changing:
            every |= each.clusters
            left = each.clusters_to_leave(goals[each.ref]) if is_left_last else 0
            moving |= each.clusters_to_move(goals[each.ref]) & ~left
            there |= each.clusters_at_goal(goals[each.ref])
            away |= each.clusters_to_move(each.before.completed)
        known = index.clusters_named(given) & every | there & ~moving
        concerned = moving | known
        if not concerned:
            return None
        clusters = self._names_of_clusters(concerned)
        versions = self._versions_looked_for(changing, goals, clusters, (known, back & concerned))
        closed = self.context.calendar.closed_to_change([each.ref for each in changing], index)
        facts = RolloutFacts(
            fleet=index,
            clusters=clusters,
            unaffected=self._names_of_clusters(every & ~concerned),
            given_before=self._names_of_clusters(there & ~moving),
            observed=observations_of_clusters(versions, self.context.health, self._suspended_clusters(changing)),
            controls=self.context.controls,
            now=now,
            closed=closed.answer,
            calendar_flip=closed.flip,
            away=self._names_of_clusters(away),
            answers=self.context.answers,
            looks=self.context.looks,
        )
        return next_step(self.policy, self.state, going.change, facts)

    def _names_of_clusters(self, mask: Mask) -> frozenset[str]:
        return frozenset(self.context.index.names[place] for place in indexes_of_mask(mask))

    def _versions_looked_for(
        self, changing: Sequence[VersionedObject], goals: Goals, clusters: Iterable[str], masks: tuple[Mask, Mask]
    ) -> Mapping[str, Mapping[ObjectRef, str]]:
        """Return the versions by which clusters are well: those that have the change (the first mask), or go back."""
        names, (known, back) = self.context.index.names, masks
        versions: dict[str, dict[ObjectRef, str]] = {name: {} for name in clusters}
        for each in changing:
            for place in indexes_of_mask(known & each.clusters):
                versions[names[place]][each.ref] = each.version_looked_for(goals[each.ref], place)
            for place in indexes_of_mask(back & each.clusters):
                versions[names[place]][each.ref] = each.version_looked_for(each.before.completed, place)
        return versions

    def _suspended_clusters(self, changing: Iterable[VersionedObject]) -> frozenset[str]:
        """Return the clusters to which dispatching of an object of a change is suspended."""
        mask: Mask = 0
        for each in changing:
            mask |= self.context.suspended.get(each.ref, 0)
        return frozenset(self.context.index.names[place] for place in indexes_of_mask(mask))


def _state_with_splits(state: RolloutState, objects: Mapping[ObjectRef, RolledObject]) -> RolloutState:
    """Return a state that says which replicas a rollback gives back, and which it could not."""
    goes_back, rolled = state.plan.on_failure is FailureAction.ROLLBACK, [each for _, each in sorted(objects.items())]
    splits = [(ref, objects[ref].rollout.before_change) for ref in sorted(objects) if goes_back]
    return replace(
        state,
        restores=tuple(SplitToRestore(ref=ref, targets=split.targets) for ref, split in splits if split is not None),
        unrestored=tuple(each.restored.sentence for each in rolled if each.restored and each.restored.sentence),
    )
