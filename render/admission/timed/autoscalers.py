"""FederatedHPA: its schema, the defaults of Karmada's webhook, and the bounds it refuses."""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.schema import ListOf, Quantity, Record, Text
from render.admission.shared_schema import INTEGER32, LABEL_SELECTOR, POINTER32, TEXT

from .metrics import check_metric
from .references import SCALE_TARGET, check_reference

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
    check_reference(spec["scaleTargetRef"], "spec.scaleTargetRef", findings)
    if low < 1:
        findings.problem("spec.minReplicas", f"must be at least 1, not {low}")
    if high < 1:
        findings.problem("spec.maxReplicas", f"must be at least 1, not {high}")
    if high < low:
        findings.problem("spec.maxReplicas", f"must not be below minReplicas, {low}")
    for index, metric in enumerate(spec["metrics"]):
        check_metric(metric, f"spec.metrics[{index}]", findings)
    for direction, rules in (spec.get("behavior") or {}).items():
        _check_scaling(rules, f"spec.behavior.{direction}", findings)


def warn_of_autoscaler(autoscaler: Mapping[str, Any], findings: Findings) -> None:
    """Warn that metrics, which change by the second and are in no commit, scale nothing here."""
    low, high = autoscaler["spec"]["minReplicas"], autoscaler["spec"]["maxReplicas"]
    message = f"no metric is followed: replicas are kept between {low} and {high}, and are otherwise the template's"
    hint = "to scale by load, propagate a HorizontalPodAutoscaler, which scales in each cluster by what it sees there"
    findings.warning("spec.metrics", message, hint=hint)


def _check_scaling(rules: Mapping[str, Any], path: str, findings: Findings) -> None:
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
