"""Render manifests for a fleet: everything that decides the target clusters of an object and its form in each.

Nothing here touches files, clusters, the network or the clock.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .admission import admit
    from .binding import Binding
    from .cluster import Cluster
    from .documents import emit, parse_documents
    from .errors import InputError, Problem, ReconcileError
    from .fleet import Fleet
    from .interpreter import Interpreter
    from .matching.match import PolicyIndex
    from .model import Manifest, ObjectRef, TargetCluster, Template
    from .placement import Placement
    from .policy import PropagationPolicy
    from .works import render_works

DISTRIBUTION = "argosy"

__all__ = [
    "DISTRIBUTION",
    "Binding",
    "Cluster",
    "Fleet",
    "InputError",
    "Interpreter",
    "Manifest",
    "ObjectRef",
    "Placement",
    "PolicyIndex",
    "Problem",
    "PropagationPolicy",
    "ReconcileError",
    "TargetCluster",
    "Template",
    "admit",
    "emit",
    "parse_documents",
    "render_works",
]

_MODULE_BY_NAME = {
    "Binding": "binding",
    "Cluster": "cluster",
    "Fleet": "fleet",
    "InputError": "errors",
    "Interpreter": "interpreter",
    "Manifest": "model",
    "ObjectRef": "model",
    "Placement": "placement",
    "PolicyIndex": "matching.match",
    "Problem": "errors",
    "PropagationPolicy": "policy",
    "ReconcileError": "errors",
    "TargetCluster": "model",
    "Template": "model",
    "admit": "admission",
    "emit": "documents",
    "parse_documents": "documents",
    "render_works": "works",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: ``import render`` alone stays cheap."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
