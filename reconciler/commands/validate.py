"""``argosy validate``: every problem and warning of the source, each at file and line."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output
from render.errors import InputError

if TYPE_CHECKING:
    from reconciler.check.validation import Validation
    from reconciler.rendering.memory import SourceMemory

_OUTPUTS = ("text", "json", "sarif", "junit", "github")


class ValidateOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy validate``."""

    rev: str = ""
    base: str = ""
    output: str = "text"
    watch: bool = False
    strict: bool = False


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 no problem; 1 nothing is used of some object, or is read of charts or templates, or with"
    " --strict a warning; 3 problems.",
)
@click.option(
    "--rev", default="", metavar="REV", help="Check a commit, branch or tag instead of the files as they stand."
)
@click.option(
    "--base",
    default="",
    metavar="REV",
    help="Compare settings with those of this commit, and judge by its limits  [default: what is rendered]",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(_OUTPUTS),
    default="text",
    help="Output format; github is for annotations in a workflow.",
)
@click.option("--watch", is_flag=True, help="Check the files as they stand again whenever one is saved.")
@click.option("--strict", is_flag=True, help="Warnings count as problems.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Check every file, policy and override of the source.

    All problems are listed at once as file:line: field: what, each with a hint. What is the same for three objects or
    more is one line with their count; -v and every other output name each. Warnings are what Karmada accepts but
    you may not want: policies that never win or win by name alone, selectors that select nothing, objects that no
    policy selects, overrides that miss.
    Where objects of the repository are not read, their number and their folders come first.
    What overrides make of objects is checked, too. Nothing is committed and no cluster is asked.
    """
    chosen = ValidateOptions(**options)
    if not chosen.watch:
        return validate_and_show(log, chosen)
    from reconciler.commands.options.repeating import repeat_on_save
    from reconciler.rendering.memory import SourceMemory

    refuse_given_options(["rev"], "goes without --watch, which checks the files as they stand")
    memory = SourceMemory()
    return repeat_on_save(log, lambda: validate_and_show(log, chosen, memory))


def validate_and_show(log: Log, options: ValidateOptions, memory: "SourceMemory | None" = None) -> int:
    """Check the work tree, or a revision, and print problems and warnings; return the exit code."""
    from reconciler.check.validation import validation_of
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        is_worktree = not options.rev and repository.folder.work_tree is not None
        commit = "" if is_worktree else repository.resolve(options.rev or "HEAD")
        base = repository.resolve(options.base) if options.base else ""
        validation = validation_of(repository, commit, log, memory, base=base)
    for each in validation.skipped:
        log.detail(f"{each.path}: {each.reason}")
    print_output(_text_of_validation(validation, options, is_whole=log.level >= VERBOSE), options.output)
    if validation.problems:
        return InputError.exit_code
    is_no = validation.lost or validation.is_nothing_read
    return 1 if is_no or (options.strict and validation.warnings) else 0


def _text_of_validation(validation: "Validation", options: ValidateOptions, *, is_whole: bool) -> str:
    if options.output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.validation import validation_document

        return document_text(validation_document(validation))
    from reconciler.check.reports import WRITERS, text_of_validation

    if options.output == "text":
        return text_of_validation(validation, is_strict=options.strict, is_whole=is_whole)
    return WRITERS[options.output](validation, is_strict=options.strict)
