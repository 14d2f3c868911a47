"""``argosy diff``: what separates two revisions in every cluster, before it happens."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.commands.options.allowances import with_allowances_of_diff
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_access_options
from reconciler.commands.options.now_option import with_now_option
from reconciler.commands.options.settings_options import with_accept_settings_option
from reconciler.console.idle_options import is_option_given, refuse_given_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output
from reconciler.guards.allowances import Allowed
from reconciler.members.options import AccessOptions

if TYPE_CHECKING:
    from reconciler.diff.comparison import Comparison
    from reconciler.diff.difference import Difference
    from reconciler.rendering.memory import SourceMemory
    from reconciler.repository import Repository

_GUARDED = ("allowed", "allowed_moves", "allowed_costs", "allowed_fragile", "accept_settings")
_OTHER_QUESTIONS = ("head", "stat", "max_bytes", "check", "watch", "bootstrap", *_GUARDED)


class DiffOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy diff``; no ``head`` is the work tree."""

    base: str = "HEAD"
    head: str = ""
    stat: bool = False
    output: str = "text"
    max_bytes: int = 60_000
    check: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    now: datetime | None = None
    watch: bool = False
    bootstrap: bool = False
    accept_settings: bool = False
    live: bool = False
    access: AccessOptions = field(default_factory=AccessOptions)


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 no difference; 1 a difference. With --check: 0 allowed; 1 a new problem; 6 refused."
    " With --live: 5 no cluster could be used; 7 no difference, but some could not be reached.",
)
@click.argument("base", default="HEAD")
@click.argument("head", default="")
@click.option("--stat", is_flag=True, help="One line for each cluster instead of everything.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=2000),
    default=60_000,
    show_default=True,
    help="The limit of markdown, in bytes.",
)
@click.option("--check", is_flag=True, help="Ask the guards whether the change may be made: 0 yes, 6 no.")
@with_accept_settings_option
@with_allowances_of_diff
@with_now_option
@click.option("--watch", is_flag=True, help="Compare the files as they stand again whenever one is saved.")
@click.option("--bootstrap", is_flag=True, help="Accept that there is no previous rendered commit.")
@click.option("--live", is_flag=True, help="Show what applying a rendered commit would change in clusters.")
@with_access_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show what a change does to every cluster.

    BASE is a commit, branch or tag  [default: HEAD]; without HEAD the work tree is compared as it stands. Both sides
    are rendered from the same facts and the same previous commit, the one that stood when BASE was the newest source:
    what is shown is due to the change alone, and a pass that renders it changes nothing about that. It is objects
    added, changed field by field and removed, templates that another policy takes over or delivers by another rule,
    replicas that move, what is pending because it is suspended or a lazy policy waits, and what has no place any more.
    What is said of many objects alike is said once; with -v each has its own line. The values of Secrets are never
    shown, and no cluster is asked.

    With --live the clusters are asked what differs from the rendered commit BASE  [default: the newest]; the options
    that say which clusters and how they are reached are for this alone.
    """
    chosen = DiffOptions(**options)
    _refuse_options_without_effect(chosen)
    if chosen.live:
        return show_live_difference(log, chosen)
    if not chosen.watch:
        return diff_and_show(log, chosen)
    from reconciler.commands.options.repeating import repeat_on_save
    from reconciler.rendering.memory import SourceMemory

    memory = SourceMemory()
    return repeat_on_save(log, lambda: diff_and_show(log, chosen, memory))


def _refuse_options_without_effect(options: DiffOptions) -> None:
    """Refuse options that would do nothing beside others."""
    if options.live:
        refuse_given_options(_OTHER_QUESTIONS, "goes without --live, which compares clusters with one rendered commit")
        if options.output == "markdown":
            raise click.UsageError("--live tells as -o text or json")
        return
    refuse_given_options(options.access.names(), "goes with --live: without it no cluster is asked")
    if not options.check:
        refuse_given_options(_GUARDED, "goes with --check, which asks the guards")
    if options.output != "markdown":
        refuse_given_options(["max_bytes"], "goes with -o markdown")
    if options.output != "text":
        refuse_given_options(["stat"], "goes with -o text")
    if options.watch:
        refuse_given_options(["head"], "goes without --watch, which compares the work tree")


def diff_and_show(log: Log, options: DiffOptions, memory: "SourceMemory | None" = None) -> int:
    """Print what separates two revisions; return 1 when anything does.

    With ``check`` the question is whether the change may be made: GuardRefused when a guard says no, 1 when something
    finds no place any more, else 0.
    """
    from reconciler.diff.comparison import Revisions, compare_commits
    from reconciler.diff.guards import check_comparison, lines_of_unjudged_costs
    from reconciler.diff.rendered_revisions import refuse_rendered_commits, words_about_rendered_difference
    from reconciler.guards.accepted_settings import Acceptance
    from reconciler.rendering.memory import SourceMemory
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        if not options.head and repository.folder.work_tree is None:
            raise click.UsageError("name HEAD as well: there is no work tree here to compare")
        base = repository.resolve(options.base)
        head = repository.resolve(options.head) if options.head else ""
        refuse_rendered_commits(repository, {options.base: base, **({options.head: head} if options.head else {})})
        revisions = Revisions(
            base=base, head=head, bootstrap=options.bootstrap, allowed=options.allowed, now=options.now
        )
        comparison = compare_commits(repository, revisions, memory or SourceMemory(), log)
    with log.timed("compare"):
        difference = _judged_difference(comparison, options.allowed)
        if difference.is_empty and head and (words := words_about_rendered_difference(comparison, log)):
            log.warning(words)
    for text in _difference_texts(difference, options, is_full=log.level >= VERBOSE):
        print_output(text, options.output)
    if options.check:
        log.warn_of(lines_of_unjudged_costs(comparison))
        accepted = Acceptance(is_whole=options.accept_settings)
        check_comparison(comparison, options.allowed, accepted, difference.resilience)
        return 1 if difference.problems else 0
    return 0 if difference.is_empty else 1


def _judged_difference(comparison: "Comparison", allowed: Allowed) -> "Difference":
    """Return a difference with what guards, holds and the past have to say about it."""
    from reconciler.diff.comparison import difference_of
    from reconciler.diff.guards import refusal_lines
    from reconciler.diff.holds import holds_on_members, is_newer_than_held
    from reconciler.diff.reverts import revert_in
    from reconciler.diff.unrendered_files import source_files_that_differ

    difference, holds = difference_of(comparison), holds_on_members(comparison)
    refused = refusal_lines(comparison, allowed, difference.resilience)
    is_newer, revert = is_newer_than_held(comparison, holds), revert_in(comparison)
    files = source_files_that_differ(comparison, difference)
    return replace(difference, refused=refused, holds=holds, is_newer=is_newer, revert=revert, unrendered=files)


def _difference_texts(difference: "Difference", options: DiffOptions, *, is_full: bool) -> Iterable[str]:
    """Return the texts to print, in order."""
    from reconciler.diff.markdown import difference_markdown
    from reconciler.diff.text import difference_table, difference_text

    if options.output == "json":
        from reconciler.outputs.difference import difference_document
        from reconciler.outputs.document import document_text

        return (document_text(difference_document(difference)),)
    if options.output == "markdown":
        return (difference_markdown(difference, max_bytes=options.max_bytes, is_full=is_full),)
    if options.check:  # the refusal itself says what is refused
        difference = replace(difference, refused=())
    return difference_table(difference) if options.stat else difference_text(difference, is_full=is_full)


def show_live_difference(log: Log, options: DiffOptions) -> int:
    """Compare what members hold with a rendered commit and print what differs; return 1 when anything does."""
    from reconciler.branches.fleet_context import context_and_source_of_commit
    from reconciler.deliver.reports import exit_code_of_reports
    from reconciler.diff.live import is_unwanted, live_changes, live_text
    from reconciler.members.choice import members_for_command
    from reconciler.members.ways import member_reach
    from reconciler.outputs.document import document_text
    from reconciler.outputs.live_difference import live_difference_document
    from reconciler.passes.applying import ApplyRun, Delivery
    from reconciler.passes.going_back import wish_to_see
    from reconciler.passes.logged_apply import apply_and_log
    from reconciler.repository import open_repository

    revision = options.base if is_option_given("base") else ""
    # What changes is the answer itself; on stderr it would only stand a second time.
    quieter = replace(log, level=log.level - 1)
    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, commit = context_and_source_of_commit(repository, revision)
        context.warn_of_waiting(log)
        if not revision:
            _warn_of_what_is_not_compared(repository, commit, log)
        members = members_for_command(context.fleet, context.members, options.access, log)
        reach = member_reach(context.fleet, options.access, repository.folder)
        delivery = Delivery(members=members, is_observing=True)
        wish = wish_to_see(context, revision)
        run = ApplyRun(context=context, commit=commit, delivery=delivery, reach=reach, wish=wish)
        reports = apply_and_log(run, quieter)
    texts = live_text(reports, is_full=log.level >= VERBOSE)
    is_json = options.output == "json"
    print_output(document_text(live_difference_document(commit, reports)) if is_json else texts, options.output)
    code = exit_code_of_reports(reports)
    return 1 if any(is_unwanted(change) for report in reports for change in live_changes(report)) else code


def _warn_of_what_is_not_compared(repository: "Repository", commit: str, log: Log) -> None:
    """Warn where a newer source asks for something else than the newest rendered commit, or is not pushed."""
    from reconciler.branches.reading import read_previous
    from reconciler.status.fleet import source_lag

    lag = source_lag(repository, read_previous(repository, commit), repository.resolve("HEAD"), log)
    if lag.is_current and lag.is_pushed:
        return
    words = lag.ending_of_sentence(is_refused=lag.refusal is not None)
    log.warning(
        f"clusters are compared with {commit[:12]}, which holds source {lag.rendered[:12]}{words}"
        f"\n  hint: argosy diff {lag.rendered[:12]} HEAD shows what is not compared here"
    )
