"""Policies as values, admitted and defaulted: those of propagation, ready for matching, and ClusterTaintPolicies."""

from enum import StrEnum

from msgspec import Struct, field

from .cluster import Taint
from .model import Manifest
from .placement import Placement
from .selectors import ClusterAffinity, ResourceSelector

# The labels and annotations by which Karmada marks what a policy claims.
POLICY_ID = "propagationpolicy.karmada.io/permanent-id"
POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace"
POLICY_NAME = "propagationpolicy.karmada.io/name"
CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id"
CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name"


class Preemption(StrEnum):
    """The right of a policy to take over templates that another policy claims."""

    ALWAYS = "Always"
    NEVER = "Never"


class ConflictResolution(StrEnum):
    """The treatment of an object in a member cluster that is not ours."""

    ABORT = "Abort"
    OVERWRITE = "Overwrite"


class Suspension(Struct, frozen=True, kw_only=True):
    """Clusters that keep what they have: all of them, or those named."""

    dispatching: bool = False
    dispatching_on_clusters: tuple[str, ...] = ()


class PropagationPolicy(Struct, frozen=True, kw_only=True):
    """A PropagationPolicy (``namespace`` set) or a ClusterPropagationPolicy (``namespace`` empty).

    ``failover`` stays the API's plain mapping. ``priority_class_name`` names the PriorityClass that gives its bindings
    their schedule priority (None: they have none). ``is_terminating``: it has a deletionTimestamp.
    """

    name: str
    namespace: str = ""
    resource_selectors: tuple[ResourceSelector, ...] = ()
    placement: Placement = field(default_factory=Placement)
    priority: int = 0
    preemption: Preemption = Preemption.NEVER
    propagate_deps: bool = False
    dependent_overrides: tuple[str, ...] = ()
    scheduler_name: str = "default-scheduler"
    failover: Manifest | None = None
    conflict_resolution: ConflictResolution = ConflictResolution.ABORT
    activation_preference: str = ""
    suspension: Suspension | None = None
    preserve_resources_on_deletion: bool = False
    priority_class_name: str | None = None
    is_terminating: bool = False
    path: str = ""
    document: int = 0

    @property
    def is_namespaced(self) -> bool:
        """Say whether this is a PropagationPolicy rather than a ClusterPropagationPolicy."""
        return bool(self.namespace)

    def __str__(self) -> str:
        if self.namespace:
            return f"PropagationPolicy {self.namespace}/{self.name}"
        return f"ClusterPropagationPolicy {self.name}"


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
