"""The labels and annotations overriders: entries of the object's own metadata, never of a pod template's.

Adding sets, replacing and removing touch only keys that are there; none of them can fail.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct, field

from overrides.draft import Draft
from overrides.pointer import escaped_pointer
from render.admission.findings import Findings
from render.admission.metadata import check_annotations, check_labels
from render.admission.schema import Record
from render.admission.shared_schema import LABELS
from render.model import Manifest
from render.syntax import fault_of_label_key, fault_of_label_value

from .overrider_type import REMOVED, Change, OverriderType, compile_one_by_one, no_pointer
from .shared_admission import OPERATOR

Field = Literal["labels", "annotations"]


class LabelAnnotationOverrider(Struct, frozen=True, kw_only=True):
    """Labels or annotations added, replaced where present, or removed."""

    operator: str
    value: Mapping[str, str] = field(default_factory=dict)


def labels_or_annotations_of(manifest: Manifest, field: Field) -> Mapping[str, str] | None:
    """Return an object's labels or annotations; None when absent or when not all of them are strings.

    Karmada reads either all of them or none.
    """
    entries = manifest["metadata"].get(field)
    if not isinstance(entries, dict) or not all(isinstance(value, str) for value in entries.values()):
        return None
    return entries


def override_labels_or_annotations(draft: Draft, overrider: LabelAnnotationOverrider, *, field: Field) -> None:
    """Add, replace or remove labels or annotations."""
    entries = labels_or_annotations_of(draft.root, field)
    edits = overrider.value
    if overrider.operator != "add":
        edits = {key: value for key, value in edits.items() if entries and key in entries}
    if not edits:
        return
    if entries is None:
        # A value that cannot be read as entries is replaced by a new mapping, as in Karmada.
        draft.writable_container(("metadata",))[field] = {}
    _edit_entries(draft.writable_container(("metadata", field)), overrider.operator, edits)


def _edit_entries(entries: dict[str, Any], operator: str, edits: Mapping[str, str]) -> None:
    if operator == "remove":
        for key in edits:
            del entries[key]
    else:
        entries.update(edits)


_ITEM = Record({"operator!": OPERATOR, "value!": LABELS})
_IDLE_HINT = "replace and remove touch only keys that exist"


def _parse_label_annotation_overrider(plain: Manifest) -> LabelAnnotationOverrider:
    return LabelAnnotationOverrider(operator=plain["operator"], value=plain["value"])


def _plain_overrider(overrider: LabelAnnotationOverrider) -> dict[str, Any]:
    return {"operator": overrider.operator, "value": dict(sorted(overrider.value.items()))}


def _change_of_overrider(overrider: LabelAnnotationOverrider, *, field: Field) -> Change:
    return partial(override_labels_or_annotations, overrider=overrider, field=field)


def _fields_reached(_overrider: LabelAnnotationOverrider) -> tuple[str]:
    return ("metadata",)


def _settings_of_overrider(overrider: LabelAnnotationOverrider, *, field: Field) -> Iterator[tuple[str, Any]]:
    for key, value in overrider.value.items():
        yield escaped_pointer(("metadata", field, key)), REMOVED if overrider.operator == "remove" else value


def _check_labels(entry: Manifest, path: str, findings: Findings) -> None:
    check_labels(entry.get("value") or {}, f"{path}.value", findings)


def _check_annotations(entry: Manifest, path: str, findings: Findings) -> None:
    check_annotations(entry.get("value") or {}, f"{path}.value", findings)


def _warn_of_unchecked_labels(entry: Manifest, path: str, findings: Findings) -> None:
    for key, value in entry["value"].items():
        if fault := fault_of_label_key(key) or fault_of_label_value(value):
            findings.warning(f"{path}.value", f"{fault}, so clusters will refuse the object")


LABELS_OVERRIDER = OverriderType(
    name="labelsOverrider",
    item=_ITEM,
    parse=_parse_label_annotation_overrider,
    plain=_plain_overrider,
    edits=compile_one_by_one(partial(_change_of_overrider, field="labels")),
    reach=_fields_reached,
    pointer=no_pointer,
    settings=partial(_settings_of_overrider, field="labels"),
    check=_check_labels,
    warn_unchecked=_warn_of_unchecked_labels,
    idle_hint=_IDLE_HINT,
    may_harm=False,
    may_annotate=False,
)
ANNOTATIONS_OVERRIDER = OverriderType(
    name="annotationsOverrider",
    item=_ITEM,
    parse=_parse_label_annotation_overrider,
    plain=_plain_overrider,
    edits=compile_one_by_one(partial(_change_of_overrider, field="annotations")),
    reach=_fields_reached,
    pointer=no_pointer,
    settings=partial(_settings_of_overrider, field="annotations"),
    check=_check_annotations,
    idle_hint=_IDLE_HINT,
    may_harm=False,
)
