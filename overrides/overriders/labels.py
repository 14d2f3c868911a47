"""The labels and annotations overriders: entries of the object's own metadata, never of a pod template's.

Adding sets, replacing and removing touch only keys that are there; none of them can fail.
"""

from collections.abc import Mapping
from typing import Any, Literal

from overrides.draft import Draft
from overrides.policy import LabelAnnotationOverrider
from render.model import Manifest

Field = Literal["labels", "annotations"]


def entries_of(manifest: Manifest, field: Field) -> Mapping[str, str] | None:
    """Return an object's labels or annotations; None when absent or when not all of them are strings.

    Karmada reads either all of them or none.
    """
    entries = manifest["metadata"].get(field)
    if not isinstance(entries, dict) or not all(isinstance(value, str) for value in entries.values()):
        return None
    return entries


def override_entries(draft: Draft, overrider: LabelAnnotationOverrider, *, field: Field) -> None:
    """Add, replace or remove labels or annotations."""
    entries = entries_of(draft.root, field)
    edits = overrider.value
    if overrider.operator != "add":
        edits = {key: value for key, value in edits.items() if entries and key in entries}
    if not edits:
        return
    if entries is None:
        # A value that cannot be read as entries is replaced by a new mapping, as in Karmada.
        draft.writable(("metadata",))[field] = {}
    _edit(draft.writable(("metadata", field)), overrider.operator, edits)


def _edit(entries: dict[str, Any], operator: str, edits: Mapping[str, str]) -> None:
    if operator == "remove":
        for key in edits:
            del entries[key]
    else:
        entries.update(edits)
