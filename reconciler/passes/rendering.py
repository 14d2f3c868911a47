"""What ``argosy render`` does: a revision in, and what every cluster must hold out - shown, written or committed."""

from dataclasses import dataclass, replace
from pathlib import Path

import click

from reconciler.report import Log
from reconciler.repository import Repository, open_repository
from render.errors import ConfigError
from render.words import counted

from .guard import Allowance
from .guarding import Allowed, check_guards, movement_breaches
from .memory import Memory
from .mirrors import update_mirrors
from .one_pass import Outcome, check_rewind, commit_outcome, run_pass
from .presentation import Selection, problems_of, shown
from .publication import Publication, publication_of
from .reading import read_evidence
from .released import released_lines
from .selecting import check_selection, emptiness
from .uncommitted import AS_THEY_STAND, warn_of_uncommitted


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


def render_and_show(log: Log, options: RenderOptions, memory: Memory | None = None) -> int:
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
    from .watching import run_watching

    options, memory = replace(options, worktree=True), Memory()
    return run_watching(log, lambda: render_and_show(log, options, memory))


def computed(
    repository: Repository, log: Log, options: RenderOptions, memory: Memory | None = None
) -> tuple[Outcome, Publication]:
    """Compute the pass that ``argosy render`` shows."""
    memory = memory or Memory()
    with log.timed("read source"):
        source = memory.source(repository, "" if options.worktree else repository.resolve(options.rev or "HEAD"))
    fleet = source.desired.fleet
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        tip = publication.known_tip(fleet.rendered_branch, is_first=options.bootstrap)
        previous = memory.previous(repository, tip) if tip else None
        evidence = read_evidence(repository, repository.tip(publication.ref(fleet.status_branch)))
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
