"""Disruption budgets and horizontal autoscalers."""

from typing import Any

from render.interpretation.fields import count_at, mapping_at
from render.interpretation.operations import Interpretation, Items
from render.interpretation.progress import LiveState, has_condition, live_condition, state_under_way
from render.interpretation.statuses import (
    reflected_status_fields,
    status_without_zeros,
    statuses_by_cluster,
    sums_of_counters,
)
from render.model import Manifest

from .kind import NO_DELIVERY_RULES, NO_PODS, NO_TEMPLATE_RULES, BuiltInKind

BUDGET_COUNTERS = ("disruptionsAllowed", "expectedPods", "desiredHealthy", "currentHealthy")
AUTOSCALER_COUNTERS = ("currentReplicas", "desiredReplicas")


def reflect_disruption_budget(observed: Manifest) -> Any:
    """Report a member budget's counters and the pods being disrupted."""
    return reflected_status_fields(observed, (*BUDGET_COUNTERS, "disruptedPods"), BUDGET_COUNTERS)


def aggregated_disruption_budget(_template: Manifest, items: Items) -> Any:
    """Add up the counters; a disrupted pod is named with its member."""
    disrupted = {
        f"{member}/{pod}": since
        for member, status in statuses_by_cluster(items)
        for pod, since in mapping_at(status, "disruptedPods").items()
    }
    counters = sums_of_counters(items, BUDGET_COUNTERS)
    return {**counters, "disruptedPods": disrupted} if disrupted else counters


def is_budget_met(observed: Manifest) -> bool:
    """Say whether enough pods are healthy."""
    return count_at(observed, "status", "currentHealthy") >= count_at(observed, "status", "desiredHealthy")


def missing_pods(budget: Manifest) -> tuple[str, str] | None:
    """Say how many healthy pods a budget is short of."""
    if is_budget_met(budget):
        return None
    healthy, desired = (count_at(budget, "status", counter) for counter in ("currentHealthy", "desiredHealthy"))
    return "TooFewHealthy", f"{healthy} of the {desired} pods that must be healthy are"


def reflect_autoscaler(observed: Manifest) -> Any:
    """Report a member autoscaler's replicas, current and desired."""
    return reflected_status_fields(observed, AUTOSCALER_COUNTERS, ("desiredReplicas",))


def aggregated_autoscaler(template: Manifest, items: Items) -> Any:
    """Add up the replicas, current and desired; where no member reports any, a template without status stays so."""
    counters = sums_of_counters(items, AUTOSCALER_COUNTERS)
    if not any(counters.values()) and not mapping_at(template, "status"):
        return None
    return status_without_zeros(counters, ("currentReplicas",))


def autoscaler_progress(live: Manifest) -> LiveState | None:
    """Return whether an autoscaler can scale."""
    for kind in ("AbleToScale", "ScalingActive"):
        if has_condition(live, kind, "False"):
            return state_under_way(live_condition(live, kind))
    return None


KINDS = (
    BuiltInKind(
        group="policy",
        kind="PodDisruptionBudget",
        version="v1",
        is_namespaced=True,
        short_names=("pdb",),
        interpretation=Interpretation(
            reflect=reflect_disruption_budget,
            aggregate=aggregated_disruption_budget,
            health=is_budget_met,
            lacking=missing_pods,
        ),
        has_no=f"{NO_PODS} {NO_TEMPLATE_RULES} {NO_DELIVERY_RULES} retained progress",
    ),
    BuiltInKind(
        group="autoscaling",
        kind="HorizontalPodAutoscaler",
        version="v2",
        is_namespaced=True,
        defaults={("spec", "minReplicas"): 1},
        progress=autoscaler_progress,
        short_names=("hpa",),
        interpretation=Interpretation(reflect=reflect_autoscaler, aggregate=aggregated_autoscaler),
        has_no=f"{NO_PODS} {NO_DELIVERY_RULES} retained filled_in clean prune pruned_fields",
    ),
)
"""The kinds that change how many pods of others there are, or keep them there."""
