"""Warnings that feature gates decide: about gates that decide nothing here, and about what only a gate makes work."""

from collections.abc import Iterable, Iterator

from render.admission.policy_warnings import (
    WITHOUT_COMPONENTS,
    WITHOUT_ENFORCEMENT,
    WITHOUT_FAILOVER,
    WITHOUT_INJECTION,
)
from render.settings.feature_gates import IDLE_GATES, FeatureGates
from render.settings.fleet import Fleet

from .manifests import FieldProblem, LocatedManifest


def warnings_not_lifted_by_gates(warnings: Iterable[FieldProblem], gates: FeatureGates) -> Iterator[FieldProblem]:
    """Yield warnings, but for what a gate of the fleet makes work."""
    is_on = {
        WITHOUT_FAILOVER: gates.failover,
        WITHOUT_INJECTION: gates.stateful_failover_injection,
        WITHOUT_ENFORCEMENT: gates.federated_quota_enforcement,
        WITHOUT_COMPONENTS: gates.multiple_pod_templates_scheduling,
    }
    moot = [said for said, is_so in is_on.items() if is_so]
    for warning in warnings:
        if not any(said in warning.problem.message for said in moot):
            yield warning


def warnings_of_idle_gates(places: Iterable[LocatedManifest], fleet: Fleet) -> Iterator[FieldProblem]:
    """Yield a warning for each gate of argosy.yaml that decides nothing, unless its value says what happens anyway."""
    for place in places:
        written = (place.manifest.get("spec") or {}).get("featureGates") or {}
        for name, gate in IDLE_GATES.items():
            as_here = fleet.reserve_capacity if gate.is_reserving else gate.as_here
            value = written.get(name)
            if value is not None and value is not as_here:
                message = f"decides nothing: {gate.instead.replace('`', '')}"
                yield place.problem(f"spec.featureGates.{name}", message, hint=gate.hint)
