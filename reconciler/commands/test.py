"""``argosy test``: run the PolicyTests of the source."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_output, print_text
from render.words import counted_noun

if TYPE_CHECKING:
    from reconciler.rendering.memory import SourceMemory
    from reconciler.repository import Repository
    from reconciler.source.desired import Desired
    from reconciler.source.policy_tests import PolicyTest
    from reconciler.trial.backtests import BacktestFindings
    from reconciler.trial.reports import Results
    from reconciler.trial.runs import PolicyTestRun


class TrialOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy test``; ``paths`` are files or folders, none for all."""

    paths: tuple[str, ...] = ()
    rev: str = ""
    output: str = "text"
    update: bool = False
    watch: bool = False


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 all passed; 1 one failed; 3 the source or a test cannot be used."
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--rev", default="", metavar="REV", help="Test a commit, branch or tag instead of the files as they are.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "tap", "junit", "json"]), default="text", help="Output format."
)
@click.option("--watch", is_flag=True, help="Run the tests again whenever a file is saved.")
@click.option("--update", is_flag=True, help="Write what is so into the expectations that failed.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Run the PolicyTests in files or folders  [default: all of the source].

    Each adds clusters and templates to the source, takes clusters away or tries other settings, and expects where
    objects go and where not: policy, clusters, replicas, fields, refusals, messages. The source is rendered for each as
    if for the first time. A test may also expect something of a backtest: what the policies and settings of the
    present files would have done in a time that is recorded. What no test exercised is listed.
    """
    if options["update"]:
        refuse_given_options(("rev", "output"), "goes without --update, which writes the files as they stand")
    chosen = TrialOptions(**options)
    if not chosen.watch:
        return run_tests_and_show(log, chosen)
    from reconciler.commands.options.repeating import repeat_on_save
    from reconciler.rendering.memory import SourceMemory

    refuse_given_options(["rev", "update"], "goes without --watch, which tests the files as they stand")
    memory = SourceMemory()
    return repeat_on_save(log, lambda: run_tests_and_show(log, chosen, memory))


def run_tests_and_show(log: Log, options: TrialOptions, memory: "SourceMemory | None" = None) -> int:
    """Run tests and print their results; return 1 when one failed."""
    from reconciler.repository import open_repository
    from reconciler.trial.runs import run_tests

    with open_repository(log.repository, progress=log.transfer) as repository:
        is_worktree = not options.rev and repository.folder.work_tree is not None
        commit = "" if is_worktree else repository.resolve(options.rev or "HEAD")
        run = run_tests(
            repository,
            commit,
            options.paths,
            is_rewritten=options.update,
            memory=memory,
            backtest_of=partial(_findings_of_backtest, log, repository),
        )
        if not run.results.trials:
            log.warning("the source has no PolicyTest")
        if options.update:
            return _update_failed_tests_and_show(log, repository, run)
    print_output(_text_of_test_results(run.results, options), options.output)
    return 0 if all(trial.passed for trial in run.results.trials) else 1


def _findings_of_backtest(
    log: Log, repository: "Repository", test: "PolicyTest", desired: "Desired"
) -> "BacktestFindings":
    from reconciler.backtest.policy_tests import findings_of_test

    return findings_of_test(repository, log, test, desired)


def _update_failed_tests_and_show(log: Log, repository: "Repository", run: "PolicyTestRun") -> int:
    """Write what is so into the files of tests that failed; return 1 when something is left that failed."""
    from reconciler.trial.updates import update_files

    is_left = False
    for file in update_files(repository, run.results.trials, run.places):
        for mismatch in file.left:
            log.warning(f"{file.path}: {mismatch.field}: {mismatch.message}; --update leaves it")
        if file.written:
            print_text(f"updated {file.path}: {counted_noun(file.written, 'expectation')}")
        is_left = is_left or bool(file.left)
    return 1 if is_left else 0


def _text_of_test_results(results: "Results", options: TrialOptions) -> str | Iterable[str]:
    if options.output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.policy_test_results import results_document

        return document_text(results_document(results))
    from reconciler.trial.reports import WRITERS

    return WRITERS[options.output](results)
