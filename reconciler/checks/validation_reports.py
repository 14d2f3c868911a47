"""What a validation found, as text, as JSON and as JUnit."""

from reconciler.plain import as_json
from render.errors import Problem
from render.words import counted

from .junit import Case, Suite, as_xml
from .linting import Validation


def as_text(found: Validation, *, is_strict: bool = False) -> str:
    """Return a line per problem and warning, with hints, and a summary."""
    word = "error" if is_strict else "warning"
    lines = [*map(str, found.problems), *(f"{word}: {warning}" for warning in found.warnings), _summary(found)]
    return "".join(f"{line}\n" for line in lines)


def _summary(found: Validation) -> str:
    summary = f"{counted(len(found.problems), 'problem')}, {counted(len(found.warnings), 'warning')}"
    if found.desired is None:
        return summary
    desired = found.desired
    held = (
        counted(len(desired.templates), "template"),
        counted(len(desired.policies), "propagation policy", "propagation policies"),
        counted(len(desired.override_policies), "override policy", "override policies"),
        counted(len(desired.clusters), "cluster"),
    )
    return f"{summary}: {', '.join(held)} in {counted(desired.files, 'file')}"


def as_json_report(found: Validation, *, is_strict: bool = False) -> str:
    """Return one JSON value; what is strict shows in the exit code alone."""
    del is_strict
    return as_json(
        {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "Validation",
            "source": found.commit or None,
            "problems": [_plain(problem) for problem in found.problems],
            "warnings": [_plain(problem) for problem in found.warnings],
        }
    )


def _plain(problem: Problem) -> dict[str, str | int]:
    return {
        "path": problem.path,
        "line": problem.line,
        "field": problem.field,
        "message": problem.message,
        "hint": problem.hint,
        "type": problem.kind,
    }


def as_junit(found: Validation, *, is_strict: bool = False) -> str:
    """Return JUnit's XML: a failed case per problem, a passed one per warning that is not strict."""
    cases = [_case(each, failed=True) for each in found.problems]
    cases += [_case(each, failed=is_strict) for each in found.warnings]
    return as_xml([Suite(name="argosy validate", cases=tuple(cases) or (Case(name="the source"),))])


def _case(problem: Problem, *, failed: bool) -> Case:
    name = f"{problem.path}: {problem.field}" if problem.field else problem.path
    said = str(problem)
    return Case(
        name=name,
        file=problem.path,
        line=problem.line,
        failure=problem.message if failed else "",
        detail=said if failed else "",
        output="" if failed else said,
    )
