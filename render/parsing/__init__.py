"""Admitted plain data into values, and bindings and placements back into plain data.

Everything here trusts ``render.admission``: types are right, defaults are set, empty fields are gone.
"""

from .binding_manifests import binding_manifest
from .bindings import parse_binding
from .clusters import (
    RENAMED_FROM,
    former_names_of_cluster,
    parse_api_enablements,
    parse_cluster,
    parse_resource_summary,
    recorded_scales,
)
from .placement_manifests import json_text_of_placement, plain_placement
from .placements import SharedPlacements
from .policies import parse_cluster_taint_policy, parse_propagation_policy

__all__ = [
    "RENAMED_FROM",
    "SharedPlacements",
    "binding_manifest",
    "former_names_of_cluster",
    "json_text_of_placement",
    "parse_api_enablements",
    "parse_binding",
    "parse_cluster",
    "parse_cluster_taint_policy",
    "parse_propagation_policy",
    "parse_resource_summary",
    "plain_placement",
    "recorded_scales",
]
