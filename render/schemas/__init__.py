"""Manifests checked against the schemas of their kinds, as an API server checks them that is asked to be strict.

A schema is a value: OpenAPI as Kubernetes publishes it for its own kinds, or as a CustomResourceDefinition writes it.
"""

from .checking import Check, Schema, SchemaFindings, SchemaSet, check_manifest
from .structural import StructuralSchemas

__all__ = ["Check", "Schema", "SchemaFindings", "SchemaSet", "StructuralSchemas", "check_manifest"]
