"""A rendered tree as plain files in a folder, for those who want to look at it or apply it without Git.

A list of the files written stands beside them, in ``.argosy-files``. Files on the list may be replaced and removed;
every other file is somebody else's and never touched. The list is written before the files, so that an interrupted
run leaves no file that the next run does not know.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reconciler.console.disk_errors import NO_ROOM
from render.errors import ConfigError
from render.gitobjects import Blob, content_of_blob

from .read_only import refuse_where_read_only
from .safe_folder import SafeFolder

LIST = ".argosy-files"
"""The name of the list of files written."""

_HEADING = "# The files below were written by argosy and are replaced or removed by it.\n"
_RESERVED = frozenset({"", ".", "..", LIST})


class Written(Struct, frozen=True, kw_only=True):
    """The numbers of files in a folder that were written, were already as wanted, and were removed."""

    written: int
    unchanged: int
    removed: int


def write_directory(root: Path, files: Iterable[tuple[str, Blob]]) -> Written:
    """Make these files, given as path and content, the only ones of ours in a folder.

    Each file appears whole or not at all. A folder that exists, is not empty and has no list of ours is refused, and
    so is a path that would leave the folder or pass through a symlink.
    """
    refuse_where_read_only("write files")
    contents = dict(files)
    for path in contents:
        _refuse_unsafe_path(path)
    try:
        root.mkdir(parents=True, exist_ok=True)
        before = _paths_written_by_earlier_run(root)
        gone = sorted(before - contents.keys(), reverse=True)
        with SafeFolder(root) as below:
            _write_if_different(below, LIST, _list_content(before | contents.keys()))
            removed = sum([_remove_file_and_empty_folders(below, path) for path in gone])
            written = sum(
                [_write_if_different(below, path, content_of_blob(contents[path])) for path in sorted(contents)]
            )
            _write_if_different(below, LIST, _list_content(contents))
    except OSError as error:
        if error.errno in NO_ROOM:  # another folder may be on the same disk
            raise
        raise ConfigError(
            f"{error.filename or root}: cannot be written: {error.strerror or error}",
            hint=f"choose another folder than {root}, or remove what is in the way",
        ) from error
    return Written(written=written, unchanged=len(contents) - written, removed=removed)


def _refuse_unsafe_path(path: str) -> None:
    parts = path.split("/")
    if "\0" in path or any(part in _RESERVED or part.casefold() == ".git" for part in parts):
        raise ConfigError(f"{path!r} cannot be written below a folder", hint="rename the object it comes from")


def _paths_written_by_earlier_run(root: Path) -> set[str]:
    """Return the paths an earlier run wrote; a list that names anything but plain paths below the folder is damaged."""
    try:
        heading, *lines = (root / LIST).read_text(encoding="utf-8").splitlines(keepends=True)
        paths = {str(json.loads(line)) for line in lines}
    except FileNotFoundError:
        if any(root.iterdir()):
            message = f"{root} is not empty and was not written by argosy"
            raise ConfigError(message, hint="choose an empty folder") from None
        return set()
    except ValueError as error:
        raise ConfigError(f"{root / LIST} is damaged", hint="empty the folder and run again") from error
    if heading != _HEADING:
        raise ConfigError(f"{root / LIST} is damaged", hint="empty the folder and run again")
    for path in paths:
        _refuse_unsafe_path(path)
    return paths


def _list_content(paths: Iterable[str]) -> bytes:
    return (_HEADING + "".join(f"{json.dumps(path)}\n" for path in sorted(paths))).encode()


def _write_if_different(below: SafeFolder, path: str, data: bytes) -> bool:
    """Put a file in place unless it is there already; say whether it had to be written."""
    with suppress(OSError):
        if below.read(path) == data:
            return False
    below.write(path, data)
    return True


def _remove_file_and_empty_folders(below: SafeFolder, path: str) -> bool:
    """Remove a file and the folders it leaves empty; say whether it was there."""
    parts = path.split("/")
    try:
        os.unlink(parts[-1], dir_fd=below.folder(tuple(parts[:-1])))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return False
    with suppress(OSError):
        for depth in range(len(parts) - 1, 0, -1):
            os.rmdir(parts[depth - 1], dir_fd=below.folder(tuple(parts[: depth - 1])))
    return True
