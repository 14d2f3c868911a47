"""Git: any revision of any repository in, objects and branches out, with compare-and-swap and without a work tree.

``opening`` makes a ``Repository`` (``access``) of a folder or an address (``location``). It reads ``objects``,
``commits``, ``refs`` and ``history``, writes packs of its own (``pack``, ``pack_index``, ``deltas``), and talks to
``remotes``. ``worktree`` and ``output`` read and write plain files, below a ``safe_folder``. ``command`` runs git,
``porcelain`` asks GitPython, and ``failures`` says what their complaints mean.
``cache`` keeps results of earlier runs beside the repository, and ``trailers`` names the trailers of rendered commits.

A name is imported from its module when it is first asked for: a pass that finds nothing new reads two branches and
ends before the rest would even be loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access import Repository
    from .commits import CommitInfo, NewCommit
    from .location import GitFolder, find_repository, is_address
    from .objects import ABSENT, File, Snapshot
    from .opening import open_repository, open_repository_for_branches
    from .output import Written, write_directory
    from .porcelain import Progress
    from .refs import RefUpdate, is_ref_name, read_ref_fast
    from .remotes import Fetching, RemoteTips

__all__ = [
    "ABSENT",
    "CommitInfo",
    "Fetching",
    "File",
    "GitFolder",
    "NewCommit",
    "Progress",
    "RefUpdate",
    "RemoteTips",
    "Repository",
    "Snapshot",
    "Written",
    "find_repository",
    "is_address",
    "is_ref_name",
    "open_repository",
    "open_repository_for_branches",
    "read_ref_fast",
    "write_directory",
]

_MODULES = {
    "Repository": "access",
    "CommitInfo": "commits",
    "NewCommit": "commits",
    "GitFolder": "location",
    "find_repository": "location",
    "is_address": "location",
    "ABSENT": "objects",
    "File": "objects",
    "Snapshot": "objects",
    "open_repository_for_branches": "opening",
    "open_repository": "opening",
    "Written": "output",
    "write_directory": "output",
    "Progress": "porcelain",
    "is_ref_name": "refs",
    "read_ref_fast": "refs",
    "Fetching": "remotes",
    "RemoteTips": "remotes",
    "RefUpdate": "refs",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
