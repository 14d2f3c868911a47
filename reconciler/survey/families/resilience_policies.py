"""ResiliencePolicies and ClusterResiliencePolicies: which objects have to survive which losses."""

from collections.abc import Iterator

from reconciler.explain.policies import selector_text
from reconciler.survey.surveying import Survey
from render.admission.resilience import RESILIENCE_KINDS
from render.resilience.policy import ALL, CountingTime, SurvivedLoss
from render.resilience.selection import ResilienceIndex

from .other_policy import OtherPolicy, PolicyFamily, surveyed_templates


def _found_policies(survey: Survey) -> Iterator[OtherPolicy]:
    policies = survey.branches.fleet.source.desired.resilience_policies
    index = ResilienceIndex(policies)
    selecting = {each.ref: index.policies_for_template(each) for each in survey.templates} if policies else {}
    for policy in policies:
        selected = [each for each in survey.templates if policy in selecting[each.ref]]
        yield OtherPolicy(
            kind=RESILIENCE_KINDS[0 if policy.namespace else 1],
            name=policy.name,
            namespace=policy.namespace,
            path=policy.path,
            selectors=tuple(map(selector_text, policy.resource_selectors)),
            does=(*map(_loss_in_words, policy.survive), "every policy that selects an object counts: none loses"),
            decides=surveyed_templates(survey, selected),
        )


def _loss_in_words(each: SurvivedLoss) -> str:
    left = "all" if each.min_replicas == ALL else f"at least {each.min_replicas}"
    when = "at once" if each.when is CountingTime.AT_ONCE else "once what can be is placed anew"
    copies = f"{each.min_copies} whole cop{'y' if str(each.min_copies) == '1' else 'ies'}"
    return f"survives the loss of {each}: {left} of its replicas are left {when}, or {copies}"


RESILIENCE = PolicyFamily(kinds=RESILIENCE_KINDS, found=_found_policies)
