"""What a workload needs: the answers of a resource interpreter about replicas, components and dependencies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClaim:
    """Where pods may land inside a cluster: node selector, tolerations and required node affinity, as in the API."""

    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Manifest, ...] = ()
    hard_node_affinity: Manifest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaRequirements:
    """What one replica needs. ``resource_request`` maps a resource name to a quantity in Kubernetes' notation."""

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
    """An object that must follow a workload to its clusters: by name, or else by a label selector."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: Any = None
