"""A work tree as it stands: its files with the ids git would give them, single files changed in place and committed."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.console.disk_errors import hint_for_disk_error
from render.errors import GitError
from render.expressions import lazy_expression
from render.gitobjects import git_object_id
from render.values import DiscreetStruct

from .command import GitCommand
from .commits import Signature
from .objects import ABSENT, File
from .read_only import refuse_where_read_only
from .safe_folder import SafeFolder

Wanted = Callable[[str, int], bool]
"""Say by path and size whether the content of a file is needed."""

UNREAD = b""
"""The id of a file whose content was not wanted."""

_LINK, _SUBMODULE = 0o120000, 0o160000
_OTHER = b"? "
"""The beginning of a record of a file that is not in the index."""
_LINE = lazy_expression(rb"([^?]) ([0-7]+) ([0-9a-f]+) [0-3]\t(.+)", re.DOTALL)


def put_files(root: Path, contents: Mapping[str, bytes | None]) -> None:
    """Make files below a folder hold these contents, or remove them (None); each appears whole or not at all."""
    refuse_where_read_only("write files")
    with SafeFolder(root) as below:
        for path, content in sorted(contents.items()):
            try:
                _put_file(below, path, content)
            except OSError as error:
                hint = hint_for_disk_error(error)
                raise GitError(f"{path} cannot be written: {error.strerror or error}", hint=hint) from error


def _put_file(below: SafeFolder, path: str, content: bytes | None) -> None:
    if content is None:
        *parents, name = path.split("/")
        os.unlink(name, dir_fd=below.folder(tuple(parents)))
    else:
        below.write(path, content, keeps_mode=True)


def stage_paths(git: GitCommand, paths: Sequence[str]) -> None:
    """Make the index hold these paths as they stand in the work tree."""
    refuse_where_read_only("stage files")
    git.run("add", "--all", "--", *paths)


def commit_paths(git: GitCommand, paths: Sequence[str], message: str, author: Signature) -> None:
    """Commit these paths as they stand in the work tree, and nothing else of it or of the index."""
    identity = (("user.name", author.name or "Argosy"), ("user.email", author.email))
    named = replace(git, extra=(*git.extra, *identity))
    stage_paths(named, paths)
    named.run("commit", "--quiet", "--cleanup=verbatim", "-F", "-", "--only", "--", *paths, stdin=message.encode())


class _IndexEntry(NamedTuple):
    """A line of the index; ``sparse`` if it is meant to be absent from the work tree."""

    mode: int
    id: bytes
    sparse: bool


class WorkTree(DiscreetStruct, frozen=True, kw_only=True):
    """The files, and the contents of those that were wanted, by raw blob id."""

    UNSHOWN = ("contents",)

    files: tuple[File, ...]
    contents: dict[bytes, bytes]


def read_work_tree(git: GitCommand, wanted: Wanted, algorithm: str) -> WorkTree:
    """Return the files of a work tree; one that a sparse checkout left out is the one in the index.

    So is a submodule, whatever its folder holds: it is listed as a commit lists it, for the reader to pass over.
    """
    records = git.run("ls-files", "-t", "-s", "-o", "-z", "--exclude-standard").stdout.split(b"\0")
    others = [_decoded_path(record[len(_OTHER) :]) for record in records if record.startswith(_OTHER)]
    entries = _index_entries_by_path(records)
    names = entries.keys() | {name for name in others if not name.endswith("/")}
    reader = _Reader(wanted=wanted, algorithm=algorithm)
    files = []
    with SafeFolder(git.folder) as root:
        for name in sorted(names, key=os.fsencode):
            file = reader.file(root, name)
            files += [file] if file else []
    present = {file.path for file in files}
    absent = {name: entry for name, entry in entries.items() if name not in present}
    submodules = {name for name, entry in absent.items() if entry.mode == _SUBMODULE}
    files += [File(name, _SUBMODULE, absent[name].id, 0) for name in submodules]
    absent = {name: entry for name, entry in absent.items() if entry.sparse and name not in submodules}
    files += _files_only_in_index(git, absent)
    return WorkTree(files=tuple(sorted(files, key=lambda file: os.fsencode(file.path))), contents=reader.contents)


def ignored_paths(git: GitCommand, paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of these paths that git ignores, sorted; none of them is in the index."""
    named = list(paths)
    found = git.run("ls-files", "-o", "-i", "--exclude-standard", "-z", "--", *named).stdout if named else b""
    return tuple(sorted(filter(None, _decoded_path(found).split("\0"))))


def changed_paths_of_work_tree(git: GitCommand) -> tuple[str, ...]:
    """Return the paths that differ between the last commit and the work tree or the index, untracked ones included."""
    options = ("--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
    entries = _decoded_path(git.run("status", *options).stdout).split("\0")
    return tuple(sorted(entry[3:] for entry in entries if entry))


class _Reader(Struct, kw_only=True):
    """Files by their paths, and the contents that were read for them."""

    wanted: Wanted
    algorithm: str
    contents: dict[bytes, bytes] = field(default_factory=dict)

    def file(self, root: SafeFolder, name: str) -> File | None:
        """Return the file at a path; None for a folder, a device or nothing."""
        status = root.stat(name)
        if status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            return None
        try:
            if stat.S_ISLNK(status.st_mode):
                target = root.link(name)
                return File(name, _LINK, git_object_id("blob", target, self.algorithm), len(target))
            mode = 0o100755 if status.st_mode & stat.S_IXUSR else 0o100644
            if not self.wanted(name, status.st_size):
                return File(name, mode, UNREAD, status.st_size)
            data = root.read(name)
        except OSError as error:
            hint = hint_for_disk_error(error)
            raise GitError(f"{name} cannot be read: {error.strerror or error}", hint=hint) from error
        id_ = git_object_id("blob", data, self.algorithm)
        self.contents[id_] = data
        return File(name, mode, id_, len(data))


def _index_entries_by_path(records: Iterable[bytes]) -> dict[str, _IndexEntry]:
    """Return the lines of the index, by path."""
    lines = [match.groups() for record in records if (match := _LINE.fullmatch(record))]
    return {
        _decoded_path(path): _IndexEntry(int(mode, 8), bytes.fromhex(_decoded_path(id_)), tag == b"S")
        for tag, mode, id_, path in lines
    }


def _files_only_in_index(git: GitCommand, entries: Mapping[str, _IndexEntry]) -> list[File]:
    """Return files that are only in the index, with their sizes, which one process tells for all of them."""
    if not entries:
        return []
    ids = "".join(f"{entry.id.hex()}\n" for entry in entries.values())
    output = git.run("cat-file", "--batch-check=%(objectsize)", stdin=ids.encode()).stdout.split(b"\n")
    sizes = [int(size) if size.isdigit() else ABSENT for size in output]
    return [File(name, entry.mode, entry.id, size) for (name, entry), size in zip(entries.items(), sizes, strict=False)]


def _decoded_path(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
