"""The change that goes out in a pass, and the newer ones that wait for its end.

1. Nothing begins while time rests, and nothing newer while what is under way is waited for: it goes on to its goals.
2. What is new since the last change that waits, by the bytes of its objects, joins the queue
   (``render.rollouts.queue``) with its versions by value, so that it goes out as it came, whatever the source says by
   then.
3. What an approver expedites takes the place of all before it, and of what goes out.
4. What is waited for no longer makes way for the first of the queue; without one, for all that is to change by now.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.model import ObjectRef
from render.object_rollout import ABSENT
from render.rollouts.controls import expediting_control, notes_about_requests_to_expedite
from render.rollouts.policy import NewChangeAction, RolloutControl, RolloutPolicy
from render.rollouts.queue import last_versions_of_queue, newer_changes_wait, queue_with_change
from render.rollouts.state import Change, RolloutState, WaitingChange

from .objects import VersionedObject

_DIGEST_LENGTH = 16

Goals = Mapping[ObjectRef, str]
"""The versions that the objects of a change are to come to."""

Queue = tuple[WaitingChange, ...]


class GoingOut(Struct, frozen=True, kw_only=True):
    """The change that goes out with the versions its objects are to come to, and the changes that wait for its end."""

    change: Change
    goals: Goals
    queue: Queue = ()


class NewerChanges(Struct, frozen=True, kw_only=True):
    """The objects of a rollout policy with what is new of them, as the pass of a source commit sees them.

    ``group`` is the group of the objects. ``queue`` are the changes that waited before the pass. Nobody knows the bytes
    of objects that are ``unbuilt``.
    """

    policy: RolloutPolicy | None
    state: RolloutState | None
    objects: Sequence[VersionedObject]
    source: str
    group: str = ""
    queue: Queue = ()
    unbuilt: frozenset[ObjectRef] = frozenset()
    controls: tuple[RolloutControl, ...] = ()

    def going_out(self) -> GoingOut:
        """Return what goes out in the pass."""
        under_way, queue = self.goals_under_way(), self._queue_of_known_objects()
        is_waited_for = bool(under_way) and newer_changes_wait(self.policy, self.state)
        if not queue and not is_waited_for:
            newest = self._newest_goals()
            return GoingOut(change=self._change(self._digest(newest), (self.source,)), goals=newest)
        queue = self._queue_with_what_is_new(queue)
        if queue and self._is_expedited(queue[-1]):
            commits = tuple(dict.fromkeys(commit for each in queue for commit in each.commits))
            return GoingOut(change=self._change(queue[-1].digest, commits), goals=self._newest_goals())
        if is_waited_for or not self.is_next_built(queue):
            return self.going_on(queue)
        first, *rest = queue
        goals, commits = {**under_way, **dict(first.versions)}, first.commits
        digest = first.digest
        if self.state is not None and under_way:  # what has failed is no longer waited for, and goes out with the next
            digest, commits = self._digest(goals), (*self.state.commits, *commits)
        return GoingOut(change=self._change(digest, commits), goals=goals, queue=tuple(rest))

    def going_on(self, queue: Queue | None = None) -> GoingOut:
        """Return what is under way, and goes on."""
        goals = self.goals_under_way()
        commits = self.state.commits if self.state is not None else (self.source,)
        return GoingOut(
            change=self._change(self._digest(goals), commits),
            goals=goals,
            queue=self._queue_of_known_objects() if queue is None else queue,
        )

    def goals_under_way(self) -> Goals:
        """Return the versions that objects are under way to."""
        going = (each for each in self.objects if each.before.is_under_way and not each.before.is_new)
        return {each.ref: each.before.target for each in going}

    def leaves_something_after(self, goals: Goals) -> bool:
        """Say whether objects that are to leave wait for the end of a change of others."""
        return bool(goals) and any(each.is_leaving and each.ref not in goals for each in self.objects)

    def _newest_goals(self) -> Goals:
        newest = {each.ref: goal for each in self.objects if (goal := each.changed_goal())}
        # What nothing asks for any more leaves when everything else is through.
        return {ref: goal for ref, goal in newest.items() if goal != ABSENT} or newest

    def _is_expedited(self, change: WaitingChange) -> bool:
        """Say whether an approver lets a change that waits take the place of all before it."""
        plan = self._plan
        return plan is not None and expediting_control(plan, self.group, change.digest, self.controls) is not None

    def notes(self, going: GoingOut) -> tuple[str, ...]:
        """Return a sentence about each request to expedite what goes out, or what waits."""
        if self._plan is None:
            return ()
        changes = [going.change.digest, *(each.digest for each in going.queue)]
        return tuple(notes_about_requests_to_expedite(self._plan, self.group, changes, self.controls))

    def is_next_built(self, queue: Queue) -> bool:
        """Say whether there is a next change of a queue, and its objects could be built."""
        built = {each.ref for each in self.objects}
        return bool(queue) and all(ref in built for ref, _ in queue[0].versions)

    def _change(self, digest: str, commits: tuple[str, ...]) -> Change:
        return Change(digest=digest, commits=commits, group=self.group)

    @property
    def _action(self) -> NewChangeAction:
        """The effect of newer changes; without a policy the plan of the rollout says so."""
        return self._plan.on_new_change if self._plan is not None else NewChangeAction.SUPERSEDE

    @property
    def _plan(self) -> RolloutPolicy | None:
        return self.policy or (self.state.plan if self.state is not None else None)

    def _queue_of_known_objects(self) -> Queue:
        """Return what waited before the pass, without objects that are no more, or are no longer this policy's."""
        if self._action is NewChangeAction.SUPERSEDE:
            return ()
        known = {*(each.ref for each in self.objects), *self.unbuilt}
        queue = (
            replace(change, versions=tuple(each for each in change.versions if each[0] in known))
            for change in self.queue
        )
        return tuple(each for each in queue if each.versions)

    def _queue_with_what_is_new(self, queue: Queue) -> Queue:
        """Return the queue with a change of all that is other bytes than the last that waits, where there is some."""
        waiting = last_versions_of_queue(queue)
        new = {
            each.ref: each.written.digest
            for each in self.objects
            if each.clusters_with_other_bytes(each.written.digest, waiting.get(each.ref, each.last_goal))
        }
        if not new:
            return queue
        change = WaitingChange(digest="", commits=(self.source,), versions=tuple(sorted(new.items())))
        *earlier, last = queue_with_change(self._action, queue, change)
        before = last_versions_of_queue(tuple(earlier))
        return (*earlier, *self._changes_of_difference(last, before))

    def _changes_of_difference(self, change: WaitingChange, before: Goals) -> Queue:
        """Return a change of those of its objects that it changes, with its digest; nothing where it changes none."""
        objects, lines, versions = {each.ref: each for each in self.objects}, [], []
        for ref, version in change.versions:
            last = before.get(ref, objects[ref].last_goal if ref in objects else "")
            if ref not in objects or objects[ref].clusters_with_other_bytes(version, last):
                versions.append((ref, version))
                lines.append((ref, last, version))
        if not versions:
            return ()
        return (replace(change, digest=digest_of_change(lines), versions=tuple(versions)),)

    def _digest(self, goals: Goals) -> str:
        """Return the digest of a change; it is the same one when only some of its objects are no more."""
        if self.state is not None and not self.state.is_completed and goals.items() <= self.goals_under_way().items():
            return self.state.change
        completed = {each.ref: each.before.completed for each in self.objects}
        return digest_of_change((ref, completed[ref], goal) for ref, goal in sorted(goals.items()))


def digest_of_change(lines: Iterable[tuple[ObjectRef, str, str]]) -> str:
    """Return the digest of objects, each with the version that it comes from and the one that it is to come to."""
    text = "".join(f"{ref}\0{before}\0{goal}\n" for ref, before, goal in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
