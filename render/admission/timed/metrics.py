"""The metrics of a FederatedHPA: exactly one source each, of its type, with a target that makes sense."""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.syntax import dns_label_fault, label_key_fault
from render.quantity import parse_quantity

from .references import check_reference, check_segment

Plain = Mapping[str, Any]

_SOURCE_BY_TYPE = {"ContainerResource": "containerResource", "Object": "object", "Pods": "pods", "Resource": "resource"}
_SOURCES = ("object", "pods", "resource", "containerResource")
_TARGETS = ("Utilization", "Value", "AverageValue")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")


def check_metric(metric: Plain, path: str, findings: Findings) -> None:
    """Report what is wrong with a metric."""
    kind = metric["type"]
    if not kind:
        findings.required(f"{path}.type")
    if kind not in _SOURCE_BY_TYPE:
        findings.not_supported(f"{path}.type", kind, tuple(_SOURCE_BY_TYPE))
    present = [source for source in _SOURCES if source in metric]
    if present:
        _check_source(present[0], metric[present[0]], f"{path}.{present[0]}", findings)
    wanted = _SOURCE_BY_TYPE.get(kind, "")
    if wanted and wanted not in present:
        findings.required(f"{path}.{wanted}", hint=f"a metric of type {kind} is described there")
    if len(present) != 1:
        for source in present:
            if source != wanted:
                findings.problem(f"{path}.{source}", f"cannot stand beside type {kind}", kind="Forbidden")


def _check_source(source: str, described: Plain, path: str, findings: Findings) -> None:
    target = described["target"]
    if source in {"object", "pods"}:
        check_segment(described["metric"]["name"], f"{path}.metric.name", findings)
    if source == "object":
        check_reference(described["describedObject"], f"{path}.describedObject", findings)
    _check_target(target, f"{path}.target", findings)
    match source:
        case "object":
            if "value" not in target and "averageValue" not in target:
                findings.required(f"{path}.target.averageValue", hint="or write value")
        case "pods":
            if not _is_positive(target.get("averageValue")):
                findings.required(f"{path}.target.averageValue", hint="it must be above 0")
        case _:
            _check_resource(source, described, path, findings)


def _check_resource(source: str, described: Plain, path: str, findings: Findings) -> None:
    name, target = described["name"], described["target"]
    if not name:
        findings.required(f"{path}.name")
    elif fault := label_key_fault(name):
        findings.problem(f"{path}.name", fault.replace("label key", "name of a resource"))
    elif source == "containerResource" and "/" not in name and not _is_of_containers(name):
        findings.problem(f"{path}.name", "is no resource of containers", hint="write 'cpu' or 'memory'")
    if source == "containerResource":
        _check_container(described["container"], f"{path}.container", findings)
    amounts = [field for field in ("averageUtilization", "averageValue") if field in target]
    if not amounts:
        findings.required(f"{path}.target.averageUtilization", hint="or write averageValue")
    elif len(amounts) > 1:
        findings.problem(f"{path}.target.averageValue", "cannot stand beside averageUtilization", kind="Forbidden")


def _check_container(name: str, path: str, findings: Findings) -> None:
    if not name:
        findings.required(path)
    elif fault := dns_label_fault(name):
        findings.problem(path, fault)


def _check_target(target: Plain, path: str, findings: Findings) -> None:
    if not target["type"]:
        findings.required(f"{path}.type")
    if target["type"] not in _TARGETS:
        findings.problem(f"{path}.type", "is no type of target", hint="write 'Utilization', 'Value' or 'AverageValue'")
    for name in ("value", "averageValue"):
        if name in target and not _is_positive(target[name]):
            findings.problem(f"{path}.{name}", "must be above 0")
    if "averageUtilization" in target and target["averageUtilization"] < 1:
        findings.problem(f"{path}.averageUtilization", f"must be at least 1, not {target['averageUtilization']}")


def _is_positive(amount: Any) -> bool:
    return amount is not None and parse_quantity(str(amount)) > 0


def _is_of_containers(name: str) -> bool:
    return name in _RESOURCES or name.startswith("hugepages-")
