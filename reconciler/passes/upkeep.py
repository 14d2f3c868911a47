"""What a pass does in the end for the repository it ran in: join the packs that passes leave behind.

git's own maintenance is off in everything Argosy runs, for it would start at any time; a clone that serves passes for
months would gather a pack or three of each of them.
"""

from reconciler.report import Log
from reconciler.repository import Repository
from render.errors import GitError


def keep_up(repository: Repository, log: Log) -> None:
    """Join packs once there are many; that they could not be joined is no reason for a pass to have gone wrong."""
    try:
        if repository.maintain():
            log.detail("joined the packs of earlier passes")
    except GitError as error:
        log.warning(f"the packs of earlier passes were not joined: {error.message}")
