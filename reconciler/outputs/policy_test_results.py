"""The document of ``argosy test``."""

from typing import TYPE_CHECKING, Annotated

from .document import DocumentPart, OutputDocument, meaning_of_field

if TYPE_CHECKING:
    from reconciler.trial.reports import Results
    from reconciler.trial.trials import Coverage, Trial


class MismatchPart(DocumentPart, frozen=True, kw_only=True):
    """An expectation of a test that did not come true."""

    line: int
    field: str
    message: str


class TrialPart(DocumentPart, frozen=True, kw_only=True):
    """A test that ran."""

    name: str
    path: Annotated[str, meaning_of_field("The file.")]
    passed: bool
    mismatches: Annotated[tuple[MismatchPart, ...], meaning_of_field("What is not as expected.")]


class CoveragePart(DocumentPart, frozen=True, kw_only=True):
    """The policies and rules that tests exercised."""

    policies: Annotated[int, meaning_of_field("How many propagation policies there are.")]
    override_rules: Annotated[int, meaning_of_field("How many override rules there are.")]
    idle_policies: Annotated[tuple[str, ...], meaning_of_field("The propagation policies that no test exercised.")]
    idle_override_rules: Annotated[
        tuple[tuple[str, ...], ...], meaning_of_field("The override rules that no test exercised: policy and rule.")
    ]


class PolicyTestResultsDocument(OutputDocument, frozen=True, kw_only=True):
    """The results of a run of tests."""

    kind = "PolicyTestResults"
    about = "The results of the tests of policies."
    printed_by = ("test",)

    tests: Annotated[tuple[TrialPart, ...], meaning_of_field("The tests, in order.")]
    coverage: Annotated[CoveragePart, meaning_of_field("What the tests exercised.")]


def results_document(results: "Results") -> PolicyTestResultsDocument:
    """Return the results of tests as a document."""
    return PolicyTestResultsDocument(
        tests=tuple(_trial_part(results, trial) for trial in results.trials), coverage=_coverage_part(results.coverage)
    )


def _trial_part(results: "Results", trial: "Trial") -> TrialPart:
    path, document = trial.test.path, trial.test.document
    mismatches = (
        MismatchPart(line=results.line_of(path, document, each.field), field=each.field, message=each.message)
        for each in trial.mismatches
    )
    return TrialPart(name=trial.test.name, path=path, passed=trial.passed, mismatches=tuple(mismatches))


def _coverage_part(coverage: "Coverage") -> CoveragePart:
    return CoveragePart(
        policies=coverage.policies,
        override_rules=coverage.rules,
        idle_policies=tuple(coverage.idle_policies),
        idle_override_rules=tuple(coverage.idle_rules),
    )
