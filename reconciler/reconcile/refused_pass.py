"""A pass whose source is refused: the last good commit is applied to the members once more, and the refusal recorded.

Drift is healed, what was allowed to go goes, and how every object is stays observed. A source is refused for what is
wrong in it, by a guard, or because it does not follow the one before. Where no member is reached there is nobody to
apply to, and no status branch to record it on: the refusal is the end of the pass.
"""

from dataclasses import dataclass, replace

from reconciler.console.log import Log
from reconciler.deliver.results import ClusterReport
from reconciler.members.options import reached_members
from reconciler.plans.inventory import ApplyOutcome
from reconciler.publish.branches import Publication
from reconciler.publish.guards import check_allowed_clusters
from reconciler.publish.last_good import LastGood, fleet_source_at, read_last_good
from reconciler.record.recorded_status import read_refusal
from reconciler.record.refusal import SourceRefusal
from reconciler.repository import Repository
from render.errors import ReconcileError
from render.words import counted

from .options import ReconcileOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedPass:
    """A source that was refused with an error, and the reports of members that got the last good commit again."""

    error: ReconcileError
    refusal: SourceRefusal
    good: LastGood
    reports: tuple[ClusterReport, ...]


def keep_last_good(
    repository: Repository, commit: str, error: ReconcileError, options: ReconcileOptions, log: Log
) -> RefusedPass | None:
    """Apply the last good commit while a source is refused; None where there is none, or no member is reached."""
    good = _known_last_good(repository, commit, options, log)
    if good is None or reached_members(good.fleet, options.delivery) == frozenset():
        return None
    check_allowed_clusters(options.allowed, good.source.desired, good.previous)
    rendered = good.previous.commit
    if options.dry_run:
        log.warning(f"the last good commit {rendered[:12]} would stay applied")
        return None
    from .members import observe_and_connect

    desired = good.source.desired
    # Orphans go with a source that a person looked at, not beside one that was refused.
    delivery = replace(options.delivery, orphans=False, yes=False)
    members = observe_and_connect(desired, good.publication, replace(options, delivery=delivery), log)
    status = members.context.status
    refusal = SourceRefusal.of(commit, error).recorded_at(members.observation.now, read_refusal(status, status.tip()))
    reports = members.apply_again(desired, rendered, refusal, log)
    log.warning(f"the last good commit {rendered[:12]} stays applied: {_converged_words(reports)}")
    return RefusedPass(error=error, refusal=refusal, good=good, reports=reports)


def _known_last_good(repository: Repository, commit: str, options: ReconcileOptions, log: Log) -> LastGood | None:
    try:
        return read_last_good(repository, commit, Publication.current_tip)
    except ReconcileError as error:
        home = fleet_source_at(repository, commit)
        if home.problems or reached_members(home.fleet, options.delivery) != frozenset():
            log.warning(f"the last good commit cannot be read: {error}")
        return None


def _converged_words(reports: tuple[ClusterReport, ...]) -> str:
    """Return how many clusters hold it, and of how many where some do not."""
    converged = sum(report.state == ApplyOutcome.CONVERGED for report in reports)
    of = "" if converged == len(reports) else f"{converged} of "
    return f"{of}{counted(len(reports), 'cluster')} converged"
