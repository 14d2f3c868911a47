"""HelmChart of argosy.dev/v1alpha1: its schema, and the rules for the chart it names and for its values."""

from typing import Any

from render.expressions import lazy_expression
from render.syntax import fault_of_dns_label, quoted_text

from .findings import Findings
from .placements import check_cluster_affinity
from .schema import Anything, Flag, ListOf, MapOf, Record, Text
from .shared_schema import CLUSTER_AFFINITY, TEXT, TEXTS

_RELEASE = 53
_KUBERNETES = lazy_expression(r"v?\d+\.\d+(\.\d+)?")
_API = lazy_expression(r"[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9-]+){0,2}")

HELM_CHART_SPEC = Record(
    {
        "chart!": Record({"path": TEXT, "source": TEXT}),
        "releaseName": TEXT,
        "values": MapOf(Anything()),
        "valuesFiles": TEXTS,
        "valuesFrom": ListOf(Record({"configMap!": Text(min_length=1), "key": TEXT, "optional": Flag()})),
        "kubeVersion": TEXT,
        "apiVersions": TEXTS,
        "hooks": Text(choices=("Exclude", "Include")),
        "crds": Text(choices=("Include", "Exclude")),
        "overrideRules": ListOf(
            Record({"targetCluster": CLUSTER_AFFINITY, "values": MapOf(Anything()), "valuesFiles": TEXTS})
        ),
    }
)


def check_helm_chart(chart: dict[str, Any], findings: Findings) -> None:
    """Report a HelmChart that names no chart, rules that change nothing, and what helm would not take."""
    spec = chart["spec"]
    if not spec["chart"].get("path") and not spec["chart"].get("source"):
        findings.problem("spec.chart", "must name a path, a source or both")
    release = spec.get("releaseName") or chart["metadata"].get("name", "")
    field = "spec.releaseName" if spec.get("releaseName") else "metadata.name"
    if len(release) > _RELEASE or fault_of_dns_label(release):
        message = f"{quoted_text(release)} is no name of a release: a DNS label of at most {_RELEASE} characters"
        findings.problem(field, message)
    version = spec.get("kubeVersion")
    if version and not _KUBERNETES.fullmatch(version):
        findings.problem(
            "spec.kubeVersion", f"{quoted_text(version)} is no version of Kubernetes", hint="such as '1.33'"
        )
    for place, text in enumerate(spec.get("apiVersions") or ()):
        if not _API.fullmatch(text):
            hint = "such as 'monitoring.coreos.com/v1' or 'monitoring.coreos.com/v1/ServiceMonitor'"
            findings.problem(f"spec.apiVersions[{place}]", f"{quoted_text(text)} is no API version", hint=hint)
    for place, rule in enumerate(spec.get("overrideRules") or ()):
        _check_rule_of_chart(rule, f"spec.overrideRules[{place}]", findings)


def _check_rule_of_chart(rule: dict[str, Any], path: str, findings: Findings) -> None:
    if not rule.get("values") and not rule.get("valuesFiles"):
        findings.problem(path, "changes nothing: it has neither values nor valuesFiles")
    check_cluster_affinity(rule.get("targetCluster"), f"{path}.targetCluster", findings)
