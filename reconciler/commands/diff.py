"""``argosy diff``: what separates two revisions in every cluster, before it happens."""

from collections.abc import Mapping
from typing import Any, cast

import click

from reconciler.command_options import is_given, refuse_options
from reconciler.delivery.apply_options import split, with_access_options
from reconciler.report import Log

_OTHER_QUESTIONS = ("head", "stat", "max_bytes", "check", "removals", "moves", "watch", "bootstrap")
_GUARDED = ("removals", "moves")


@click.command(
    epilog="Exit codes: 0 no difference; 1 a difference. With --check: 0 allowed; 1 a new problem; 6 refused."
    " With --live: 5 no cluster could be used; 7 no difference, but some could not be reached."
)
@click.argument("base", default="HEAD")
@click.argument("head", default="")
@click.option("--stat", is_flag=True, help="One line for each cluster instead of everything.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format.")
@click.option(
    "--max-bytes", type=click.IntRange(min=2000), default=60_000, show_default=True, help="The longest markdown."
)
@click.option("--check", is_flag=True, help="Ask the guards whether the change may be made: 0 yes, 6 no.")
@click.option("--allow-removal", "removals", multiple=True, metavar="CLUSTER=COUNT", help="Let so many objects leave.")
@click.option("--allow-movement", "moves", multiple=True, metavar="OBJECT=COUNT", help="Let so many replicas move.")
@click.option("--watch", is_flag=True, help="Compare the files as they stand again whenever one is saved.")
@click.option("--bootstrap", is_flag=True, help="Accept that there is no previous rendered commit.")
@click.option(
    "--live", is_flag=True, help="What applying a rendered commit (BASE: the newest) would change in clusters."
)
@with_access_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show what a change does to every cluster.

    BASE is a commit, branch or tag  [default: HEAD]; without HEAD the work tree is compared as it stands. Both sides
    are rendered from the same previous commit and the same facts, so that what is shown is due to the change alone:
    objects added, changed field by field and removed, templates that another policy takes over, replicas that move,
    and what has no place any more. The values of Secrets are never shown, and no cluster is asked.

    With --live the clusters are asked what differs from the rendered commit BASE  [default: the newest]; the options
    that say which clusters and how they are reached are for this alone.
    """
    access, options = split(options)
    if options.pop("live"):
        return _live(log, access, options)
    _refuse_idle(access, options)
    from reconciler.differences.differing import DiffOptions, diff_and_show, diff_watching

    is_watching = options.pop("watch")
    allowed = cast("tuple[str, ...]", options.pop("removals"))
    moves = cast("tuple[str, ...]", options.pop("moves"))
    chosen = DiffOptions(allowed=allowed, allowed_moves=moves, **options)
    return diff_watching(log, chosen) if is_watching else diff_and_show(log, chosen)


def _live(log: Log, access: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    from reconciler.delivery.live_diff import show_live_difference

    refuse_options(_OTHER_QUESTIONS, "goes without --live, which compares clusters with one rendered commit")
    if options["output"] == "markdown":
        raise click.UsageError("--live tells as -o text or json")
    revision = options["base"] if is_given("base") else ""
    return show_live_difference(log, revision, access, options["output"])


def _refuse_idle(access: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Refuse options that would do nothing beside others."""
    refuse_options(access, "goes with --live: without it no cluster is asked")
    if not options["check"]:
        refuse_options(_GUARDED, "goes with --check, which asks the guards")
    if options["output"] != "markdown":
        refuse_options(["max_bytes"], "goes with -o markdown")
    if options["output"] != "text":
        refuse_options(["stat"], "goes with -o text")
    if options["watch"]:
        refuse_options(["head"], "goes without --watch, which compares the work tree")
