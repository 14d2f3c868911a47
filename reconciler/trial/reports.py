"""The results of PolicyTests as text, TAP, JUnit and JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from overrides.lint import LineOf
from reconciler.console.json_values import as_json
from reconciler.console.junit import JUnitCase, JUnitSuite, junit_xml
from reconciler.console.marks import answer_in_style
from render.words import counted_noun

from .fields import Mismatch
from .trials import Coverage, Trial


class Results(Struct, frozen=True, kw_only=True):
    """The trials of a run with the coverage of policies; ``line_of`` finds the lines of tests."""

    trials: Sequence[Trial]
    coverage: Coverage
    line_of: LineOf

    def shown_place(self, trial: Trial, field: str = "") -> str:
        """Return the file and line of a field of a test."""
        line = self.line_of(trial.test.path, trial.test.document, field)
        return f"{trial.test.path}:{line}" if line else trial.test.path

    def sentence(self, trial: Trial, mismatch: Mismatch) -> str:
        """Return what did not come true, at its file and line."""
        return f"{self.shown_place(trial, mismatch.field)}: {mismatch.field}: {mismatch.message}"


def results_as_text(results: Results) -> Iterator[str]:
    """Yield a line per test, the mismatches of those that failed, a summary, and what no test exercised."""
    for trial in results.trials:
        yield answer_in_style("ok" if trial.passed else "FAIL", width=4)
        yield f"  {trial.test.name}  {trial.test.path}\n"
        if trial.backtest is not None:
            yield f"      {trial.backtest.sentence}\n"
        yield from (f"      {results.sentence(trial, each)}\n" for each in trial.mismatches)
    yield from (f"{line}\n" for line in _summary_lines(results))


def _summary_lines(results: Results) -> Iterator[str]:
    coverage, passed = results.coverage, sum(trial.passed for trial in results.trials)
    used_policies = coverage.policies - len(coverage.idle_policies)
    used_rules = coverage.rules - len(coverage.idle_rules)
    yield (
        f"{passed} passed, {len(results.trials) - passed} failed;"
        f" exercised {used_policies} of"
        f" {counted_noun(coverage.policies, 'propagation policy', 'propagation policies')},"
        f" {used_rules} of {counted_noun(coverage.rules, 'override rule')}"
    )
    idle = (*coverage.idle_policies, *(f"{policy} {rule}" for policy, rule in coverage.idle_rules))
    for each in idle:
        yield f"  not exercised: {each}"


def results_as_tap(results: Results) -> str:
    """Return TAP version 14."""
    lines = ["TAP version 14", f"1..{len(results.trials)}"]
    for number, trial in enumerate(results.trials, start=1):
        lines.append(f"{'ok' if trial.passed else 'not ok'} {number} - {trial.test.name}")
        if not trial.passed:
            sentences = (f"    - {as_json(results.sentence(trial, each)).rstrip()}" for each in trial.mismatches)
            lines += ["  ---", "  mismatches:", *sentences, "  ..."]
    lines += [f"# {line.strip()}" for line in _summary_lines(results)]
    return "".join(f"{line}\n" for line in lines)


def results_as_junit(results: Results) -> str:
    """Return JUnit's XML, a suite per file."""
    suites: dict[str, list[JUnitCase]] = {}
    for trial in results.trials:
        suites.setdefault(trial.test.path, []).append(_junit_case_of_trial(results, trial))
    return junit_xml([JUnitSuite(name=path, cases=tuple(cases)) for path, cases in suites.items()])


def _junit_case_of_trial(results: Results, trial: Trial) -> JUnitCase:
    first = trial.mismatches[0] if trial.mismatches else None
    return JUnitCase(
        name=trial.test.name,
        file=trial.test.path,
        line=results.line_of(trial.test.path, trial.test.document, first.field if first else ""),
        failure=f"{first.field}: {first.message}" if first else "",
        detail="\n".join(results.sentence(trial, each) for each in trial.mismatches),
    )


WRITERS: Mapping[str, Callable[[Results], str | Iterator[str]]] = {
    "text": results_as_text,
    "tap": results_as_tap,
    "junit": results_as_junit,
}
"""The forms of results by ``-o``, beside their JSON document."""
