"""WorkloadRebalancer and Remedy: their schemas, which is all that Karmada checks of them."""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.schema import ListOf, Record, Text
from render.admission.shared_schema import POINTER32, TEXT, TEXTS

REBALANCER_SPEC = Record(
    {
        "workloads!": ListOf(
            Record({"apiVersion!": TEXT, "kind!": TEXT, "name!": TEXT, "namespace": TEXT}), min_items=1
        ),
        "ttlSecondsAfterFinished": POINTER32,
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


def warn_of_rebalancer(rebalancer: Mapping[str, Any], findings: Findings) -> None:
    """Warn of a time to live: a file is not deleted by itself."""
    if rebalancer["spec"].get("ttlSecondsAfterFinished") is not None:
        message = "deletes nothing by itself: a file stays until somebody deletes it"
        findings.warning("spec.ttlSecondsAfterFinished", message, hint="argosy status says when its time is over")


def warn_of_remedy(remedy: Mapping[str, Any], findings: Findings) -> None:
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
