"""Disposable files for this user alone, replaced at once or left as they are."""

import os
from pathlib import Path


def write_privately(path: Path, content: bytes) -> None:
    """Replace a file, whole and readable by nobody else; an OSError where that is not possible."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.urandom(8).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
