"""ClusterTaintPolicy: its schema, and the rules of Karmada's webhook for it."""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.policy_warnings import WITHOUT_FAILOVER
from render.admission.schema import ListOf, Record
from render.admission.shared_schema import CLUSTER_AFFINITY, TEXT, TEXTS

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


def check_taint_policy(policy: Mapping[str, Any], findings: Findings) -> None:
    """Report a taint that stands there twice, at its first place."""
    taints = [(taint["key"], taint["effect"]) for taint in policy["spec"]["taints"]]
    for index, taint in enumerate(taints):
        if taint in taints[index + 1 :]:
            findings.problem(f"spec.taints[{index}]", "another taint here has its key and effect", kind="Duplicate")


def warn_of_taint_policy(policy: Mapping[str, Any], findings: Findings) -> None:
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
