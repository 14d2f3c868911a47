"""A validation as text, JSON, JUnit, SARIF and GitHub annotations."""

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

from reconciler.console.cleaning import safe_for_terminal
from reconciler.console.error_reports import IN_ANNOTATIONS, SARIF_SCHEMA
from reconciler.console.grouping import lines_grouped_by_wording
from reconciler.console.json_values import as_json
from reconciler.console.junit import JUnitCase, JUnitSuite, junit_xml
from reconciler.repository.trailers import engine_version
from render.errors import Problem
from render.words import counted_noun

from .validation import Validation


class Writer(Protocol):
    """A function that writes a validation; ``is_strict``: warnings count as problems."""

    def __call__(self, validation: Validation, *, is_strict: bool) -> str:
        """Return the text to print."""
        ...


_DESCRIPTIONS = {
    "ShadowedPolicy": "A propagation policy that claims nothing it selects",
    "PolicyTie": "Propagation policies between which only names decide",
    "UnmatchedSelector": "A resource selector that selects nothing",
    "ClusterScopedKind": "A namespaced policy aimed at a kind without namespaces",
    "NothingRead": "Charts or templates of objects, of which nothing is read",
    "Setting": "A setting that waits until somebody accepts it",
    "RenamedByHand": "A cluster that came as another one left that is described alike",
    "TemplateText": "Text of a template that nobody filled in",
    "PrunedField": "A field that no cluster gets",
    "UnmetPlacement": "A placement that no cluster meets, or too few",
    "LostPlace": "A placement that no cluster meets, of what clusters hold by now",
    "DuplicatedFailover": "Application failover of what runs in every cluster anyway",
    "HastyFailover": "Application failover that gives a workload no time to start",
    "WaitingPolicy": "A policy that waits for what is not there",
    "Released": "An object that clusters keep though no policy selects it",
    "UnselectedTemplate": "An object that no policy selects, so that it goes nowhere",
    "IdleEntry": "A word of argosy.yaml by which no template is meant to stay",
    "ClaimsDiffer": "An object whose policy depends on what was claimed before",
    "Undivided": "An object that its policy divides in vain: every cluster gets all of it",
    "UndividedNumber": "A number about all replicas that counts in each cluster of a division",
    "AutoscaledDivision": "Autoscalers of divided workloads, which set the share of each cluster",
    "LeftBehind": "An object that pods need and that goes nowhere, though their policy propagates dependencies",
    "UnansweredWebhook": "An object that only a webhook interprets, which nobody has asked about it",
    "IdleRule": "A rule of time that can never fire",
    "UnknownName": "A test that names what is not there",
    "Override": "An override that misses, repeats or contradicts",
    "Required": "A field that is missing",
    "Unknown": "A field that does not exist",
    "Duplicate": "An object that is defined twice",
    "NotSupported": "A value that is none of those allowed",
    "Invalid": "A value that means nothing here",
    "TypeInvalid": "A value of the wrong type",
}


_PROPERTY = {**IN_ANNOTATIONS, ord(":"): "%3A", ord(","): "%2C"}


def sarif_of_validation(validation: Validation, *, is_strict: bool = False) -> str:
    """Return a validation as one SARIF log."""
    level = "error" if is_strict else "warning"
    results = [_sarif_result(each, "error") for each in validation.problems]
    results += [_sarif_result(each, level) for each in validation.warnings]
    used = sorted({result["ruleId"] for result in results})
    driver = {"name": "argosy", "version": engine_version(), "rules": [_sarif_rule(name) for name in used]}
    return as_json(
        {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    )


def rule_broken_by_problem(problem: Problem) -> str:
    """Return the name of the rule that a problem breaks."""
    return problem.kind or "Source"


def _sarif_rule(name: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": _DESCRIPTIONS.get(name, "Something to look at in the source")}}


def _sarif_result(problem: Problem, level: str) -> dict[str, Any]:
    what = f"{problem.field}: {problem.message}" if problem.field else problem.message
    text = safe_for_terminal(f"{what}\nHint: {problem.hint}" if problem.hint else what)
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(problem.path, errors="surrogateescape")}}
    if problem.line:
        place["region"] = {"startLine": problem.line}
    identity = f"{problem.path}\0{problem.field}\0{problem.message}"
    return {
        "ruleId": rule_broken_by_problem(problem),
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"argosy/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()},
    }


def annotations_of_validation(validation: Validation, *, is_strict: bool = False) -> str:
    """Return an annotation per problem and warning."""
    word = "error" if is_strict else "warning"
    lines = [annotation_of_problem("error", each) for each in validation.problems]
    return "".join([*lines, *(annotation_of_problem(word, each) for each in validation.warnings)])


def annotation_of_problem(word: str, problem: Problem) -> str:
    r"""Return one annotation, in which nothing out of the repository can end the command or begin another.

    >>> annotation_of_problem("error", Problem("a.yaml", 3, "spec", "is odd\n::stop", ""))
    '::error file=a.yaml,line=3,title=spec::is odd%0A\\x3a:stop\n'
    """
    place = {"file": problem.path, "line": str(problem.line or ""), "title": problem.field or problem.kind}
    given = ",".join(f"{key}={safe_for_terminal(value).translate(_PROPERTY)}" for key, value in place.items() if value)
    text = f"{problem.message}\nhint: {problem.hint}" if problem.hint else problem.message
    return f"::{word} {given}::{safe_for_terminal(text).translate(IN_ANNOTATIONS)}\n"


def text_of_validation(validation: Validation, *, is_strict: bool = False, is_whole: bool = True) -> str:
    """Return the problems and warnings with their hints, and a summary; alike ones are one line unless ``is_whole``.

    Objects that are not read come first, because what is said of the others says nothing of them.
    """
    word = "error" if is_strict else "warning"
    shown_lines = iter if is_whole else lines_grouped_by_wording
    problems, warnings = (shown_lines(map(str, each)) for each in (validation.problems, validation.warnings))
    objects = validation.objects.lines(is_whole=is_whole) if validation.objects.unread else ()
    lines = [*objects, *problems, *(f"{word}: {warning}" for warning in warnings), _summary_of_validation(validation)]
    return "".join(f"{line}\n" for line in lines)


def _summary_of_validation(validation: Validation) -> str:
    summary = (
        f"{counted_noun(len(validation.problems), 'problem')}, {counted_noun(len(validation.warnings), 'warning')}"
    )
    if validation.desired is None:
        return summary
    desired = validation.desired
    counts = (
        counted_noun(len(desired.templates), "template"),
        counted_noun(len(desired.policies), "propagation policy", "propagation policies"),
        counted_noun(len(desired.override_policies), "override policy", "override policies"),
        counted_noun(len(desired.clusters), "cluster"),
    )
    more = f"; {len(validation.skipped)} more hold no Kubernetes object" if validation.skipped else ""
    return f"{summary}: {', '.join(counts)} in {counted_noun(desired.files, 'file')}{more}"


def junit_of_validation(validation: Validation, *, is_strict: bool = False) -> str:
    """Return JUnit's XML: a failed case per problem, a passed one per warning that is not strict."""
    cases = [_junit_case_of_problem(each, failed=True) for each in validation.problems]
    cases += [_junit_case_of_problem(each, failed=is_strict) for each in validation.warnings]
    return junit_xml([JUnitSuite(name="argosy validate", cases=tuple(cases) or (JUnitCase(name="the source"),))])


def _junit_case_of_problem(problem: Problem, *, failed: bool) -> JUnitCase:
    name = f"{problem.path}: {problem.field}" if problem.field else problem.path
    text = str(problem)
    return JUnitCase(
        name=name,
        file=problem.path,
        line=problem.line,
        failure=problem.message if failed else "",
        detail=text if failed else "",
        output="" if failed else text,
    )


WRITERS: Mapping[str, Writer] = {
    "text": text_of_validation,
    "sarif": sarif_of_validation,
    "junit": junit_of_validation,
    "github": annotations_of_validation,
}
"""The forms of a validation by ``-o``, beside its JSON document."""
