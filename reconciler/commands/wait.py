"""``argosy wait``: until the fleet, a cluster or an object is applied, healthy or rolled out."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import parse_seconds
from reconciler.commands.options.subject_options import parse_subject_words, with_namespace_options
from reconciler.console.grouping import lines_grouped_by_wording
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text

if TYPE_CHECKING:
    from reconciler.status.branches import Pacing
    from reconciler.status.waiting import Waited

_MOST_LISTED = 20


class WaitOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy wait``; ``subject`` is ``cluster/NAME``, ``KIND/NAME`` or nothing for the fleet."""

    subject: str = ""
    namespace: str = ""
    wish: str = "applied"
    timeout: float = 300.0
    output: str = "text"

    @property
    def subject_words(self) -> str:
        """The subject in words."""
        return self.subject or "the fleet"

    @property
    def state_words(self) -> str:
        """The state in words."""
        return self.wish.replace("-", " ")


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 it came true; 1 the time was over before, or a rollout has failed or was aborted; 3 nothing"
    " was ever rendered; 3, 4 or 6 passes refuse the newest source; 6 a cluster is held back.",
)
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "--for",
    "wish",
    type=click.Choice(["applied", "healthy", "rolled-out"]),
    default="applied",
    show_default=True,
    help="The state to wait for.",
)
@click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=parse_seconds,
    metavar="TIME",
    help="The longest time to wait.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Wait until the newest source is applied, healthy or rolled out: everywhere, in one cluster, or one object.

    The branches are fetched every two seconds; no cluster is asked. Something else must run the passes. A cluster
    counts only if the last look at it and the last run over it succeeded, for the newest rendered commit, and if that
    left nothing otherwise than the commit says. What is rolled out is applied, and no rollout holds a change of it back
    from any cluster. What is missing is said at once, and again where it changes; where no branch moves for a while, so
    is who would renew it, and what to run. When the time is over, each reason is said. Where passes refuse the newest
    source, waiting is in vain: the command ends at once with their exit code. So it does where a cluster keeps what it
    has because too much would leave it (removalGuard.scope: Cluster), where a rollout that is waited for has failed or
    was aborted, and where nothing was ever rendered, for no pass may be about to begin.
    """
    subject = parse_subject_words(options.pop("subject"))
    return wait_and_show(log, WaitOptions(subject=subject, **options))


def wait_and_show(log: Log, options: WaitOptions, pacing: "Pacing | None" = None) -> int:
    """Wait; return 0 once the wish came true, 1 when the time was over before, saying what is missing."""
    from reconciler.pipeline.pending import pending_lines
    from reconciler.status.branches import Pacing
    from reconciler.status.waiting import Wish, wait_for

    wish = Wish(subject=options.subject, namespace=options.namespace, state=options.wish)
    waited = wait_for(wish, log, timeout=options.timeout, pacing=pacing or Pacing())
    if options.output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.waiting import waiting_document

        print_data(document_text(waiting_document(waited, options.subject, options.wish)))
    elif waited.missing:
        _warn_of_what_is_missing(waited, options, log)
    else:
        log.warn_of(pending_lines(waited.pending))
        print_text(f"{options.subject_words} is {options.state_words}")
    return 1 if waited.missing else 0


def _warn_of_what_is_missing(waited: "Waited", options: WaitOptions, log: Log) -> None:
    log.warning(f"after {options.timeout:g} s {options.subject_words} is not {options.state_words}")
    lines = list(map(str, waited.missing))
    if not log.tells_each:
        lines = list(lines_grouped_by_wording(lines))
    shown = lines if log.tells_each else lines[:_MOST_LISTED]
    for line in shown:
        log.warning(line)
    if len(lines) > len(shown):
        log.warning(f"{len(lines) - len(shown)} more, which -v names")
    if waited.standstill:
        log.info(waited.standstill)
