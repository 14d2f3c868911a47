"""FederatedResourceQuotas: what the objects of a namespace may request in the whole fleet, and what they do."""

from collections.abc import Iterator

from reconciler.record.quota_usage import usage_of_each_quota
from reconciler.survey.surveying import Survey
from render.quota.enforcement import QuotaUsage

from .other_policy import OtherPolicy, PolicyFamily

_KIND = "FederatedResourceQuota"


def _found_policies(survey: Survey) -> Iterator[OtherPolicy]:
    fleet = survey.branches.fleet
    desired = fleet.source.desired
    is_enforced = desired.fleet.feature_gates.federated_quota_enforcement
    paths = {(each.ref.namespace, each.ref.name): each.path for each in desired.quotas}
    for usage in usage_of_each_quota(desired, fleet.bindings, survey.branches.recorded):
        quota = usage.quota
        yield OtherPolicy(
            kind=_KIND,
            name=quota.name,
            namespace=quota.namespace,
            path=paths.get((quota.namespace, quota.name), ""),
            selectors=(f"all workloads of namespace {quota.namespace}",),
            does=tuple(_sentences_about_usage(usage, is_enforced=is_enforced)),
            decides=survey.objects_by_namespace.get(quota.namespace, ()),
        )


def _sentences_about_usage(usage: QuotaUsage, *, is_enforced: bool) -> Iterator[str]:
    status = usage.status
    for resource, limit in status["overall"].items():
        yield f"{resource}: {status['overallUsed'].get(resource, '0')} of {limit} used"
    if not is_enforced:
        yield "counts, and refuses nothing: spec.featureGates.FederatedQuotaEnforcement is off"


QUOTAS = PolicyFamily(kinds=(_KIND,), found=_found_policies)
