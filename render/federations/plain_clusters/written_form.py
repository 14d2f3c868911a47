"""Live objects as a person would write them: without what servers, controllers and kubectl wrote into them.

Nothing is left out that a person may have decided: that would be lost with the object.
"""

from collections.abc import Callable, Mapping
from typing import Any

from render.federations.manifests import without_server_fields
from render.interpreter.pruning import JOB_LABELS, pruned
from render.model import Manifest, ObjectRef

from .defaults import Path, take_out, without_defaults

_CLAIM_NOTES = (
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
)
_MADE: Mapping[str, tuple[Path, ...]] = {
    "CustomResourceDefinition.apiextensions.k8s.io": (
        ("metadata", "annotations", "api-approved.kubernetes.io/bound"),
        ("spec", "conversion", "webhook", "clientConfig", "caBundle"),
    ),
    "DaemonSet.apps": (("metadata", "annotations", "deprecated.daemonset.template.generation"),),
    "MutatingWebhookConfiguration.admissionregistration.k8s.io": (("webhooks", "*", "clientConfig", "caBundle"),),
    "Namespace": (("spec",), ("metadata", "labels", "kubernetes.io/metadata.name")),
    "PersistentVolume": (("spec", "claimRef"), *(("metadata", "annotations", note) for note in _CLAIM_NOTES)),
    "PersistentVolumeClaim": (
        ("spec", "volumeName"),
        *(("metadata", "annotations", note) for note in _CLAIM_NOTES),
    ),
    "Service": (
        ("spec", "healthCheckNodePort"),
        ("spec", "ports", "*", "nodePort"),
    ),
    "StatefulSet.apps": (
        ("spec", "volumeClaimTemplates", "*", "status"),
        ("spec", "volumeClaimTemplates", "*", "apiVersion"),
        ("spec", "volumeClaimTemplates", "*", "kind"),
    ),
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io": (("webhooks", "*", "clientConfig", "caBundle"),),
}
"""The fields of each kind that a cluster fills in for itself."""
_EMPTY_TEMPLATES: tuple[Path, ...] = (
    ("spec", "template", "metadata", "creationTimestamp"),
    ("spec", "jobTemplate", "metadata", "creationTimestamp"),
    ("spec", "jobTemplate", "spec", "template", "metadata", "creationTimestamp"),
    ("spec", "volumeClaimTemplates", "*", "metadata", "creationTimestamp"),
)


def as_written(manifest: Manifest, *, is_scaled: bool = False) -> dict[str, Any]:
    """Return a live object as a template; ``is_scaled``: an autoscaler sets its replicas, so that they are left out."""
    kept = without_filled_in(manifest)
    if is_scaled:
        take_out(kept, ("spec", "replicas"))
    for part in ("labels", "annotations"):
        for name in tuple(kept["metadata"].get(part) or ()):
            if _is_note(name):
                take_out(kept, ("metadata", part, name))
    return kept


def without_filled_in(manifest: Manifest) -> dict[str, Any]:
    """Return a copy of a live object without what servers, controllers and the cluster filled in."""
    kept = without_defaults(without_server_fields(pruned(manifest)))
    kind = ObjectRef.of(manifest).group_kind
    for path in (*_EMPTY_TEMPLATES, *_MADE.get(kind, ())):
        take_out(kept, path)
    clean = _CLEANED.get(kind)
    if clean is not None:
        clean(kept)
    for part in ("labels", "annotations"):
        if not kept["metadata"].get(part, True):
            del kept["metadata"][part]
    return {key: _without_nulls(value) for key, value in kept.items() if value is not None}


def _is_note(name: str) -> bool:
    """Say whether a label or annotation is the note of a tool that delivered the object before."""
    prefix = name.partition("/")[0]
    return prefix == "karmada.io" or prefix.endswith(".karmada.io") or name == "kubefed.io/managed"


def _clean_service(service: dict[str, Any]) -> None:
    spec = service.get("spec")
    if not isinstance(spec, dict):
        return
    is_headless = spec.get("clusterIP") == "None"
    spec.pop("clusterIPs", None)
    if not is_headless:
        spec.pop("clusterIP", None)
    # One family is what the cluster has; two are a wish.
    if spec.get("ipFamilyPolicy") == "SingleStack":
        spec.pop("ipFamilyPolicy")
        spec.pop("ipFamilies", None)


def _clean_job(job: dict[str, Any]) -> None:
    """Take out the selector and the labels that the server makes of the UID of a Job."""
    spec = job.get("spec")
    if not isinstance(spec, dict) or spec.get("manualSelector"):
        return
    spec.pop("selector", None)
    for label in JOB_LABELS:
        take_out(job, ("metadata", "labels", label))
        take_out(job, ("spec", "template", "metadata", "labels", label))


def _clean_account(account: dict[str, Any]) -> None:
    if not account.get("secrets", True):
        del account["secrets"]


def _clean_role(role: dict[str, Any]) -> None:
    """Take out the rules that a controller gathers from other roles."""
    if role.get("aggregationRule"):
        role.pop("rules", None)


_CLEANED: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "ClusterRole.rbac.authorization.k8s.io": _clean_role,
    "Job.batch": _clean_job,
    "Service": _clean_service,
    "ServiceAccount": _clean_account,
}


def _without_nulls(value: Any) -> Any:
    """Return plain data without nulls, which say nothing in an object that a server stored."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value
