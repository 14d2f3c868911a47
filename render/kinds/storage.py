"""Persistent volumes and their claims, with the fields that members fill in themselves."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.fields import manifest_without_value, text_at, value_at
from render.interpretation.operations import Interpretation, Items
from render.interpretation.progress import LiveState, Progress, status_of
from render.interpretation.removal import Path
from render.interpretation.retention import Retained
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest

from .kind import (
    COMMON_MAPS,
    NO_LIVE_RULES,
    NO_PODS,
    NO_TEMPLATE_RULES,
    ApplyStage,
    BuiltInKind,
    Default,
    built_in_kinds_without_rules,
)

CLAIM_NOTES = (
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
)
CLASS_NOTE = "volume.beta.kubernetes.io/storage-class"
NOTES_OF_CONTROLLERS = tuple(("metadata", "annotations", note) for note in CLAIM_NOTES)
CLAIM_DEFAULTS: Mapping[Path, Default] = {("spec", "volumeMode"): "Filesystem"}
VOLUME_PHASES = ("Failed", "Pending", "Available", "Bound", "Released")


def aggregated_claim(_template: Manifest, items: Items) -> Any:
    """Return Lost if any is lost, else the last phase that is not Bound, else Bound - even with nothing collected."""
    phase = "Bound"
    for _, status in statuses_by_cluster(items):
        member = text_at(status, "phase")
        if member == "Lost":
            return {"phase": member}
        if member != "Bound":
            phase = member
    return {"phase": phase} if phase else {}


def is_claim_bound(observed: Manifest) -> bool:
    """Say whether the claim has its volume."""
    return text_at(observed, "status", "phase") == "Bound"


def missing_volume(claim: Manifest) -> tuple[str, str] | None:
    """Say that a claim is not bound, and to what it should be."""
    if is_claim_bound(claim):
        return None
    phase, storage = text_at(claim, "status", "phase") or "unknown", _storage_class_of_claim(claim)
    where = "the default StorageClass" if storage is None else f"the StorageClass {storage}"
    lack = f"no volume of {where} is bound to it; one that waits for its first consumer is bound when a Pod mounts it"
    if storage == "":
        lack = "no volume without a StorageClass is bound to it, and Kubernetes makes none for it"
    return "NotBound", f"its phase is {phase}: {lack}"


def _storage_class_of_claim(claim: Manifest) -> str | None:
    """Return the class that a claim asks for: None for the cluster's default, "" for volumes without a class.

    The annotation of early versions of Kubernetes still counts before the field.
    """
    noted = value_at(claim, "metadata", "annotations", CLASS_NOTE)
    asked = value_at(claim, "spec", "storageClassName") if noted is None else noted
    return None if asked is None else str(asked)


def aggregated_volume(_template: Manifest, items: Items) -> Any:
    """Take the worst phase; a volume not reported yet is pending."""
    phases = {text_at(item, "status", "phase") if item.get("status") is not None else "Pending" for item in items or ()}
    phase = next((phase for phase in VOLUME_PHASES if phase in phases), "")
    return {"phase": phase} if phase else {}


def claim_progress(live: Manifest) -> LiveState | None:
    """Return whether a claim lost its volume."""
    phase = status_of(live).get("phase")
    if phase == "Lost":
        return LiveState(Progress.FAILED, "ClaimLost", "the volume it was bound to is gone")
    # A claim that waits for its first consumer stays Pending for as long as no pod asks for it.
    return None


def claim_without_selected_node(manifest: Manifest) -> Manifest:
    """Drop the node that a scheduler selected."""
    return manifest_without_value(manifest, "metadata", "annotations", "volume.kubernetes.io/selected-node")


KINDS = (
    BuiltInKind(
        group="",
        kind="PersistentVolumeClaim",
        version="v1",
        is_namespaced=True,
        defaults=CLAIM_DEFAULTS,
        filled_in=(("spec", "volumeName"), *NOTES_OF_CONTROLLERS),
        prune=claim_without_selected_node,
        stage=ApplyStage.CONFIGURATION,
        takes_others_along=True,
        progress=claim_progress,
        short_names=("pvc",),
        interpretation=Interpretation(aggregate=aggregated_claim, health=is_claim_bound, lacking=missing_volume),
        retained=(Retained(path=("spec", "volumeName"), read=text_at, is_fixed=True),),
        has_no=f"{NO_PODS} clean is_recreatable maps is_transient pruned_fields",
    ),
    BuiltInKind(
        group="",
        kind="PersistentVolume",
        version="v1",
        is_namespaced=False,
        defaults={**CLAIM_DEFAULTS, ("spec", "persistentVolumeReclaimPolicy"): "Retain"},
        filled_in=(("spec", "claimRef"), *NOTES_OF_CONTROLLERS),
        stage=ApplyStage.CONFIGURATION,
        takes_others_along=True,
        short_names=("pv",),
        interpretation=Interpretation(aggregate=aggregated_volume),
        retained=(Retained(path=("spec", "claimRef"), is_fixed=True),),
        has_no=f"{NO_PODS} progress clean prune is_recreatable maps is_transient pruned_fields",
    ),
    BuiltInKind(
        group="storage.k8s.io",
        kind="StorageClass",
        version="v1",
        is_namespaced=False,
        takes_others_along=True,
        maps={**COMMON_MAPS, "parameters": ""},
        short_names=("sc",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage is_recreatable is_transient",
    ),
    *built_in_kinds_without_rules(
        "storage.k8s.io", "CSIStorageCapacity", is_namespaced=True, not_written="drivers write it"
    ),
    *built_in_kinds_without_rules("storage.k8s.io", "CSIDriver", is_namespaced=False),
    *built_in_kinds_without_rules("storage.k8s.io", "CSINode", is_namespaced=False, not_written="nodes write it"),
    *built_in_kinds_without_rules(
        "storage.k8s.io", "VolumeAttachment", is_namespaced=False, not_written="controllers write it"
    ),
    BuiltInKind(
        group="storage.k8s.io",
        kind="VolumeAttributesClass",
        version="v1",
        is_namespaced=False,
        maps={"parameters": ""},
        short_names=("vac",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along is_recreatable is_transient",
    ),
    *built_in_kinds_without_rules("storagemigration.k8s.io", "StorageVersionMigration", is_namespaced=False),
    *built_in_kinds_without_rules(
        "internal.apiserver.k8s.io", "StorageVersion", is_namespaced=False, not_written="an API server writes it"
    ),
)
"""Volumes, and the storage of API servers themselves."""
