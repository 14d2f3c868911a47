"""Objects of Federation v1's frozen API versions as today's API servers take them."""

from typing import Any

from render.federations.ingresses import upgraded_ingress
from render.federations.manifests import without_server_fields
from render.federations.units import Remark, approximate
from render.model import Manifest

_SYSTEM = ("federation.kubernetes.io/", "federation.alpha.kubernetes.io/", "ingress.federation.kubernetes.io/")
_WORKLOADS = frozenset({"Deployment", "ReplicaSet", "DaemonSet"})


def has_its_annotation(manifest: Manifest) -> bool:
    """Say whether an object has an annotation of Federation v1."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and any(str(key).startswith(_SYSTEM) for key in annotations)


def upgraded(manifest: Manifest) -> tuple[dict[str, Any], list[Remark]]:
    """Return an object of today without annotations and finalizers of Federation v1, and what had to be made up."""
    clean = without_server_fields(manifest)
    metadata = dict(clean["metadata"])
    annotations = {
        key: value for key, value in (metadata.pop("annotations", None) or {}).items() if not key.startswith(_SYSTEM)
    }
    finalizers = [
        each
        for each in metadata.pop("finalizers", None) or ()
        if each != "orphan" and not str(each).startswith(_SYSTEM)
    ]
    metadata |= {"annotations": annotations} if annotations else {}
    metadata |= {"finalizers": finalizers} if finalizers else {}
    clean["metadata"] = metadata
    if clean["kind"] in _WORKLOADS and str(clean["apiVersion"]).startswith(("extensions/", "apps/v1beta")):
        return _workload(clean)
    if clean["kind"] == "Ingress" and str(clean["apiVersion"]).startswith(("extensions/", "networking.k8s.io/v1beta1")):
        return upgraded_ingress(clean)
    return clean, []


def _workload(manifest: dict[str, Any]) -> tuple[dict[str, Any], list[Remark]]:
    spec = {key: value for key, value in (manifest.get("spec") or {}).items() if key != "rollbackTo"}
    remarks = []
    if not spec.get("selector"):
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
        spec["selector"] = {"matchLabels": dict(labels)}
        what = f"{manifest['kind']} of apps/v1 needs a selector: it is made of the labels of the pods"
        remarks.append(approximate("selector-derived", what))
    return {**manifest, "apiVersion": "apps/v1", "spec": spec}, remarks
