"""Repositories opened, in a folder of this machine or at an address, and begun where there is none.

A mirror lies under ``$XDG_CACHE_HOME/argosy/``, private to the user. It is fetched whole and never checked out. The
remote's branches are ``refs/remotes/origin/*`` there, so that a fetch never overwrites what a pass prepares locally. A
password in the address is never written down: git gets it through the environment of its process.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .access import Repository
from .command import GitCommand, network_timeout
from .location import find_repository, is_address

if TYPE_CHECKING:
    from .porcelain import Progress
from render.errors import GitError

_BRANCH = "main"


def open_repository(
    location: str | os.PathLike[str],
    *,
    refresh: bool = True,
    progress: "Progress | None" = None,
    environment: Mapping[str, str] = os.environ,
) -> Repository:
    """Return the repository a folder is in, or the mirror of a remote one, fetched anew if ``refresh``.

    A location is a work tree, a bare repository, any folder below either, or an address: ``https://``, ``ssh://``,
    ``file://`` or ``user@host:path``. For a folder nothing is fetched and no process is started.
    """
    if isinstance(location, str) and is_address(location):
        # What speaks to remotes is loaded for addresses alone.
        from .mirror import REMOTE, open_mirror

        folder, git = open_mirror(location, environment, refresh=refresh, progress=progress)
        return Repository(folder, git, mirrors=REMOTE)
    folder = find_repository(Path(location))
    # A copy: what is read out of the environment of a process is encoded and decoded again each time.
    variables, limit = dict(environment), network_timeout(environment)
    return Repository(folder, GitCommand(folder=folder.folder, environment=variables, network_timeout=limit))


def open_repository_for_branches(
    location: str | os.PathLike[str], purpose: str, *, environment: Mapping[str, str] = os.environ
) -> Repository:
    """Return a repository of its own for a few branches of another one, which has none of them before they are fetched.

    A folder of this machine is a location as well: it is asked as a remote.
    """
    from .mirror import REMOTE, open_bare_repository_for_branches

    if not (isinstance(location, str) and is_address(location)):
        location = find_repository(Path(location)).folder.as_uri()
    folder, git = open_bare_repository_for_branches(location, environment, purpose)
    return Repository(folder, git, mirrors=REMOTE)


def init_if_empty_folder(location: str | os.PathLike[str], *, environment: Mapping[str, str] = os.environ) -> bool:
    """Make a repository of an empty folder that is in none; return whether it was made."""
    folder = Path(location)
    if isinstance(location, str) and is_address(location):
        return False
    try:
        find_repository(folder)
    except GitError:
        if not folder.is_dir() or any(folder.iterdir()):
            return False
    else:
        return False
    git = GitCommand(folder=folder, environment=environment)
    named = git.run("config", "--get", "init.defaultBranch", answers=frozenset({0, 1}))
    git.run("init", "--quiet", f"--initial-branch={named.stdout.decode().strip() or _BRANCH}")
    return True
