"""Admission: what Karmada's API server and webhooks accept, default and refuse.

Compared as the recording's README says, with three allowances of ours. Unknown fields are problems here (Karmada drops
them silently): they are left out of the comparison, the rest must be the same. Of several complaints about one field
one is enough. Where Karmada stops at the first wrong type or script, all of them may be named.
"""

import re
from typing import Any

from overrides.admission import admit
from render.admission import Admitted

from . import Case

Complaints = dict[str, set[str]]

_UNSTORED = frozenset({"uid", "creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink"})
_NO_STEP = re.compile(r"\[\d+\]|(?<=labels)\..*|(?<=annotations)\..*|(?<=proxyHeader)\..*")


def check(case: Case) -> str | None:
    """Return the first difference from Karmada's answer, None where there is none."""
    admitted, expected = admit(case["input"]), case["expected"]
    if admitted.object is not None:
        if not expected["allowed"]:
            return f"accepted, but {complaints(expected['errors'])} expected"
        stored = without_nulls(comparable(admitted.object))
        wanted = without_nulls(expected["object"])
        return None if stored == wanted else f"stored {stored}, not {wanted}"
    if expected["allowed"]:
        return f"refused: {found(admitted)}"
    return _difference(found(admitted), expected)


def found(admitted: Admitted) -> Complaints:
    """Return the kinds of problems by field; of what cannot be decoded Go knows neither indexes nor keys of maps."""
    fields: Complaints = {}
    for problem in admitted.problems:
        if problem.kind != "Unknown":
            field = _NO_STEP.sub("", problem.field) if problem.kind == "Decode" else problem.field
            fields.setdefault(field, set()).add(problem.kind)
    return fields


def complaints(errors: list[dict[str, str]]) -> Complaints:
    """Return the types of Karmada's errors by field."""
    fields: Complaints = {}
    for error in errors:
        fields.setdefault(error["field"], set()).add(error["type"])
    return fields


def comparable(stored: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what the recording left out."""
    metadata = {
        key: value for key, value in stored["metadata"].items() if key not in _UNSTORED and value not in ({}, [], "")
    }
    rest = {key: value for key, value in stored.items() if stored["kind"] != "Cluster" or key != "status"}
    return {**rest, "metadata": metadata}


def without_nulls(value: Any) -> Any:
    """Return a value without keys that hold null: Go writes ``value: null`` where an operation has none."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def _difference(fields: Complaints, expected: dict[str, Any]) -> str | None:
    wanted, optional = complaints(expected["errors"]), complaints(expected.get("webhookErrors") or [])
    if missing := wanted.keys() - fields.keys():
        return f"not refused: {sorted(missing)}; found {fields}"
    for field, kinds in fields.items():
        if field in wanted or field in optional:
            if not kinds <= wanted.get(field, set()) | optional.get(field, set()):
                return f"{field}: {sorted(kinds)}, not {sorted(wanted.get(field) or optional[field])}"
        elif not _is_further(field, kinds, expected):
            return f"refused without need: {field}: {sorted(kinds)}; expected {wanted}"
    return None


def _is_further(field: str, kinds: set[str], expected: dict[str, Any]) -> bool:
    """Say whether Karmada stopped before it came to this field."""
    return (kinds == {"Decode"} and expected["stage"] == "decode") or (
        field.endswith(".luaScript") and any(error["field"].endswith(".luaScript") for error in expected["errors"])
    )
