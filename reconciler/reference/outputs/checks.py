"""The output of checks: of the source, of policies, of commits, of the repository."""

from collections.abc import Mapping

from reconciler.reference.shapes import Shape, flag, mapping, record, records, sequence, text, texts, whole

from .parts import RENDERED, SOURCE
from .passes import FIELDS

_FINDING = {"path": text("The file."), "line": whole("The line; 0 if it is about the whole file."), "field": text()}
_FINDINGS: Mapping[str, Shape] = {
    **_FINDING,
    "message": text(),
    "hint": text("What to do; it may be empty."),
    "type": text("The type of the problem, as Kubernetes names it, or Argosy's own."),
}
VALIDATION = {
    "source": SOURCE,
    "problems": records(_FINDINGS, "What is wrong."),
    "warnings": records(_FINDINGS, "What is allowed, but probably a mistake."),
    "skipped": records({"path": text(), "reason": text()}, "The files that hold no Kubernetes object, and why."),
}
RESULTS = {
    "tests": records(
        {
            "name": text(),
            "path": text("The file."),
            "passed": flag(),
            "mismatches": records({"line": whole(), "field": text(), "message": text()}, "What is not as expected."),
        },
        "The tests, in order.",
    ),
    "coverage": record(
        {
            "policies": whole("How many propagation policies there are."),
            "overrideRules": whole("How many override rules there are."),
            "idlePolicies": texts("The propagation policies that no test exercised."),
            "idleOverrideRules": sequence(texts(), "The override rules that no test exercised: policy and rule."),
        },
        "What the tests exercised.",
    ),
}
VERIFICATION = {
    "commits": records(
        {
            "commit": RENDERED,
            "source": text("The source commit; empty if the commit names none."),
            "result": text("`equal`, `different`, `not comparable` or `not written by Argosy`."),
            "detail": text("The reason in a sentence; it may be empty."),
            "differences": records(
                {
                    "path": text("The file."),
                    "action": text("`changed`; `added` if it is only made, `removed` if it is only committed."),
                    "fields": FIELDS,
                },
                "The files that are others when they are made again; those of clusters with their fields.",
            ),
        },
        "The commits, newest first.",
    ),
}
DIAGNOSIS = {
    "checks": records(
        {
            "name": text(
                "What was checked; of a member `credentials`, `connection`, `identity`, `version`, `clock`,"
                " `kinds`, `permissions` or `capacity`."
            ),
            "member?": text("The member, if it is about one."),
            "ok": flag(),
            "warning?": flag("True where nothing fails by it, and somebody should know it."),
            "found": text(),
            "hint": text(),
        },
        "The checks, in order.",
    ),
}
IMPORT = {
    "system": text("The federation that the documents are of, or `live clusters`."),
    "counts": mapping(whole(), "How many lines there are of each grade."),
    "documents": records(
        {
            "document": text("Kind, namespace and name."),
            "from": text("The file and line that it stands in, or the clusters that have it."),
            "grade": text(
                "`exact`, `exact for now` (for the clusters and counts of today), `approximate` or `refused`."
            ),
            "code?": text("A stable name of the reason, if there is one to give."),
            "rule?": text("The rule of that federation which it is about."),
            "message?": text("The reason in a sentence, and what to do."),
        },
        "What became of each document, one reason a line: exact ones first.",
    ),
    "files": texts("The files that are written, or would be with `--output-dir`."),
    "others": whole("How many documents are of no other federation, and are left alone."),
}
