"""A run of PolicyTests: those that were asked for, out of a commit or the work tree, each tried by itself."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from reconciler.branches.in_force import published_fleet
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_loaded, read_observed_inputs, reader_of_recorded_facts
from reconciler.ledger.webhook_answers import Answers
from reconciler.names.subjects import error_of_unknown_name
from reconciler.rendering.memory import SourceMemory
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from reconciler.source.manifests import LocatedManifest
from reconciler.source.policy_tests import PolicyTest
from render.errors import InputError
from render.words import counted_noun

from .backtests import BacktestOfTest, findings_without_a_past
from .names import problems_of_unknown_names
from .reports import Results
from .trials import coverage_of, run_trial

PlaceByTest = Mapping[tuple[str, int], LocatedManifest]
"""The places of tests, by their file and their number in it."""


class PolicyTestRun(Struct, frozen=True, kw_only=True):
    """The results of a run, and the places of its tests."""

    results: Results
    places: PlaceByTest


def run_tests(
    repository: Repository,
    commit: str,
    paths: Sequence[str],
    *,
    is_rewritten: bool = False,
    memory: SourceMemory | None = None,
    backtest_of: BacktestOfTest = findings_without_a_past,
) -> PolicyTestRun:
    """Run the tests of a commit ("": the work tree) below some paths; without paths all of them.

    InputError when the source cannot be used, or a test names something that nothing goes by. ``is_rewritten``: the
    expectations are about to be written anew, and may name anything. ``backtest_of`` replays the past
    that a test is about.
    """
    parsed = memory.parsed if memory is not None else None
    loaded = read_loaded(repository, commit, parsed, facts=reader_of_recorded_facts(repository))
    if loaded.problems_that_block:
        raise InputError(loaded.problems, warnings=loaded.desired.warnings)
    tests = _tests_below(paths, loaded.tests, repository.folder.under)
    line_of = loaded.lines.line_of if loaded.lines else lambda _path, _number, _field: 0
    if problems := tuple(problems_of_unknown_names(tests, loaded.desired, line_of, is_rewritten=is_rewritten)):
        raise InputError(problems, summary=f"{counted_noun(len(problems), 'problem')}; no test was run")
    answers = _recorded_webhook_answers(repository, loaded.desired)
    trials = [run_trial(test, loaded.desired, answers, backtest_of) for test in tests]
    results = Results(trials=trials, coverage=coverage_of(trials, loaded.desired), line_of=line_of)
    return PolicyTestRun(results=results, places=loaded.lines.places if loaded.lines else {})


def _tests_below(paths: Sequence[str], tests: Iterable[PolicyTest], folder: str) -> list[PolicyTest]:
    """Return the tests below paths, which are relative to the folder of the source that the user is in."""
    known = list(tests)
    if not paths:
        return known
    names: set[str] = set()
    for path in paths:
        full = PurePosixPath(folder, path)
        below = [test for test in known if full in (PurePosixPath(test.path), *PurePosixPath(test.path).parents)]
        if not below and PurePosixPath(path) != PurePosixPath("."):
            raise error_of_unknown_name(f"there is no PolicyTest at {path!r}", path, {test.path for test in known})
        names.update(test.name for test in below)
    return [test for test in known if test.name in names or PurePosixPath(".") in map(PurePosixPath, paths)]


def _recorded_webhook_answers(repository: Repository, desired: Desired) -> Answers:
    """Return what interpreter webhooks answered, as far as the status branch is known here."""
    if not desired.webhooks:
        return {}
    fleet = published_fleet(repository, "", desired.fleet, is_first=True)
    publication = publication_of(repository, fleet)
    return read_observed_inputs(repository, repository.tip(publication.ref(fleet.status_branch))).answers
