"""The policies of a fleet that a noun and a name mean, of whatever kind."""

from msgspec import Struct

from overrides.policy import OverridePolicy
from reconciler.names.subjects import policies_meant_by
from render.policy import PropagationPolicy

from .families import other_policies
from .families.other_policy import OtherPolicy
from .policies import SurveyedOverridePolicy, SurveyedPolicy, surveyed_override_policies, surveyed_policies
from .surveying import Survey


class NamedPolicies(Struct, frozen=True, kw_only=True):
    """Policies of a name: those that place, those that override, and others."""

    placing: tuple[SurveyedPolicy, ...] = ()
    overriding: tuple[SurveyedOverridePolicy, ...] = ()
    others: tuple[OtherPolicy, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Each policy as messages name it."""
        return (
            *(str(each.policy) for each in self.placing),
            *(str(each.policy) for each in self.overriding),
            *map(str, self.others),
        )


def policies_named(survey: Survey, noun: str, name: str, namespace: str) -> NamedPolicies:
    """Return the policies that a noun and a name mean; UnknownName where there is none."""
    desired, others = survey.branches.fleet.source.desired, other_policies(survey)
    every: tuple[PropagationPolicy | OverridePolicy | OtherPolicy, ...] = (
        *desired.policies,
        *desired.override_policies,
        *others,
    )
    meant = frozenset(map(str, policies_meant_by(noun, name, namespace, every)))
    return NamedPolicies(
        placing=tuple(each for each in surveyed_policies(survey) if str(each.policy) in meant),
        overriding=tuple(each for each in surveyed_override_policies(survey) if str(each.policy) in meant),
        others=tuple(each for each in others if str(each) in meant),
    )
