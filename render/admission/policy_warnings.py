"""Warnings about policies that Karmada stores without a word although they cannot mean what their author thinks."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.jsonpath import fault_of_jsonpath
from render.syntax import fault_of_label_key, fault_of_label_value, quoted_text

from .findings import Findings, alternatives

WITHOUT_FAILOVER = "does nothing while featureGates.Failover is false in argosy.yaml"
WITHOUT_INJECTION = "does nothing while featureGates.StatefulFailoverInjection is false in argosy.yaml"
WITHOUT_ENFORCEMENT = "limits no placement while featureGates.FederatedQuotaEnforcement is false"
WITHOUT_COMPONENTS = "while featureGates.MultiplePodTemplatesScheduling is false in argosy.yaml"
"""The warnings about what only those gates make work; where a gate is on, nobody need be warned."""
_WITHOUT_VALUES = {
    "In": "list them under values, or write the operator Exists",
    "NotIn": "list them under values, or write the operator DoesNotExist",
}
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")

Plain = Mapping[str, Any]


def warn_of_policy(policy: Plain, findings: Findings) -> None:
    """Warn of settings of a propagation policy that silently do nothing."""
    spec = policy["spec"]
    warn_of_selectors(spec["resourceSelectors"], findings)
    warn_of_placement(spec["placement"], "spec.placement", findings)
    failover = spec.get("failover") or {}
    for part, behavior in failover.items():
        if part == "cluster":
            findings.warning("spec.failover.cluster", WITHOUT_FAILOVER)
        rules = (behavior.get("statePreservation") or {}).get("rules") or ()
        if rules:
            findings.warning(f"spec.failover.{part}.statePreservation", WITHOUT_INJECTION)
        for index, rule in enumerate(rules):
            _warn_of_unusable_json_path(
                rule["jsonPath"], f"spec.failover.{part}.statePreservation.rules[{index}].jsonPath", findings
            )
    if spec.get("association"):
        findings.warning("spec.association", "is not acted on", hint="write propagateDeps")
    if (priority := spec.get("schedulePriority")) and not priority["priorityClassName"]:
        findings.warning("spec.schedulePriority.priorityClassName", "is empty, so no PriorityClass is found")


def warn_of_selectors(selectors: Sequence[Plain], findings: Findings) -> None:
    """Warn of resource selectors that select nothing, or something else."""
    for index, selector in enumerate(selectors):
        path = f"spec.resourceSelectors[{index}]"
        for part in ("apiVersion", "kind"):
            if not selector[part]:
                findings.warning(f"{path}.{part}", "is empty, so the selector selects nothing")
        labels = selector.get("labelSelector")
        if labels is not None and selector.get("name"):
            findings.warning(f"{path}.labelSelector", "means nothing beside name", hint="keep one of them")
        warn_of_label_selector(labels, f"{path}.labelSelector", findings)


def warn_of_placement(placement: Plain, path: str, findings: Findings) -> None:
    """Warn of affinities, tolerations, constraints and weights that have another effect than they seem to."""
    warn_of_affinity(placement.get("clusterAffinity"), f"{path}.clusterAffinity", findings)
    for index, term in enumerate(placement.get("clusterAffinities") or ()):
        here = f"{path}.clusterAffinities[{index}]"
        warn_of_affinity(term, here, findings)
        for position, overflow in enumerate(term.get("overflowAffinities") or ()):
            warn_of_affinity(overflow, f"{here}.overflowAffinities[{position}]", findings)
    for index, toleration in enumerate(placement.get("clusterTolerations") or ()):
        _warn_of_ineffective_toleration(toleration, f"{path}.clusterTolerations[{index}]", findings)
    _warn_of_spread_constraints(placement, f"{path}.spreadConstraints", findings)
    _warn_of_ineffective_weights(placement.get("replicaScheduling") or {}, f"{path}.replicaScheduling", findings)


def warn_of_affinity(affinity: Plain | None, path: str, findings: Findings) -> None:
    """Warn of a cluster affinity that selects nothing, or other clusters than it seems to."""
    if affinity is None:
        return
    warn_of_label_selector(affinity.get("labelSelector"), f"{path}.labelSelector", findings)
    names = affinity.get("clusterNames") or ()
    if both := sorted(set(names) & set(affinity.get("exclude") or ())):
        findings.warning(
            f"{path}.exclude", f"{', '.join(map(quoted_text, both))} is also in clusterNames; exclude wins"
        )
    for index, expression in enumerate((affinity.get("fieldSelector") or {}).get("matchExpressions") or ()):
        if not expression.get("values"):
            here = f"{path}.fieldSelector.matchExpressions[{index}].values"
            matched = "no cluster" if expression["operator"] == "In" else "every cluster"
            findings.warning(here, f"is empty: {expression['operator']} then matches {matched}")


def warn_of_label_selector(selector: Plain | None, path: str, findings: Findings) -> None:
    """Warn of a selector that Kubernetes cannot parse: to Karmada it matches nothing."""
    if selector is None:
        return
    for key, value in (selector.get("matchLabels") or {}).items():
        if fault := fault_of_label_key(key) or fault_of_label_value(value):
            findings.warning(f"{path}.matchLabels", f"{fault}; the selector matches nothing")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        if fault := _fault_of_label_requirement(expression):
            hint = _WITHOUT_VALUES.get(expression["operator"], "") if not expression.get("values") else ""
            findings.warning(f"{path}.matchExpressions[{index}]", f"{fault}; the selector matches nothing", hint=hint)


def _fault_of_label_requirement(expression: Plain) -> str:
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or ()
    if fault := fault_of_label_key(key):
        return fault
    if operator not in OPERATORS:
        return f"the operator {quoted_text(operator)} is none of {alternatives(OPERATORS)}"
    if operator in {"In", "NotIn"} and not values:
        return f"{operator} needs values"
    if operator in {"Exists", "DoesNotExist"} and values:
        return f"{operator} takes no values"
    return next(filter(None, map(fault_of_label_value, values)), "")


def _warn_of_ineffective_toleration(toleration: Plain, path: str, findings: Findings) -> None:
    operator, key, effect = (toleration.get(part) or "" for part in ("operator", "key", "effect"))
    if operator not in {"", "Exists", "Equal"}:
        findings.warning(f"{path}.operator", f"unknown value {quoted_text(operator)}, so nothing is tolerated")
    elif not key and operator != "Exists":
        findings.warning(f"{path}.key", "is empty, so only operator Exists would tolerate anything")
    elif key and (fault := fault_of_label_key(key)):
        findings.warning(f"{path}.key", f"{fault}; no taint is like it")
    if operator == "Exists" and toleration.get("value"):
        findings.warning(f"{path}.value", "means nothing beside operator Exists")
    if effect not in {"", "NoSchedule", "NoExecute"}:
        findings.warning(f"{path}.effect", f"{quoted_text(effect)} is no effect a cluster's taint can have")
    elif toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        findings.warning(f"{path}.tolerationSeconds", "only means something with effect NoExecute")
    elif toleration.get("tolerationSeconds") is not None:
        findings.warning(f"{path}.tolerationSeconds", f"{WITHOUT_FAILOVER}: the taint is tolerated without an end")


def _warn_of_spread_constraints(placement: Plain, path: str, findings: Findings) -> None:
    constraints = placement.get("spreadConstraints") or ()
    if constraints and _has_static_weights(placement.get("replicaScheduling")):
        findings.warning(path, "means nothing with static weights: every cluster that matches is chosen")
        return
    fields = [each.get("spreadByField") for each in constraints]
    for index, constraint in enumerate(constraints):
        here, field = f"{path}[{index}]", constraint.get("spreadByField")
        if constraint.get("spreadByLabel"):
            findings.warning(f"{here}.spreadByLabel", "is accepted by Karmada, but cannot be scheduled")
        elif field in {"zone", "provider"}:
            findings.warning(here, f"only leaves out clusters without a {field}; nothing is spread by it")
        elif not constraint.get("maxGroups"):
            effect = "one cluster of each region is" if field == "cluster" and "region" in fields else "none can be"
            findings.warning(here, f"without maxGroups {effect} chosen", hint="add maxGroups")


def _has_static_weights(scheduling: Plain | None) -> bool:
    if scheduling is None or scheduling.get("replicaDivisionPreference") != "Weighted":
        return False
    weights = scheduling.get("weightPreference")
    is_divided = scheduling["replicaSchedulingType"] == "Divided"
    return is_divided and (weights is None or ("staticWeightList" in weights and "dynamicWeight" not in weights))


def _warn_of_ineffective_weights(scheduling: Plain, path: str, findings: Findings) -> None:
    weights = scheduling.get("weightPreference")
    if weights is None:
        if scheduling.get("replicaDivisionPreference") and scheduling.get("replicaSchedulingType") == "Duplicated":
            message = "means nothing where replicas are Duplicated: every cluster gets all of them"
            findings.warning(f"{path}.replicaDivisionPreference", message, hint="write replicaSchedulingType: Divided")
        return
    here = f"{path}.weightPreference"
    if scheduling.get("replicaDivisionPreference") == "Aggregated" or scheduling["replicaSchedulingType"] != "Divided":
        findings.warning(here, "only means something where replicas are Divided and Weighted")
    elif weights.get("dynamicWeight") and weights.get("staticWeightList"):
        findings.warning(f"{here}.staticWeightList", "means nothing beside dynamicWeight", hint="keep one of them")
    for index, each in enumerate(weights.get("staticWeightList") or ()):
        warn_of_affinity(each["targetCluster"], f"{here}.staticWeightList[{index}].targetCluster", findings)


def _warn_of_unusable_json_path(text: str, path: str, findings: Findings) -> None:
    if fault := fault_of_jsonpath(text):
        findings.warning(path, f"{quoted_text(text)} is no JSONPath: {fault}")
    elif "{" not in text:
        findings.warning(path, f"{quoted_text(text)} is no JSONPath", hint="write it in braces: '{.updatedReplicas}'")
