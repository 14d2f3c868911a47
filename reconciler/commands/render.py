"""``argosy render``: what every cluster must hold, shown, written to a folder or committed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import click

from reconciler.console.idle_options import refuse_options
from reconciler.console.log import Log
from reconciler.pipeline.released import released_lines
from reconciler.preview.outputs import check_selection, emptiness, shown
from reconciler.preview.selection import Selection
from reconciler.publish.branches import Publication, publication_of
from reconciler.publish.guards import Allowed, check_guards, movement_breaches
from reconciler.publish.mirrors import update_mirrors
from reconciler.publish.outcome import Outcome, check_rewind, commit_outcome, run_pass
from reconciler.publish.problems import problems_of
from reconciler.publish.reading import SourceMemory, read_observed_inputs
from reconciler.publish.removal_guard import Allowance
from reconciler.publish.uncommitted import AS_THEY_STAND, warn_of_uncommitted
from reconciler.repository import Repository, open_repository
from render.errors import ConfigError
from render.words import counted

from .options.subject_options import with_namespace_options

_OUTPUTS = ("table", "yaml", "json", "name")
_SHOWN = ("shape", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """The options of ``argosy render``."""

    rev: str = ""
    worktree: bool = False
    clusters: tuple[str, ...] = ()
    namespace: str = ""
    shape: str = "manifests"
    output: str = "table"
    output_dir: Path | None = None
    commit: bool = False
    bootstrap: bool = False
    accept_rewind: bool = False
    allowed: tuple[str, ...] = ()
    allowed_moves: tuple[str, ...] = ()


def render_and_show(log: Log, options: RenderOptions, memory: SourceMemory | None = None) -> int:
    """Render a revision and show it; return 1 when something could not be placed or built."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        outcome, publication = computed(repository, log, options, memory)
        selection = Selection(clusters=options.clusters, namespace=options.namespace)
        check_selection(outcome, selection)
        if options.output_dir is not None:
            write_tree(outcome, selection, options.output_dir, log)
        elif not options.commit:
            for text in shown(outcome, selection, shape=options.shape, output=options.output):
                click.echo(text, nl=False)
        if nothing := emptiness(outcome, selection):
            log.warning(nothing)
        if options.commit:
            outcome = _commit(outcome, publication, options, log)
        else:
            _warn_of_refusals(outcome, log)
    for line in (*released_lines(outcome.released), *map(str, problems_of(outcome))):
        log.warning(line)
    return 1 if problems_of(outcome) else 0


def render_watching(log: Log, options: RenderOptions) -> int:
    """Render the work tree whenever a file in it is saved."""
    from .options.repeating import repeat_on_save

    options, memory = replace(options, worktree=True), SourceMemory()
    return repeat_on_save(log, lambda: render_and_show(log, options, memory))


def computed(
    repository: Repository, log: Log, options: RenderOptions, memory: SourceMemory | None = None
) -> tuple[Outcome, Publication]:
    """Compute the pass that ``argosy render`` shows."""
    memory = memory or SourceMemory()
    with log.timed("read source"):
        source = memory.source(repository, "" if options.worktree else repository.resolve(options.rev or "HEAD"))
    fleet = source.desired.fleet
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        tip = publication.known_tip(fleet.rendered_branch, is_first=options.bootstrap)
        previous = memory.previous(repository, tip) if tip else None
        evidence = read_observed_inputs(repository, repository.tip(publication.ref(fleet.status_branch)))
    if not options.rev and not options.worktree:
        warn_of_uncommitted(repository, log, hint=AS_THEY_STAND)
    for warning in source.desired.warnings:
        log.warning(str(warning))
    return run_pass(repository, source, previous, evidence, log), publication


def _commit(outcome: Outcome, publication: Publication, options: RenderOptions, log: Log) -> Outcome:
    """Commit a pass to the branch of this repository, under the guards of ``reconcile``."""
    if outcome.previous is None and not options.bootstrap:
        raise ConfigError(
            f"there is no branch {outcome.source.desired.fleet.rendered_branch!r}: is this the first run?",
            hint="then pass --bootstrap; without the fleet's past every workload is dealt anew",
        )
    repository, previous, source = outcome.repository, outcome.previous, outcome.source.commit
    is_rewound = check_rewind(repository, previous, source, is_accepted=options.accept_rewind)
    outcome = replace(outcome, is_rewound=is_rewound)
    check_guards(outcome, Allowed.parse(options.allowed, options.allowed_moves))
    branch = outcome.source.desired.fleet.rendered_branch
    here = Publication(repository=publication.repository)
    commit = commit_outcome(outcome, here, branch)
    update_mirrors(outcome, here, commit)
    if commit is None:
        log.info("unchanged", branch=branch)
    else:
        log.info("committed", branch=branch, commit=commit[:12])
    return outcome


def parsed_allowances(texts: tuple[str, ...]) -> tuple[Allowance, ...]:
    """Read ``--allow-removal`` values; a usage error names the one that is wrong."""
    return Allowed.parse(texts, ()).removals


def _warn_of_refusals(outcome: Outcome, log: Log) -> None:
    for removal in outcome.removals:
        if removal.reasons:
            count, reasons = len(removal.paths), "; ".join(removal.reasons)
            held = counted(removal.held, "object")
            log.warning(f"{removal.cluster} loses {count} of {held} ({reasons}); a commit is refused")
    for breach in movement_breaches(outcome):
        log.warning(f"{breach.message}; a commit is refused")


def write_tree(outcome: Outcome, selection: Selection, folder: Path, log: Log) -> None:
    """Write the tree to a folder that Argosy alone writes; files of an earlier run that are gone are removed."""
    from reconciler.repository import write_directory

    files = dict(outcome.files(outcome.rendered.tree.root))
    chosen = {path: blob_id for path, blob_id in files.items() if selection.has_path(path)}
    contents = outcome.contents(chosen.values())
    done = write_directory(folder, ((path, contents[blob_id]) for path, blob_id in chosen.items()))
    log.info("written", folder=folder, files=done.written, unchanged=done.unchanged, removed=done.removed)


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
