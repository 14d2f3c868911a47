"""``argosy verify``: replay rendered commits from what they record, and compare them byte for byte."""

import click

from reconciler.report import Log


@click.command(epilog="Exit codes: 0 all equal; 1 a commit differs; 3 a commit of another engine version.")
@click.argument("revision", default="")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many commits, going back.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, revision: str, number: int, output: str) -> int:
    """Replay rendered commits and compare them byte for byte.

    REVISION is a rendered commit  [default: the tip of the rendered branch]. Each is made again from the source,
    the previous commit and the facts it names; any difference means that somebody else wrote it.
    """
    from reconciler.checks.verification import verify_and_show

    return verify_and_show(log, revision=revision, number=number, output=output)
