"""``argosy wait``: until the fleet, a cluster or an object is applied or healthy."""

import click

from reconciler.command_options import parsed_subject, with_namespace_options
from reconciler.delivery.apply_options import seconds
from reconciler.report import Log


@click.command(epilog="Exit codes: 0 it came true; 1 the time was over before.")
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "--for", "wish", type=click.Choice(["applied", "healthy"]), default="applied", show_default=True, help="The wish."
)
@click.option(
    "--timeout", default="5m", show_default=True, callback=seconds, metavar="TIME", help="How long to wait at most."
)
@click.pass_obj
def command(log: Log, /, subject: tuple[str, ...], namespace: str, wish: str, timeout: float) -> int:
    """Wait until the newest source is applied, or healthy: everywhere, in one cluster, or one object.

    The branches are fetched every two seconds; no cluster is asked. Something else must run the passes.
    """
    from reconciler.status.waiting import WaitOptions, wait_and_say

    options = WaitOptions(subject=parsed_subject(subject), namespace=namespace, wish=wish, timeout=timeout)
    return wait_and_say(log, options)
