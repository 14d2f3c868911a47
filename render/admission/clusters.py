"""Cluster: its types, the rules of the registry that keeps Clusters, and the grades of its resource models.

It has no CRD, so nothing is required or restricted before those rules.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from render.cluster import DEFAULT_GRADES, LARGEST
from render.expressions import lazy_expression
from render.quantity import canonical_quantity, parse_quantity
from render.syntax import fault_of_dns_label, fault_of_label_key, fault_of_label_value, quoted_text

from .findings import Findings
from .schema import INT64, Anything, Flag, ListOf, MapOf, Quantity, Record, Whole
from .shared_schema import INTEGER32, LABELS, TEXT, TEXTS
from .urls import parse_url_address

_SECRET = Record({"namespace!": TEXT, "name!": TEXT})
_QUANTITIES = MapOf(Quantity())
_GRADE = Whole(INT64, minimum=0)
CLUSTER_SPEC = Record(
    {
        "id": TEXT,
        "syncMode!": TEXT,
        "apiEndpoint": TEXT,
        "secretRef": _SECRET,
        "impersonatorSecretRef": _SECRET,
        "insecureSkipTLSVerification": Flag(),
        "proxyURL": TEXT,
        "proxyHeader": LABELS,
        "provider": TEXT,
        "region": TEXT,
        "zone": TEXT,
        "zones": TEXTS,
        "taints": ListOf(Record({"key!": TEXT, "value": TEXT, "effect!": TEXT, "timeAdded": TEXT})),
        "resourceModels": ListOf(
            Record(
                {
                    "grade!": _GRADE,
                    "ranges": ListOf(Record({"name!": TEXT, "min!": Quantity(), "max!": Quantity()})),
                }
            )
        ),
    }
)
CLUSTER_STATUS = Record(
    {
        "kubernetesVersion": TEXT,
        "apiEnablements": ListOf(
            Record({"groupVersion!": TEXT, "resources": ListOf(Record({"name!": TEXT, "kind!": TEXT}))})
        ),
        "conditions": ListOf(Anything()),
        "nodeSummary": Record({"totalNum": INTEGER32, "readyNum": INTEGER32}),
        "resourceSummary": Record(
            {
                "allocatable": _QUANTITIES,
                "allocating": _QUANTITIES,
                "allocated": _QUANTITIES,
                "allocatableModelings": ListOf(Record({"grade!": _GRADE, "count!": Whole(INT64)})),
            }
        ),
        "remedyActions": TEXTS,
    }
)
Object = dict[str, Any]
# Karmada names the namespace karmada-es-<cluster> after it, and a namespace has at most 63 characters.
NAME_LIMIT = 48
SYNC_MODES = ("Push", "Pull")
TAINT_EFFECTS = ("NoSchedule", "NoExecute")
PROXY_SCHEMES = ("http", "https", "socks5")
_BINARY = lazy_expression(r"\+?([0-9]*)(\.[0-9]*)?([KMGTPE]i)")
_DIGITS_BY_UNIT = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2, "Pi": -1, "Ei": -1}
Models = list[dict[str, Any]]
DEFAULT_MODELS: Models = [model.plain() for model in DEFAULT_GRADES]
"""The grades of a Cluster that has none: by powers of two of CPU and memory. All such Clusters share them."""


def cluster_name_fault(name: str) -> str:
    """Say what is wrong with the name of a Cluster: a DNS label, short enough to name a namespace after it."""
    return fault_of_dns_label(name, limit=NAME_LIMIT)


def mutate_cluster(cluster: Object, _findings: Findings) -> None:
    """Set resource models, or standardise those there are."""
    spec = cluster["spec"]
    if models := spec.get("resourceModels"):
        sort_and_close_grades(models)
    else:
        spec["resourceModels"] = DEFAULT_MODELS


def check_cluster(cluster: Object, findings: Findings) -> None:
    """Report all that the registry refuses, then move the deprecated zone to zones and write amounts canonically."""
    spec = cluster["spec"]
    mode = spec.get("syncMode")
    if not mode:
        findings.required("spec.syncMode", hint="write 'Push' or 'Pull'")
    elif mode not in SYNC_MODES:
        findings.not_supported("spec.syncMode", mode, SYNC_MODES)
    _check_endpoint_and_proxy(spec, findings)
    for secret in ("secretRef", "impersonatorSecretRef"):
        for part in ("namespace", "name") if secret in spec else ():
            if not spec[secret].get(part):
                findings.required(f"spec.{secret}.{part}")
    _check_region_and_zones(spec, findings)
    _check_taints(spec.get("taints") or (), findings)
    check_resource_models(spec["resourceModels"], findings)
    write_amounts_canonically(spec["resourceModels"])
    if spec.get("zone") and not spec.get("zones"):
        spec["zones"] = [spec.pop("zone")]


def _check_endpoint_and_proxy(spec: Mapping[str, Any], findings: Findings) -> None:
    if endpoint := spec.get("apiEndpoint"):
        fault = _endpoint_fault(endpoint)
        if fault:
            findings.problem("spec.apiEndpoint", fault, hint="write an address such as 'https://10.0.0.1:6443'")
    if proxy := spec.get("proxyURL"):
        address = parse_url_address(proxy)
        if address.fault:
            findings.problem("spec.proxyURL", f"is no address: {address.fault}")
        elif address.scheme not in PROXY_SCHEMES:
            findings.problem(
                "spec.proxyURL",
                f"unknown scheme {quoted_text(address.scheme)}",
                hint="begin it with http://, https:// or socks5://",
            )


def _endpoint_fault(endpoint: str) -> str:
    address = parse_url_address(endpoint)
    if address.fault:
        return f"is no address: {address.fault}"
    faults = [
        word
        for word, is_wrong in (
            ("no host", not address.host),
            ("a user", address.has_user),
            ("a fragment", bool(address.fragment)),
            ("a query", bool(address.query)),
        )
        if is_wrong
    ]
    return f"the address has {' and '.join(faults)}" if faults else ""


def _check_region_and_zones(spec: Mapping[str, Any], findings: Findings) -> None:
    for part in ("provider", "region"):
        if fault := fault_of_label_value(spec.get(part) or ""):
            findings.problem(f"spec.{part}", fault)
    zone, zones = spec.get("zone") or "", spec.get("zones") or ()
    if zone and zones:
        findings.problem(
            "spec.spec", "zone and zones exclude each other", hint="keep zones, a list", kind="TypeInvalid"
        )
        return
    if fault := fault_of_label_value(zone):
        findings.problem("spec.Zone", fault)
    for each in zones:
        if fault := fault_of_label_value(each):
            findings.problem("spec.Zones", fault)


def _check_taints(taints: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        path, key, effect = f"spec.taints[{index}]", taint.get("key") or "", taint.get("effect") or ""
        if fault := fault_of_label_key(key):
            findings.problem(f"{path}.key", fault)
        if fault := fault_of_label_value(taint.get("value") or ""):
            findings.problem(f"{path}.value", fault)
        if not effect:
            findings.required(f"{path}.effect", hint="write 'NoSchedule' or 'NoExecute'")
        elif effect not in TAINT_EFFECTS:
            findings.not_supported(f"{path}.effect", effect, TAINT_EFFECTS)
        if (key, effect) in seen:
            findings.problem(path, f"a taint {key}:{effect} stands above", hint="remove one", kind="Duplicate")
        seen.add((key, effect))


def sort_and_close_grades(models: Models) -> None:
    """Sort by grade, let the first grade begin at 0 and the last have no end."""
    models.sort(key=lambda model: model["grade"])
    for first in models[0].get("ranges") or ():
        first["min"] = "0"
    for last in models[-1].get("ranges") or ():
        last["max"] = LARGEST


def write_amounts_canonically(models: Models) -> None:
    """Write the amounts as Kubernetes prints them."""
    for model in models if models is not DEFAULT_MODELS else ():
        for each in model.get("ranges") or ():
            each["min"], each["max"] = canonical_quantity(each["min"]), canonical_quantity(each["max"])


def check_resource_models(models: Models, findings: Findings) -> None:
    """Report the first mistake by which grades are no contiguous ranges of the same resources."""
    if models is DEFAULT_MODELS:
        return
    fault = next((fault for index, _ in enumerate(models) if (fault := _fault_of_grade(models, index))), "")
    if fault:
        findings.problem("spec.resourceModels", fault)


def _fault_of_grade(models: Models, index: int) -> str:
    model, grade = models[index], models[index]["grade"]
    ranges = model.get("ranges") or ()
    before = models[index - 1].get("ranges") or () if index else None
    if before is not None and models[index - 1]["grade"] == grade:
        return f"grade {grade} occurs twice"
    if before is not None and len(before) != len(ranges):
        return f"grade {grade} has {len(ranges)} ranges, the one before it {len(before)}"
    for position, each in enumerate(ranges):
        if parse_quantity(each["max"]) <= parse_quantity(each["min"]):
            return f"grade {grade}, {each['name']}: max must be more than min"
        if before is not None and (fault := _fault_between_grades(before[position], each)):
            return f"grade {grade}, {each['name']}: {fault}"
    return ""


def _fault_between_grades(before: dict[str, Any], each: dict[str, Any]) -> str:
    if before["name"] != each["name"]:
        return f"the grade before it has {before['name']} in this place"
    if parse_quantity(before["max"]) != parse_quantity(each["min"]):
        return f"min must be {before['max']!r}, where the grade before it ends"
    if before["max"] != each["min"]:
        return f"min {each['min']!r} must be written like the max before it, {before['max']!r}"
    if not _is_amount_equal_to_itself(each["min"]):
        return f"{each['min']!r} must be written as a plain number"
    return ""


def _is_amount_equal_to_itself(text: str) -> bool:
    """Say whether Karmada finds an amount equal to itself: it compares big ones, as it keeps them, by their address."""
    match = _BINARY.fullmatch(text)
    if match is None:
        return True
    digits, decimals, unit = match[1].lstrip("0") or "0", match[2], match[3]
    return decimals is None and len(digits) <= _DIGITS_BY_UNIT[unit]
