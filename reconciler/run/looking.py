"""One look at where a fleet's source stands: a file of refs on this machine, or one branch of a remote."""

from reconciler.publish.branches import source_remote
from reconciler.reconcile.source_tip import asked_tip
from reconciler.repository import GitFolder, open_repository

from .fleets import FleetLocation


def looked_up_tip(source: FleetLocation) -> str:
    """Return the commit the source is at; nothing is fetched. GitError where it cannot be asked."""
    with open_repository(source.location, refresh=False) as repository:
        return asked_tip(repository)


def watched_folder(source: FleetLocation) -> GitFolder | None:
    """Return the repository whose own refs are the source; None where the source is a branch of a remote."""
    if not source.is_local:
        return None
    with open_repository(source.location) as repository:
        return None if source_remote(repository) else repository.folder
