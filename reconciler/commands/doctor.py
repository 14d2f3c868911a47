"""``argosy doctor``: what stands in the way of a pass, and the command that mends it."""

import click

from reconciler.report import Log


@click.command(epilog="Exit codes: 0 nothing is wrong; 1 something is.")
@click.option("--offline", is_flag=True, help="Do not ask the remote.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, offline: bool, output: str) -> int:
    """Check the repository, the remote and its branches.

    Each line is a check that passed or failed, with what to do: git's version, clone depth, fetch refspecs, push
    rights, branch protection, the rendered branch and who wrote it.
    """
    from reconciler.checks.diagnosis import diagnose_and_show

    return diagnose_and_show(log, offline=offline, output=output)
