"""The name by which a pass holds leases, and a sign of life of passes that were started from the same clone.

A pass that is killed cannot give its lease back, nor can one whose cluster no longer answers. While it lives it locks a
file in its clone; the system lets go of the lock when the process ends, however that happens, and the file stays for as
long as a lease may be its holder's. So whoever finds a lease can tell that its holder is dead if that was
a pass of the same clone. Of passes elsewhere nothing is known: their leases are waited for.
"""

import fcntl
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import field

from render.values import SelectiveStruct

_REMEMBERED_SECONDS = 24 * 3600.0


class LeaseHolder(SelectiveStruct, frozen=True, kw_only=True):
    """A pass as holder of leases: ``name`` says where it runs; ``folder`` has the locks of passes of its clone.

    ``taken`` are the clusters whose lease it took and has not given back.
    """

    UNCOMPARED = ("taken",)

    name: str
    folder: Path | None = None
    taken: set[str] = field(default_factory=set)

    def is_dead(self, name: str) -> bool:
        """Return whether the holder of this name was a pass of the same clone whose process has ended."""
        file = name.rpartition("/")[2]
        if self.folder is None or not file or name == self.name:
            return False
        return _is_unlocked(self.folder / file)


@contextmanager
def lease_holder(folder: Path) -> Iterator[LeaseHolder]:
    """Be a holder for as long as the block lasts; where the clone cannot be written to, one without a sign of life.

    Files of passes that did not give all leases back stay until these have run out for certain.
    """
    token = secrets.token_hex(8)
    name = f"{socket.gethostname()}/{os.getpid()}/{token}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_files_of_dead_holders(folder)
        descriptor = os.open(folder / token, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except OSError:
        yield LeaseHolder(name=name)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        holder = LeaseHolder(name=name, folder=folder)
        yield holder
        if not holder.taken:
            with suppress(OSError):
                (folder / token).unlink()
    finally:
        os.close(descriptor)


def _remove_files_of_dead_holders(folder: Path) -> None:
    for path in folder.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _REMEMBERED_SECONDS and _is_unlocked(path):
                path.unlink()


def _is_unlocked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)
