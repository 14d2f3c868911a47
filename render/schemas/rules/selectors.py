"""Rules about label selectors, where servers look at them: those of metrics, for one, are taken as they are."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.admission.findings import Findings, alternatives
from render.schemas.steps import Steps, path_of_steps

from .texts import Rule, cached_key_fault, check_labels

_HOOKS = "io.k8s.api.admissionregistration.v1."
_WITH_VALUES, _WITHOUT_VALUES = ("In", "NotIn"), ("DoesNotExist", "Exists")


def check_selectors(value: Mapping[str, Any], names: Iterable[str], steps: Steps, findings: Findings) -> None:
    """Check the selectors that a value has under some names."""
    for name in names:
        if value.get(name):
            _check_label_selector(value[name], (steps, name), findings)


def _check_label_selector(selector: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_labels(selector.get("matchLabels"), (steps, "matchLabels"), findings)
    for number, expression in enumerate(selector.get("matchExpressions") or ()):
        if expression:
            _check_label_expression(expression, ((steps, "matchExpressions"), number), findings)


def _check_label_expression(expression: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    operator, values = expression.get("operator"), expression.get("values")
    if fault := cached_key_fault(expression.get("key") or ""):
        findings.problem(path_of_steps((steps, "key")), fault)
    if operator not in (*_WITH_VALUES, *_WITHOUT_VALUES):
        hint = f"write {alternatives([*_WITHOUT_VALUES, *_WITH_VALUES])}"
        findings.problem(
            path_of_steps((steps, "operator")), "none of the values it may have", hint=hint, kind="NotSupported"
        )
    elif operator in _WITH_VALUES and not values:
        findings.required(path_of_steps((steps, "values")))
    elif operator in _WITHOUT_VALUES and values:
        findings.problem(path_of_steps((steps, "values")), f"must be empty with the operator {operator!r}")


def _check_webhook_selectors(hook: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_selectors(hook, ("namespaceSelector", "objectSelector"), steps, findings)


def _check_network_policy_selectors(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_selectors(spec, ("podSelector",), steps, findings)


SELECTOR_RULES: Mapping[str, Rule] = {
    f"{_HOOKS}MutatingWebhook": _check_webhook_selectors,
    f"{_HOOKS}ValidatingWebhook": _check_webhook_selectors,
    "io.k8s.api.networking.v1.NetworkPolicySpec": _check_network_policy_selectors,
}
