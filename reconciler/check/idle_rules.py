"""Rules of time that argosy.yaml switches on and that can never fire, for want of what they go by."""

from collections.abc import Iterator

from overrides.lint import LineOf
from reconciler.source.desired import Desired
from render.errors import Problem
from render.rescheduling.descheduling import is_divided_by_room

RULE = "IdleRule"
_FIELD = "spec.descheduler.enabled"
_NOT_DIVIDED = "no policy divides replicas by room, so there is nothing to deschedule"
_DIVIDE = "divide them with Aggregated, or with weightPreference.dynamicWeight"
_UNOBSERVED = "no member is reached by passes, so that none tells which replicas it cannot start"
_REACH = "list members under spec.clusters; one with syncMode: Pull does not tell"


def idle_rule_warnings(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each rule that is on and can never fire."""
    fleet = desired.fleet
    if not fleet.descheduler.is_enabled:
        return
    line = line_of(fleet.path, 0, _FIELD) if line_of else 0
    if desired.policies and not any(is_divided_by_room(policy.placement) for policy in desired.policies):
        yield Problem(fleet.path, line, _FIELD, _NOT_DIVIDED, _DIVIDE, RULE)
    if desired.clusters and not _is_any_observed(desired):
        yield Problem(fleet.path, line, _FIELD, _UNOBSERVED, _REACH, RULE)


def _is_any_observed(desired: Desired) -> bool:
    reached = desired.fleet.reached
    return any(
        cluster.sync_mode != "Pull" and (reached is None or cluster.name in reached) for cluster in desired.clusters
    )
