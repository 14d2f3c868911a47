"""Annotations by which resource templates say how members are to treat their objects."""

from collections.abc import Mapping

from render.settings.field_rules import FieldRuling

PRUNE = "argosy.dev/prune"
RECREATE = "argosy.dev/recreate"
CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution"
FIELD_ANNOTATIONS: Mapping[str, FieldRuling] = {
    "argosy.dev/own-fields": FieldRuling.OWN,
    "argosy.dev/yield-fields": FieldRuling.YIELD,
    "argosy.dev/ignore-fields": FieldRuling.IGNORE,
}
"""The annotations that list fields, each with what it says of them."""
