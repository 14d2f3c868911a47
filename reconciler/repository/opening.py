"""From what somebody named - a folder, a bare repository, an address - to an open repository."""

import os
from pathlib import Path

from .access import Repository
from .location import find_repository


def open_repository(location: str | os.PathLike[str]) -> Repository:
    """Return the repository a folder is in."""
    return Repository(find_repository(Path(location)))
