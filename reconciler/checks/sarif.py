"""SARIF 2.1.0, which code scanning reads: every problem and warning at its file and line, under its rule's name."""

import hashlib
from typing import Any
from urllib.parse import quote

from reconciler.passes.trailers import engine_version
from reconciler.plain import as_json
from render.errors import Problem

from .linting import Validation

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_DESCRIPTIONS = {
    "ShadowedPolicy": "A propagation policy that holds nothing it selects",
    "PolicyTie": "Propagation policies between which only names decide",
    "UnmatchedSelector": "A resource selector that selects nothing",
    "ClusterScopedKind": "A namespaced policy aimed at a kind without namespaces",
    "WaitingPolicy": "A policy that waits for what is not there",
    "Released": "An object that clusters keep though no policy selects it",
    "ClaimsDiffer": "An object whose policy depends on what was claimed before",
    "UnknownName": "A test that names what is not there",
    "Override": "An override that misses, repeats or contradicts",
    "Required": "A field that is missing",
    "Unknown": "A field that does not exist",
    "Duplicate": "An object that is defined twice",
    "NotSupported": "A value that is none of those allowed",
    "Invalid": "A value that means nothing here",
    "TypeInvalid": "A value of the wrong type",
}


def as_sarif(found: Validation, *, is_strict: bool = False) -> str:
    """Return a validation as one SARIF log."""
    level = "error" if is_strict else "warning"
    results = [_result(each, "error") for each in found.problems]
    results += [_result(each, level) for each in found.warnings]
    used = sorted({result["ruleId"] for result in results})
    driver = {"name": "argosy", "version": engine_version(), "rules": [_rule(name) for name in used]}
    return as_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]})


def rule_of(problem: Problem) -> str:
    """Return the name of the rule that a problem breaks."""
    return problem.kind or "Source"


def _rule(name: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": _DESCRIPTIONS.get(name, "Something to look at in the source")}}


def _result(problem: Problem, level: str) -> dict[str, Any]:
    what = f"{problem.field}: {problem.message}" if problem.field else problem.message
    text = f"{what}\nHint: {problem.hint}" if problem.hint else what
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(problem.path)}}
    if problem.line:
        place["region"] = {"startLine": problem.line}
    identity = f"{problem.path}\0{problem.field}\0{problem.message}"
    return {
        "ruleId": rule_of(problem),
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"argosy/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()},
    }
