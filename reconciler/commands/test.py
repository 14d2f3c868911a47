"""``argosy test``: run the PolicyTests of the source."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import cast

import click

from reconciler.console.idle_options import refuse_options
from reconciler.console.log import Log
from reconciler.names.subjects import unknown_name
from reconciler.pipeline.webhook_answers import Answers
from reconciler.publish.branches import publication_of
from reconciler.publish.reading import read_loaded, read_observed_inputs, recorded_facts
from reconciler.repository import Repository, open_repository
from reconciler.source.desired import Desired
from reconciler.source.manifests import LocatedManifest
from reconciler.source.policy_tests import PolicyTest
from reconciler.trial.names import unknown_names
from reconciler.trial.reports import WRITERS, Results
from reconciler.trial.trials import Trial, coverage_of, trial_of
from reconciler.trial.updates import is_told, updated
from render.documents.editing.nodes import UneditableError
from render.errors import InputError, Problem
from render.words import counted

Places = Mapping[tuple[str, int], LocatedManifest]
"""Where tests stand, by their file and their number in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """The options of ``argosy test``; ``paths`` are files or folders, none for all."""

    paths: tuple[str, ...] = ()
    rev: str = ""
    output: str = "text"
    update: bool = False


def run_tests_and_show(log: Log, options: TrialOptions) -> int:
    """Run tests and print their results; return 1 when one failed."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        is_worktree = not options.rev and repository.folder.work_tree is not None
        commit = "" if is_worktree else repository.resolve(options.rev or "HEAD")
        loaded = read_loaded(repository, commit, facts=recorded_facts(repository))
        if loaded.problems:
            raise InputError(loaded.problems, warnings=loaded.desired.warnings)
        tests = chosen_tests(loaded.tests, options.paths, repository.folder.under)
        line_of = loaded.lines.line_of if loaded.lines else lambda _path, _number, _field: 0
        if unknown := tuple(unknown_names(tests, loaded.desired, line_of, is_rewritten=options.update)):
            raise InputError(unknown, summary=f"{counted(len(unknown), 'problem')}; no test was run")
        answers = _recorded_answers(repository, loaded.desired)
        trials = [trial_of(test, loaded.desired, answers) for test in tests]
        if not trials:
            log.warning("the source has no PolicyTest")
        if options.update:
            return _update(repository, trials, loaded.lines.places if loaded.lines else {}, log)
        coverage = coverage_of(trials, loaded.desired)
        text = WRITERS[options.output](Results(trials=trials, coverage=coverage, line_of=line_of))
    click.echo(text, nl=False)
    return 0 if all(trial.passed for trial in trials) else 1


def _recorded_answers(repository: Repository, desired: Desired) -> Answers:
    """Return what interpreter webhooks answered, as far as the status branch is known here."""
    if not desired.webhooks:
        return {}
    publication = publication_of(repository, desired.fleet)
    return read_observed_inputs(repository, repository.tip(publication.ref(desired.fleet.status_branch))).answers


def chosen_tests(tests: Iterable[PolicyTest], paths: Sequence[str], folder: str) -> list[PolicyTest]:
    """Return the tests below the paths that are named, which count from where the user stands."""
    if not paths:
        return list(tests)
    known = list(tests)
    wanted = {path: PurePosixPath(folder, path) for path in paths}
    found = {
        path: [test for test in known if full == PurePosixPath(test.path) or full in PurePosixPath(test.path).parents]
        for path, full in wanted.items()
    }
    for path, below in found.items():
        if not below and PurePosixPath(path) != PurePosixPath("."):
            raise unknown_name(f"there is no PolicyTest at {path!r}", path, {test.path for test in known})
    names = {test.name for below in found.values() for test in below}
    return [test for test in known if test.name in names or PurePosixPath(".") in map(PurePosixPath, paths)]


def _update(repository: Repository, trials: Iterable[Trial], places: Places, log: Log) -> int:
    """Write what is so into the files of tests that failed; return 1 when something is left that failed.

    InputError lists what could not be edited where; all else is written.
    """
    root, left = repository.work_tree_to("change"), 0
    problems: list[Problem] = []
    for path, failed in _failed_by_path(trials).items():
        content, number = (root / path).read_bytes(), 0
        for trial in failed:
            told = [mismatch for mismatch in trial.mismatches if is_told(mismatch)]
            for mismatch in trial.mismatches:
                if mismatch not in told:
                    log.warning(f"{path}: {mismatch.field}: {mismatch.message}; --update leaves it")
            left += len(trial.mismatches) - len(told)
            try:
                content = updated(content, places[path, trial.test.document], trial)
                number += len(told)
            except UneditableError as error:
                where = error.error
                problems.append(Problem(path, where.line, "", where.message, where.hint))
        if number:
            (root / path).write_bytes(content)
            click.echo(f"updated {path}: {counted(number, 'expectation')}")
    if problems:
        raise InputError(problems, summary=f"{counted(len(problems), 'test')} could not be updated")
    return 1 if left else 0


def _failed_by_path(trials: Iterable[Trial]) -> Mapping[str, list[Trial]]:
    failed: dict[str, list[Trial]] = {}
    for trial in trials:
        if not trial.passed:
            failed.setdefault(trial.test.path, []).append(trial)
    return failed


@click.command(epilog="Exit codes: 0 all passed; 1 one failed; 3 the source or a test cannot be used.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--rev", default="", metavar="REV", help="Test a commit, branch or tag instead of the files as they are.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "tap", "junit", "json"]), default="text", help="Output format."
)
@click.option("--update", is_flag=True, help="Write what is so into the expectations that failed.")
@click.pass_obj
def command(log: Log, /, **options: object) -> int:
    """Run the PolicyTests in files or folders  [default: all of the source].

    Each adds clusters and templates to the source, or takes clusters away, and expects where objects go: policy,
    clusters, replicas, fields, refusals. The source is rendered for each as if for the first time. What no test
    exercised is listed.
    """
    if options["update"]:
        refuse_options(("rev", "output"), "goes without --update, which writes the files as they stand")
    if options["update"]:
        refuse_options(("rev", "output"), "goes without --update, which writes the files as they stand")
    paths = cast("tuple[str, ...]", options.pop("paths"))
    return run_tests_and_show(log, TrialOptions(paths=paths, **options))  # type: ignore[arg-type]  # click checked them
