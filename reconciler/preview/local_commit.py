"""A preview committed to the rendered branch of this repository alone, under the guards of ``argosy reconcile``."""

from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.publish.allowances import Allowed
from reconciler.publish.branches import Publication
from reconciler.publish.guards import check_guards, check_rewind, movement_breaches
from reconciler.publish.mirrors import update_mirrors
from reconciler.publish.outcome import Outcome, commit_outcome
from render.errors import ConfigError
from render.guards import GuardScope
from render.words import counted


def commit_here(outcome: Outcome, allowed: Allowed, log: Log, *, is_first: bool, accepts_rewind: bool) -> Outcome:
    """Commit an outcome to the branches of this repository and return it; nothing is pushed.

    ConfigError where there is no rendered branch, unless ``is_first``; GuardRefused for what is not ``allowed``.
    """
    repository, branch = outcome.repository, outcome.source.desired.fleet.rendered_branch
    if outcome.previous is None and not is_first:
        raise ConfigError(
            f"there is no branch {branch!r}: is this the first run?",
            hint="then pass --bootstrap; without the fleet's past every workload is rescheduled",
        )
    is_rewound = check_rewind(repository, outcome.previous, outcome.source.commit, is_accepted=accepts_rewind)
    outcome = replace(outcome, is_rewound=is_rewound)
    check_guards(outcome, allowed)
    here = Publication(repository=repository)
    commit = commit_outcome(outcome, here, branch)
    update_mirrors(outcome, here, commit)
    if commit is None:
        log.info("unchanged", branch=branch)
    else:
        log.info("committed", branch=branch, commit=commit[:12])
    return outcome


def warn_of_refusals(outcome: Outcome, log: Log) -> None:
    """Warn of what the guards would refuse if this outcome were committed."""
    is_by_cluster = outcome.source.desired.fleet.removal_guard.scope is GuardScope.CLUSTER
    for removal in outcome.rendered.held if is_by_cluster else outcome.removals:
        if removal.reasons:
            count, reasons = len(removal.paths), "; ".join(removal.reasons)
            total = counted(removal.held, "object")
            end = "it keeps what it has" if is_by_cluster else "a commit is refused"
            log.warning(f"{removal.cluster} loses {count} of {total} ({reasons}); {end}")
    for breach in movement_breaches(outcome):
        log.warning(f"{breach.message}; a commit is refused")
