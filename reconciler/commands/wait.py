"""``argosy wait``: until the fleet, a cluster or an object is applied or healthy."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from reconciler.console.log import Log
from reconciler.console.printing import print_text

from .options.member_options import seconds
from .options.subject_options import parsed_subject, with_namespace_options

if TYPE_CHECKING:
    from reconciler.status.waiting import Pacing

_MOST_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """The options of ``argosy wait``; ``subject`` is ``cluster/NAME``, ``KIND/NAME`` or nothing for the fleet."""

    subject: str = ""
    namespace: str = ""
    wish: str = "applied"
    timeout: float = 300.0


@click.command(epilog="Exit codes: 0 it came true; 1 the time was over before.")
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "--for",
    "wish",
    type=click.Choice(["applied", "healthy"]),
    default="applied",
    show_default=True,
    help="The state to wait for.",
)
@click.option(
    "--timeout", default="5m", show_default=True, callback=seconds, metavar="TIME", help="The longest time to wait."
)
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Wait until the newest source is applied, or healthy: everywhere, in one cluster, or one object.

    The branches are fetched every two seconds; no cluster is asked. Something else must run the passes.
    """
    subject = parsed_subject(options.pop("subject"))
    return wait_and_show(log, WaitOptions(subject=subject, **options))


def wait_and_show(log: Log, options: WaitOptions, pacing: "Pacing | None" = None) -> int:
    """Wait; return 0 once the wish came true, 1 when the time was over before, saying what is missing."""
    from reconciler.status.waiting import Pacing, Wish, missing_at_the_end

    wish = Wish(subject=options.subject, namespace=options.namespace, state=options.wish)
    missing = missing_at_the_end(wish, log, timeout=options.timeout, pacing=pacing or Pacing())
    subject = options.subject or "the fleet"
    if not missing:
        print_text(f"{subject} is {options.wish}")
        return 0
    log.warning(f"after {options.timeout:g} s {subject} is not {options.wish}")
    for each in missing[:_MOST_LISTED]:
        log.warning(each)
    if len(missing) > _MOST_LISTED:
        log.warning(f"{len(missing) - _MOST_LISTED} more")
    return 1
