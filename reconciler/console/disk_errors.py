"""Hints for errors of this machine: what somebody can do about a file that cannot be read or written."""

import errno

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The errors of a disk, or of a part of it, that is full."""

_MAY_NOT = "see who owns it and its folder: Argosy reads and writes as the user that runs it"
_HINTS = {
    errno.EACCES: _MAY_NOT,
    errno.EPERM: _MAY_NOT,
    errno.EROFS: "this file system is read-only: mount it for writing, or name a folder elsewhere",
    errno.EIO: "see to the disk: its device reports an error",
    errno.ELOOP: "a symbolic link leads to itself",
    errno.EMFILE: "raise the limit of open files (ulimit -n), or do less at once (--max-parallel)",
    errno.ENFILE: "this machine has as many files open as it can",
    errno.ENOMEM: "this machine has no memory left",
    errno.ENAMETOOLONG: "name a shorter path",
}


def hint_for_disk_error(error: OSError) -> str:
    """Return what helps against an error of a file or folder, by its number; empty where nothing is known to."""
    return _HINTS.get(error.errno or 0, "")
