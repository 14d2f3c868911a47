"""Rules about single texts and numbers, and the words for what breaks them."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from render.admission.findings import Findings
from render.admission.metadata import ANNOTATION_LIMIT
from render.expressions import lazy_expression
from render.quantity import Amount, parse_quantity
from render.schemas.steps import Steps, path_of_steps
from render.syntax import fault_of_dns_label, fault_of_label_key, fault_of_label_value, quoted_text

Rule = Callable[[Mapping[str, Any], Steps, Findings], None]
"""Report what is wrong with a value of a definition."""

MOST_PORTS = 65535
_MOST_PORT_NAME = 15
_PORT_NAME = lazy_expression(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_PERCENT = lazy_expression(r"[0-9]{1,9}%", re.ASCII)
_DATA_KEY = lazy_expression(r"[-._a-zA-Z0-9]+", re.ASCII)
_MOST_KEY = 253

cached_key_fault = lru_cache(maxsize=4096)(fault_of_label_key)
cached_value_fault = lru_cache(maxsize=4096)(fault_of_label_value)


def check_labels(labels: Mapping[str, Any] | None, steps: Steps, findings: Findings) -> None:
    """Report labels of a form that no server takes."""
    for key, value in (labels or {}).items():
        if fault := cached_key_fault(key):
            findings.problem(path_of_steps(steps), fault)
        if value is not None and (fault := cached_value_fault(value)):
            findings.problem(path_of_steps((steps, key)), fault, hint="values of labels are short names")


def check_metadata(metadata: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    """Report labels and annotations that no server takes."""
    check_labels(metadata.get("labels"), (steps, "labels"), findings)
    annotations = metadata.get("annotations")
    if not annotations:
        return
    size = 0
    for key, value in annotations.items():
        size += len(key) + len(value or "")
        if fault := cached_key_fault(key.lower()):
            findings.problem(path_of_steps((steps, "annotations")), fault.replace("label key", "annotation key"))
    if size > ANNOTATION_LIMIT:
        message = f"more than {ANNOTATION_LIMIT // 1024} KiB in all"
        findings.problem(path_of_steps((steps, "annotations")), message, kind="TooLong")


def check_name(name: Any, steps: Steps, findings: Findings) -> None:
    """Report a name, of a container or a volume, that is no DNS label."""
    if name and (fault := fault_of_dns_label(name)):
        findings.problem(path_of_steps(steps), fault)


def check_port(port: Any, steps: Steps, findings: Findings) -> None:
    """Report a port by number or by name that is none."""
    if type(port) is int and not 1 <= port <= MOST_PORTS:
        findings.problem(path_of_steps(steps), f"must be from 1 to {MOST_PORTS}")
    elif type(port) is str and port.isdigit():
        findings.problem(path_of_steps(steps), "a port in quotes is the name of one", hint="write it without quotes")
    elif type(port) is str and port:
        check_port_name(port, steps, findings)


def check_port_name(name: str, steps: Steps, findings: Findings) -> None:
    """Report a name of a port that no server takes."""
    if len(name) > _MOST_PORT_NAME:
        findings.problem(
            path_of_steps(steps), f"{quoted_text(name)} is longer than {_MOST_PORT_NAME} characters", kind="TooLong"
        )
    elif not _PORT_NAME.fullmatch(name):
        hint = "use lower-case letters, digits and '-' only, with at least one letter"
        findings.problem(path_of_steps(steps), f"{quoted_text(name)} is no name of a port", hint=hint)


def check_numbers_are_at_least(
    least: int, value: Mapping[str, Any], names: Iterable[str], place: tuple[Steps, Findings]
) -> None:
    """Report numbers that are too small."""
    steps, findings = place
    for name in names:
        number = value.get(name)
        if type(number) is int and number < least:
            findings.problem(path_of_steps((steps, name)), f"must be at least {least}")


def check_number_or_percentage(value: Any, steps: Steps, findings: Findings, *, is_at_most_all: bool = False) -> None:
    """Report a number of pods, or a share of them, that is none."""
    if type(value) is str:
        if not _PERCENT.fullmatch(value):
            findings.problem(path_of_steps(steps), "must be a whole number or a percentage such as '25%'")
        elif is_at_most_all and int(value[:-1]) > 100:
            findings.problem(path_of_steps(steps), "must be at most 100%")
    elif type(value) is int and value < 0:
        findings.problem(path_of_steps(steps), "must be at least 0")


def is_neither_number_nor_percentage(value: Any) -> bool:
    """Say whether a number of pods, or a share of them, is none at all."""
    return value == 0 or (type(value) is str and _PERCENT.fullmatch(value) is not None and int(value[:-1]) == 0)


def check_duplicates(values: Iterable[tuple[Any, Steps]], findings: Findings) -> None:
    """Report values that were there before; an empty one is none."""
    seen: set[Any] = set()
    for value, steps in values:
        if value and value in seen:
            findings.problem(path_of_steps(steps), "was used before", hint="each must be different", kind="Duplicate")
        seen.add(value)


def check_data_keys(table: Mapping[str, Any] | None, steps: Steps, findings: Findings) -> None:
    """Report keys of a ConfigMap or a Secret that no server takes."""
    for key in table or ():
        if len(key) > _MOST_KEY or not _DATA_KEY.fullmatch(key) or key == "." or key.startswith(".."):
            hint = "use letters, digits, '-', '_' and '.' only"
            findings.problem(path_of_steps(steps), f"{quoted_text(key)} is no key of data", hint=hint)


def check_exactly_one_field(
    value: Mapping[str, Any], names: Iterable[str], what: str, place: tuple[Steps, Findings]
) -> None:
    """Report a value that has none or more than one of these fields."""
    steps, findings = place
    given = [name for name in names if value.get(name) is not None]
    if not given:
        findings.problem(
            path_of_steps(steps), f"has no {what}", hint=f"write one of {', '.join(names)}", kind="Required"
        )
    elif len(given) > 1:
        findings.problem(path_of_steps(steps), f"has more than one {what}: {', '.join(given)}", hint="keep one of them")


def amount_or_none(value: Any) -> Amount | None:
    """Return the amount of a quantity whose form is right; None for a number that is still to be filled in."""
    return parse_quantity(str(value).strip()) if type(value) in {str, int} else None
