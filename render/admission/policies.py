"""PropagationPolicy and ClusterPropagationPolicy: their schema, and Karmada's mutation and rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.syntax import fault_of_label_key, quoted_text

from .findings import Findings
from .placements import check_placement, mutate_placement
from .schema import INT32, Flag, ListOf, Record, Text, Whole
from .shared_schema import (
    CONFLICT_RESOLUTION,
    FAILOVER,
    PLACEMENT,
    POINTER_FLAG,
    RESOURCE_SELECTOR,
    SUSPENDED_FIELDS,
    TEXT,
    TEXTS,
)

PROPAGATION_SPEC = Record(
    {
        "resourceSelectors!": ListOf(RESOURCE_SELECTOR, min_items=1),
        "association": Flag(),
        "propagateDeps": Flag(),
        "placement": PLACEMENT,
        "priority": Whole(INT32, default=0, keep=True),
        "preemption": Text(choices=("Always", "Never"), default="Never"),
        "dependentOverrides": TEXTS,
        "schedulerName": Text(default="default-scheduler"),
        "failover": FAILOVER,
        "conflictResolution": CONFLICT_RESOLUTION,
        "activationPreference": Text(choices=("Lazy",)),
        "suspension": Record(SUSPENDED_FIELDS),
        "preserveResourcesOnDeletion": POINTER_FLAG,
        "schedulePriority": Record(
            {"priorityClassSource!": Text(choices=("KubePriorityClass",)), "priorityClassName!": TEXT}
        ),
    }
)


Object = dict[str, Any]

DEFAULT_GRACE_PERIOD_SECONDS = 600

_SERVICE_IMPORT = ("multicluster.x-k8s.io/v1alpha1", "ServiceImport")


def mutate_policy(policy: Object, _findings: Findings) -> None:
    """Set the defaults of Karmada's webhook, except the permanent id, which only a server can give."""
    spec = policy["spec"]
    selectors = spec.get("resourceSelectors") or ()
    set_selector_namespaces(selectors, policy["metadata"].get("namespace"))
    mutate_placement(spec.setdefault("placement", {}))
    if any((each.get("apiVersion"), each.get("kind")) == _SERVICE_IMPORT for each in selectors):
        spec["propagateDeps"] = True
    application = (spec.get("failover") or {}).get("application")
    if application and application.get("purgeMode") == "Gracefully":
        application.setdefault("gracePeriodSeconds", DEFAULT_GRACE_PERIOD_SECONDS)


def check_policy(policy: Object, findings: Findings) -> None:
    """Report the mistakes for which Karmada's webhook refuses a policy."""
    spec = policy["spec"]
    check_placement(spec["placement"], "spec.placement", findings)
    _check_failover_behavior(spec, findings)
    selectors = spec.get("resourceSelectors") or ()
    check_selectors(selectors, policy["metadata"].get("namespace"), findings)
    if spec["preemption"] == "Always":
        _check_selectors_of_preempting_policy(selectors, findings)
    suspension = spec.get("suspension") or {}
    if suspension.get("dispatching") and (suspension.get("dispatchingOnClusters") or {}).get("clusterNames"):
        findings.problem(
            "spec.suspension.suspension",
            "dispatching and dispatchingOnClusters exclude each other",
            hint="dispatching: true suspends every cluster; remove one of them",
        )


def set_selector_namespaces(selectors: Sequence[Object], namespace: str | None) -> None:
    """Give selectors of a namespaced policy its namespace where they have none."""
    for selector in selectors if namespace else ():
        if not selector.get("namespace"):
            selector["namespace"] = namespace


def check_selectors(selectors: Sequence[Mapping[str, Any]], namespace: str | None, findings: Findings) -> None:
    """Report selectors of a namespaced policy that select from another namespace."""
    for index, selector in enumerate(selectors if namespace else ()):
        if (found := selector.get("namespace") or "") != namespace:
            findings.problem(
                f"spec.resourceSelectors[{index}].namespace",
                f"{quoted_text(found)} is not the policy's own namespace, {namespace!r}",
                hint="leave it out, or use the cluster-scoped kind of policy",
            )


def _check_selectors_of_preempting_policy(selectors: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    for index, selector in enumerate(selectors):
        if not selector.get("name"):
            findings.problem(
                f"spec.resourceSelectors[{index}].name",
                "required where preemption is Always, or more than expected might be taken over",
                hint="name the object, or set preemption: Never",
            )


def _check_failover_behavior(spec: Mapping[str, Any], findings: Findings) -> None:
    failover = spec.get("failover") or {}
    application, cluster = failover.get("application"), failover.get("cluster")
    if application is not None:
        if not spec.get("propagateDeps"):
            findings.problem("spec.propagateDeps", "must be true where failover.application is set")
        _check_application_failover(application, findings)
    for part, behavior in (("application", application), ("cluster", cluster)):
        rules = ((behavior or {}).get("statePreservation") or {}).get("rules") or ()
        for index, rule in enumerate(rules):
            if fault := fault_of_label_key(rule.get("aliasLabelName") or ""):
                path = f"spec.failover.{part}.statePreservation.rules[{index}].aliasLabelName"
                findings.problem(path, fault)


def _check_application_failover(application: Mapping[str, Any], findings: Findings) -> None:
    path = "spec.failover.application"
    seconds = (application.get("decisionConditions") or {}).get("tolerationSeconds", 0)
    if seconds < 0:
        findings.problem(f"{path}.decisionConditions.tolerationSeconds", f"must be at least 0, not {seconds}")
    grace = application.get("gracePeriodSeconds")
    if grace is None:
        return
    if application.get("purgeMode") != "Gracefully":
        findings.problem(f"{path}.gracePeriodSeconds", "only means something where purgeMode is Gracefully")
    if grace <= 0:
        findings.problem(f"{path}.gracePeriodSeconds", f"must be at least 1, not {grace}")
