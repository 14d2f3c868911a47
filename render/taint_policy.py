"""ClusterTaintPolicy as a value: taints that follow from the conditions of clusters."""

from msgspec import Struct

from .cluster import Taint
from .selectors import ClusterAffinity


class MatchCondition(Struct, frozen=True, kw_only=True):
    """A comparison of one condition's status: ``In`` or ``NotIn`` the values; any other operator matches nothing."""

    condition_type: str
    operator: str
    status_values: tuple[str, ...] = ()


class ClusterTaintPolicy(Struct, frozen=True, kw_only=True):
    """Taints for the clusters of ``targets`` (None: all of them) while their conditions match.

    ``created`` is its creationTimestamp where the object has one: policies are taken from the oldest to the youngest,
    and those without by name.
    """

    name: str
    created: str = ""
    targets: ClusterAffinity | None = None
    add_on: tuple[MatchCondition, ...] = ()
    remove_on: tuple[MatchCondition, ...] = ()
    taints: tuple[Taint, ...] = ()
    path: str = ""
    document: int = 0
