"""The kinds of Karmada that act on time and on what is observed, as they are admitted."""

from msgspec.structs import replace

from render.admission.findings import Findings
from render.admission.schema import Record
from render.admission.stages import AdmittedKind, Object, Rules
from render.admission.walking import Reading, walk_of

from .autoscalers import AUTOSCALER_SPEC, check_autoscaler, mutate_autoscaler, warn_of_autoscaler
from .cron_rules import AUTOSCALING_VERSION, CRON_SPEC, check_cron, warn_of_cron
from .quotas import QUOTA_SPEC, check_quota, warn_of_quota
from .rebalancers import REBALANCER_SPEC, REMEDY_SPEC, warn_of_rebalancer, warn_of_remedy
from .taint_policies import TAINT_POLICY_SPEC, check_taint_policy, warn_of_taint_policy

_POLICY_VERSION = "policy.karmada.io/v1alpha1"


def timed_kinds() -> tuple[AdmittedKind, ...]:
    """Return the kinds; closures are made when they are first asked for."""
    return (
        replace(_kind(AUTOSCALING_VERSION, "CronFederatedHPA", CRON_SPEC, check_cron), warn=warn_of_cron),
        replace(
            _kind(AUTOSCALING_VERSION, "FederatedHPA", AUTOSCALER_SPEC, check_autoscaler),
            mutate=mutate_autoscaler,
            warn=warn_of_autoscaler,
        ),
        replace(_kind(_POLICY_VERSION, "FederatedResourceQuota", QUOTA_SPEC, check_quota), warn=warn_of_quota),
        replace(
            _kind(_POLICY_VERSION, "ClusterTaintPolicy", TAINT_POLICY_SPEC, check_taint_policy),
            is_namespaced=False,
            warn=warn_of_taint_policy,
        ),
        replace(
            _kind("apps.karmada.io/v1alpha1", "WorkloadRebalancer", REBALANCER_SPEC),
            is_namespaced=False,
            warn=warn_of_rebalancer,
        ),
        replace(_kind("remedy.karmada.io/v1alpha1", "Remedy", REMEDY_SPEC), is_namespaced=False, warn=warn_of_remedy),
    )


def _kind(api_version: str, kind: str, schema: Record, check: Rules | None = None) -> AdmittedKind:
    """Return a kind without a mutating webhook; its rules look at documents alone that the schema accepts."""

    def check_complete(document: Object, findings: Findings) -> None:
        if check is not None and all(problem.kind == "Unknown" for problem in findings.problems):
            check(document, findings)

    return AdmittedKind(
        api_version=api_version,
        kind=kind,
        is_namespaced=True,
        schema=schema,
        spec=walk_of(schema, Reading(is_typed=False)),
        check=check_complete,
    )
