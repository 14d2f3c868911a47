"""Admission of OverridePolicy and ClusterOverridePolicy, and with them of every kind there is."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from render.admission import Admitted, AdmittedKind, Kinds, render_kinds
from render.admission import admit as admit_of
from render.admission.affinity_rules import check_affinity
from render.admission.findings import Findings
from render.admission.kinds import POLICY_VERSION
from render.admission.metadata import check_annotations, check_labels
from render.admission.policy_rules import check_selectors, settle_selectors
from render.admission.syntax import pointer_fault
from render.admission.walking import Reading, walk_of
from render.model import Manifest

from .regrets import warn_of_override_policy
from .schema import OVERRIDE_SPEC

Plain = Mapping[str, Any]

_SEEN_BY_KARMADA = (
    "plaintext",
    "imageOverrider",
    "commandOverrider",
    "argsOverrider",
    "labelsOverrider",
    "annotationsOverrider",
)


@cache
def all_kinds() -> Kinds:
    """Return every admitted kind by name: those of ``render`` and the two of override policies."""
    # The cluster-scoped kind has no mutating webhook: what its author leaves empty stays as it is.
    kinds = (
        AdmittedKind(
            api_version=POLICY_VERSION,
            kind=name,
            is_namespaced=is_namespaced,
            spec=walk_of(OVERRIDE_SPEC, Reading(is_typed=is_namespaced)),
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
    """Report what Karmada's webhook refuses. It does not look into the deprecated ``spec.overriders``."""
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
    """Report overriders that no object could take: labels, annotations, pointers, values."""
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
    settle_selectors(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"))
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
