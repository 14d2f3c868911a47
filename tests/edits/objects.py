"""The objects that are edited: every kind that a bare API server serves, and custom resources in people's shapes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from render.documents import parse_documents

VECTORS = Path(__file__).parent.parent / "vectors" / "edited"
SPACE = "shop"
CLUSTER_SCOPED = frozenset(
    {
        "Namespace",
        "Node",
        "ClusterRole",
        "ClusterRoleBinding",
        "StorageClass",
        "CSIDriver",
        "PersistentVolume",
        "PriorityClass",
        "RuntimeClass",
        "IngressClass",
        "FlowSchema",
        "PriorityLevelConfiguration",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "DeviceClass",
        "CustomResourceDefinition",
        "Wrapped",
    }
)

Manifest = dict[str, Any]


def definitions() -> list[Manifest]:
    """Return the definitions of the custom resources."""
    return list(_parsed("definitions"))


def whole_objects() -> list[Manifest]:
    """Return one object of every kind with all that it may have, without a name."""
    return [each for name in ("workloads", "core", "cluster_scoped", "custom_resources") for each in _parsed(name)]


def _parsed(name: str) -> Iterator[Manifest]:
    for document in parse_documents((VECTORS / f"{name}.yaml").read_bytes()):
        yield json.loads(json.dumps(document.value))


def named(whole: Mapping[str, Any], number: int) -> Manifest:
    """Return an object under a name of its own."""
    kind = str(whole["kind"])
    name = f"{kind.lower()}-{number}"
    text = json.dumps(whole)
    if kind == "CustomResourceDefinition":
        # The names of two definitions' kinds must differ as well.
        text = text.replace("edited.example.com", f"edited{number}.example.com")
        name = f"editeds.edited{number}.example.com"
    manifest: Manifest = json.loads(text)
    space = {} if kind in CLUSTER_SCOPED else {"namespace": manifest["metadata"].get("namespace", SPACE)}
    return {**manifest, "metadata": {**manifest["metadata"], "name": name, **space}}
