"""``argosy history``: what rendered commits changed of an object, a cluster, a policy or a namespace, and why."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.fleets_below import fleets_listed_on_error
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text

if TYPE_CHECKING:
    from reconciler.history.subjects import Subject
    from reconciler.repository import Repository


class HistoryOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy history``; ``subject`` is what was typed. ``commits``: an entry for each commit."""

    subject: tuple[str, ...] = ()
    namespace: str = ""
    rev: str = ""
    limit: int = 20
    commits: bool = False
    output: str = "text"


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 something changed; 1 nothing that is here did; 2 no such name; 4 Git."
)
@click.argument("subject", nargs=-1, metavar="[KIND/NAME | cluster/NAME | policy/NAME | namespace/NAME]")
@with_namespace_options("The namespace the object or policy is in.")
@click.option("--rev", default="", metavar="REV", help="A rendered commit to go back from  [default: the newest]")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Show so many changes, the newest; 0 shows all.",
)
@click.option("--commits", is_flag=True, help="Tell of each commit once: how much it changed, and what moved.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show what changed, when, by whom and why.

    Each entry is a rendered commit in which the clusters, the replicas, the policy or the bytes of an object changed,
    with the source commit that it was made from. The reasons are those that passes recorded: scaled, evicted, a cluster
    left, a wave began. Where none is recorded it says so. Of a policy it tells what it claims, loses and places, and
    not the bytes; of namespace/NAME whatever changed in it, and of namespace.v1/NAME the Namespace itself; without a
    subject it tells of every object. With -v all fields and clusters are listed. With
    --commits it is a timeline: an entry for each commit, with the numbers of what it changed.
    """
    with fleets_listed_on_error(log):
        return history_and_show(log, HistoryOptions(**options))


def history_and_show(log: Log, options: HistoryOptions) -> int:
    """Print the history of what the words name; return 1 where nothing that is here changed."""
    from reconciler.history.subjects import rendered_tip_meant, subject_of_words
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        tip = rendered_tip_meant(repository, options.rev)
        subject = subject_of_words(repository, tip, options.subject, options.namespace)
        show = _show_timeline if options.commits else _show_history
        is_full = log.level >= VERBOSE
        is_changed = show(repository, tip, subject, options.limit, output=options.output, is_full=is_full)
    return 0 if is_changed else 1


def _show_history(
    repository: "Repository", tip: str, subject: "Subject", limit: int, *, output: str, is_full: bool
) -> bool:
    from reconciler.history.subjects import history_of_subject
    from reconciler.history.text import history_text
    from reconciler.outputs.document import document_text
    from reconciler.outputs.history import history_document

    history = history_of_subject(repository, tip, subject, limit)
    if output == "json":
        print_output(document_text(history_document(history)), "json")
    else:
        for text in history_text(history, is_full=is_full):
            print_text(text, end="")
    return bool(history.steps)


def _show_timeline(
    repository: "Repository", tip: str, subject: "Subject", limit: int, *, output: str, is_full: bool
) -> bool:
    from reconciler.history.text import timeline_text
    from reconciler.history.timeline import timeline_of_subject
    from reconciler.outputs.document import document_text
    from reconciler.outputs.timeline import timeline_document

    timeline = timeline_of_subject(repository, tip, subject, limit)
    if output == "json":
        print_output(document_text(timeline_document(timeline)), "json")
    else:
        for text in timeline_text(timeline, is_full=is_full):
            print_text(text, end="")
    return bool(timeline.entries)
