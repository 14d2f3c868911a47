"""Files below one folder, reached step by step without following a single symlink.

A path of a work tree or of an output folder is opened component by component from a handle of its root, so that
neither ``..`` nor a folder exchanged for a link leads outside, not even in the middle of the work.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SafeFolder:
    """A folder and the files below it; use it in a ``with`` block.

    The folders on the way to the last path asked for stay open, so that sorted paths cost the fewest calls.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._open: list[tuple[str, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_below(0)
        os.close(self._root)

    def folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """Return a handle of a folder, valid until the next call; ``OSError`` where a link or a file is in the way."""
        common = 0
        while common < min(len(parts), len(self._open)) and self._open[common][0] == parts[common]:
            common += 1
        self._close_below(common)
        for part in parts[common:]:
            if part in {"", ".", ".."}:
                raise OSError(errno.EINVAL, "is no path below a folder", "/".join(parts))
            here = self._open[-1][1] if self._open else self._root
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            self._open.append((part, os.open(part, _FOLDER, dir_fd=here)))
        return self._open[-1][1] if self._open else self._root

    def stat(self, path: str) -> os.stat_result | None:
        """Return the status of a path, of a link itself; None for nothing, or where a link is in the way."""
        *parents, name = path.split("/")
        with suppress(OSError):
            return os.stat(name, dir_fd=self.folder(tuple(parents)), follow_symlinks=False)
        return None

    def read(self, path: str) -> bytes:
        """Return the content of a plain file."""
        *parents, name = path.split("/")
        handle = os.open(name, _FILE, dir_fd=self.folder(tuple(parents)))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(f"{path} is not a plain file")
            return file.read()

    def write(self, path: str, data: bytes, *, keeps_mode: bool = False) -> None:
        """Write a file, whole or not at all; ``keeps_mode`` gives it the mode of the file it replaces."""
        *parents, name = path.split("/")
        folder = self.folder(tuple(parents), create=True)
        temporary = f".argosy-{os.urandom(8).hex()}"
        handle = os.open(temporary, _NEW, 0o666, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                if keeps_mode:
                    with suppress(FileNotFoundError):
                        os.fchmod(handle, stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode))
                file.write(data)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(temporary, dir_fd=folder)
            raise

    def link(self, path: str) -> bytes:
        """Return the target of a symlink, as bytes."""
        *parents, name = path.split("/")
        return os.fsencode(os.readlink(name, dir_fd=self.folder(tuple(parents))))

    def _close_below(self, depth: int) -> None:
        while len(self._open) > depth:
            os.close(self._open.pop()[1])
