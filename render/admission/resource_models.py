"""The resource models of a Cluster: the default grades, standardising, and the rules for them."""

import re
from typing import Any

from render.cluster import DEFAULT_GRADES, LARGEST
from render.quantity import canonical_quantity, parse_quantity

from .findings import Findings

_BINARY = re.compile(r"\+?([0-9]*)(\.[0-9]*)?([KMGTPE]i)")
_DIGITS_BY_UNIT = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2, "Pi": -1, "Ei": -1}

Models = list[dict[str, Any]]

DEFAULT_MODELS: Models = [model.plain() for model in DEFAULT_GRADES]
"""The grades of a Cluster that has none: by powers of two of CPU and memory. All such Clusters share them."""


def standardize(models: Models) -> None:
    """Sort by grade, let the first grade begin at 0 and the last have no end."""
    models.sort(key=lambda model: model["grade"])
    for first in models[0].get("ranges") or ():
        first["min"] = "0"
    for last in models[-1].get("ranges") or ():
        last["max"] = LARGEST


def write_canonically(models: Models) -> None:
    """Write the amounts as Kubernetes prints them."""
    for model in models if models is not DEFAULT_MODELS else ():
        for each in model.get("ranges") or ():
            each["min"], each["max"] = canonical_quantity(each["min"]), canonical_quantity(each["max"])


def check_models(models: Models, findings: Findings) -> None:
    """Report the first mistake by which grades are no contiguous ranges of the same resources."""
    if models is DEFAULT_MODELS:
        return
    fault = next((fault for index, _ in enumerate(models) if (fault := _model_fault(models, index))), "")
    if fault:
        findings.problem("spec.resourceModels", fault)


def _model_fault(models: Models, index: int) -> str:
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
        if before is not None and (fault := _gap_fault(before[position], each)):
            return f"grade {grade}, {each['name']}: {fault}"
    return ""


def _gap_fault(before: dict[str, Any], each: dict[str, Any]) -> str:
    if before["name"] != each["name"]:
        return f"the grade before it has {before['name']} in this place"
    if parse_quantity(before["max"]) != parse_quantity(each["min"]):
        return f"min must be {before['max']!r}, where the grade before it ends"
    if before["max"] != each["min"]:
        return f"min {each['min']!r} must be written like the max before it, {before['max']!r}"
    if not _is_comparable(each["min"]):
        return f"{each['min']!r} must be written as a plain number"
    return ""


def _is_comparable(text: str) -> bool:
    """Say whether Karmada finds an amount equal to itself: it compares big ones, as it keeps them, by their address."""
    match = _BINARY.fullmatch(text)
    if match is None:
        return True
    digits, decimals, unit = match[1].lstrip("0") or "0", match[2], match[3]
    return decimals is None and len(digits) <= _DIGITS_BY_UNIT[unit]
