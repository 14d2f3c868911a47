"""The versions of an object that clusters stand at while a rollout policy, or a calendar, lets changes of it out."""

from collections.abc import Mapping

from msgspec import Struct

from .model import TargetCluster

_OF_FLEET = "Fleet "
"""The beginning of the policy, as text, of what the calendar of argosy.yaml holds back."""


class ClustersAtVersion(Struct, frozen=True, kw_only=True):
    """The target clusters that stand at a version of an object, which its digest names."""

    version: str
    names: tuple[str, ...]


class SplitOfVersion(Struct, frozen=True, kw_only=True):
    """The targets that an object had, or is to have, by a version of it whose placement is not the newest."""

    version: str
    targets: tuple[TargetCluster, ...]


class SplitBeforeChange(Struct, frozen=True, kw_only=True):
    """The targets that an object had before a change that moves or scales it, which a rollback of that gives back.

    ``replicas`` are those that it asked for then. ``asked`` names what the source asks for by the change, ``requests``
    are those to place it anew that were answered by then: where it asks for something else by now, nothing is given
    back. ``is_restored``: clusters have them again.
    """

    targets: tuple[TargetCluster, ...]
    replicas: int
    asked: str
    requests: tuple[str, ...] = ()
    is_restored: bool = False


ABSENT = "absent"
"""The version of an object in a cluster that has not been given it yet; no digest is this word."""


def name_of_rollout(policy: str, group: str) -> str:
    """Return how people are told of the rollout of a group of objects by a policy.

    >>> name_of_rollout("RolloutPolicy shop/web", ""), name_of_rollout("RolloutPolicy shop/web", "team-a")
    ('RolloutPolicy shop/web', 'RolloutPolicy shop/web for team-a')
    """
    return f"{policy} for {group}" if group else policy


class ObjectRollout(Struct, frozen=True, kw_only=True):
    """The versions of an object that a rollout policy (``policy``, as text) lets out wave by wave.

    ``target`` is the version that goes out, ``completed`` the one that went out last and is through. Each cluster
    stands at ``completed``, also one that comes new, but for those that ``clusters`` lists. ``group`` is the one that
    the object goes out with, while it does ("": the policy makes none). ``waiting`` are the versions that newer changes
    have, in the order in which they are to go out. What clusters do not have yet is ``ABSENT``. While a changed
    placement goes out ``splits`` has the targets of the versions in use beside the newest. ``before_change`` has those
    of before a change that moved or scaled the object at once.
    """

    policy: str
    target: str
    completed: str
    clusters: tuple[ClustersAtVersion, ...] = ()
    group: str = ""
    waiting: tuple[str, ...] = ()
    splits: tuple[SplitOfVersion, ...] = ()
    before_change: SplitBeforeChange | None = None

    @property
    def name(self) -> str:
        """The rollout that it is part of, as people are told of it."""
        return name_of_rollout(self.policy, self.group)

    @property
    def has_gates(self) -> bool:
        """Say whether clusters have to show something before it goes on; what a calendar holds back only waits."""
        return not self.policy.startswith(_OF_FLEET)

    @property
    def is_under_way(self) -> bool:
        """Say whether clusters are to get another version than they stand at, or are not through with it yet."""
        return self.target != self.completed or bool(self.clusters) or self.completed == ABSENT

    @property
    def is_absent_somewhere(self) -> bool:
        """Say whether there are clusters that were not given the object, or have given it up."""
        return ABSENT in {self.completed, *(each.version for each in self.clusters)}

    @property
    def is_new(self) -> bool:
        """Say whether no cluster was given the object yet, nor is by what goes out."""
        return self.target == self.completed == ABSENT and not self.clusters

    @property
    def is_leaving(self) -> bool:
        """Say whether clusters are to lose the object, now or when others are through."""
        return not self.is_new and ABSENT in {self.target, *self.waiting}

    @property
    def is_split_restored(self) -> bool:
        """Say whether a rollback has given clusters the targets of before the change."""
        return self.before_change is not None and self.before_change.is_restored

    @property
    def is_unfinished(self) -> bool:
        """Say whether a change of the object goes out, or waits for the end of another one."""
        return self.is_under_way or bool(self.waiting)

    @property
    def versions(self) -> frozenset[str]:
        """All versions that are in use, or will be."""
        return frozenset({self.target, self.completed, *(each.version for each in self.clusters), *self.waiting}) - {
            ABSENT
        }

    @property
    def version_by_cluster(self) -> Mapping[str, str]:
        """The versions of the clusters that do not stand at the completed one."""
        return {name: each.version for each in self.clusters for name in each.names}
