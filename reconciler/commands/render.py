"""``argosy render``: what every cluster must hold, shown, written to a folder or committed."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.commands.options.allowances import with_allowance_options
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.now_option import with_now_option
from reconciler.commands.options.settings_options import with_accept_settings_option
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_output
from reconciler.guards.allowances import Allowed

if TYPE_CHECKING:
    from reconciler.preview.outputs import Selection
    from reconciler.rendering.memory import SourceMemory
    from reconciler.rendering.outcome import Outcome

_OUTPUTS = ("table", "wide", "yaml", "json", "name")
_SHOWN = ("shape", "output")


class RenderOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy render``; no ``output`` is the table, or YAML where there is no table."""

    rev: str = ""
    worktree: bool = False
    watch: bool = False
    clusters: tuple[str, ...] = ()
    namespace: str = ""
    shape: str = "manifests"
    output: str | None = None
    output_dir: Path | None = None
    commit: bool = False
    bootstrap: bool = False
    accept_rewind: bool = False
    accept_settings: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    now: datetime | None = None


@click.command(
    cls=DocumentedCommand,
    epilog=(
        "Nothing but Git is read: no cluster, no network. Exit code 1: an object could not be placed, or is left out."
    ),
)
@click.option("--rev", default="", metavar="REV", help="Commit, branch or tag of the source  [default: HEAD]")
@click.option("--worktree", is_flag=True, help="Render the files as they stand, committed or not.")
@click.option("--watch", is_flag=True, help="Render the files as they stand again whenever one is saved.")
@click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only these clusters (repeatable).")
@with_namespace_options("Only objects of this namespace.")
@click.option(
    "--as",
    "shape",
    type=click.Choice(["manifests", "works", "bindings"]),
    default="manifests",
    help="Show the objects themselves, Karmada's Work objects, or the bindings.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(_OUTPUTS),
    help="Output format  [default: table, or yaml with --as works or bindings]",
)
@click.option("--output-dir", type=click.Path(path_type=Path, file_okay=False), help="Write the tree to this folder.")
@click.option("--commit", is_flag=True, help="Commit the tree to the local rendered branch.")
@click.option("--bootstrap", is_flag=True, help="Accept that there is no previous rendered commit.")
@click.option("--accept-rewind", is_flag=True, help="Commit a source that does not follow the one rendered before.")
@with_accept_settings_option
@with_allowance_options
@with_now_option
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Compute what every cluster must hold.

    By default a table shows who gets what, and -o wide names every cluster and file. -o yaml and -o json print the
    objects, --output-dir writes clusters/<cluster>/... as Argo CD, Flux or kubectl can use it, and --commit moves the
    rendered branch of this repository. The previous rendered commit decides what stays where it is.
    """
    chosen = RenderOptions(**options)
    _refuse_options_without_effect(chosen)
    if not chosen.watch:
        return render_and_show(log, chosen)
    from reconciler.commands.options.repeating import repeat_on_save
    from reconciler.rendering.memory import SourceMemory

    memory, chosen = SourceMemory(), replace(chosen, worktree=True)
    return repeat_on_save(log, lambda: render_and_show(log, chosen, memory))


def _refuse_options_without_effect(options: RenderOptions) -> None:
    """Refuse options that would do nothing beside others."""
    if options.worktree or options.watch:
        refuse_given_options(("rev", "commit"), "goes with neither --worktree nor --watch")
    if options.commit:
        refuse_given_options(("clusters", "namespace"), "goes without --commit: a commit holds the whole fleet")
        refuse_given_options(_SHOWN, "goes without --commit, which shows nothing")
    else:
        refuse_given_options(("allowed", "allowed_moves", "allowed_costs"), "goes with --commit")
    if options.output_dir:
        refuse_given_options(_SHOWN, "goes without --output-dir, which writes manifests")
    if options.shape != "manifests" and options.output in {"table", "wide", "name"}:
        refuse_given_options(("output",), f"{options.output} is of manifests; -o yaml or json show {options.shape}")


def render_and_show(log: Log, options: RenderOptions, memory: "SourceMemory | None" = None) -> int:
    """Render a revision and show it; return 1 when an object could not be placed or built, or is left out."""
    from reconciler.preview.outputs import Selection, reason_nothing_is_selected, refuse_unknown_clusters_selected
    from reconciler.preview.rendering import PreviewOptions, commit_to_local_branches, preview_outcome, warn_of_refusals
    from reconciler.rendering.guarded_outcome import check_removals_held_back
    from reconciler.rendering.memory import SourceMemory
    from reconciler.rendering.problems import problems_by_object
    from reconciler.repository import open_repository

    preview = PreviewOptions(
        is_first=options.bootstrap,
        accepts_rewind=options.accept_rewind,
        accepts_settings=options.accept_settings,
        allowed=options.allowed,
        now=options.now,
    )
    revision = None if options.worktree else options.rev
    selection = Selection(clusters=options.clusters, namespace=options.namespace)
    with open_repository(log.repository, progress=log.transfer) as repository:
        outcome = preview_outcome(repository, revision, memory or SourceMemory(), log, preview)
        refuse_unknown_clusters_selected(outcome, selection)
        _show_rendered(outcome, selection, options, log)
        if nothing := reason_nothing_is_selected(outcome, selection):
            log.warning(nothing)
        if options.commit:
            outcome = commit_to_local_branches(outcome, preview, log)
        else:
            warn_of_refusals(outcome, log)
    problems = problems_by_object(outcome)
    log.warn_of((*outcome.warnings, *problems))
    if options.commit:
        check_removals_held_back(outcome)
    return 1 if problems or outcome.source.objects_left_out else 0


def _show_rendered(outcome: "Outcome", selection: "Selection", options: RenderOptions, log: Log) -> None:
    """Write what was rendered to a folder, or print it; what is committed is not shown."""
    from reconciler.preview.outputs import output_texts, write_tree

    if options.output_dir is not None:
        write_tree(outcome, selection, options.output_dir, log)
    elif not options.commit:
        output = options.output or ("table" if options.shape == "manifests" else "yaml")
        if output == "json":
            from reconciler.outputs.document import document_text
            from reconciler.outputs.rendering import rendering_document

            print_output(document_text(rendering_document(outcome, selection, options.shape)), output)
            return
        for text in output_texts(outcome, selection, shape=options.shape, output=output):
            print_output(text, output)
