"""Requirements on labels with the comparisons ``Gt`` and ``Lt``, as node selectors and Federation v1 have them."""

import re
from collections.abc import Mapping

from render.expressions import lazy_expression
from render.selectors import Requirement, has_valid_values, holds_for_labels
from render.syntax import fault_of_label_key, fault_of_label_value

from .decoding import WrongShape

COMPARISONS = frozenset({"Gt", "Lt"})
_INTEGER = lazy_expression(r"[+-]?[0-9]+", re.ASCII)


def checked_requirement(requirement: Requirement, what: str) -> Requirement:
    """Return a requirement that Kubernetes can evaluate; WrongShape for another."""
    if requirement.operator in COMPARISONS:
        if len(requirement.values) != 1 or _number_in_text(requirement.values[0]) is None:
            raise WrongShape(f"{what}: {requirement.operator} needs one whole number")
    elif not has_valid_values(requirement):
        raise WrongShape(f"{what}: the operator {requirement.operator} does not fit its values")
    faults = [fault_of_label_key(requirement.key), *map(fault_of_label_value, requirement.values)]
    if fault := next(filter(None, faults), ""):
        raise WrongShape(f"{what}: {fault}")
    return requirement


def is_met(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Say whether labels meet a checked requirement; a label that is no whole number meets no comparison."""
    if requirement.operator not in COMPARISONS:
        return holds_for_labels(requirement, labels)
    found, bound = _number_in_text(labels.get(requirement.key) or ""), _number_in_text(requirement.values[0])
    if found is None or bound is None:
        return False
    return found > bound if requirement.operator == "Gt" else found < bound


def _number_in_text(text: str) -> int | None:
    """Return a whole number of 64 bits, None for anything else."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None
