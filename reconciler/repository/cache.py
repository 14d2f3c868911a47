"""Results of earlier runs by blob id, in one disposable private file: rebuilt when damaged, never trusted over Git.

The file is a checksum and a table of ``marshal``-ed plain values - data, never code - under a name that says for which
engine and Python it is. It is read once, replaced at once, and kept below a size by forgetting the values that were not
asked for longest. A cache that cannot be read is an empty one; one that cannot be written stays as it is.
"""

import errno
import hashlib
import marshal
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .read_only import error_of_read_only_file, is_read_only

_LARGEST = 256 << 20
_DIGEST = hashlib.sha256().digest_size
_PRIVATE = 0o077
_FEW = 32
"""Known values among which one new value is not worth writing the file again."""
_LEAST_FORMER, _TIMES_FORMER = 4 << 20, 4
"""The bytes of former values that are kept, and how many times as many of them as of those that were asked for."""


def write_privately(path: Path, content: bytes) -> None:
    """Replace a file, whole and readable by nobody else; an OSError where that is not possible.

    A folder that is a link leads to where somebody else may want something written, so it counts as none.
    """
    if is_read_only():
        raise error_of_read_only_file(str(path))
    if path.parent.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "is a symbolic link", str(path.parent))
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


def read_privately(path: Path, largest: int) -> bytes | None:
    """Return a file that only this user can write to; None for none, for a link, a pipe, or one that is too large."""
    if path.parent.is_symlink():
        return None
    try:
        # A pipe would be waited for, and a link may lead anywhere.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            is_ours = status.st_uid == os.geteuid() and not status.st_mode & _PRIVATE
            is_usable = stat.S_ISREG(status.st_mode) and is_ours and status.st_size <= largest
            return file.read() if is_usable else None
    except OSError:
        return None


class Cache:
    """Values by raw blob id; use it in a ``with`` block, at whose end what is new is written.

    A value is made of None, booleans, numbers, strings, bytes, tuples, lists, dicts and sets. Each ``get_many`` decodes
    anew, so a caller owns what it gets. ``is_asked_whole``: whoever uses it asks for all that concerns it, so that what
    was not asked for is what it had before; of that only some times as much is kept.
    """

    def __init__(
        self, directory: Path, name: str, *, version: str, largest: int = 64 << 20, is_asked_whole: bool = False
    ) -> None:
        self._path = directory / f"{name}-{version}-{sys.implementation.cache_tag}.cache"
        self._stem = f"{name}-"
        self._largest, self._is_asked_whole = largest, is_asked_whole
        self._encoded: dict[bytes, bytes] | None = None
        self._used: dict[bytes, bytes] = {}
        self._new = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()

    def get_many(self, ids: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the values known for these ids."""
        known = self._entries()
        values: dict[bytes, Any] = {}
        for id_ in ids:
            encoded = self._used.get(id_) or known.get(id_)
            if encoded is None:
                continue
            try:
                values[id_] = marshal.loads(encoded)  # noqa: S302 - builds data only, and the checksum held
            except (EOFError, ValueError, TypeError):
                continue
            self._used[id_] = encoded
        return values

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        """Remember values; what is not plain data is a ``ValueError``."""
        self._entries()
        for id_, value in values.items():
            self._used[id_] = marshal.dumps(value)
            self._new += 1

    def save(self) -> None:
        """Replace the file if enough is new; another process doing the same wins or loses as a whole.

        A few values more than the file holds are cheaper to compute again than the whole file is to write.
        """
        if self._new * _FEW <= len(self._used if self._is_asked_whole else self._entries()):
            return
        table = marshal.dumps(self._entries_within_size())
        with suppress(OSError):
            write_privately(self._path, hashlib.sha256(table).digest() + table)
            self._forget_versions()
        self._new = 0

    def _entries(self) -> dict[bytes, bytes]:
        if self._encoded is None:
            self._encoded = _read_table(self._path)
        return self._encoded

    def _entries_within_size(self) -> dict[bytes, bytes]:
        """Return what was used, then the rest, the most recently used first, up to the size allowed."""
        kept: dict[bytes, bytes] = {}
        size = 0
        most = self._largest
        if self._is_asked_whole:
            used = sum(len(id_) + len(encoded) for id_, encoded in self._used.items())
            most = min(most, used + max(_LEAST_FORMER, _TIMES_FORMER * used))
        for id_, encoded in {**self._used, **self._entries()}.items():
            size += len(id_) + len(encoded)
            if size > most:
                break
            kept[id_] = self._used.get(id_, encoded)
        return kept

    def _forget_versions(self) -> None:
        """Remove the caches of other engines and Pythons, which are never read again."""
        for path in self._path.parent.glob(f"{self._stem}*.cache"):
            if path != self._path:
                path.unlink(missing_ok=True)


def _read_table(path: Path) -> dict[bytes, bytes]:
    """Return the table in a file; an empty one for a file that is damaged, too large, or writable by others."""
    content = read_privately(path, _LARGEST) or b""
    encoded = content[_DIGEST:]
    if hashlib.sha256(encoded).digest() != content[:_DIGEST]:
        return {}
    try:
        table = marshal.loads(encoded)  # noqa: S302 - builds data only, and the checksum held
    except (EOFError, ValueError, TypeError):
        return {}
    is_table = isinstance(table, dict) and all(
        isinstance(id_, bytes) and isinstance(value, bytes) for id_, value in table.items()
    )
    return table if is_table else {}
