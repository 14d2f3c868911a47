"""``argosy apply``: make clusters hold what a rendered commit says."""

from typing import Any

import click

from reconciler.delivery.apply_options import split, with_delivery_options
from reconciler.report import Log


@click.command(epilog="Exit codes: 0 converged; 1 an object failed; 5 no cluster could be used; 7 some unreachable.")
@click.argument("revision", default="", metavar="[REV]")
@click.option("--dry-run", type=click.Choice(["none", "server"]), default="none", help="server: ask, write nothing.")
@click.option("--allow-removal", "allowed", multiple=True, metavar="CLUSTER=COUNT", help="Let so many objects go.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", help="Output format.")
@with_delivery_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Make clusters hold what a rendered commit says  [default: the newest].

    Server-side apply under the field manager 'argosy'. An object that is not ours is left alone unless its policy's
    conflictResolution is Overwrite; an equal one is adopted. Only what earlier commits put there is ever deleted.
    What was done is recorded on the status branch. Where argosy.yaml lists clusters, it is for those and for the ones
    that --cluster names; else every cluster is reached by the context named like it.
    """
    from reconciler.delivery.apply_command import apply_and_show

    delivery, rest = split(options)
    return apply_and_show(log, rest.pop("revision"), delivery, rest)
