"""What ``argosy test`` does: run the PolicyTests of the source, say how they went, or write back what is so."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import click

from reconciler.passes.interpretations import Answers
from reconciler.passes.publication import publication_of
from reconciler.passes.reading import read_evidence, read_loaded, recorded_facts
from reconciler.report import Log
from reconciler.repository import Repository, open_repository
from reconciler.source.desired import Desired
from reconciler.source.loading import Loaded
from reconciler.unknown_names import unknown_name
from render.errors import InputError
from render.words import counted

from .policy_tests import PolicyTest
from .policy_trials import Trial, trial_of
from .trial_coverage import coverage_of
from .trial_reports import WRITERS, Results
from .trial_updates import Edit, edits_of, updated


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
        answers = _recorded_answers(repository, loaded.desired)
        trials = [trial_of(test, loaded.desired, answers) for test in tests]
        if not trials:
            log.warning("the source has no PolicyTest")
        if options.update:
            return _update(repository, trials, loaded, log)
        line_of = loaded.lines.line_of if loaded.lines else lambda _path, _number, _field: 0
        coverage = coverage_of(trials, loaded.desired)
        text = WRITERS[options.output](Results(trials=trials, coverage=coverage, line_of=line_of))
    click.echo(text, nl=False)
    return 0 if all(trial.passed for trial in trials) else 1


def _recorded_answers(repository: Repository, desired: Desired) -> Answers:
    """Return what interpreter webhooks answered, as far as the status branch is known here."""
    if not desired.webhooks:
        return {}
    publication = publication_of(repository, desired.fleet)
    return read_evidence(repository, repository.tip(publication.ref(desired.fleet.status_branch))).answers


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


def _update(repository: Repository, trials: Iterable[Trial], loaded: Loaded, log: Log) -> int:
    """Write what is so into the files of tests that failed; return 1 when a file could not be edited."""
    root, left = repository.work_tree_to("change"), 0
    edits: dict[str, list[Edit]] = {}
    for trial in trials:
        place = loaded.lines.places[trial.test.path, trial.test.document] if loaded.lines else None
        if place is not None and trial.mismatches:
            edits.setdefault(trial.test.path, []).extend(edits_of(place.position, trial.mismatches))
    for path, wanted in edits.items():
        file = root / path
        content = updated(file.read_bytes(), wanted) if wanted else None
        if content is None:
            left += 1
            log.warning(f"{path} could not be updated: write its expectations in block style, or change them by hand")
            continue
        file.write_bytes(content)
        click.echo(f"updated {path}: {counted(len(wanted), 'expectation')}")
    return 1 if left else 0
