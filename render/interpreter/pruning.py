"""Fields that only an API server may set are taken from a template before it is rendered."""

from collections.abc import Callable, Mapping
from typing import Any

from render.interpretation.fields import mapping_at, objects_at, text_at, value_at, without_value
from render.interpretation.operations import InterpreterError
from render.kinds.configuration import TOKEN_TYPE
from render.model import Manifest

METADATA = (
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
    "ownerReferences",
    "finalizers",
)
CONTROLLER_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_LABELS = (*CONTROLLER_LABELS, "job-name", "batch.kubernetes.io/job-name")


def pruned(manifest: Manifest) -> Manifest:
    """Return the manifest as Karmada stores it in a Work; unchanged parts are shared with the input.

    Some kinds lose more than every object does - by kind alone, whatever their group, as in Karmada. One whose fields
    are of wrong types loses nothing more: to refuse it is for those who check it by its schema.
    """
    kept = without_value(manifest, "status") if "status" in manifest else manifest
    metadata = kept.get("metadata")
    # Nearly no template in Git has any of these, and this is asked of every class of every template.
    if isinstance(metadata, Mapping) and not metadata.keys().isdisjoint(METADATA):
        for field in METADATA:
            kept = without_value(kept, "metadata", field)
    prune = PRUNE_BY_KIND.get(kept.get("kind", ""))
    try:
        return prune(kept) if prune else kept
    except InterpreterError:
        return kept


def _deployment(manifest: Manifest) -> Manifest:
    if not mapping_at(manifest, "metadata").get("annotations"):
        return manifest
    for annotation in ("deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"):
        manifest = without_value(manifest, "metadata", "annotations", annotation)
    return manifest


def _job(manifest: Manifest) -> Manifest:
    """Drop labels that controllers pick, and a time to live, with which delivery and deletion would alternate."""
    if value_at(manifest, "spec", "manualSelector") is not True:
        for label in CONTROLLER_LABELS:
            manifest = without_value(manifest, "spec", "selector", "matchLabels", label)
        for label in JOB_LABELS:
            manifest = without_value(manifest, "spec", "template", "metadata", "labels", label)
    return without_value(manifest, "spec", "ttlSecondsAfterFinished")


def _secret(manifest: Manifest) -> Manifest:
    if manifest.get("type") != TOKEN_TYPE:
        return manifest
    manifest = without_value(manifest, "metadata", "annotations", "kubernetes.io/service-account.uid")
    return {**manifest, "data": None} if "data" in manifest else manifest


def _service_account(manifest: Manifest) -> Manifest:
    """Drop generated token secrets; of two side by side Karmada drops the first, and so do we."""
    secrets = list(objects_at(manifest, "secrets"))
    prefix = f"{text_at(manifest, 'metadata', 'name')}-token-"
    index = 0
    while index < len(secrets):
        if text_at(secrets[index], "name").startswith(prefix):
            del secrets[index]
        index += 1
    return {**manifest, "secrets": secrets} if "secrets" in manifest else manifest


def _service(manifest: Manifest) -> Manifest:
    """Drop allocated addresses; a headless service keeps its None."""
    spec: Mapping[str, Any] = mapping_at(manifest, "spec")
    if "clusterIP" not in spec or spec["clusterIP"] == "None":
        return manifest
    return without_value(without_value(manifest, "spec", "clusterIP"), "spec", "clusterIPs")


def _claim(manifest: Manifest) -> Manifest:
    return without_value(manifest, "metadata", "annotations", "volume.kubernetes.io/selected-node")


PRUNE_BY_KIND: Mapping[str, Callable[[Manifest], Manifest]] = {
    "Deployment": _deployment,
    "Job": _job,
    "Secret": _secret,
    "ServiceAccount": _service_account,
    "Service": _service,
    "PersistentVolumeClaim": _claim,
}
"""The function that prunes a kind beyond the fields every object loses."""
