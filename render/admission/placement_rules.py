"""Karmada's mutation and rules for placements."""

from collections.abc import Mapping, Sequence
from typing import Any

from .affinity_rules import check_affinity, check_terms
from .findings import Findings
from .syntax import label_key_fault

Placement = dict[str, Any]


def mutate_placement(placement: Placement) -> None:
    """Set what Karmada's webhook sets: what spread constraints count by, and how shares are found."""
    for constraint in placement.get("spreadConstraints") or ():
        if not constraint.get("spreadByField") and not constraint.get("spreadByLabel"):
            constraint["spreadByField"] = "cluster"
        if not constraint.get("minGroups"):
            constraint["minGroups"] = 1
    scheduling = placement.get("replicaScheduling")
    if scheduling is not None and scheduling.get("replicaSchedulingType") == "Divided":
        scheduling.setdefault("replicaDivisionPreference", "Weighted")


def check_placement(placement: Placement, path: str, findings: Findings) -> None:
    """Report what Karmada's webhook refuses in a placement."""
    terms = placement.get("clusterAffinities") or ()
    if "clusterAffinity" in placement and terms:
        findings.problem(
            path,
            "clusterAffinity and clusterAffinities exclude each other",
            hint="move clusterAffinity into the list, under an affinityName",
        )
    _check_overflow_is_dynamic(placement, path, findings)
    check_affinity(placement.get("clusterAffinity"), f"{path}.clusterAffinity", findings)
    check_terms(terms, f"{path}.clusterAffinities", findings)
    check_spread_constraints(placement.get("spreadConstraints") or (), f"{path}.spreadConstraints", findings)
    _check_workload_affinity(placement.get("workloadAffinity"), f"{path}.workloadAffinity", findings)
    for index, toleration in enumerate(placement.get("clusterTolerations") or ()):
        if toleration.get("operator") in {"Lt", "Gt"}:
            findings.not_supported(
                f"{path}.clusterTolerations[{index}].operator", toleration["operator"], ("", "Exists", "Equal")
            )


def _check_overflow_is_dynamic(placement: Placement, path: str, findings: Findings) -> None:
    if _is_dynamic(placement.get("replicaScheduling") or {}):
        return
    for index, term in enumerate(placement.get("clusterAffinities") or ()):
        if term.get("overflowAffinities"):
            findings.problem(
                f"{path}.clusterAffinities[{index}].overflowAffinities",
                "replicas overflow only where they are divided by capacity",
                hint="set replicaScheduling to Divided with Aggregated, or Weighted with a dynamicWeight",
            )


def _is_dynamic(scheduling: Mapping[str, Any]) -> bool:
    if scheduling.get("replicaSchedulingType") != "Divided":
        return False
    if scheduling.get("replicaDivisionPreference") == "Aggregated":
        return True
    weights = scheduling.get("weightPreference") or {}
    return scheduling.get("replicaDivisionPreference") == "Weighted" and bool(weights.get("dynamicWeight"))


def check_spread_constraints(constraints: Sequence[Mapping[str, Any]], path: str, findings: Findings) -> None:
    """Report bounds that cannot hold, and fields that are counted twice or without clusters."""
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
        if fault := label_key_fault(key):
            findings.problem(f"{path}.{part}.groupByLabelKey", fault)
    if len(keys) == 2 and len(set(keys.values())) == 1:
        findings.problem(path, "affinity and antiAffinity group by the same label key", hint="remove one of them")
