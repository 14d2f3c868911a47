"""FederatedResourceQuota: its schema, and the rules of Karmada's webhook for it."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from render.admission.clusters import cluster_name_fault
from render.admission.findings import Findings
from render.admission.policy_warnings import WITHOUT_ENFORCEMENT
from render.admission.schema import ListOf, MapOf, Quantity, Record
from render.admission.shared_schema import TEXT
from render.quantity import parse_quantity
from render.syntax import fault_of_label_key, quoted_text

_AMOUNTS = MapOf(Quantity())

QUOTA_SPEC = Record(
    {"overall!": _AMOUNTS, "staticAssignments": ListOf(Record({"clusterName!": TEXT, "hard!": _AMOUNTS}))}
)

_COUNTED = (
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
)
_MEASURED = (
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
)
STANDARD_RESOURCES = frozenset((*_COUNTED, *_MEASURED))
_NAME_LIMIT = 63
_ENDS = ("requests.", "limits.")
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")


def check_quota(quota: Mapping[str, Any], findings: Findings) -> None:
    """Report what Karmada's webhook refuses: names, amounts, and assignments beyond the whole."""
    if len(quota["metadata"]["name"]) > _NAME_LIMIT:
        findings.problem("metadata.name", f"is longer than {_NAME_LIMIT} characters, and labels are named after it")
    spec = quota["spec"]
    overall = spec["overall"]
    _check_amounts(overall, "spec.overall", findings)
    assigned: dict[str, int | Fraction] = {}
    for path, assignment in _hard_limits_with_their_paths(spec):
        if fault := cluster_name_fault(assignment["clusterName"]):
            findings.problem(f"{path}.clusterName", fault)
        _check_amounts(assignment["hard"], f"{path}.hard", findings)
        for name, amount in assignment["hard"].items():
            assigned[name] = assigned.get(name, 0) + parse_quantity(str(amount))
            if name not in overall:
                hint = "add it to spec.overall, or leave it out here"
                findings.problem(f"{path}.hard[{name}]", "spec.overall does not have this resource", hint=hint)
    for name, amount in overall.items():
        if parse_quantity(str(amount)) < assigned.get(name, 0):
            findings.problem(f"spec.overall[{name}]", "is less than what is assigned to clusters")


def warn_of_uncounted_limits(quota: Mapping[str, Any], findings: Findings) -> None:
    """Warn of limits that nothing is counted against."""
    findings.warning("spec.overall", WITHOUT_ENFORCEMENT)
    shared = {name for _, each in _hard_limits_with_their_paths(quota["spec"]) for name in each["hard"]}
    for name in quota["spec"]["overall"]:
        if name in shared or not (name in _COUNTED or name.startswith(_ENDS)):
            continue
        plain = name.removeprefix("requests.")
        hint = f"write {quoted_text(plain)}" if plain in _MEASURED else "assign shares of it with staticAssignments"
        findings.warning(f"spec.overall[{name}]", "limits nothing: what workloads request is counted", hint=hint)


def _hard_limits_with_their_paths(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, each in enumerate(spec.get("staticAssignments") or ()):
        yield f"spec.staticAssignments[{index}]", each


def _check_amounts(amounts: Mapping[str, Any], path: str, findings: Findings) -> None:
    for name, text in amounts.items():
        here = f"{path}[{name}]"
        if fault := fault_of_label_key(name):
            findings.problem(here, fault.replace("label key", "name of a resource"))
        elif "/" not in name and name not in STANDARD_RESOURCES and not name.startswith(_HUGE_PAGES):
            hint = "a resource of another name needs a domain, as in example.com/gpu"
            findings.problem(here, f"{quoted_text(name)} is no resource that a quota may limit", hint=hint)
        amount = parse_quantity(str(text))
        if amount < 0:
            findings.problem(here, "must not be negative")
        if name in _COUNTED and isinstance(amount, Fraction):
            findings.problem(here, "must be a whole number")
