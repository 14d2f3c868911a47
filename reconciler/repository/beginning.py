"""A repository made where there is none yet: in a folder that holds nothing."""

import os
from collections.abc import Mapping
from pathlib import Path

from render.errors import GitError

from .command import GitCommand
from .location import find_repository, is_address

_BRANCH = "main"


def begun_repository(location: str | os.PathLike[str], *, environment: Mapping[str, str] = os.environ) -> bool:
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
