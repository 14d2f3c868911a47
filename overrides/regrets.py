"""What Karmada stores of override policies although it does nothing, or not what its author thinks."""

from collections.abc import Iterator, Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.regrets import warn_of_affinity, warn_of_selectors
from render.admission.syntax import label_key_fault, label_value_fault, pointer_fault

Plain = Mapping[str, Any]


def warn_of_override_policy(policy: Plain, findings: Findings) -> None:
    """Warn of rules that change nothing, or not what they say."""
    spec = policy["spec"]
    rules = spec.get("overrideRules") or ()
    warn_of_selectors(spec.get("resourceSelectors") or (), findings)
    warn_of_affinity(spec.get("targetCluster"), "spec.targetCluster", findings)
    if not any((rule.get("overriders") or {}) for rule in (*rules, spec)):
        findings.warning("spec", "overrides nothing", hint="add overrideRules with overriders")
    if rules and (spec.get("overriders") or {}).get("fieldOverrider"):
        findings.warning("spec.overriders.fieldOverrider", "means nothing beside overrideRules")
    for index, rule in enumerate(rules):
        path = f"spec.overrideRules[{index}]"
        warn_of_affinity(rule.get("targetCluster"), f"{path}.targetCluster", findings)
        _warn_of_overriders(rule["overriders"], f"{path}.overriders", findings)
    if not rules:
        _warn_of_overriders(spec.get("overriders") or {}, "spec.overriders", findings)
        _warn_of_unchecked(spec.get("overriders") or {}, "spec.overriders", findings)


def _warn_of_overriders(overriders: Plain, path: str, findings: Findings) -> None:
    for here, each in _each(overriders, "plaintext", path):
        _warn_of_operation(each, here, findings)
    for here, each in _each(overriders, "imageOverrider", path):
        operator, value = each["operator"], each.get("value")
        if operator == "remove" and value:
            findings.warning(f"{here}.value", "means nothing with operator remove")
        elif not value and (operator == "add" or (operator == "replace" and each["component"] == "Tag")):
            findings.warning(f"{here}.value", f"without a value, {operator} changes nothing")
    for name in ("commandOverrider", "argsOverrider"):
        for here, each in _each(overriders, name, path):
            if not each.get("value"):
                findings.warning(f"{here}.value", f"without words, {each['operator']} changes nothing")


def _warn_of_operation(operation: Plain, path: str, findings: Findings) -> None:
    pointer, operator = operation["path"], operation["operator"]
    has_value = operation.get("value") is not None
    _warn_of_pointer(pointer, f"{path}.path", findings)
    if not pointer:
        findings.warning(f"{path}.path", "is empty: it means the whole object")
    if operator == "remove" and has_value:
        findings.warning(f"{path}.value", "means nothing with operator remove")
    elif operator != "remove" and not has_value:
        findings.warning(f"{path}.value", f"without a value, {operator} sets null")


def _warn_of_unchecked(overriders: Plain, path: str, findings: Findings) -> None:
    """Warn of what would be refused in a rule: Karmada does not look into the deprecated form."""
    for here, each in _each(overriders, "labelsOverrider", path):
        for key, value in each["value"].items():
            if fault := label_key_fault(key) or label_value_fault(value):
                findings.warning(f"{here}.value", f"{fault}, so clusters will refuse the object")
    for here, each in _each(overriders, "imageOverrider", path):
        _warn_of_pointer((each.get("predicate") or {}).get("path") or "", f"{here}.predicate.path", findings)
    for here, each in _each(overriders, "fieldOverrider", path):
        _warn_of_pointer(each["fieldPath"], f"{here}.fieldPath", findings)
        if not (each.get("json") or each.get("yaml")):
            findings.warning(here, "changes nothing: it has neither json nor yaml")


def _warn_of_pointer(pointer: str, path: str, findings: Findings) -> None:
    if fault := pointer_fault(pointer):
        findings.warning(path, fault)


def _each(overriders: Plain, name: str, path: str) -> Iterator[tuple[str, Plain]]:
    for index, each in enumerate(overriders.get(name) or ()):
        yield f"{path}.{name}[{index}]", each
