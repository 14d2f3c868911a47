"""Files below one folder, reached step by step without following a single symlink.

A path of a work tree or of an output folder is opened component by component from a handle of its root, so that
neither ``..`` nor a folder exchanged for a link leads outside, not even while we work.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SafeFolder:
    """The folders on the way to the last path asked for stay open: ask for sorted paths. Use in a ``with`` block."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._way: list[tuple[str, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(0)
        os.close(self._root)

    def folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """Return a handle of a folder, valid until the next call; ``OSError`` where a link or a file is in the way."""
        common = 0
        while common < min(len(parts), len(self._way)) and self._way[common][0] == parts[common]:
            common += 1
        self._leave(common)
        for part in parts[common:]:
            here = self._way[-1][1] if self._way else self._root
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            self._way.append((part, os.open(part, _FOLDER, dir_fd=here)))
        return self._way[-1][1] if self._way else self._root

    def stat(self, path: str) -> os.stat_result | None:
        """Return what stands at a path, a link being a link; None for nothing, or where a link is in the way."""
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

    def link(self, path: str) -> bytes:
        """Return where a symlink points, as bytes."""
        *parents, name = path.split("/")
        return os.fsencode(os.readlink(name, dir_fd=self.folder(tuple(parents))))

    def _leave(self, depth: int) -> None:
        while len(self._way) > depth:
            os.close(self._way.pop()[1])
