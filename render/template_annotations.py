"""Annotations and labels by which resource templates say how members, and the guards, are to treat their objects."""

from collections.abc import Mapping

from render.settings.field_rules import FieldRuling

PRUNE = "argosy.dev/prune"
RECREATE = "argosy.dev/recreate"
OWNER = "argosy.dev/owner"
CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution"
PROTECTED = "resourcetemplate.karmada.io/deletion-protected"
PROTECTED_ALWAYS = "Always"
"""Karmada's label of what is not to be deleted, and the one value that it has a meaning for."""

FIELD_ANNOTATIONS: Mapping[str, FieldRuling] = {
    "argosy.dev/own-fields": FieldRuling.OWN,
    "argosy.dev/yield-fields": FieldRuling.YIELD,
    "argosy.dev/ignore-fields": FieldRuling.IGNORE,
}
"""The annotations that list fields, each with what it says of them."""
