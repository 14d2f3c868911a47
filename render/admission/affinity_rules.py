"""Karmada's rules for cluster affinities: field selectors, names of terms, overflow."""

from collections.abc import Mapping, Sequence
from typing import Any

from .findings import Findings
from .syntax import label_key_fault, quoted

FIELD_KEYS = ("provider", "region", "zone")
FIELD_OPERATORS = ("In", "NotIn")

_OWN_PARTS = ("labelSelector", "fieldSelector", "clusterNames", "exclude")


def check_affinity(affinity: Mapping[str, Any] | None, path: str, findings: Findings) -> None:
    """Report expressions over fields of a cluster that Karmada does not know."""
    selector = (affinity or {}).get("fieldSelector") or {}
    for expression in selector.get("matchExpressions") or ():
        key, operator = expression.get("key") or "", expression.get("operator") or ""
        if key not in FIELD_KEYS:
            findings.problem(
                f"{path}.fieldSelector", f"unknown key {quoted(key)}", hint="write 'provider', 'region' or 'zone'"
            )
        elif operator not in FIELD_OPERATORS:
            findings.problem(
                f"{path}.fieldSelector", f"unknown operator {quoted(operator)}", hint="write 'In' or 'NotIn'"
            )


def check_terms(terms: Sequence[Mapping[str, Any]], path: str, findings: Findings) -> None:
    """Report names that are no label keys or occur twice, and what is wrong inside the terms."""
    seen: set[str] = set()
    for index, term in enumerate(terms):
        here, name = f"{path}[{index}]", term.get("affinityName") or ""
        if fault := label_key_fault(name):
            findings.problem(here, f"affinityName: {fault}")
        if name in seen:
            findings.problem(path, f"two terms are called {quoted(name)}", hint="give each its own affinityName")
        seen.add(name)
        check_affinity(term, here, findings)
        _check_overflow(term, here, findings)


def _check_overflow(term: Mapping[str, Any], path: str, findings: Findings) -> None:
    overflow = term.get("overflowAffinities") or ()
    if overflow and not any(part in term for part in _OWN_PARTS):
        findings.problem(
            f"{path}.overflowAffinities",
            "the term itself names no clusters, so nothing can overflow",
            hint="add clusterNames, labelSelector or fieldSelector beside it",
        )
    seen = {term.get("affinityName") or ""}
    for index, each in enumerate(overflow):
        here, name = f"{path}.overflowAffinities[{index}]", each.get("affinityName") or ""
        if fault := label_key_fault(name):
            findings.problem(f"{here}.affinityName", fault)
        if name in seen:
            findings.problem(f"{here}.affinityName", f"{quoted(name)} is taken by this term or another overflow of it")
        seen.add(name)
        check_affinity(each, here, findings)
