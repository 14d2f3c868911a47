"""The document of ``argosy test``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field

if TYPE_CHECKING:
    from reconciler.trial.backtests import BacktestFindings
    from reconciler.trial.reports import Results
    from reconciler.trial.trials import Coverage, Trial


class MismatchPart(DocumentPart, frozen=True, kw_only=True):
    """An expectation of a test that did not come true."""

    line: int
    field: str
    message: str


class TriedBacktestSumsPart(DocumentPart, frozen=True, kw_only=True):
    """The sums over all objects, by the names that tests have for them."""

    moved_replicas: Annotated[float, meaning_of_field("The replicas that left a cluster and appeared in another.")]
    evictions: Annotated[float, meaning_of_field("The clusters that objects had to leave.")]
    flaps: Annotated[float, meaning_of_field("The times that an object came back to a cluster soon after it had left.")]
    unscheduled_minutes: Annotated[
        float, meaning_of_field("The minutes in which no cluster took an object, or not all of it.")
    ]
    replica_minutes_not_ready: Annotated[
        float, meaning_of_field("The minutes of replicas in clusters while these were not ready.")
    ]


class TriedBacktestPart(DocumentPart, frozen=True, kw_only=True):
    """The replay of a recorded time with the policies and settings of the tested files."""

    since: Annotated[str, meaning_of_field("The beginning of that time.")]
    until: Annotated[str, meaning_of_field("The end of that time.")]
    rendered_commits: Annotated[int, meaning_of_field("The rendered commits of that time.")]
    identical: Annotated[int, meaning_of_field("The rendered commits that came out as they really were.")]
    really: Annotated[TriedBacktestSumsPart, meaning_of_field("What really happened.")]
    replayed: Annotated[TriedBacktestSumsPart, meaning_of_field("What happened in the replay.")]


class TrialPart(DocumentPart, frozen=True, kw_only=True):
    """A test that ran."""

    name: str
    path: Annotated[str, meaning_of_field("The file.")]
    passed: bool
    mismatches: Annotated[tuple[MismatchPart, ...], meaning_of_field("What is not as expected.")]
    backtest: (
        Annotated[TriedBacktestPart, meaning_of_field("The backtest; absent: none was asked for, or nothing replayed.")]
        | UnsetType
    ) = UNSET


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
    return TrialPart(
        name=trial.test.name,
        path=path,
        passed=trial.passed,
        mismatches=tuple(mismatches),
        backtest=_backtest_part(trial.backtest) if trial.backtest is not None else UNSET,
    )


def _backtest_part(found: "BacktestFindings") -> TriedBacktestPart | UnsetType:
    if found.since is None or found.until is None:
        return UNSET
    return TriedBacktestPart(
        since=instant_text(found.since),
        until=instant_text(found.until),
        rendered_commits=found.rendered,
        identical=found.identical,
        really=_sums_part(found.really),
        replayed=_sums_part(found.replayed),
    )


def _sums_part(sums: Mapping[str, float]) -> TriedBacktestSumsPart:
    return TriedBacktestSumsPart(
        moved_replicas=sums["movedReplicas"],
        evictions=sums["evictions"],
        flaps=sums["flaps"],
        unscheduled_minutes=sums["unscheduledMinutes"],
        replica_minutes_not_ready=sums["replicaMinutesNotReady"],
    )


def _coverage_part(coverage: "Coverage") -> CoveragePart:
    return CoveragePart(
        policies=coverage.policies,
        override_rules=coverage.rules,
        idle_policies=tuple(coverage.idle_policies),
        idle_override_rules=tuple(coverage.idle_rules),
    )
