"""The inputs of a pass: its source, by settings that are in force or accepted, and the fleet's branches."""

import os

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.publication import Publication, publication_of, remote_names, remote_of_branch
from reconciler.branches.reading import (
    ObservedInputs,
    Source,
    checked_source,
    read_loaded,
    read_observed_inputs,
    read_previous,
    read_source,
)
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.continuity import continued_source
from reconciler.guards.lost_branch import check_rollouts_are_not_lost
from reconciler.guards.rewind import check_rewind
from reconciler.pipeline.previous import Previous
from reconciler.rendering.guarded_outcome import check_guards
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import commit_outcome, run_pass
from reconciler.repository import Repository
from reconciler.repository.refs import default_branch_of_remote
from reconciler.repository.trailers import engine_version
from render.errors import ConfigError, InputError
from render.settings.rendered import PushMode

from .options import ReconcileOptions
from .settings_check import PassSettings, check_settings_in_force
from .source_tip import SourceTip


class PassInputs(Struct, frozen=True, kw_only=True):
    """The commits of a pass, read: its source, the fleet's branches, and the previous rendered commit.

    ``is_rewound``: the source does not follow the one rendered before, and this is accepted. ``settings`` are the
    settings that were in force before it. ``branch`` is the one that the fleet is rendered from ("": not known yet).
    """

    tip: SourceTip
    source: Source
    publication: Publication
    previous: Previous | None
    is_rewound: bool
    settings: PassSettings
    branch: str = ""


def read_inputs(repository: Repository, tip: SourceTip, options: ReconcileOptions, log: Log) -> PassInputs:
    """Read the commits of a pass, committing an upgrade of the engine first; GuardRefused for a rewound source.

    Nothing that argosy.yaml names is asked before its settings are found to be in force, or accepted.
    """
    settings = check_settings_in_force(repository, tip, options, log)
    try:
        source = _source_with_fetched_content(repository, tip.commit, log, may_fetch=settings.may_fetch)
    except InputError as error:
        raise settings.named_with(error, repository, tip.commit, options) from error
    fleet = source.desired.fleet
    settings = settings.with_webhooks(repository, source, options)
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        publication.ask_for_tips(fleet.rendered_branch, fleet.status_branch)
        settings.move_published_past(repository, fleet, options, log)
        previous = read_current_previous(publication, fleet.rendered_branch, settings, bootstrap=options.bootstrap)
        if previous is None:
            check_rollouts_are_not_lost(publication, source.desired, is_accepted=options.accept_rewind)
    branch = fleet.source.branch or (previous.branch if previous else "") or tip.branch
    tip.check_branch(repository, branch)
    source = continued_source(repository, source, previous)
    is_rewound = check_rewind(
        repository, previous, tip.commit, is_accepted=options.accept_rewind, hint=tip.hint_of_rewind(branch)
    )
    remote = "" if fleet.source.branch else remote_of_branch(repository, branch)
    default = default_branch_of_remote(repository.folder.common_dir, remote) if remote else ""
    _tell_remembered(branch, default, previous, log)
    if previous and not is_rewound:
        previous = _commit_upgrade(publication, previous, source, branch, options, log)
    return PassInputs(
        tip=tip,
        source=source,
        publication=publication,
        previous=previous,
        is_rewound=is_rewound,
        settings=settings,
        branch=branch,
    )


def _tell_remembered(branch: str, default: str, previous: Previous | None, log: Log) -> None:
    """Say which branch is remembered from this pass on, or that none is, to whoever asks for details.

    Everybody is told of one that nothing names and that is not the ``default`` one of the remote ("": not known).
    """
    if previous is not None and previous.branch == branch:
        return
    text = f"source commits have to be of branch {branch!r} from now on"
    if not branch:
        log.detail("no branch is remembered: the source is a revision that names none; spec.source.branch names one")
    elif default in {"", branch}:
        log.detail(text)
    else:
        log.warning(
            f"{text}, which is not the default one of its remote\n  hint: if {default!r} is meant: write"
            f" spec.source.branch: {default} there, and run argosy reconcile --accept-settings --accept-rewind"
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
            hint=_hint_without_rendered_branch(publication),
        )
    return read_previous(publication.repository, tip) if tip else None


def _hint_without_rendered_branch(publication: Publication) -> str:
    """Return what to do where nothing is rendered; a clone of several remotes may have looked at none of them."""
    names = () if publication.remote else remote_names(publication.repository)
    if names:
        return (
            f"nothing says which of the remotes {', '.join(names)} it is at: stand on a branch that tracks one of them,"
            " or name it in argosy.yaml: spec.rendered.remote"
        )
    return "then pass --bootstrap; otherwise look for who removed the branch, or every workload is rescheduled"


def _commit_upgrade(
    publication: Publication,
    previous: Previous,
    source: Source,
    branch_of_source: str,
    options: ReconcileOptions,
    log: Log,
) -> Previous:
    """Commit what a new engine version alone changes first, so that it is never mixed with a change of the source."""
    if previous.version == engine_version() or previous.source == source.commit:
        return previous
    repository, branch = publication.repository, source.desired.fleet.rendered_branch
    observed = recorded_inputs(publication, source)
    before = read_source(repository, previous.source, facts=lambda _fleet: observed.facts)
    given = RenderInputs(observed=observed, now=given_or_current_time(options.now))
    outcome = replace(run_pass(repository, before, previous, given, log), source_branch=branch_of_source)
    if options.dry_run or not outcome.is_changed or is_proposing(source):
        return previous
    check_guards(outcome, options.allowed, log)
    commit = commit_outcome(outcome, publication, branch)
    log.info("committed the engine upgrade", branch=branch, commit=str(commit)[:12], engine=engine_version())
    return read_previous(repository, str(commit))


def recorded_inputs(publication: Publication, source: Source) -> ObservedInputs:
    """Return the facts and answers that the status branch records now."""
    return read_observed_inputs(publication.repository, publication.current_tip(source.desired.fleet.status_branch))


def is_proposing(source: Source) -> bool:
    """Say whether commits are proposed to people, who are told all of what a commit changes."""
    return source.desired.fleet.rendered.push is PushMode.PULL_REQUEST


def _source_with_fetched_content(repository: Repository, commit: str, log: Log, *, may_fetch: bool) -> Source:
    """Read a source, after fetching the content of its Sources that is locked as they are written, and not here.

    Content may have kustomizations that imply further Sources, so it is read again until no new one is missing. What
    cannot be had is a warning here; the source has a problem for it where something needs it.
    """
    tried = set[str]()
    while True:
        loaded = read_loaded(repository, commit, facts=None)
        known = loaded.locked
        missing = [each for each in known.missing_sources() if each.name not in tried] if known and may_fetch else []
        if known is None or not missing:
            return checked_source(commit, loaded)
        from reconciler.locked.fetching import Fetcher, fetch_missing

        tried.update(each.name for each in missing)
        with log.timed("fetch locked content"):
            for error in fetch_missing(Fetcher.of(repository, os.environ), missing, known.sources):
                log.warning(str(error))
