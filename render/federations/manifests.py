"""Objects that front-ends make: labels of Karmada on templates, and Cluster objects without credentials."""

from collections.abc import Mapping
from typing import Any

from render.model import CLUSTER_API_VERSION, Manifest

SKIP_NAMESPACE = "namespace.karmada.io/skip-auto-propagation"


def manifest_with_label(manifest: Manifest, label: str) -> dict[str, Any]:
    """Return an object with a label that is true."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), label: "true"}}}


def member_cluster(name: str, labels: Mapping[str, str], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Cluster; fields of its spec that say nothing are left out."""
    said = {key: value for key, value in spec.items() if value not in (None, "", [], {})}
    return {
        "apiVersion": CLUSTER_API_VERSION,
        "kind": "Cluster",
        "metadata": {"name": name} | ({"labels": dict(labels)} if labels else {}),
        "spec": {"syncMode": "Push"} | said,
    }


def words_of_access_to_member(name: str, *, is_pulling: bool) -> str:
    """Return how passes reach a member, or what applies its folder in one that they cannot reach.

    >>> words_of_access_to_member("eu", is_pulling=False)
    'give the cluster a context in a kubeconfig'
    """
    if not is_pulling:
        return "give the cluster a context in a kubeconfig"
    return f"let an agent in it apply its folder (argosy cluster agent {name} prints one), or Argo CD or Flux"


def without_server_fields(manifest: Manifest) -> dict[str, Any]:
    """Return an object as a person would write it: without status, and without what an API server adds."""
    kept = {key: value for key, value in manifest.items() if key != "status"}
    metadata = {key: value for key, value in (kept.get("metadata") or {}).items() if key not in _OF_SERVERS}
    annotations = {
        key: value for key, value in (metadata.pop("annotations", None) or {}).items() if key not in _OF_KUBECTL
    }
    return {**kept, "metadata": metadata | ({"annotations": annotations} if annotations else {})}


_OF_SERVERS = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "ownerReferences"}
)
_OF_KUBECTL = frozenset({"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"})
