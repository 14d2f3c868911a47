"""The built-in kinds: one value for each, in a module for each family, and every table by kind made of them.

To add a kind is to add its value to a family. Nothing else lists kinds of Kubernetes.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from render.interpretation.operations import Interpretation
from render.interpretation.retention import retain_operation_of_fields

from . import (
    access,
    batch,
    configuration,
    daemon_sets,
    extension,
    fleet,
    network,
    nodes,
    pods,
    scaling,
    stateful_sets,
    storage,
    workloads,
)
from .kind import BuiltInKind, GroupKind

__all__ = ["BUILT_IN", "KUBERNETES", "NATIVE", "SCOPES", "BuiltInKind", "GroupKind"]

KUBERNETES: tuple[BuiltInKind, ...] = (
    *pods.KINDS,
    *workloads.KINDS,
    *stateful_sets.KINDS,
    *daemon_sets.KINDS,
    *batch.KINDS,
    *configuration.KINDS,
    *storage.KINDS,
    *network.KINDS,
    *scaling.KINDS,
    *access.KINDS,
    *extension.KINDS,
    *nodes.KINDS,
)
"""The kinds of Kubernetes, in all versions it ever had."""

BUILT_IN: Mapping[GroupKind, BuiltInKind] = {(kind.group, kind.kind): kind for kind in (*KUBERNETES, *fleet.KINDS)}
"""The kinds of Kubernetes, Karmada and Argosy, by group and name."""

SCOPES: Mapping[GroupKind, bool] = {key: kind.is_namespaced for key, kind in BUILT_IN.items()}
"""The scopes of built-in kinds; True is namespaced."""

NATIVE: Mapping[tuple[str, str], Interpretation] = {
    (kind.api_version, kind.kind): replace(kind.interpretation, retain=retain_operation_of_fields(kind.retained))
    for kind in BUILT_IN.values()
    if kind.version
}
"""The interpretation of built-in kinds, by apiVersion and kind."""
