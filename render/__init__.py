"""Pure: everything that decides where an object goes and what it looks like there."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster
    from .errors import InputError, Problem, ReconcileError
    from .model import Manifest, ObjectRef, TargetCluster, Template
    from .placement import Placement
    from .policy import PropagationPolicy

DISTRIBUTION = "argosy"

__all__ = [
    "DISTRIBUTION",
    "Cluster",
    "InputError",
    "Manifest",
    "ObjectRef",
    "Placement",
    "Problem",
    "PropagationPolicy",
    "ReconcileError",
    "TargetCluster",
    "Template",
]

_MODULE_BY_NAME = {
    "Cluster": "cluster",
    "InputError": "errors",
    "Manifest": "model",
    "ObjectRef": "model",
    "Placement": "placement",
    "Problem": "errors",
    "PropagationPolicy": "policy",
    "ReconcileError": "errors",
    "TargetCluster": "model",
    "Template": "model",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: ``import render`` alone stays cheap."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
