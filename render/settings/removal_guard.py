"""``spec.removalGuard``: the limits on what one commit may remove from a cluster."""

from collections import Counter
from collections.abc import Collection
from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from .setting import MOST, FleetSetting, faults_of_percentage

Place = tuple[str, str]
"""The namespace of an object ("": cluster-scoped) and its kind, as messages name them."""

FEW = 3
"""A cluster of fewer objects may lose all of them, where that loses nothing that cannot be had again."""

_CRD = "CustomResourceDefinition.apiextensions.k8s.io"
_PRECIOUS = frozenset({"StatefulSet.apps", "PersistentVolumeClaim", "Namespace", _CRD})
"""The kinds with which data or other objects may go."""


def is_worth_guarding(removed: Collection[Place], *, leaves_last_copy: bool) -> bool:
    """Say whether all that a cluster holds is too much to leave it, though it is little.

    ``leaves_last_copy``: some of it stands in no other cluster afterwards, or nobody knows.

    >>> is_worth_guarding([("shop", "Secret")] * 2, leaves_last_copy=False)
    False
    >>> is_worth_guarding([("shop", "PersistentVolumeClaim")], leaves_last_copy=False)
    True
    """
    return len(removed) >= FEW or leaves_last_copy or any(kind in _PRECIOUS for _, kind in removed)


class GuardScope(StrEnum):
    """The extent of a refusal: the whole commit, or the clusters that it is about."""

    FLEET = "Fleet"
    CLUSTER = "Cluster"


class RemovalGuard(Struct, frozen=True, kw_only=True):
    """The limits on the objects that may leave a cluster in one commit.

    Refused are more than ``count`` objects and more than ``percent`` of the cluster's, a namespace or kind of more
    than ``whole`` objects in full, and all of a cluster that is worth guarding. ``scope`` is what is refused then.
    """

    count: Annotated[int, FleetSetting("count", "So many objects may always leave a cluster.", reach=MOST)] = 10
    percent: Annotated[
        int,
        FleetSetting(
            "percent", "So many percent of a cluster's objects may leave it.", reach=MOST, faults=faults_of_percentage
        ),
    ] = 20
    whole: Annotated[
        int,
        FleetSetting("whole", "A namespace or kind of more objects than this may not leave as a whole.", reach=MOST),
    ] = 5
    scope: Annotated[  # either refuses the same objects, so that no value is the weaker one
        GuardScope,
        FleetSetting(
            "scope",
            "The extent of a refusal. `Fleet`: the whole commit is refused. `Cluster`: the clusters that would lose too"
            " much keep what they have, all others go on, and the pass still ends with exit code 6.",
        ),
    ] = GuardScope.FLEET

    def limits_broken_by(
        self, removed: Collection[Place], held: Collection[Place], *, leaves_last_copy: bool = True
    ) -> tuple[str, ...]:
        """Return the limits that a removal breaks, given what of ``held`` is removed; all of it breaks that one alone.

        >>> RemovalGuard().limits_broken_by([("shop", "Secret")] * 6, [("shop", "Secret")] * 6 + [("", "Node")] * 60)
        ('all 6 of namespace shop', 'all 6 of kind Secret')
        """
        if len(removed) >= len(held) and is_worth_guarding(removed, leaves_last_copy=leaves_last_copy):
            return ("everything it holds",)
        bound = max(self.count, len(held) * self.percent // 100)
        reasons = [f"more than {bound}"] if len(removed) > bound else []
        for level, word in enumerate(("namespace", "kind")):
            before, gone = (Counter(place[level] for place in places) for places in (held, removed))
            whole = [name for name in sorted(gone) if name and gone[name] == before[name] > self.whole]
            reasons += [f"all {gone[name]} of {word} {name}" for name in whole]
        return tuple(reasons)


REMOVAL_GUARD = FleetSetting(
    "removalGuard", "The limits on what one commit may remove from a cluster.", in_karmada="Karmada has no guards"
)
