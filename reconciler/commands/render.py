"""``argosy render``: what every cluster must hold, shown, written to a folder or committed."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import click

from reconciler.command_options import refuse_options, with_namespace_options
from reconciler.report import Log

_OUTPUTS = ("table", "yaml", "json", "name")
_SHOWN = ("shape", "output")


@click.command(epilog="Nothing but Git is read: no cluster, no network. Exit code 1: something could not be placed.")
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
@click.option("--allow-removal", "allowed", multiple=True, metavar="CLUSTER=COUNT", help="Let so many objects leave.")
@click.option("--allow-movement", "moves", multiple=True, metavar="OBJECT=COUNT", help="Let so many replicas move.")
@click.pass_obj
def command(log: Log, /, **options: object) -> int:
    """Compute what every cluster must hold.

    By default a table shows who gets what. -o yaml and -o json print the objects, --output-dir writes
    clusters/<cluster>/... as Argo CD, Flux or kubectl can use it, and --commit moves the rendered branch of this
    repository. The previous rendered commit decides what stays where it is.
    """
    from reconciler.passes.rendering import RenderOptions, render_and_show, render_watching

    _refuse_idle(options)
    options["output"] = options["output"] or ("table" if options["shape"] == "manifests" else "yaml")
    is_watching = options.pop("watch")
    allowed = cast("tuple[str, ...]", options.pop("allowed"))
    moves = cast("tuple[str, ...]", options.pop("moves"))
    clusters = cast("tuple[str, ...]", options.pop("clusters"))
    chosen = RenderOptions(allowed=allowed, allowed_moves=moves, clusters=clusters, **options)  # type: ignore[arg-type]  # click checked them
    return render_watching(log, chosen) if is_watching else render_and_show(log, chosen)


def _refuse_idle(options: Mapping[str, object]) -> None:
    """Refuse options that would do nothing beside others."""
    if options["worktree"] or options["watch"]:
        refuse_options(("rev", "commit"), "goes with neither --worktree nor --watch")
    if options["commit"]:
        refuse_options(("clusters", "namespace"), "goes without --commit: a commit holds the whole fleet")
        refuse_options(_SHOWN, "goes without --commit, which shows nothing")
    else:
        refuse_options(("allowed", "moves"), "goes with --commit")
    if options["output_dir"]:
        refuse_options(_SHOWN, "goes without --output-dir, which writes manifests")
    if options["shape"] != "manifests" and options["output"] in {"table", "name"}:
        refuse_options(("output",), f"{options['output']} is of manifests; -o yaml or json show {options['shape']}")
