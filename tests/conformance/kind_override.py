"""Cases of kind ``override``: a template, one cluster and every override policy -> the object or an error."""

import json
from typing import Any

from overrides.engine import Overridden, OverrideEngine
from overrides.parsing import parse_override_policy
from overrides.record import APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES, applied_annotations
from render.parsing.clusters import parse_cluster

from . import Case

_ANNOTATIONS = {"appliedClusterOverrides": APPLIED_CLUSTER_OVERRIDES, "appliedOverrides": APPLIED_OVERRIDES}


def check(case: Case) -> str | None:
    """Override the template for the cluster and compare the object, the records and whether there is an error."""
    plain, expected = case["input"], case["expected"]
    (overridden,) = _override(plain)
    if expected.get("error") or expected.get("panic"):
        return None if overridden.error else "an object instead of an error"
    if overridden.error:
        return f"an error instead of an object: {overridden.error}"
    if overridden.manifest != expected["object"]:
        return f"another object: {_first_difference(overridden.manifest, expected['object'])}"
    return _compare_records(overridden, expected)


def _override(plain: dict[str, Any]) -> tuple[Overridden, ...]:
    policies = [parse_override_policy(each) for each in plain["overridePolicies"] + plain["clusterOverridePolicies"]]
    engine = OverrideEngine(policies, [parse_cluster(plain["cluster"])])
    return engine.override(plain["template"], 1)


def _compare_records(overridden: Overridden, expected: dict[str, Any]) -> str | None:
    annotations = applied_annotations(overridden.applied)
    for field, key in _ANNOTATIONS.items():
        wanted, got = expected[field], annotations.get(key)
        if (wanted and json.loads(wanted)) != (got and json.loads(got)):
            return f"another {field}: {got}, not {wanted}"
    return None


def _first_difference(got: Any, wanted: Any, path: str = "") -> str:
    if isinstance(got, dict) and isinstance(wanted, dict):
        for key in sorted({*got, *wanted}):
            if got.get(key, ...) != wanted.get(key, ...):
                return _first_difference(got.get(key, ...), wanted.get(key, ...), f"{path}/{key}")
    return f"{path}: {got!r}, not {wanted!r}"
