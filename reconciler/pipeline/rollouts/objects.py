"""An object in a rollout: the versions that its clusters stand at, their works, and the outcome of a step for it."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster
from render.object_rollout import ABSENT, ClustersAtVersion, ObjectRollout, SplitBeforeChange
from render.rollouts.one_way import one_way_changes
from render.rollouts.state import OneWayChange
from render.works import Works

from .placements import PlacementInRollout, PlacementStep
from .splits_before_change import RestoredSplit, SplitsBefore, split_before_change_of_version
from .versions import ObjectVersion, WrittenVersion, template_with_replicas, written_version
from .works import NO_WORKS, VersionContexts, clusters_of_works, clusters_with_equal_bytes, combined_works

ReadVersion = Callable[[ObjectRef, str], ObjectVersion]
"""Read a version of an object by its digest, as the previous commit has it."""


class RolledObject(Struct, frozen=True, kw_only=True):
    """An object after a step: the version of each cluster, and the works that it has by them.

    ``targets`` are what clusters have while a changed placement goes out (None: what was decided). ``restored`` is what
    a rollback has given back.
    """

    rollout: ObjectRollout
    works: Works
    targets: tuple[TargetCluster, ...] | None = None
    restored: RestoredSplit | None = None

    def with_waiting_versions(self, versions: tuple[str, ...], group: str) -> "RolledObject":
        """Return the object with the versions that newer changes of a group have, which are kept until they go out."""
        return replace(self, rollout=replace(self.rollout, waiting=versions, group=group))

    @property
    def has_left(self) -> bool:
        """Say whether no cluster has the object any more, or is to have it."""
        return self.rollout.is_new and not self.rollout.waiting

    def rollout_by_policy(self, active: Container[str]) -> ObjectRollout | None:
        """Return its versions while its policy is there or what began by it is not over; else nobody asks for them."""
        return self.rollout if self.rollout.policy in active or self.rollout.name in active else None

    def in_policy(self, policy: str) -> "RolledObject":
        """Return the object as one that another policy is about from now on."""
        return replace(self, rollout=replace(self.rollout, policy=policy, group=""))


class MadeVersion(Struct, frozen=True, kw_only=True):
    """A version that a pass makes of another one, and the file that it is to be kept in."""

    version: ObjectVersion
    written: WrittenVersion


class VersionedObject(Struct, kw_only=True):
    """An object that a rollout policy selects: its newest version with its works, and what was in use before.

    ``placed`` are the clusters of one that is to leave all of them: its newest version is that it is not there.
    ``made`` are versions by their digests that no commit has yet, beside the newest. ``placement`` is there while a
    changed one goes out; ``placed`` are all clusters of it then. ``splits`` knows what clusters had of it before, and
    ``given`` are the targets that it has where a rollback gave some back (None: what was decided).
    """

    binding: Binding
    newest: ObjectVersion
    written: WrittenVersion
    works: Works
    before: ObjectRollout
    contexts: VersionContexts
    read: ReadVersion
    placed: Mask = 0
    made: Mapping[str, MadeVersion] = field(default_factory=dict)
    placement: PlacementInRollout | None = None
    splits: SplitsBefore | None = None
    given: tuple[TargetCluster, ...] | None = None
    _works: dict[str, Works] = field(default_factory=dict)

    @property
    def ref(self) -> ObjectRef:
        """The object."""
        return self.binding.ref

    @property
    def index(self) -> ClusterIndex:
        """The clusters of the pass."""
        return self.contexts.index

    @property
    def clusters(self) -> Mask:
        """The clusters that the object goes to."""
        return clusters_of_works(self.works) | self.placed

    @property
    def clusters_having_it(self) -> Mask:
        """The clusters that were given the object before."""
        found = 0
        for version, clusters in self.clusters_by_version().items():
            found |= clusters if version != ABSENT else 0
        return found

    @property
    def is_leaving(self) -> bool:
        """Say whether nothing asks for the object any more."""
        return self.written.digest == ABSENT

    def waiting_to_leave(self) -> "RolledObject":
        """Return an object that is to leave once others are through: it stays where it still is."""
        if any(each.version == ABSENT for each in self.before.clusters):
            return self.moved(ABSENT, 0)
        return self.with_one_version(self.before.completed).with_waiting_versions((ABSENT,), self.before.group)

    @property
    def is_as_completed(self) -> bool:
        """Say whether the newest version is the one that all clusters stand at."""
        return not self.before.is_under_way and self.before.completed == self.written.digest

    @property
    def last_goal(self) -> str:
        """The version that its clusters are under way to, or stand at."""
        return self.before.target if self.before.is_under_way else self.before.completed

    def changed_goal(self) -> str:
        """Return the version that clusters are to come to which stand at another, or are not through; else nothing.

        A newer version that is the same bytes everywhere as the one that goes out is no change of it.
        """
        before, newest = self.before, self.written.digest
        if before.is_under_way and not self.clusters_with_other_bytes(newest, before.target):
            return before.target
        return "" if self.is_as_completed or not self.clusters_to_move(newest) else newest

    def clusters_with_other_bytes(self, one: str, other: str) -> Mask:
        """Return the clusters in which two versions are not the same bytes."""
        if one == other:
            return 0
        before, after = self.works_of_version(one), self.works_of_version(other)
        found = self.clusters & ~clusters_with_equal_bytes(before, after)
        if self.placement is None:
            return found
        return found & (clusters_of_works(before) | clusters_of_works(after))

    def clusters_to_leave(self, goal: str) -> Mask:
        """Return the clusters that a changed placement leaves, and that have the object still."""
        if self.placement is None or goal == ABSENT:
            return 0
        there = self.index.clusters_named(each.name for each in self.placement.given)
        return there & self.placed & ~clusters_of_works(self.works_of_version(goal))

    def names_that_gain(self, goal: str) -> frozenset[str]:
        """Return the clusters that have more of the object by a version with a changed placement, or have it then."""
        if self.placement is None or goal == ABSENT:
            return frozenset()
        return self.placement.names_that_gain(self.before.completed, goal, self.written.digest)

    def version_looked_for(self, goal: str, place: int) -> str:
        """Return the version that a cluster shows once it is well by another: none where that is not placed there."""
        if self.placement is None or goal == ABSENT or clusters_of_works(self.works_of_version(goal)) >> place & 1:
            return goal
        if not self.clusters_to_leave(goal) >> place & 1:
            return ABSENT
        at = (version for version, clusters in self.clusters_by_version().items() if clusters >> place & 1)
        return next(at, goal)

    def clusters_at_goal(self, goal: str) -> Mask:
        """Return the clusters that stand at a version already, which is other bytes than what was completed last."""
        return self.clusters_with_other_bytes(self.before.completed, goal) & ~self.clusters_to_move(goal)

    def clusters_to_move(self, goal: str) -> Mask:
        """Return the clusters that stand at a version that is not the same bytes as another."""
        found: Mask = 0
        for version, clusters in self.clusters_by_version().items():
            if clusters and version != goal:
                found |= clusters & self.clusters_with_other_bytes(version, goal)
        return found

    def one_way_changes(self, goal: str) -> Iterator[OneWayChange]:
        """Yield what of the way from the completed version to another does not go back, in any cluster."""
        before, after = (self.works_of_version(version).contents for version in (self.before.completed, goal))
        for old in before:
            for new in after:
                if old.clusters & new.clusters:
                    yield from one_way_changes(self.ref, old.manifest, new.manifest)

    def works_of_version(self, version: str) -> Works:
        """Return the works of one version in all clusters."""
        if version == self.written.digest:
            return self.works
        if version == ABSENT:
            return NO_WORKS
        if version not in self._works:
            binding = self.binding
            if self.placement is not None:
                binding = replace(binding, targets=self.placement.targets_of_version(version, self.written.digest))
            self._works[version] = self.contexts.works_of_version(self.version(version), self.newest, binding)
        return self._works[version]

    def _works_with_targets(self, version: str, targets: tuple[TargetCluster, ...]) -> Works:
        """Return the works of one version where clusters have other targets than by any version."""
        if self.placement is None or version == ABSENT:
            return self.works_of_version(version)
        binding = replace(self.binding, targets=targets)
        return self.contexts.works_of_version(self.version(version), self.newest, binding)

    @property
    def written_versions(self) -> tuple[WrittenVersion, ...]:
        """The files of versions that no commit may have yet."""
        return (self.written, *(each.written for each in self.made.values()))

    def version(self, digest: str) -> ObjectVersion:
        """Return one version of the object by value."""
        if digest == self.written.digest:
            return self.newest
        return self.made[digest].version if digest in self.made else self.read(self.ref, digest)

    def with_other_versions(self, others: Mapping[str, ObjectVersion], newest: ObjectVersion) -> "VersionedObject":
        """Return the object with other versions in the place of some that are in use, by their digests.

        Where the newest one is under way and is among them, ``newest`` takes its place: it is another change then.
        """
        interpreter = self.contexts.newest.interpreter
        made = {
            digest: MadeVersion(version=each, written=written_version(each, interpreter))
            for digest, each in others.items()
        }
        names = {digest: each.written.digest for digest, each in made.items()}
        rollout = self.before
        found = replace(
            self,
            before=replace(
                rollout,
                target=names.get(rollout.target, rollout.target),
                completed=names.get(rollout.completed, rollout.completed),
                clusters=tuple(
                    replace(each, version=names.get(each.version, each.version)) for each in rollout.clusters
                ),
            ),
            made={**self.made, **{each.written.digest: each for each in made.values()}},
            placement=self.placement and self.placement.with_names_of_versions(names),
        )
        if self.written.digest not in names or not rollout.is_under_way:
            return found
        return replace(found, newest=newest, written=written_version(newest, interpreter))

    def with_rollout(self, rollout: ObjectRollout) -> "VersionedObject":
        """Return the object after a step, for the next one of the same pass."""
        return replace(self, before=rollout)

    def in_group(self, group: str) -> "VersionedObject":
        """Return the object as one that goes out with a group of others."""
        return self if self.before.group == group else replace(self, before=replace(self.before, group=group))

    def with_newest_version(self) -> RolledObject:
        """Return the object with the newest version everywhere."""
        return self.with_one_version(self.written.digest)

    def with_one_version(self, version: str) -> RolledObject:
        """Return the object with one version everywhere; it is called the newest one where that is the same bytes."""
        if version != ABSENT and not self.clusters_with_other_bytes(version, self.written.digest):
            version = self.written.digest
        rollout = ObjectRollout(policy=self.before.policy, target=version, completed=version)
        if self.placement is None or version in {ABSENT, self.written.digest}:
            return RolledObject(rollout=rollout, works=self.works_of_version(version))
        goal = self.placement.targets_of_version(version, self.written.digest)
        step = PlacementStep(goal=goal, completed=goal, there={each.name for each in goal}, is_freed=True)
        return self._placed(rollout, {version: self.clusters}, step)

    def moved(self, goal: str, due: Mask, withdrawn: Mask = 0, *, is_freed: bool = False) -> RolledObject:
        """Return the object with one version in the clusters that are due; others move where the bytes are the same.

        Clusters that are withdrawn go back to the version that was completed last. ``is_freed``: all that a changed
        placement gives more to are through, so that it may leave clusters that are due, and take replicas from others.
        """
        by_version = self.clusters_by_version(withdrawn)
        started = due & self.clusters
        if not is_freed:
            started &= ~self.clusters_to_leave(goal)
        there = started | by_version.get(goal, 0)
        for version, clusters in by_version.items():
            there |= clusters & ~self.clusters_with_other_bytes(version, goal)
        left = {version: clusters & ~there for version, clusters in by_version.items() if clusters & ~there}
        parts = {**left, goal: there}
        # Clusters that go back to the completed version are listed, too: they are not through with that yet.
        listed = {version: mask for version, mask in parts.items() if version != self.before.completed}
        if goal == self.before.completed and started:
            listed[goal] = started
        rollout = ObjectRollout(
            policy=self.before.policy,
            target=goal,
            completed=self.before.completed,
            clusters=tuple(
                ClustersAtVersion(version=version, names=tuple(sorted(self._names_of_clusters(mask))))
                for version, mask in sorted(listed.items())
                if mask
            ),
            group=self.before.group,
            before_change=self._split_before_change(goal),
        )
        if self.placement is not None and goal != ABSENT:
            return self._placed(
                rollout, parts, self._step_of_placement(goal, there, withdrawn & ~there, is_freed=is_freed)
            )
        works = combined_works((self.works_of_version(version), mask) for version, mask in parts.items() if mask)
        return RolledObject(rollout=rollout, works=works)

    def _split_before_change(self, goal: str) -> SplitBeforeChange | None:
        """Return what clusters had before the change to a version, where that moves or scales at once."""
        is_gradual = self.placement is not None or not self.before.has_gates  # that goes out by steps of its own
        if self.splits is None or is_gradual or ABSENT in {goal, self.before.completed}:
            return None
        return split_before_change_of_version(self.before, goal, self.splits.before.get(self.ref), self.binding)

    def rolled_back(self, rolled: RolledObject) -> RolledObject:
        """Return an object that no cluster has the change of any more, with the replicas of before where that counts.

        The works of one that only now has them again are made in the next round of the pass.
        """
        former = rolled.rollout.before_change
        if former is None or self.splits is None:
            return rolled
        restored = self.splits.restored_split(former, self.binding)
        if restored.targets is None:
            return replace(rolled, restored=restored)
        rollout = replace(rolled.rollout, before_change=replace(former, is_restored=True))
        works = rolled.works if self.given is None else self._works_with_split_of_before(self.given, former.replicas)
        return RolledObject(rollout=rollout, works=works, restored=restored)

    def as_it_rests(self, goal: str) -> RolledObject:
        """Return an object on its way to a version as it was, while time rests."""
        rolled, former = self.moved(goal, 0), self.before.before_change
        return self.rolled_back(rolled) if former is not None and former.is_restored else rolled

    def _works_with_split_of_before(self, targets: tuple[TargetCluster, ...], replicas: int) -> Works:
        """Return the works of the completed version where clusters have, or are to have, the replicas of before."""
        version = self.version(self.before.completed)
        number = template_with_replicas(self.newest.template, replicas, self.contexts.newest.interpreter)
        binding = replace(self.binding, targets=targets)
        return self.contexts.works_of_version(version, replace(self.newest, template=number), binding)

    def _step_of_placement(self, goal: str, there: Mask, withdrawn: Mask, *, is_freed: bool) -> PlacementStep:
        assert self.placement is not None
        newest = self.written.digest
        return PlacementStep(
            goal=self.placement.targets_of_version(goal, newest),
            completed=self.placement.targets_of_version(self.before.completed, newest),
            there=frozenset(self._names_of_clusters(there)),
            withdrawn=frozenset(self._names_of_clusters(withdrawn)),
            is_freed=is_freed,
        )

    def _placed(self, rollout: ObjectRollout, parts: Mapping[str, Mask], step: PlacementStep) -> RolledObject:
        """Return the object after a step of its placement, with what its clusters have by now."""
        assert self.placement is not None
        targets = self.placement.targets_after_step(step)
        works = ((self._works_with_targets(version, targets), mask) for version, mask in parts.items() if mask)
        splits = self.placement.recorded_splits(rollout, self.written.digest)
        return RolledObject(rollout=replace(rollout, splits=splits), works=combined_works(works), targets=targets)

    def clusters_by_version(self, withdrawn: Mask = 0) -> Mapping[str, Mask]:
        """Return the clusters of the object by the version that they stand at, or are taken back to."""
        found: dict[str, Mask] = {self.before.completed: self.clusters & withdrawn}
        left = self.clusters & ~withdrawn
        for each in self.before.clusters:
            there = self.index.clusters_named(each.names) & left
            found[each.version] = found.get(each.version, 0) | there
            left &= ~there
        found[self.before.completed] = found.get(self.before.completed, 0) | left
        return found

    def _names_of_clusters(self, mask: Mask) -> list[str]:
        return [self.index.names[index] for index in indexes_of_mask(mask)]


def contents_of_versions(objects: Iterable[VersionedObject]) -> Mapping[tuple[ObjectRef, str], bytes]:
    """Return the files of versions that no commit may have yet, by object and digest."""
    return {(each.ref, written.digest): written.content for each in objects for written in each.written_versions}
