"""Numbers beside a divided workload that are about all of its replicas: budgets of disruptions, bounds of autoscalers.

A companion is in the namespace of the workload and is delivered as well. It names the workload or selects its pods.
Bounds of a FederatedHPA or a CronFederatedHPA are the fleet's, and mean what they say.
"""

from collections.abc import Iterator
from typing import NamedTuple

from render.kinds import GroupKind
from render.model import Template, is_encrypted_by_sops

from .values import DividedWorkload, DivisionContext, DivisionRule, DivisionWarning, mapping_in, whole_number_at
from .workload_index import WorkloadIndex

BUDGETS: frozenset[GroupKind] = frozenset(
    {("policy", "PodDisruptionBudget"), ("policy.kruise.io", "PodUnavailableBudget")}
)
_SCALED = "scaleTargetRef"
_FLEETS_OWN = "autoscaling.karmada.io"
_LEAST, _MOST = "minAvailable", "maxUnavailable"
_LIVE = "argosy status shows what runs as LIVE, beside the REPLICAS of the division"
_MOST_BY_KEDA = 100
"""The replicas that a ScaledObject without bounds scales to at most."""
_BOUNDS = (("minReplicas", "maxReplicas"), ("minReplicaCount", "maxReplicaCount"))


class _ScalerBounds(NamedTuple):
    """The bounds of an autoscaler (None: not written), and the field that is named."""

    field: str
    least: int | None
    most: int | None


def is_budget(template: Template) -> bool:
    """Say whether a template is a budget of disruptions."""
    return (template.ref.group, template.ref.kind) in BUDGETS and not is_encrypted_by_sops(template.manifest)


def is_autoscaler(template: Template) -> bool:
    """Say whether a template scales another in each cluster by itself, such as a HorizontalPodAutoscaler."""
    is_scaler = template.ref.group != _FLEETS_OWN and bool(mapping_in(template.manifest, "spec", _SCALED))
    return is_scaler and not is_encrypted_by_sops(template.manifest)


def budget_warnings(budget: Template, workloads: WorkloadIndex, context: DivisionContext) -> Iterator[DivisionWarning]:
    """Yield a warning for each number of a budget that counts in each cluster by itself."""
    named = workloads.workload_named_by(budget, "targetRef")
    for workload in (named,) if named else workloads.workloads_selected_by(budget):
        yield from _warnings_of_budget(workload, budget, context)


def _warnings_of_budget(
    workload: DividedWorkload, budget: Template, context: DivisionContext
) -> Iterator[DivisionWarning]:
    clusters = workload.clusters_with(context.clusters_of(budget))
    for name in (_LEAST, _MOST):
        number, keys = whole_number_at(budget.manifest, ("spec", name)), ("spec", name)
        if number is None or context.is_overridden(budget, keys) or number < min(2, workload.share):
            continue
        if clusters < 1 or (clusters < 2 and number < workload.share):
            continue
        whole = f"{workload.template.ref} is divided, and {number} counts in each cluster"
        what = _LEAST_WORDS if name == _LEAST else _MOST_WORDS
        message = f"{whole}: {what[number >= workload.share].format(total=number * clusters)}"
        percentage = f"{max(1, min(99, round(100 * number / workload.replicas)))}%"
        hint = f"write a percentage, such as {percentage!r}, or override it in each cluster"
        yield workload.warning(budget, f"spec.{name}", message, hint)


_LEAST_WORDS = ("up to {total} stay in all", "where that is the share of a cluster, no pod may be evicted")
_MOST_WORDS = ("up to {total} may go at once", "where that is the share of a cluster, all of its pods may go at once")
"""The words about a number that is less than the smallest share, and about one that is not."""


def autoscaler_warnings(
    scaler: Template, workloads: WorkloadIndex, context: DivisionContext
) -> Iterator[DivisionWarning]:
    """Yield the warning about an autoscaler of a divided workload: in each cluster it sets the share, and not Git."""
    workload = workloads.workload_named_by(scaler, _SCALED)
    clusters = workload.clusters_with(context.clusters_of(scaler)) if workload is not None else 0
    if workload is None or not clusters:
        return
    bounds = _bounds_of_autoscaler(scaler, context) if clusters > 1 else None
    how, field, way_out = "by itself", f"spec.{_SCALED}", ""
    if bounds is not None:
        numbers = [
            (word, count) for word, count in (("at least", bounds.least), ("at most", bounds.most)) if count is not None
        ]
        each = " and ".join(f"{word} {count}" for word, count in numbers)
        total = " and ".join(f"{word} {count * clusters}" for word, count in numbers)
        how = f"by these bounds: {total} in {clusters} clusters, not {each}"
        field, way_out = bounds.field, ", or override them in each cluster"
    message = f"{workload.template.ref} is divided, and each cluster scales its share {how}"
    hint = f"let a FederatedHPA scale it, whose bounds are the fleet's{way_out}; {_LIVE}"
    yield workload.warning(scaler, field, message, hint, rule=DivisionRule.AUTOSCALED)


def _bounds_of_autoscaler(scaler: Template, context: DivisionContext) -> _ScalerBounds | None:
    """Return the bounds of an autoscaler; None where it has none, or overrides write them."""
    for least, most in _BOUNDS:
        numbers = [whole_number_at(scaler.manifest, ("spec", name)) for name in (least, most)]
        if any(context.is_overridden(scaler, ("spec", name)) for name in (least, most)):
            return None
        if any(number is not None for number in numbers):
            return _ScalerBounds(f"spec.{most if numbers[1] is not None else least}", *numbers)
    is_of_keda = (scaler.ref.group, scaler.ref.kind) == ("keda.sh", "ScaledObject")
    return _ScalerBounds(f"spec.{_SCALED}", None, _MOST_BY_KEDA) if is_of_keda else None
