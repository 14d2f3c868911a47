"""Git: any revision of any repository in, objects and branches out, with compare-and-swap and without a work tree."""

from .access import Repository
from .commits import CommitInfo, NewCommit
from .location import GitFolder, find_repository
from .objects import ABSENT, Change, File, Snapshot
from .opening import open_repository
from .refs import read_ref_fast
from .transaction import RefUpdate

__all__ = [
    "ABSENT",
    "Change",
    "CommitInfo",
    "File",
    "GitFolder",
    "NewCommit",
    "RefUpdate",
    "Repository",
    "Snapshot",
    "find_repository",
    "open_repository",
    "read_ref_fast",
]
