"""GitHub's workflow annotations: lines on stdout that a pull request shows beside the lines they are about."""

from reconciler.checks.linting import Validation
from render.errors import Problem

_DATA = {ord("%"): "%25", ord("\r"): "%0D", ord("\n"): "%0A"}
_PROPERTY = {**_DATA, ord(":"): "%3A", ord(","): "%2C"}


def as_annotations(found: Validation, *, is_strict: bool = False) -> str:
    """Return an annotation per problem and warning."""
    word = "error" if is_strict else "warning"
    lines = [annotation("error", each) for each in found.problems]
    return "".join([*lines, *(annotation(word, each) for each in found.warnings)])


def annotation(word: str, problem: Problem) -> str:
    r"""Return one annotation, in which nothing out of the repository can end the command or begin another.

    >>> annotation("error", Problem("a.yaml", 3, "spec", "is odd\n::stop", ""))
    '::error file=a.yaml,line=3,title=spec::is odd%0A::stop\n'
    """
    place = {"file": problem.path, "line": str(problem.line or ""), "title": problem.field or problem.kind}
    given = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in place.items() if value)
    text = f"{problem.message}\nhint: {problem.hint}" if problem.hint else problem.message
    return f"::{word} {given}::{text.translate(_DATA)}\n"
