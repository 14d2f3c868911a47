"""The inputs of a pass: its source, by settings that are in force or accepted, and the fleet's branches."""

import os

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.clock import time_of_pass
from reconciler.console.log import Log
from reconciler.locked.fetching import Fetcher, fetch_missing
from reconciler.locked.lock_file import lock_path, parsed_lock
from reconciler.locked.model import LOCK_FILE
from reconciler.pipeline.previous import Previous
from reconciler.publish.branches import Publication, publication_of
from reconciler.publish.continuity import check_continuity
from reconciler.publish.guards import check_guards, check_rewind
from reconciler.publish.outcome import commit_outcome, run_pass
from reconciler.publish.reading import (
    ObservedInputs,
    Source,
    read_observed_inputs,
    read_previous,
    read_source,
    read_source_without_facts,
)
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from reconciler.source.fleet_file import load_fleet
from render.errors import ConfigError, InputError
from render.gitobjects import TREE_MODE
from render.settings.rendered import PushMode

from .options import ReconcileOptions
from .settings_check import PassSettings, checked_settings
from .source_tip import SourceTip


class PassInputs(Struct, frozen=True, kw_only=True):
    """The commits of a pass, read: its source, the fleet's branches, and the previous rendered commit.

    ``is_rewound``: the source does not follow the one rendered before, and this is accepted. ``settings`` are the
    settings that were in force before it.
    """

    tip: SourceTip
    source: Source
    publication: Publication
    previous: Previous | None
    is_rewound: bool
    settings: PassSettings


def read_inputs(repository: Repository, tip: SourceTip, options: ReconcileOptions, log: Log) -> PassInputs:
    """Read the commits of a pass, committing an upgrade of the engine first; GuardRefused for a rewound source.

    Nothing that argosy.yaml names is asked before its settings are found to be in force, or accepted.
    """
    has_lock = _has_lock(repository, tip.commit)
    settings = checked_settings(repository, tip.commit, options, log)
    with log.timed("fetch locked content"):
        if has_lock:
            _fetch_locked_content(repository, tip.commit, log)
    source = read_source_without_facts(repository, tip.commit)
    fleet = source.desired.fleet
    settings = settings.with_webhooks(repository, source, options)
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        publication.ask_for(fleet.rendered_branch, fleet.status_branch)
        settings.move(repository, fleet, options, log)
        previous = read_current_previous(publication, fleet.rendered_branch, settings, bootstrap=options.bootstrap)
    check_continuity(repository, source, previous)
    is_rewound = check_rewind(repository, previous, tip.commit, is_accepted=options.accept_rewind)
    if previous and not is_rewound:
        previous = _upgraded(publication, previous, source, options, log)
    return PassInputs(
        tip=tip,
        source=source,
        publication=publication,
        previous=previous,
        is_rewound=is_rewound,
        settings=settings,
    )


def read_current_previous(
    publication: Publication, branch: str, settings: PassSettings, *, bootstrap: bool
) -> Previous | None:
    """Read the rendered commit a fleet is at now; without one, ``bootstrap`` says that this is the first run.

    A fleet whose branches have yet to move is where they were.
    """
    tip = publication.current_tip(branch) or settings.moved_from
    if tip is None and not bootstrap:
        where = f"at {publication.remote!r}" if publication.remote else "here"
        raise ConfigError(
            f"there is no branch {branch!r} {where}: is this the first run?",
            hint="then pass --bootstrap; otherwise look for who removed the branch, or every workload is rescheduled",
        )
    return read_previous(publication.repository, tip) if tip else None


def _upgraded(
    publication: Publication, previous: Previous, source: Source, options: ReconcileOptions, log: Log
) -> Previous:
    """Commit what a new engine version alone changes first, so that it is never mixed with a change of the source."""
    if previous.version == engine_version() or previous.source == source.commit:
        return previous
    repository, branch = publication.repository, source.desired.fleet.rendered_branch
    observed = replace(recorded_inputs(publication, source), now=time_of_pass(options.now))
    before = read_source(repository, previous.source, facts=lambda _fleet: observed.facts)
    outcome = run_pass(repository, before, previous, observed, log)
    if options.dry_run or not outcome.changed or is_proposing(source):
        return previous
    check_guards(outcome, options.allowed)
    commit = commit_outcome(outcome, publication, branch)
    log.info("committed the engine upgrade", branch=branch, commit=str(commit)[:12], engine=engine_version())
    return read_previous(repository, str(commit))


def recorded_inputs(publication: Publication, source: Source) -> ObservedInputs:
    """Return the facts and answers that the status branch records now."""
    return read_observed_inputs(publication.repository, publication.current_tip(source.desired.fleet.status_branch))


def is_proposing(source: Source) -> bool:
    """Say whether commits are proposed to people, who are told all of what a commit changes."""
    return source.desired.fleet.rendered.push is PushMode.PULL_REQUEST


def _has_lock(repository: Repository, commit: str) -> bool:
    """Say whether a commit has a lock anywhere; trees tell it, which are small beside a list of all files."""
    folders = [repository.commit_info(commit).tree]
    while folders:
        entries = [entry for tree in repository.read_trees(folders).values() for entry in tree]
        if any(entry.name == LOCK_FILE.encode() for entry in entries):
            return True
        folders = [entry.id for entry in entries if entry.mode == TREE_MODE]
    return False


def _fetch_locked_content(repository: Repository, commit: str, log: Log) -> None:
    """Fetch what the lock of a commit names and the cache lacks; what cannot be had is a warning here.

    The source that is loaded next has a problem for it where something needs it.
    """
    files = repository.snapshot(commit).files
    home = load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
    path = lock_path(home.folder)
    found = next((file for file in files if file.path == path), None)
    if found is None:
        return
    try:
        lock = parsed_lock(repository.read_blobs([found.id])[found.id], path)
    except InputError:
        return  # it is a problem of the source, with all others
    for error in fetch_missing(Fetcher.of(repository, os.environ), lock.sources.values()):
        log.warning(str(error))
