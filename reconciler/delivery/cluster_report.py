"""What came of one cluster in a pass, as a value: what is reported, recorded and shown of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.members.circuit import Breaker
from reconciler.members.exchange import Failure
from reconciler.plans.observed import Observed
from reconciler.plans.plan_values import Plan
from reconciler.status.findings import Finding
from render.model import ObjectRef

from .apply_values import Applied


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReport:
    """What came of one cluster, as far as it got: what was seen, planned and done; its breaker for the next pass.

    ``findings``: what ails workloads that are not well.
    """

    cluster: str
    observed: Observed | None = None
    plan: Plan | None = None
    applied: Applied | None = None
    findings: Mapping[ObjectRef, tuple[Finding, ...]] = field(default_factory=dict)
    failure: Failure | None = None
    seconds: float = 0.0
    breaker: Breaker = field(default_factory=Breaker)
