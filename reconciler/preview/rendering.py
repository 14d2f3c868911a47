"""The outcome of a revision or of the files as they stand, by what this repository knows; committed here, if asked."""

from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.in_force import published_fleet, rendered_tip_or_none, settings_in_force
from reconciler.branches.left_out import AS_THEY_STAND, log_skipped_files, warn_of_uncommitted
from reconciler.branches.mirrors import update_mirrors
from reconciler.branches.publication import Publication, branch_of_head, publication_of
from reconciler.branches.reading import Source, read_observed_inputs
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.accepted_settings import Acceptance, check_settings_are_accepted
from reconciler.guards.allowances import Allowed
from reconciler.guards.continuity import continued_source
from reconciler.guards.cost_guard import words_of_increase
from reconciler.guards.limits import check_allowed_subjects
from reconciler.guards.outward_addresses import SettingsSide, settings_changed_between
from reconciler.guards.rewind import check_rewind
from reconciler.guards.source_branch import check_source_branch_here
from reconciler.ledger.facts import Facts
from reconciler.rendering.guarded_outcome import check_guards, cost_increase_of_outcome, movement_breaches
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.memory import SourceMemory
from reconciler.rendering.outcome import Outcome, commit_outcome, run_pass
from reconciler.rendering.rendered_objects import refuse_objects_clusters_reject
from reconciler.repository import Repository
from render.errors import ConfigError, GitError
from render.fleet_settings import SettingChange
from render.settings.removal_guard import GuardScope
from render.words import counted_noun


class PreviewOptions(Struct, frozen=True, kw_only=True):
    """The options of a preview: there may be no rendered commit yet, and so much is allowed.

    ``now`` is its time (None: the time of day). A commit may be of a source that was rewound, or changes settings that
    are in other hands, if that is accepted. ``facts`` are known of members beside those that were recorded.
    """

    is_first: bool = False
    accepts_rewind: bool = False
    accepts_settings: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    now: datetime | None = None
    facts: Facts = field(default_factory=dict)


AS_IT_IS = PreviewOptions()


def preview_outcome(
    repository: Repository,
    revision: str | None,
    memory: SourceMemory,
    log: Log,
    options: PreviewOptions = AS_IT_IS,
) -> Outcome:
    """Render a revision ("": ``HEAD``), or the work tree (None), after the rendered commit that is known here.

    Nothing is fetched.
    """
    commit = "" if revision is None else repository.resolve(revision or "HEAD")
    with log.timed("read source"):
        source = memory.source(repository, commit)
    fleet = published_fleet(repository, commit, source.desired.fleet, is_first=options.is_first)
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        tip = publication.known_tip(fleet.rendered_branch, is_first=options.is_first)
        previous = memory.previous(repository, tip) if tip else None
        observed = read_observed_inputs(repository, repository.tip(publication.ref(fleet.status_branch)))
        if options.facts:
            observed = replace(observed, facts={**options.facts, **observed.facts}, folder=None)
    check_allowed_subjects(options.allowed, source.desired, previous)
    source = continued_source(repository, source, previous)
    if revision == "":
        warn_of_uncommitted(repository, log, hint=AS_THEY_STAND)
    log.warn_of(source.desired.warnings)
    log_skipped_files(source.desired, log)
    inputs = RenderInputs(observed=observed, now=given_or_current_time(options.now), allowed=options.allowed)
    outcome = run_pass(repository, source, previous, inputs, log)
    refuse_objects_clusters_reject(outcome, log)
    return outcome


def _changed_settings(repository: Repository, source: Source) -> tuple[SettingChange, ...]:
    """Return the settings that a commit changes, after the rendered commit that is known here."""
    found = settings_in_force(repository, source.commit, rendered_tip_or_none)
    if found is None or found.home is None:
        return ()
    after = SettingsSide.of(repository, source.files, source.desired.webhooks)
    return settings_changed_between(repository, SettingsSide.at(repository, found.source), after)


def commit_to_local_branches(outcome: Outcome, options: PreviewOptions, log: Log) -> Outcome:
    """Commit an outcome to the branches of this repository and return it; nothing is pushed.

    ConfigError where there is no rendered branch, unless it is the first; GuardRefused for what is not allowed.
    """
    repository, fleet = outcome.repository, outcome.source.desired.fleet
    branch = fleet.rendered_branch
    if outcome.previous is None and not options.is_first:
        raise ConfigError(
            f"there is no branch {branch!r}: is this the first run?",
            hint="then pass --bootstrap; without the fleet's past every workload is rescheduled",
        )
    changes = _changed_settings(repository, outcome.source)
    check_settings_are_accepted(Acceptance(is_whole=options.accepts_settings).still_waiting(changes, fleet), fleet.path)
    source_branch = _branch_of_source(outcome)
    check_source_branch_here(repository, source_branch, outcome.source.commit)
    is_rewound = check_rewind(repository, outcome.previous, outcome.source.commit, is_accepted=options.accepts_rewind)
    outcome = replace(outcome, is_rewound=is_rewound, new_settings=changes, source_branch=source_branch)
    check_guards(outcome, options.allowed, log)
    here = Publication(repository=repository)
    _fast_forward_local_branch(outcome, here.ref(branch))
    commit = commit_outcome(outcome, here, branch)
    update_mirrors(outcome.folders_at(commit), here)
    if commit is None:
        log.info("unchanged", branch=branch)
    else:
        log.info("committed", branch=branch, commit=commit[:12])
    return outcome


def _branch_of_source(outcome: Outcome) -> str:
    """Return the branch that source commits have to be of: by argosy.yaml, as remembered, or the one stood on now."""
    repository, previous = outcome.repository, outcome.previous
    known = outcome.source.desired.fleet.source.branch or (previous.branch if previous else "")
    if known or repository.tip("HEAD") != outcome.source.commit:
        return known
    return branch_of_head(repository)


def _fast_forward_local_branch(outcome: Outcome, ref: str) -> None:
    """Let the branch of this repository begin or go on where that of the remote stands, which the outcome follows."""
    repository, tip = outcome.repository, outcome.repository.tip(ref)
    if outcome.previous is None or outcome.previous.commit == tip:
        return
    if tip is not None and not repository.is_ancestor(tip, outcome.previous.commit):
        branch, newest = ref.removeprefix("refs/heads/"), outcome.previous.commit[:12]
        raise GitError(
            f"branch {branch!r} has commits here that the remote's, at {newest}, does not follow",
            hint=f"see them with git log {newest}..{branch}; if they may go: git branch -f {branch} {newest}",
        )
    repository.update_ref(ref, outcome.previous.commit, tip, reason="argosy: render")


def warn_of_refusals(outcome: Outcome, log: Log) -> None:
    """Warn of what the guards would refuse if this outcome were committed."""
    is_by_cluster = outcome.source.desired.fleet.removal_guard.scope is GuardScope.CLUSTER
    for removal in outcome.rendered.held_removals if is_by_cluster else outcome.removals:
        if removal.reasons:
            count, reasons = len(removal.paths), "; ".join(removal.reasons)
            total = counted_noun(removal.count_before, "object")
            end = "it keeps what it has" if is_by_cluster else "a commit is refused"
            log.warning(f"{removal.cluster} loses {count} of {total} ({reasons}); {end}")
    for breach in movement_breaches(outcome):
        log.warning(f"{breach.message}; a commit is refused")
    increase = cost_increase_of_outcome(outcome)
    if increase is not None and increase.broken_limits:
        log.warning(f"{words_of_increase(increase)}; a commit is refused")
