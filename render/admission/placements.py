"""Karmada's mutation and rules for placements and the cluster affinities in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.syntax import fault_of_label_key, quoted_text

from .findings import Findings

Placement = dict[str, Any]

FIELD_KEYS = ("provider", "region", "zone")
FIELD_OPERATORS = ("In", "NotIn")
_OWN_PARTS = ("labelSelector", "fieldSelector", "clusterNames", "exclude")


def mutate_placement(placement: Placement) -> None:
    """Set the defaults of Karmada's webhook: the field spread constraints count by, and the way shares are found."""
    for constraint in placement.get("spreadConstraints") or ():
        if not constraint.get("spreadByField") and not constraint.get("spreadByLabel"):
            constraint["spreadByField"] = "cluster"
        if not constraint.get("minGroups"):
            constraint["minGroups"] = 1
    scheduling = placement.get("replicaScheduling")
    if scheduling is not None and scheduling.get("replicaSchedulingType") == "Divided":
        scheduling.setdefault("replicaDivisionPreference", "Weighted")


def check_placement(placement: Placement, path: str, findings: Findings) -> None:
    """Report the mistakes for which Karmada's webhook refuses a placement."""
    terms = placement.get("clusterAffinities") or ()
    if "clusterAffinity" in placement and terms:
        findings.problem(
            path,
            "clusterAffinity and clusterAffinities exclude each other",
            hint="move clusterAffinity into the list, under an affinityName",
        )
    _check_overflow_is_dynamic(placement, path, findings)
    check_cluster_affinity(placement.get("clusterAffinity"), f"{path}.clusterAffinity", findings)
    check_affinity_terms(terms, f"{path}.clusterAffinities", findings)
    check_spread_constraints(placement.get("spreadConstraints") or (), f"{path}.spreadConstraints", findings)
    _check_workload_affinity(placement.get("workloadAffinity"), f"{path}.workloadAffinity", findings)
    for index, toleration in enumerate(placement.get("clusterTolerations") or ()):
        if toleration.get("operator") in {"Lt", "Gt"}:
            findings.not_supported(
                f"{path}.clusterTolerations[{index}].operator", toleration["operator"], ("", "Exists", "Equal")
            )


def _check_overflow_is_dynamic(placement: Placement, path: str, findings: Findings) -> None:
    if _divides_by_dynamic_weights(placement.get("replicaScheduling") or {}):
        return
    for index, term in enumerate(placement.get("clusterAffinities") or ()):
        if term.get("overflowAffinities"):
            findings.problem(
                f"{path}.clusterAffinities[{index}].overflowAffinities",
                "replicas overflow only where they are divided by capacity",
                hint="set replicaScheduling to Divided with Aggregated, or Weighted with a dynamicWeight",
            )


def _divides_by_dynamic_weights(scheduling: Mapping[str, Any]) -> bool:
    if scheduling.get("replicaSchedulingType") != "Divided":
        return False
    if scheduling.get("replicaDivisionPreference") == "Aggregated":
        return True
    weights = scheduling.get("weightPreference") or {}
    return scheduling.get("replicaDivisionPreference") == "Weighted" and bool(weights.get("dynamicWeight"))


def check_spread_constraints(constraints: Sequence[Mapping[str, Any]], path: str, findings: Findings) -> None:
    """Report bounds that no number meets, and fields that are counted twice or without clusters."""
    for index, constraint in enumerate(constraints):
        _check_spread_constraint(constraint, f"{path}[{index}]", findings)
    fields = [constraint["spreadByField"] for constraint in constraints if constraint.get("spreadByField")]
    for field in dict.fromkeys(each for each in fields if fields.count(each) > 1):
        findings.problem(path, f"more than one constraint spreads by {field}", hint="keep one of them")
    if fields and "cluster" not in fields:
        findings.problem(
            path,
            "one constraint must spread by cluster, to say how many clusters are chosen",
            hint="add spreadByField: cluster with minGroups and maxGroups",
        )


def _check_spread_constraint(constraint: Mapping[str, Any], path: str, findings: Findings) -> None:
    least, most = constraint.get("minGroups") or 0, constraint.get("maxGroups") or 0
    if constraint.get("spreadByField") and constraint.get("spreadByLabel"):
        findings.problem(path, "spreadByField and spreadByLabel exclude each other", hint="remove one of them")
    if least < 0:
        findings.problem(path, f"minGroups must be at least 0, not {least}")
    if most < 0:
        findings.problem(path, f"maxGroups must be at least 0, not {most}")
    if 0 < most < least:
        findings.problem(path, f"maxGroups ({most}) is less than minGroups ({least})")


def _check_workload_affinity(affinity: Mapping[str, Any] | None, path: str, findings: Findings) -> None:
    keys = {
        part: affinity[part].get("groupByLabelKey") or ""
        for part in ("affinity", "antiAffinity")
        if affinity and part in affinity
    }
    for part, key in keys.items():
        if fault := fault_of_label_key(key):
            findings.problem(f"{path}.{part}.groupByLabelKey", fault)
    if len(keys) == 2 and len(set(keys.values())) == 1:
        findings.problem(path, "affinity and antiAffinity group by the same label key", hint="remove one of them")


def check_cluster_affinity(affinity: Mapping[str, Any] | None, path: str, findings: Findings) -> None:
    """Report expressions over fields of a cluster that Karmada does not know."""
    selector = (affinity or {}).get("fieldSelector") or {}
    for expression in selector.get("matchExpressions") or ():
        key, operator = expression.get("key") or "", expression.get("operator") or ""
        if key not in FIELD_KEYS:
            findings.problem(
                f"{path}.fieldSelector", f"unknown key {quoted_text(key)}", hint="write 'provider', 'region' or 'zone'"
            )
        elif operator not in FIELD_OPERATORS:
            findings.problem(
                f"{path}.fieldSelector", f"unknown operator {quoted_text(operator)}", hint="write 'In' or 'NotIn'"
            )


def check_affinity_terms(terms: Sequence[Mapping[str, Any]], path: str, findings: Findings) -> None:
    """Report names that are no label keys or occur twice, and mistakes inside the terms."""
    seen: set[str] = set()
    for index, term in enumerate(terms):
        here, name = f"{path}[{index}]", term.get("affinityName") or ""
        if fault := fault_of_label_key(name):
            findings.problem(here, f"affinityName: {fault}")
        if name in seen:
            findings.problem(path, f"two terms are called {quoted_text(name)}", hint="give each its own affinityName")
        seen.add(name)
        check_cluster_affinity(term, here, findings)
        _check_overflow_affinities(term, here, findings)


def _check_overflow_affinities(term: Mapping[str, Any], path: str, findings: Findings) -> None:
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
        if fault := fault_of_label_key(name):
            findings.problem(f"{here}.affinityName", fault)
        if name in seen:
            findings.problem(
                f"{here}.affinityName", f"{quoted_text(name)} is taken by this term or another overflow of it"
            )
        seen.add(name)
        check_cluster_affinity(each, here, findings)
