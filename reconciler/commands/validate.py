"""``argosy validate``: every problem and warning of the source, each at file and line."""

import click

from reconciler.command_options import refuse_options
from reconciler.report import Log

_OUTPUTS = ("text", "json", "sarif", "junit", "github")


@click.command(epilog="Exit codes: 0 no problem; 1 only with --strict, a warning; 3 problems.")
@click.option(
    "--rev", default="", metavar="REV", help="Check a commit, branch or tag instead of the files as they stand."
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
def command(log: Log, rev: str, output: str, *, watch: bool, strict: bool) -> int:
    """Check every file, policy and override of the source.

    All problems are listed at once as file:line: field: what, each with a hint. Warnings are what Karmada accepts but
    you may not want: policies that never win or win by name alone, selectors that select nothing, overrides that miss.
    Nothing is rendered and no cluster is asked.
    """
    from reconciler.checks.validation import ValidateOptions, validate_and_show

    options = ValidateOptions(rev=rev, output=output, strict=strict)
    if not watch:
        return validate_and_show(log, options)
    from reconciler.passes.memory import Memory
    from reconciler.passes.watching import run_watching

    refuse_options(["rev"], "goes without --watch, which checks the files as they stand")
    memory = Memory()
    return run_watching(log, lambda: validate_and_show(log, options, memory))
