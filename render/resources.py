"""The needs of a workload: the answers of a resource interpreter about replicas, components and dependencies."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from .model import Manifest


class NodeClaim(Struct, frozen=True, kw_only=True):
    """The nodes pods may land on: node selector, tolerations and required node affinity, as in the API.

    They are the template's own, whose values only a server checks: a label may be null there, or a number.
    """

    node_selector: Mapping[str, Any] = field(default_factory=dict)
    tolerations: tuple[Manifest, ...] = ()
    hard_node_affinity: Manifest | None = None


class ReplicaRequirements(Struct, frozen=True, kw_only=True):
    """The needs of one replica. ``resource_request`` maps a resource name to a quantity in Kubernetes' notation."""

    node_claim: NodeClaim | None = None
    resource_request: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    priority_class_name: str = ""


class Component(Struct, frozen=True, kw_only=True):
    """One pod template of a workload with several (a Spark driver, its executors)."""

    name: str
    replicas: int
    requirements: ReplicaRequirements | None = None


class DependentObject(Struct, frozen=True, order=True, kw_only=True):
    """An object that must be propagated with a workload: by name, or else by a label selector."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: Any = None
