"""The refusal to write anything, in a process that was started only to read."""

import errno
import os

from render.errors import ConfigError

READ_ONLY = "ARGOSY_READ_ONLY"
"""The variable that any value makes a process one that only reads."""


def is_read_only() -> bool:
    """Say whether this process was started only to read."""
    return bool(os.environ.get(READ_ONLY))


def refuse_where_read_only(verb: str) -> None:
    """Raise the error of a process that would write; ``verb`` says what it was about to do."""
    if is_read_only():
        raise ConfigError(f"this process only reads, so it does not {verb}", hint=f"unset {READ_ONLY} to have it write")


def error_of_read_only_file(path: str) -> OSError:
    """Return the error of a file that a process would write for itself; whoever keeps files goes on without one."""
    return OSError(errno.EROFS, os.strerror(errno.EROFS), path)
