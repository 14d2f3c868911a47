"""The holds that a change meets: clusters that stay at an earlier commit, and get all since then with it."""

from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch, read_holds
from reconciler.console.clock import given_or_current_time
from reconciler.ledger.holds import ClusterHold, ClusterHolds
from reconciler.repository import Repository
from reconciler.repository.trailers import source_of_rendered_commit
from render.errors import GitError
from render.timing import instant_text

from .comparison import Comparison


def holds_on_members(comparison: Comparison) -> dict[str, ClusterHold]:
    """Return the holds on clusters of the head, as far as they are known here: nobody is asked for them."""
    outcome = comparison.head
    repository, desired = outcome.repository, outcome.source.desired
    publication, fleet = publication_of(repository, desired.fleet), desired.fleet
    rendered = repository.tip(publication.ref(fleet.rendered_branch))
    if rendered is None:
        return {}
    status = StatusBranch(publication=publication, branch=fleet.status_branch, clusters=desired.clusters)
    source = source_of_rendered_commit(repository, rendered)
    known = repository.tip(publication.ref(fleet.status_branch))
    found = read_holds(status, known, source, instant_text(given_or_current_time()))
    members = {cluster.name for cluster in desired.clusters}
    return {name: hold for name, hold in sorted(found.items()) if name in members}


def is_newer_than_held(comparison: Comparison, holds: ClusterHolds) -> bool:
    """Say whether the head is no source that the holds keep out, nor one before that, as no work tree is."""
    repository, head = comparison.head.repository, comparison.head.source.commit
    sources = {hold.source for hold in holds.values() if not hold.outlasts_sources}
    return not head or not any(head == source or _is_before(repository, head, source) for source in sources)


def _is_before(repository: Repository, commit: str, source: str) -> bool:
    try:
        return repository.is_ancestor(commit, source)
    except GitError:  # what is not here is not known to be before anything
        return False
