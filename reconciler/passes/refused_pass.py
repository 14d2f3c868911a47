"""A pass whose source is refused: the last good commit is applied to the members once more, and the refusal recorded.

Drift is healed, what was allowed to go goes, and how every object is stays observed. Rollouts that are under way go on
from the last good source (``last_good_rollouts``), and members get the commit of that step. A source is refused for
what is wrong in it, by a guard, or because it does not follow the one before; one whose branch is gone counts as
refused. Where nobody tells of a member there is nobody to apply to, and no status branch to record it on: the refusal
is the end of the pass.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import fleet_source_at, rendered_tip_asked_of_remote, settings_in_force
from reconciler.branches.last_good import LastGood, read_last_good
from reconciler.console.log import Log
from reconciler.deliver.results import ClusterReport
from reconciler.guards.limits import check_allowed_subjects
from reconciler.guards.source_branch import SourceElsewhere
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.ledger.refusal import SourceRefusal
from reconciler.members.options import names_of_reached_members
from reconciler.record.recorded_status import read_refusal
from reconciler.record.refusal import refusal_caused_by
from reconciler.repository import Repository
from render.cluster import is_applied_by_own_agent
from render.errors import GitError, ReconcileError
from render.words import counted_noun

from .fresh_looks import members_after_looks
from .last_good_rollouts import are_rollouts_under_way, step_of_last_good
from .options import ReconcileOptions
from .result import OnCommit, PassResult

if TYPE_CHECKING:  # what speaks to clusters is only imported for fleets whose members are reached
    from .members import ReachedMembers


class SourceRefused(NamedTuple):
    """A source commit that is refused, why, and the members that were observed for it until then, if any were."""

    commit: str
    error: ReconcileError
    members: "ReachedMembers | None" = None


class RefusedPass(Struct, frozen=True, kw_only=True):
    """A source that was refused with an error, and the reports of members that got the last good commit again.

    ``step`` is that of rollouts which go on from the last good source meanwhile; None where there are none.
    """

    error: ReconcileError
    refusal: SourceRefusal
    good: LastGood
    reports: tuple[ClusterReport, ...]
    step: PassResult | None = None

    @property
    def rendered(self) -> str:
        """The commit that members got."""
        return (self.step.rendered if self.step is not None else None) or self.good.previous.commit


def keep_last_good(
    repository: Repository, refused: SourceRefused, options: ReconcileOptions, log: Log, on_commit: OnCommit
) -> RefusedPass:
    """Apply the last good commit while a source is refused; its error where there is none, or no member is reached."""
    good = _last_good_commit(repository, _commit_of_settings(repository, refused), options, log)
    if good is None or not _has_reported_members(good, options):
        raise refused.error
    check_allowed_subjects(options.allowed, good.source.desired, good.previous)
    rendered = good.previous.commit
    if options.dry_run:
        log.warning(f"the last good commit {rendered[:12]} would stay applied")
        raise refused.error
    desired = good.source.desired
    # Orphans go with a source that a person looked at, not beside one that was refused.
    members = _members_of_last_good(
        good, refused, replace(options, delivery=replace(options.delivery, orphans=False, yes=False)), log
    )
    if are_rollouts_under_way(good):
        members = members_after_looks(members, good.previous, desired, good.previous.source, log)
    step = step_of_last_good(good, members, log)
    if step is not None and step.commit is not None:
        on_commit(step)
        rendered = step.commit
    status, error = members.context.status, refused.error
    refusal = refusal_caused_by(refused.commit, error)
    refusal = refusal.recorded_at(members.observation.now, read_refusal(status, status.tip()))
    reports = members.apply_again(desired, rendered, refusal, log)
    stays = "stays applied" if rendered == good.previous.commit else "is applied, by which rollouts go on"
    log.warning(f"the last good commit {rendered[:12]} {stays}: {_converged_words(reports)}")
    step = None if step is None else replace(step, reports=reports)
    return RefusedPass(error=error, refusal=refusal, good=good, reports=reports, step=step)


def _has_reported_members(good: LastGood, options: ReconcileOptions) -> bool:
    """Say whether members are reached, or rollouts are under way in some that agents and other tools tell of."""
    desired = good.source.desired
    if names_of_reached_members(good.fleet, options.delivery) != frozenset():
        return True
    is_reported_by_others = desired.fleet.is_reported_by_tools or any(map(is_applied_by_own_agent, desired.clusters))
    return is_reported_by_others and are_rollouts_under_way(good)


def _members_of_last_good(
    good: LastGood, refused: SourceRefused, options: ReconcileOptions, log: Log
) -> "ReachedMembers":
    """Return the members of the last good commit: as they were observed for the refused source, if it has the same."""
    from .members import observe_and_connect

    desired, seen = good.source.desired, refused.members
    if seen is not None and (seen.context.fleet, seen.context.members) == (desired.fleet, desired.clusters):
        return seen.for_source(desired, good.publication, options.delivery)
    return observe_and_connect(desired, good.publication, options, log)


def _commit_of_settings(repository: Repository, refused: SourceRefused) -> str:
    """Return the source whose settings count: a commit that is not of the fleet's branch has none that do."""
    found = None
    if isinstance(refused.error, SourceElsewhere):
        with suppress(GitError):
            found = settings_in_force(repository, refused.commit, rendered_tip_asked_of_remote)
    return found.source if found is not None and found.home is not None else refused.commit


def _last_good_commit(repository: Repository, commit: str, options: ReconcileOptions, log: Log) -> LastGood | None:
    try:
        return read_last_good(repository, commit, rendered_tip_asked_of_remote)
    except ReconcileError as error:
        home = fleet_source_at(repository, commit)
        if home.problems or names_of_reached_members(home.fleet, options.delivery) != frozenset():
            log.warning(f"the last good commit cannot be read: {error}")
        return None


def _converged_words(reports: tuple[ClusterReport, ...]) -> str:
    """Return how many clusters hold it, and of how many where some do not."""
    converged = sum(report.state == ApplyOutcome.CONVERGED for report in reports)
    of = "" if converged == len(reports) else f"{converged} of "
    return f"{of}{counted_noun(len(reports), 'cluster')} converged"
