"""``argosy status``: what the branches say about the fleet."""

import click

from reconciler.report import Log


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json", "yaml", "name"]),
    default="table",
    help="Output format; wide lists every binding.",
)
@click.pass_obj
def command(log: Log, output: str) -> int:
    """Show what the branches say about the fleet: the source, the rendered commit, every cluster and binding.

    Nothing is fetched and no cluster is asked.
    """
    from reconciler.statuses import show_status

    return show_status(log, output=output)
