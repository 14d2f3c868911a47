"""Annotations of resource templates, and the paths of field rules, which annotations and argosy.yaml both have."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from render.model import ARGOSY_GROUP, Manifest
from render.rule_paths import listed_paths, parsed_path
from render.template_annotations import CONFLICT_RESOLUTION, FIELD_ANNOTATIONS, PRUNE, RECREATE
from render.words import nearest

from .findings import Findings, alternatives
from .syntax import quoted

_PREFIX = f"{ARGOSY_GROUP}/"
_CHOICES = {PRUNE: ("true", "false"), RECREATE: ("true", "false")}
_RESOLUTIONS = ("overwrite", "abort")
_INDEX = re.compile(r"\[\d+\]")
_EXAMPLE = """such as '.spec.replicas' or '.spec.template.spec.containers[name="web"].image'"""


def check_template_annotations(manifest: Manifest, findings: Findings) -> None:
    """Report annotations of Argosy's with values that say nothing, and warn of those that do not exist."""
    for name, value in (manifest["metadata"].get("annotations") or {}).items():
        field = f"metadata.annotations[{name}]"
        if name == CONFLICT_RESOLUTION and value.lower() not in _RESOLUTIONS:
            # Karmada goes by the policy where it does not know the word.
            hint = f"write {alternatives(_RESOLUTIONS)}"
            findings.warning(field, f"unknown value {quoted(value)}, so that the policy decides", hint=hint)
        elif name.startswith(_PREFIX):
            _check_ours(name, value, field, findings)


def _check_ours(name: str, value: str, field: str, findings: Findings) -> None:
    if name in FIELD_ANNOTATIONS:
        for path in listed_paths(value) or ("",):
            _check_path(path, field, findings)
    elif name not in _CHOICES:
        known = (each.removeprefix(_PREFIX) for each in (*FIELD_ANNOTATIONS, *_CHOICES))
        near = nearest(name.removeprefix(_PREFIX), known)
        hint = f"did you mean '{_PREFIX}{near}'?" if near else "argosy help annotations"
        findings.warning(field, "unknown annotation, which nothing reads", hint=hint)
    elif value.lower() not in _CHOICES[name]:
        findings.not_supported(field, value, _CHOICES[name])


def check_field_rules(rules: Iterable[Mapping[str, Any]], findings: Findings) -> None:
    """Report the paths of field rules that are none."""
    for index, rule in enumerate(rules):
        _check_path(rule["path"], f"spec.fieldRules[{index}].path", findings)


def _check_path(path: str, field: str, findings: Findings) -> None:
    if parsed_path(path) is not None:
        return
    if not path.strip():
        findings.problem(field, "must name a field", hint=_EXAMPLE)
    elif path.startswith("/") and parsed_path(from_pointer(path)) is not None:
        findings.problem(field, f"{quoted(path)} is a JSON pointer", hint=f"write {quoted(from_pointer(path))}")
    elif _INDEX.search(path):
        hint = """name it by its keys, such as '[name="web"]', or each by '[*]'"""
        findings.problem(field, f"{quoted(path)} names an item of a list by its number", hint=hint)
    else:
        findings.problem(field, f"{quoted(path)} is no path of a field", hint=_EXAMPLE)


def from_pointer(pointer: str) -> str:
    """Return the path that a JSON pointer stands for, which numbers the items of lists.

    >>> from_pointer("/spec/ports/0/nodePort"), from_pointer("/metadata/labels/example.com~1tier")
    ('.spec.ports[*].nodePort', '.metadata.labels.example.com/tier')
    """
    names = (name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:])
    return "".join("[*]" if name.isdecimal() else f".{name}" for name in names)
