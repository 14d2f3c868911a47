"""The needs of a workload: the answers of a resource interpreter about replicas, components and dependencies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClaim:
    """The nodes pods may land on: node selector, tolerations and required node affinity, as in the API."""

    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Manifest, ...] = ()
    hard_node_affinity: Manifest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaRequirements:
    """The needs of one replica. ``resource_request`` maps a resource name to a quantity in Kubernetes' notation."""

    node_claim: NodeClaim | None = None
    resource_request: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    priority_class_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One pod template of a workload with several (a Spark driver, its executors)."""

    name: str
    replicas: int
    requirements: ReplicaRequirements | None = None


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class DependentObject:
    """An object that must be propagated with a workload: by name, or else by a label selector."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: Any = None
