"""``argosy status``: what the branches say about the fleet, a cluster or an object."""

import click

from reconciler.command_options import parsed_subject, with_namespace_options
from reconciler.report import Log


@click.command(epilog="Exit codes: 0 all is well; 1 something is not placed, not applied or not healthy.")
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json", "yaml", "name"]),
    default="table",
    help="Output format; wide lists every binding, or every object of a cluster.",
)
@click.option("-w", "--watch", is_flag=True, help="Fetch again and again, and show what is new, until ^C.")
@click.pass_obj
def command(log: Log, /, subject: tuple[str, ...], namespace: str, output: str, *, watch: bool) -> int:
    """Show what the branches say: of the fleet, of one cluster (cluster/NAME) or of one object (KIND/NAME).

    Which source is rendered, what every cluster holds since when, and why something is not as it should be, down to
    the container or the warning that says so. Nothing is fetched without --watch, and no cluster is asked.
    """
    from reconciler.status.status_views import StatusOptions, show_views

    return show_views(
        log, StatusOptions(subject=parsed_subject(subject), namespace=namespace, output=output, watch=watch)
    )
