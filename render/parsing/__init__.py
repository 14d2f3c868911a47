"""Admitted plain data into values, and bindings and placements back into plain data.

Everything here trusts ``render.admission``: types are right, defaults are set, empty fields are gone.
"""

from .binding_manifests import binding_manifest
from .bindings import binding
from .clusters import RENAMED_FROM, cluster, former_names
from .placement_manifests import placement_manifest, placement_text
from .placements import SharedPlacements
from .policies import cluster_taint_policy, propagation_policy

__all__ = [
    "RENAMED_FROM",
    "SharedPlacements",
    "binding",
    "binding_manifest",
    "cluster",
    "cluster_taint_policy",
    "former_names",
    "placement_manifest",
    "placement_text",
    "propagation_policy",
]
