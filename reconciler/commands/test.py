"""``argosy test``: run the PolicyTests of the source."""

from typing import cast

import click

from reconciler.command_options import refuse_options
from reconciler.report import Log


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
    from reconciler.trials.trying import TrialOptions, run_tests_and_show

    if options["update"]:
        refuse_options(("rev", "output"), "goes without --update, which writes the files as they stand")
    if options["update"]:
        refuse_options(("rev", "output"), "goes without --update, which writes the files as they stand")
    paths = cast("tuple[str, ...]", options.pop("paths"))
    return run_tests_and_show(log, TrialOptions(paths=paths, **options))  # type: ignore[arg-type]  # click checked them
