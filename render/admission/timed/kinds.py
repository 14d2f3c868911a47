"""The kinds of Karmada that act on time and on what is observed, as they are admitted.

A WorkloadRebalancer and a Remedy have a schema here, which is all that Karmada checks of them.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from render.admission.findings import Findings
from render.admission.policy_warnings import WITHOUT_FAILOVER
from render.admission.schema import ListOf, Record, Text, Whole
from render.admission.shared_schema import CLUSTER_AFFINITY, POINTER32, TEXT, TEXTS
from render.admission.stages import AdmittedKind, Object, Rules
from render.admission.walking import Reading, walk_for_node
from render.model import APPS_API_VERSION, POLICY_API_VERSION
from render.rebalancers.finished import unfinished_workloads

from .autoscalers import AUTOSCALER_SPEC, check_autoscaler, mutate_autoscaler, warn_of_autoscaler
from .cron_rules import AUTOSCALING_VERSION, CRON_SPEC, check_cron, warn_of_cron
from .quotas import QUOTA_SPEC, check_quota, warn_of_uncounted_limits

_NAMED_WORKLOAD = Record({"apiVersion!": TEXT, "kind!": TEXT, "name!": TEXT, "namespace": TEXT})
REBALANCER_SPEC = Record(
    {"workloads!": ListOf(_NAMED_WORKLOAD, min_items=1), "ttlSecondsAfterFinished": POINTER32},
)
REBALANCER_STATUS = Record(
    {
        "observedWorkloads": ListOf(Record({"workload!": _NAMED_WORKLOAD, "result": TEXT, "reason": TEXT})),
        "observedGeneration": Whole(),
        "finishTime": TEXT,
    }
)
_CONDITION_MATCH = Record(
    {"conditionType!": TEXT, "operator!": Text(choices=("Equal", "NotEqual")), "conditionStatus!": TEXT}
)
REMEDY_SPEC = Record(
    {
        "clusterAffinity": Record({"clusterNames": TEXTS}),
        "decisionMatches": ListOf(Record({"clusterConditionMatch": _CONDITION_MATCH})),
        "actions": TEXTS,
    }
)
OBSERVED_CONDITIONS = ("Ready", "CompleteAPIEnablements")
"""The conditions of clusters that passes observe."""
_CONDITIONS = ListOf(Record({"conditionType!": TEXT, "operator!": TEXT, "statusValues!": TEXTS}))
TAINT_POLICY_SPEC = Record(
    {
        "targetClusters": CLUSTER_AFFINITY,
        "addOnConditions": _CONDITIONS,
        "removeOnConditions": _CONDITIONS,
        "taints!": ListOf(Record({"key!": TEXT, "effect!": TEXT, "value": TEXT}), min_items=1),
    }
)
OPERATORS = ("In", "NotIn")


def timed_kinds() -> tuple[AdmittedKind, ...]:
    """Return the kinds; closures are made when they are first asked for."""
    return (
        replace(
            _kind_of_timed_document(AUTOSCALING_VERSION, "CronFederatedHPA", CRON_SPEC, check_cron), warn=warn_of_cron
        ),
        replace(
            _kind_of_timed_document(AUTOSCALING_VERSION, "FederatedHPA", AUTOSCALER_SPEC, check_autoscaler),
            mutate=mutate_autoscaler,
            warn=warn_of_autoscaler,
        ),
        replace(
            _kind_of_timed_document(POLICY_API_VERSION, "FederatedResourceQuota", QUOTA_SPEC, check_quota),
            warn=warn_of_uncounted_limits,
        ),
        replace(
            _kind_of_timed_document(
                POLICY_API_VERSION, "ClusterTaintPolicy", TAINT_POLICY_SPEC, check_duplicate_taints
            ),
            is_namespaced=False,
            warn=warn_of_unmatched_conditions,
        ),
        replace(
            _kind_of_timed_document(APPS_API_VERSION, "WorkloadRebalancer", REBALANCER_SPEC),
            is_namespaced=False,
            status=walk_for_node(REBALANCER_STATUS, Reading(is_typed=False)),
            warn=warn_of_answered_rebalancer,
        ),
        replace(
            _kind_of_timed_document("remedy.karmada.io/v1alpha1", "Remedy", REMEDY_SPEC),
            is_namespaced=False,
            warn=warn_of_remedy_without_actions,
        ),
    )


def _kind_of_timed_document(api_version: str, kind: str, schema: Record, check: Rules | None = None) -> AdmittedKind:
    """Return a kind without a mutating webhook; its rules look at documents alone that the schema accepts."""

    def check_complete(document: Object, findings: Findings) -> None:
        if check is not None and all(problem.kind == "Unknown" for problem in findings.problems):
            check(document, findings)

    return AdmittedKind(
        api_version=api_version,
        kind=kind,
        is_namespaced=True,
        schema=schema,
        spec=walk_for_node(schema, Reading(is_typed=False)),
        check=check_complete,
    )


def warn_of_answered_rebalancer(rebalancer: Mapping[str, Any], findings: Findings) -> None:
    """Warn of a request that a control plane has answered, and of a time to live: a file is not deleted by itself."""
    if rebalancer.get("status") and not unfinished_workloads(rebalancer):
        message = "says that it has finished, so nothing is rescheduled for it"
        findings.warning("status", message, hint="delete the file, or leave out the status to ask again")
    if rebalancer["spec"].get("ttlSecondsAfterFinished") is not None:
        message = "deletes nothing by itself: a file stays until somebody deletes it"
        findings.warning("spec.ttlSecondsAfterFinished", message, hint="argosy status says when its time is over")


def warn_of_remedy_without_actions(remedy: Mapping[str, Any], findings: Findings) -> None:
    """Warn of a remedy that never asks for anything."""
    spec = remedy["spec"]
    if not spec.get("actions"):
        findings.warning("spec.actions", "are none, so nothing is ever asked for")
    if spec.get("decisionMatches") == []:
        findings.warning("spec.decisionMatches", "is empty, so it never matches", hint="leave it out to match always")
    matches = [each.get("clusterConditionMatch") or {} for each in spec.get("decisionMatches") or ()]
    if matches and not any(each.get("conditionType") in OBSERVED_CONDITIONS for each in matches):
        message = f"never matches: of clusters, {' and '.join(OBSERVED_CONDITIONS)} are observed"
        findings.warning("spec.decisionMatches", message)


def check_duplicate_taints(policy: Mapping[str, Any], findings: Findings) -> None:
    """Report a taint that stands there twice, at its first place."""
    taints = [(taint["key"], taint["effect"]) for taint in policy["spec"]["taints"]]
    for index, taint in enumerate(taints):
        if taint in taints[index + 1 :]:
            findings.problem(f"spec.taints[{index}]", "another taint here has its key and effect", kind="Duplicate")


def warn_of_unmatched_conditions(policy: Mapping[str, Any], findings: Findings) -> None:
    """Warn of conditions that never match, and of a policy without any."""
    spec = policy["spec"]
    findings.warning("spec", WITHOUT_FAILOVER)
    named = ("addOnConditions", "removeOnConditions")
    if not any(spec.get(name) for name in named):
        findings.warning("spec", "adds and removes no taint: it has no conditions", hint="add addOnConditions")
    for name in named:
        for index, each in enumerate(spec.get(name) or ()):
            path = f"spec.{name}[{index}]"
            if each["operator"] not in OPERATORS:
                findings.warning(f"{path}.operator", "never matches", hint="write 'In' or 'NotIn'")
            elif each["operator"] == "In" and not each["statusValues"]:
                findings.warning(f"{path}.statusValues", "never matches: no status is in an empty list")
