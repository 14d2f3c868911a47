"""Policies that neither place nor override, a module a family: rollouts, resilience, taints and the like."""

from reconciler.survey.surveying import Survey

from .calendar import CALENDAR
from .other_policy import OtherPolicy
from .policy_tests import TESTS
from .quotas import QUOTAS
from .resilience_policies import RESILIENCE
from .rollout_policies import ROLLOUTS
from .taint_policies import TAINTS

FAMILIES = (ROLLOUTS, RESILIENCE, TAINTS, QUOTAS, CALENDAR, TESTS)


def other_policies(survey: Survey) -> tuple[OtherPolicy, ...]:
    """Return the policies of a fleet that neither place nor override, in the order of their families."""
    return tuple(each for family in FAMILIES for each in family.found(survey))
