"""The rules of ``metadata``: its types first, then names, labels and annotations."""

from collections.abc import Callable, Mapping
from typing import Any

from render.syntax import fault_of_dns_label, fault_of_dns_subdomain, fault_of_label_key, fault_of_label_value

from .findings import Findings
from .schema import INT64, Anything, ListOf, Record, Whole
from .shared_schema import LABELS, TEXT, TEXTS
from .walking import Reading, walk_for_node

ANNOTATION_LIMIT = 256 * 1024

NameFault = Callable[[str], str]

_METADATA = Record(
    {
        "name": TEXT,
        "generateName": TEXT,
        "namespace": TEXT,
        "labels": LABELS,
        "annotations": LABELS,
        "finalizers": TEXTS,
        "ownerReferences": ListOf(Anything()),
        "uid": TEXT,
        "resourceVersion": TEXT,
        "selfLink": TEXT,
        "generation": Whole(INT64),
        "creationTimestamp": TEXT,
        "deletionTimestamp": TEXT,
        "deletionGracePeriodSeconds": Whole(INT64, keep=True),
        "managedFields": ListOf(Anything()),
    }
)
_walk = walk_for_node(_METADATA, Reading(is_decoded=True))


def decoded_metadata(metadata: Any, findings: Findings) -> dict[str, Any]:
    """Return metadata as the API server reads it; wrong types are findings of kind ``Decode``."""
    decoded: dict[str, Any] = _walk({} if metadata is None else metadata, "metadata", findings)
    return decoded


def set_namespace(metadata: dict[str, Any], default: str | None, findings: Findings) -> None:
    """Set the namespace an object is created in: its own or the default; none for a cluster-scoped kind."""
    if default is None:
        if metadata.pop("namespace", ""):
            findings.warning("metadata.namespace", "the kind is cluster-scoped, so its namespace is left out")
    elif not metadata.get("namespace"):
        metadata["namespace"] = default


def check_metadata(
    metadata: Mapping[str, Any], findings: Findings, name_fault: NameFault = fault_of_dns_subdomain
) -> None:
    """Report metadata that Kubernetes refuses in any object."""
    _check_name(metadata, findings, name_fault)
    if (namespace := metadata.get("namespace")) and (fault := fault_of_dns_label(namespace)):
        findings.problem("metadata.namespace", fault)
    check_labels(metadata.get("labels") or {}, "metadata.labels", findings)
    check_annotations(metadata.get("annotations") or {}, "metadata.annotations", findings)
    for finalizer in metadata.get("finalizers") or ():
        if fault := fault_of_label_key(finalizer):
            findings.problem("metadata.finalizers", fault.replace("label key", "finalizer"))


def check_labels(labels: Mapping[str, str], path: str, findings: Findings) -> None:
    """Report label keys and values that Kubernetes refuses."""
    for key, value in labels.items():
        if fault := fault_of_label_key(key):
            findings.problem(path, fault)
        if fault := fault_of_label_value(value):
            findings.problem(path, f"the value of {key!r}: {fault}")


def check_annotations(annotations: Mapping[str, str], path: str, findings: Findings) -> None:
    """Report annotation keys that Kubernetes refuses, upper case aside, and too much text."""
    for key in annotations:
        if fault := fault_of_label_key(key.lower()):
            findings.problem(path, fault.replace("label key", "annotation key"))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > ANNOTATION_LIMIT:
        findings.problem(path, f"more than {ANNOTATION_LIMIT // 1024} KiB in all", kind="TooLong")


def _check_name(metadata: Mapping[str, Any], findings: Findings, name_fault: NameFault) -> None:
    name = metadata.get("name")
    if not name:
        hint = "generateName needs an API server; write the name" if metadata.get("generateName") else ""
        findings.required("metadata.name", hint=hint)
    elif fault := name_fault(name):
        findings.problem("metadata.name", fault)
