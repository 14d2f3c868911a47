"""Admission of OverridePolicy and ClusterOverridePolicy, and with them of every kind there is.

In the order of the file: the schema, the kinds, the problems Karmada's webhook refuses, and warnings about policies
that Karmada stores although they do nothing, or not what their author thinks.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from render.admission import Admitted, AdmittedKind, Kinds, render_kinds
from render.admission import admit as admit_of
from render.admission.findings import Findings
from render.admission.placements import check_cluster_affinity
from render.admission.policies import check_selectors, set_selector_namespaces
from render.admission.policy_warnings import warn_of_affinity, warn_of_selectors
from render.admission.schema import ListOf, Record
from render.admission.shared_schema import CLUSTER_AFFINITY, RESOURCE_SELECTOR
from render.admission.walking import Reading, walk_for_node
from render.model import POLICY_API_VERSION, Manifest

from .overriders import OVERRIDER_TYPES, RECORDED_TYPES
from .overriders.overrider_type import OverriderType

Plain = Mapping[str, Any]

_OVERRIDERS = Record({each.name: ListOf(each.item) for each in RECORDED_TYPES})
OVERRIDE_SPEC = Record(
    {
        "resourceSelectors": ListOf(RESOURCE_SELECTOR),
        "overrideRules": ListOf(Record({"targetCluster": CLUSTER_AFFINITY, "overriders!": _OVERRIDERS})),
        "targetCluster": CLUSTER_AFFINITY,
        "overriders": _OVERRIDERS,
    }
)


@cache
def all_admitted_kinds() -> Kinds:
    """Return every admitted kind by name: those of ``render`` and the two of override policies."""
    # The cluster-scoped kind has no mutating webhook: fields its author leaves empty stay as they are.
    kinds = (
        AdmittedKind(
            api_version=POLICY_API_VERSION,
            kind=name,
            is_namespaced=is_namespaced,
            schema=OVERRIDE_SPEC,
            spec=walk_for_node(OVERRIDE_SPEC, Reading(is_typed=is_namespaced)),
            mutate=_set_policy_defaults if is_namespaced else lambda _policy, _findings: None,
            check=check_override_policy,
            warn=warn_of_ineffective_rules,
        )
        for name, is_namespaced in (("OverridePolicy", True), ("ClusterOverridePolicy", False))
    )
    return {**render_kinds(), **{each.kind: each for each in kinds}}


def admit(manifest: Manifest, *, default_namespace: str = "default") -> Admitted:
    """Admit a document of any admitted kind; the manifest itself is not changed."""
    return admit_of(manifest, default_namespace=default_namespace, kinds=all_admitted_kinds())


def check_override_policy(policy: Plain, findings: Findings) -> None:
    """Report mistakes Karmada's webhook refuses a policy for. It ignores the deprecated ``spec.overriders``."""
    spec = policy["spec"]
    check_cluster_affinity(spec.get("targetCluster"), "spec.targetCluster", findings)
    if "overrideRules" in spec:
        _check_no_deprecated_form(spec, findings)
    for index, rule in enumerate(spec.get("overrideRules") or ()):
        path = f"spec.overrideRules[{index}]"
        check_overriders(rule.get("overriders") or {}, f"{path}.overriders", findings)
        check_cluster_affinity(rule.get("targetCluster"), f"{path}.targetCluster", findings)
    check_selectors(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"), findings)


def check_overriders(overriders: Plain, path: str, findings: Findings) -> None:
    """Report overriders that fit no object: labels, annotations, pointers, values."""
    for here, each, entry in _overrider_entries_of_rule(overriders, path):
        each.check(entry, here, findings)


def _set_policy_defaults(policy: dict[str, Any], _findings: Findings) -> None:
    spec = policy["spec"]
    set_selector_namespaces(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"))
    spec.setdefault("overriders", {})


def _check_no_deprecated_form(spec: Plain, findings: Findings) -> None:
    overriders = spec.get("overriders") or {}
    if "targetCluster" in spec:
        findings.problem("spec.targetCluster", "cannot stand beside overrideRules", hint="move it into a rule")
    if any(overriders.get(each.name) for each in OVERRIDER_TYPES if each.is_seen_beside_rules):
        findings.problem("spec.overriders", "cannot stand beside overrideRules", hint="move it into a rule")


def warn_of_ineffective_rules(policy: Plain, findings: Findings) -> None:
    """Warn of rules that change nothing, or something else than they seem to."""
    spec = policy["spec"]
    rules = spec.get("overrideRules") or ()
    warn_of_selectors(spec.get("resourceSelectors") or (), findings)
    warn_of_affinity(spec.get("targetCluster"), "spec.targetCluster", findings)
    if not any((rule.get("overriders") or {}) for rule in (*rules, spec)):
        findings.warning("spec", "overrides nothing", hint="add overrideRules with overriders")
    for each in OVERRIDER_TYPES:
        if rules and not each.is_seen_beside_rules and (spec.get("overriders") or {}).get(each.name):
            findings.warning(f"spec.overriders.{each.name}", "means nothing beside overrideRules")
    for index, rule in enumerate(rules):
        path = f"spec.overrideRules[{index}]"
        warn_of_affinity(rule.get("targetCluster"), f"{path}.targetCluster", findings)
        for here, each, entry in _overrider_entries_of_rule(rule["overriders"], f"{path}.overriders"):
            each.warn(entry, here, findings)
    if not rules:
        _warn_of_deprecated_form(spec.get("overriders") or {}, findings)


def _warn_of_deprecated_form(overriders: Plain, findings: Findings) -> None:
    for here, each, entry in _overrider_entries_of_rule(overriders, "spec.overriders"):
        each.warn(entry, here, findings)
        each.warn_unchecked(entry, here, findings)


def _overrider_entries_of_rule(overriders: Plain, path: str) -> Iterator[tuple[str, OverriderType[Any], Plain]]:
    """Yield the entries of a rule, each with its field path and its type."""
    for each in OVERRIDER_TYPES:
        for index, entry in enumerate(overriders.get(each.name) or ()):
            yield f"{path}.{each.name}[{index}]", each, entry
