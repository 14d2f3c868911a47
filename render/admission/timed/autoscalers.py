"""FederatedHPA: its schema, the defaults of Karmada's webhook, and the targets, bounds and metrics it refuses.

A metric has exactly one source, of its type, with a target that makes sense.
"""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.schema import ListOf, Quantity, Record, Text
from render.admission.shared_schema import INTEGER32, LABEL_SELECTOR, POINTER32, TEXT
from render.quantity import parse_quantity
from render.syntax import fault_of_dns_label, fault_of_label_key, quoted_text

SCALE_TARGET = Record({"apiVersion": TEXT, "kind!": TEXT, "name!": TEXT})

_NO_SEGMENTS = (".", "..")
_NO_PARTS = ("/", "%")


def check_scale_target(reference: Mapping[str, Any], path: str, findings: Findings) -> None:
    """Report a kind or a name that is missing or fits into no path."""
    for part in ("kind", "name"):
        check_path_segment(reference[part], f"{path}.{part}", findings)


def check_path_segment(text: str, path: str, findings: Findings) -> None:
    """Report a text that is missing or fits into no path."""
    if not text:
        findings.required(path)
    elif text in _NO_SEGMENTS or any(part in text for part in _NO_PARTS):
        findings.problem(path, f"{quoted_text(text)} is no name: it must not be '.' or '..', nor contain '/' or '%'")


_METRIC = Record({"name!": TEXT, "selector": LABEL_SELECTOR})
_TARGET = Record({"type!": TEXT, "value": Quantity(), "averageValue": Quantity(), "averageUtilization": POINTER32})
_SCALING_RULES = Record(
    {
        "stabilizationWindowSeconds": POINTER32,
        "selectPolicy": TEXT,
        "policies": ListOf(Record({"type!": TEXT, "value!": INTEGER32, "periodSeconds!": INTEGER32})),
        "tolerance": Quantity(),
    }
)

AUTOSCALER_SPEC = Record(
    {
        "scaleTargetRef!": SCALE_TARGET,
        "minReplicas": POINTER32,
        "maxReplicas!": INTEGER32,
        "metrics": ListOf(
            Record(
                {
                    "type!": Text(),
                    "resource": Record({"name!": TEXT, "target!": _TARGET}),
                    "containerResource": Record({"name!": TEXT, "container!": TEXT, "target!": _TARGET}),
                    "pods": Record({"metric!": _METRIC, "target!": _TARGET}),
                    "object": Record({"describedObject!": SCALE_TARGET, "metric!": _METRIC, "target!": _TARGET}),
                    "external": Record({"metric!": _METRIC, "target!": _TARGET}),
                }
            )
        ),
        "behavior": Record({"scaleUp": _SCALING_RULES, "scaleDown": _SCALING_RULES}),
    }
)

_DEFAULT_METRIC = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
_DOUBLE = {"type": "Percent", "value": 100, "periodSeconds": 15}
_FOUR_MORE = {"type": "Pods", "value": 4, "periodSeconds": 15}
_SCALE_UP = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [_FOUR_MORE, _DOUBLE]}
_SCALE_DOWN = {"selectPolicy": "Max", "policies": [_DOUBLE]}
_SELECTIONS = ("Max", "Min", "Disabled")
_POLICIES = ("Pods", "Percent")
LONGEST_WINDOW, LONGEST_PERIOD = 3600, 1800


def mutate_autoscaler(autoscaler: dict[str, Any], _findings: Findings) -> None:
    """Set the defaults of an autoscaler: one replica at least, by CPU at 80 %, and rules for scaling if it has some."""
    spec = autoscaler["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        spec["metrics"] = [_DEFAULT_METRIC]
    if "behavior" in spec:
        given = spec["behavior"]
        spec["behavior"] = {
            "scaleUp": {**_SCALE_UP, **given.get("scaleUp", {})},
            "scaleDown": {**_SCALE_DOWN, **given.get("scaleDown", {})},
        }


def check_autoscaler(autoscaler: Mapping[str, Any], findings: Findings) -> None:
    """Report what Karmada's webhook refuses."""
    spec = autoscaler["spec"]
    low, high = spec["minReplicas"], spec["maxReplicas"]
    check_scale_target(spec["scaleTargetRef"], "spec.scaleTargetRef", findings)
    if low < 1:
        findings.problem("spec.minReplicas", f"must be at least 1, not {low}")
    if high < 1:
        findings.problem("spec.maxReplicas", f"must be at least 1, not {high}")
    if high < low:
        findings.problem("spec.maxReplicas", f"must not be below minReplicas, {low}")
    for index, metric in enumerate(spec["metrics"]):
        check_metric(metric, f"spec.metrics[{index}]", findings)
    for direction, rules in (spec.get("behavior") or {}).items():
        _check_scaling_rules(rules, f"spec.behavior.{direction}", findings)


def warn_of_autoscaler(autoscaler: Mapping[str, Any], findings: Findings) -> None:
    """Warn that metrics, which change by the second and are in no commit, scale nothing here."""
    low, high = autoscaler["spec"]["minReplicas"], autoscaler["spec"]["maxReplicas"]
    message = f"no metric is followed: replicas are kept between {low} and {high}, and are otherwise the template's"
    hint = "to scale by load, propagate a HorizontalPodAutoscaler, which scales in each cluster by what it sees there"
    findings.warning("spec.metrics", message, hint=hint)


def _check_scaling_rules(rules: Mapping[str, Any], path: str, findings: Findings) -> None:
    window, selection, policies = (
        rules.get(name) for name in ("stabilizationWindowSeconds", "selectPolicy", "policies")
    )
    if window is not None and not 0 <= window <= LONGEST_WINDOW:
        findings.problem(f"{path}.stabilizationWindowSeconds", f"must be between 0 and {LONGEST_WINDOW}, not {window}")
    if selection is not None and selection not in _SELECTIONS:
        findings.not_supported(f"{path}.selectPolicy", selection, _SELECTIONS)
    if not policies:
        findings.required(f"{path}.policies", hint="name one at least, or leave the field out")
    for index, policy in enumerate(policies or ()):
        here, value, period = f"{path}.policies[{index}]", policy["value"], policy["periodSeconds"]
        if policy["type"] not in _POLICIES:
            findings.not_supported(f"{here}.type", policy["type"], _POLICIES)
        if value < 1:
            findings.problem(f"{here}.value", f"must be at least 1, not {value}")
        if not 1 <= period <= LONGEST_PERIOD:
            findings.problem(f"{here}.periodSeconds", f"must be between 1 and {LONGEST_PERIOD}, not {period}")


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
        _check_metric_source(present[0], metric[present[0]], f"{path}.{present[0]}", findings)
    wanted = _SOURCE_BY_TYPE.get(kind, "")
    if wanted and wanted not in present:
        findings.required(f"{path}.{wanted}", hint=f"a metric of type {kind} is described there")
    if len(present) != 1:
        for source in present:
            if source != wanted:
                findings.problem(f"{path}.{source}", f"cannot stand beside type {kind}", kind="Forbidden")


def _check_metric_source(source: str, described: Plain, path: str, findings: Findings) -> None:
    target = described["target"]
    if source in {"object", "pods"}:
        check_path_segment(described["metric"]["name"], f"{path}.metric.name", findings)
    if source == "object":
        check_scale_target(described["describedObject"], f"{path}.describedObject", findings)
    _check_metric_target(target, f"{path}.target", findings)
    match source:
        case "object":
            if "value" not in target and "averageValue" not in target:
                findings.required(f"{path}.target.averageValue", hint="or write value")
        case "pods":
            if not _is_positive_quantity(target.get("averageValue")):
                findings.required(f"{path}.target.averageValue", hint="it must be above 0")
        case _:
            _check_resource_metric(source, described, path, findings)


def _check_resource_metric(source: str, described: Plain, path: str, findings: Findings) -> None:
    name, target = described["name"], described["target"]
    if not name:
        findings.required(f"{path}.name")
    elif fault := fault_of_label_key(name):
        findings.problem(f"{path}.name", fault.replace("label key", "name of a resource"))
    elif source == "containerResource" and "/" not in name and not _is_container_resource_metric(name):
        findings.problem(f"{path}.name", "is no resource of containers", hint="write 'cpu' or 'memory'")
    if source == "containerResource":
        _check_container_name(described["container"], f"{path}.container", findings)
    amounts = [field for field in ("averageUtilization", "averageValue") if field in target]
    if not amounts:
        findings.required(f"{path}.target.averageUtilization", hint="or write averageValue")
    elif len(amounts) > 1:
        findings.problem(f"{path}.target.averageValue", "cannot stand beside averageUtilization", kind="Forbidden")


def _check_container_name(name: str, path: str, findings: Findings) -> None:
    if not name:
        findings.required(path)
    elif fault := fault_of_dns_label(name):
        findings.problem(path, fault)


def _check_metric_target(target: Plain, path: str, findings: Findings) -> None:
    if not target["type"]:
        findings.required(f"{path}.type")
    if target["type"] not in _TARGETS:
        findings.problem(f"{path}.type", "is no type of target", hint="write 'Utilization', 'Value' or 'AverageValue'")
    for name in ("value", "averageValue"):
        if name in target and not _is_positive_quantity(target[name]):
            findings.problem(f"{path}.{name}", "must be above 0")
    if "averageUtilization" in target and target["averageUtilization"] < 1:
        findings.problem(f"{path}.averageUtilization", f"must be at least 1, not {target['averageUtilization']}")


def _is_positive_quantity(amount: Any) -> bool:
    return amount is not None and parse_quantity(str(amount)) > 0


def _is_container_resource_metric(name: str) -> bool:
    return name in _RESOURCES or name.startswith("hugepages-")
