"""The outcome of a revision, or of the files as they stand, computed from what this repository knows already."""

from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.console.clock import time_of_pass
from reconciler.console.log import Log
from reconciler.publish.allowances import Allowed
from reconciler.publish.branches import publication_of
from reconciler.publish.continuity import check_continuity
from reconciler.publish.guards import check_allowed_clusters
from reconciler.publish.memory import SourceMemory
from reconciler.publish.outcome import Outcome, run_pass
from reconciler.publish.reading import read_observed_inputs
from reconciler.publish.rendered_objects import check_rendered
from reconciler.publish.skipped_files import tell_skipped
from reconciler.publish.uncommitted import AS_THEY_STAND, warn_of_uncommitted
from reconciler.repository import Repository


class PreviewOptions(Struct, frozen=True, kw_only=True):
    """The options of a preview: there may be no rendered commit yet, and so much is allowed.

    ``now`` is its time (None: the time of day).
    """

    is_first: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    now: datetime | None = None


AS_IT_IS = PreviewOptions()


def previewed(
    repository: Repository,
    revision: str | None,
    memory: SourceMemory,
    log: Log,
    options: PreviewOptions = AS_IT_IS,
) -> Outcome:
    """Render a revision ("": ``HEAD``), or the work tree (None), after the rendered commit that is known here.

    Nothing is fetched.
    """
    with log.timed("read source"):
        source = memory.source(repository, "" if revision is None else repository.resolve(revision or "HEAD"))
    fleet = source.desired.fleet
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        tip = publication.known_tip(fleet.rendered_branch, is_first=options.is_first)
        previous = memory.previous(repository, tip) if tip else None
        inputs = read_observed_inputs(repository, repository.tip(publication.ref(fleet.status_branch)))
    check_allowed_clusters(options.allowed, source.desired, previous)
    check_continuity(repository, source, previous)
    if revision == "":
        warn_of_uncommitted(repository, log, hint=AS_THEY_STAND)
    for warning in source.desired.warnings:
        log.warning(str(warning))
    tell_skipped(source.desired, log)
    inputs = replace(inputs, allowed=options.allowed, now=time_of_pass(options.now))
    outcome = run_pass(repository, source, previous, inputs, log)
    check_rendered(outcome, log)
    return outcome
