"""Admission of OverridePolicy and ClusterOverridePolicy, and with them of every kind there is.

In the order of the file: the schema, the kinds, the problems Karmada's webhook refuses, and warnings about policies
that Karmada stores although they do nothing, or not what their author thinks.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from render.admission import Admitted, AdmittedKind, Kinds, render_kinds
from render.admission import admit as admit_of
from render.admission.findings import Findings
from render.admission.metadata import check_annotations, check_labels
from render.admission.placements import check_affinity
from render.admission.policies import check_selectors, set_selector_namespaces
from render.admission.policy_warnings import warn_of_affinity, warn_of_selectors
from render.admission.schema import Anything, ListOf, Record, Text
from render.admission.shared_schema import CLUSTER_AFFINITY, LABELS, RESOURCE_SELECTOR, TEXT, TEXTS
from render.admission.syntax import label_key_fault, label_value_fault, pointer_fault
from render.admission.walking import Reading, walk_of
from render.model import POLICY_API_VERSION, Manifest

Plain = Mapping[str, Any]

_SEEN_BY_KARMADA = (
    "plaintext",
    "imageOverrider",
    "commandOverrider",
    "argsOverrider",
    "labelsOverrider",
    "annotationsOverrider",
)
_OPERATOR = Text(choices=("add", "remove", "replace"))
_ADD_OR_REMOVE = Text(choices=("add", "remove"))


def _operations(pointer: str) -> ListOf:
    return ListOf(Record({f"{pointer}!": TEXT, "operator!": _OPERATOR, "value": Anything()}))


_COMMAND_ARGS = ListOf(Record({"containerName!": TEXT, "operator!": _ADD_OR_REMOVE, "value": TEXTS}))
_LABELS_ANNOTATIONS = ListOf(Record({"operator!": _OPERATOR, "value!": LABELS}))
_IMAGE = Record(
    {
        "predicate": Record({"path!": TEXT}),
        "component!": Text(choices=("Registry", "Repository", "Tag")),
        "operator!": _OPERATOR,
        "value": TEXT,
    }
)
_OVERRIDERS = Record(
    {
        "plaintext": _operations("path"),
        "imageOverrider": ListOf(_IMAGE),
        "commandOverrider": _COMMAND_ARGS,
        "argsOverrider": _COMMAND_ARGS,
        "labelsOverrider": _LABELS_ANNOTATIONS,
        "annotationsOverrider": _LABELS_ANNOTATIONS,
        "fieldOverrider": ListOf(
            Record({"fieldPath!": TEXT, "json": _operations("subPath"), "yaml": _operations("subPath")})
        ),
    }
)
OVERRIDE_SPEC = Record(
    {
        "resourceSelectors": ListOf(RESOURCE_SELECTOR),
        "overrideRules": ListOf(Record({"targetCluster": CLUSTER_AFFINITY, "overriders!": _OVERRIDERS})),
        "targetCluster": CLUSTER_AFFINITY,
        "overriders": _OVERRIDERS,
    }
)


@cache
def all_kinds() -> Kinds:
    """Return every admitted kind by name: those of ``render`` and the two of override policies."""
    # The cluster-scoped kind has no mutating webhook: fields its author leaves empty stay as they are.
    kinds = (
        AdmittedKind(
            api_version=POLICY_API_VERSION,
            kind=name,
            is_namespaced=is_namespaced,
            schema=OVERRIDE_SPEC,
            spec=walk_of(OVERRIDE_SPEC, Reading(is_typed=is_namespaced)),
            never_null={"overrideRules": "a list"},
            mutate=_mutate if is_namespaced else lambda _policy, _findings: None,
            check=check_override_policy,
            warn=warn_of_override_policy,
        )
        for name, is_namespaced in (("OverridePolicy", True), ("ClusterOverridePolicy", False))
    )
    return {**render_kinds(), **{each.kind: each for each in kinds}}


def admit(manifest: Manifest, *, default_namespace: str = "default") -> Admitted:
    """Admit a document of any admitted kind; the manifest itself is not changed."""
    return admit_of(manifest, default_namespace=default_namespace, kinds=all_kinds())


def check_override_policy(policy: Plain, findings: Findings) -> None:
    """Report mistakes Karmada's webhook refuses a policy for. It ignores the deprecated ``spec.overriders``."""
    spec = policy["spec"]
    check_affinity(spec.get("targetCluster"), "spec.targetCluster", findings)
    if "overrideRules" in spec:
        _check_no_deprecated_form(spec, findings)
    for index, rule in enumerate(spec.get("overrideRules") or ()):
        path = f"spec.overrideRules[{index}]"
        check_overriders(rule.get("overriders") or {}, f"{path}.overriders", findings)
        check_affinity(rule.get("targetCluster"), f"{path}.targetCluster", findings)
    check_selectors(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"), findings)


def check_overriders(overriders: Plain, path: str, findings: Findings) -> None:
    """Report overriders that fit no object: labels, annotations, pointers, values."""
    for index, each in enumerate(overriders.get("annotationsOverrider") or ()):
        check_annotations(each.get("value") or {}, f"{path}.annotationsOverrider[{index}].value", findings)
    for index, each in enumerate(overriders.get("labelsOverrider") or ()):
        check_labels(each.get("value") or {}, f"{path}.labelsOverrider[{index}].value", findings)
    for index, each in enumerate(overriders.get("imageOverrider") or ()):
        pointer = (each.get("predicate") or {}).get("path") or ""
        _check_pointer(pointer, f"{path}.imageOverrider[{index}].predicate.path", findings)
    for index, each in enumerate(overriders.get("fieldOverrider") or ()):
        _check_field_overrider(each, f"{path}.fieldOverrider[{index}]", findings)


def _mutate(policy: dict[str, Any], _findings: Findings) -> None:
    spec = policy["spec"]
    set_selector_namespaces(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"))
    spec.setdefault("overriders", {})


def _check_no_deprecated_form(spec: Plain, findings: Findings) -> None:
    overriders = spec.get("overriders") or {}
    if "targetCluster" in spec:
        findings.problem("spec.targetCluster", "cannot stand beside overrideRules", hint="move it into a rule")
    if any(overriders.get(each) for each in _SEEN_BY_KARMADA):
        findings.problem("spec.overriders", "cannot stand beside overrideRules", hint="move it into a rule")


def _check_field_overrider(overrider: Plain, path: str, findings: Findings) -> None:
    operations = {part: overrider.get(part) or () for part in ("json", "yaml")}
    if all(operations.values()):
        findings.problem(path, "json and yaml exclude each other", hint="keep the one the field is written in")
    elif not any(operations.values()):
        findings.problem(path, "required: either json or yaml", hint="add the operations", kind="Required")
    _check_pointer(overrider.get("fieldPath") or "", f"{path}.fieldPath", findings)
    for here, operation in _placed(operations, path):
        _check_pointer(operation.get("subPath") or "", f"{here}.subPath", findings)
        has_value = operation.get("value") is not None
        if operation.get("operator") == "remove" and has_value:
            findings.problem(f"{here}.value", "means nothing with operator remove", hint="leave it out")
        if operation.get("operator") in {"add", "replace"} and not has_value:
            findings.problem(f"{here}.value", f"required with operator {operation['operator']}")


def _placed(operations: Mapping[str, Iterable[Plain]], path: str) -> Iterator[tuple[str, Plain]]:
    for part, each in operations.items():
        yield from ((f"{path}.{part}[{index}]", operation) for index, operation in enumerate(each))


def _check_pointer(pointer: str, path: str, findings: Findings) -> None:
    if fault := pointer_fault(pointer):
        findings.problem(path, fault)


def warn_of_override_policy(policy: Plain, findings: Findings) -> None:
    """Warn of rules that change nothing, or something else than they seem to."""
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
    """Warn of mistakes that a rule would be refused for: Karmada does not check the deprecated form."""
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
