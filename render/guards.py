"""Limits on what one commit may do to a fleet: remove objects, move replicas."""

from collections import Counter
from collections.abc import Collection
from enum import StrEnum

from msgspec import Struct, field

Place = tuple[str, str]
"""The namespace of an object ("": cluster-scoped) and its kind, as messages name them."""


class GuardScope(StrEnum):
    """The extent of a refusal: the whole commit, or the clusters that it is about."""

    FLEET = "Fleet"
    CLUSTER = "Cluster"


class RemovalGuard(Struct, frozen=True, kw_only=True):
    """The limits on the objects that may leave a cluster in one commit.

    Refused are more than ``count`` objects and more than ``percent`` of the cluster's, a namespace or kind of more
    than ``whole`` objects in full, and all of a cluster. ``scope`` is what is refused then.
    """

    count: int = 10
    percent: int = 20
    whole: int = 5
    scope: GuardScope = GuardScope.FLEET

    def broken_by(self, removed: Collection[Place], held: Collection[Place]) -> tuple[str, ...]:
        """Return the limits that a removal breaks, given what of ``held`` is removed; all of it breaks that one alone.

        >>> RemovalGuard().broken_by([("shop", "Secret")] * 6, [("shop", "Secret")] * 6 + [("", "Node")] * 60)
        ('all 6 of namespace shop', 'all 6 of kind Secret')
        """
        if len(removed) >= len(held):
            return ("everything it holds",)
        bound = max(self.count, len(held) * self.percent // 100)
        reasons = [f"more than {bound}"] if len(removed) > bound else []
        for level, word in enumerate(("namespace", "kind")):
            before, gone = (Counter(place[level] for place in places) for places in (held, removed))
            whole = [name for name in sorted(gone) if name and gone[name] == before[name] > self.whole]
            reasons += [f"all {gone[name]} of {word} {name}" for name in whole]
        return tuple(reasons)


class MovementBudget(Struct, frozen=True, kw_only=True):
    """The replicas that may move in one commit: at most ``replicas`` and ``percent`` of them (None: no limit)."""

    replicas: int | None = None
    percent: int | None = None


class PinnedObject(Struct, frozen=True, kw_only=True):
    """Objects that must never leave the clusters named (none named: any cluster); an empty field means any value."""

    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    clusters: tuple[str, ...] = ()


class MovementGuard(Struct, frozen=True, kw_only=True):
    """The limits on moving placed workloads in one commit: budgets, clusters and regions each keeps, pinned objects."""

    fleet: MovementBudget = field(default_factory=MovementBudget)
    workload: MovementBudget = field(default_factory=MovementBudget)
    minimum_clusters: int = 0
    minimum_regions: int = 0
    pinned: tuple[PinnedObject, ...] = ()


class EvictionGuard(Struct, frozen=True, kw_only=True):
    """The limits on what leaves clusters by itself.

    Nothing is evicted by taints while more than ``mass_failure`` percent of the clusters, and more than one, are not
    ready: they may be well, and we the blind. At most ``per_minute`` evictions begin within a minute (None: no limit).
    ``keeps_last_copy``: what no other cluster can take stays, and so does a copy without a healthy one elsewhere.
    ``has_pauses``: what has left a cluster because it was not well there leaves the next one after a pause, a longer
    one each time. ``follows_policies``: the leaving that is under way follows an edit of its policy, and ends where the
    copy that is left has become healthy again.
    """

    mass_failure: int = 33
    per_minute: int | None = None
    keeps_last_copy: bool = True
    has_pauses: bool = True
    follows_policies: bool = True

    def is_mass_failure(self, failed: int, total: int) -> bool:
        """Say whether so many of all clusters are not ready that the fault may be ours.

        >>> [EvictionGuard().is_mass_failure(failed, 4) for failed in (1, 2)]
        [False, True]
        """
        return failed > 1 and failed * 100 > total * self.mass_failure
