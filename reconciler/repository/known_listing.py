"""The files of a source as they were last listed: those of the next one are found by what differs.

To tell the sizes of files, git opens each of them, in every pass. A source differs from the last one in a few files,
and folders that are the same have the same id. So the listing is kept, in a private file that is disposable: it says
which tree it is of, and is used where the tree of another commit differs in little. Anything unexpected is left to git.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec import DecodeError, Struct, msgpack

from render.gitobjects import TREE_MODE, TreeEntry, parse_tree

from .cache import read_privately, write_privately
from .command import GitCommand
from .commits import parse_commit
from .objects import FEW_ENTRIES, LISTED, WHOLE_ID, File, Snapshot, list_files_of_tree
from .stored_objects import StoredObjects

_NAME = "listing"
_LARGEST = 256 << 20
_DIGEST = hashlib.sha256().digest_size
_MOST_DIFFERENT = 256
"""So many entries may differ; where more do, git lists the commit, and that is kept instead."""
_FEW_DIFFERENT = 16
"""So many files may differ before the listing is kept anew: each is looked up again in every pass."""


class _Content(Struct, frozen=True, array_like=True):
    tree: bytes
    files: tuple[tuple[bytes, int, bytes, int], ...]


class _KnownListing(NamedTuple):
    """The files of the commits with one tree, as git sorts them."""

    tree: bytes
    files: tuple[File, ...]


class Listings:
    """The files of the commits of a repository: each is listed once, and by what is kept in ``folder`` if possible."""

    def __init__(self, git: GitCommand, stored: Callable[[], StoredObjects], folder: Path, *, partial: bool) -> None:
        self._git, self._stored, self._folder, self._is_partial = git, stored, folder, partial
        self._snapshots: dict[str, Snapshot] = {}
        self._worth_keeping: set[str] = set()

    def snapshot(self, commit: str) -> Snapshot:
        """Return the files of a commit (or tree); GitError where there is none."""
        if self._is_partial or not WHOLE_ID.fullmatch(commit):
            files = list_files_of_tree(self._git, self._stored(), commit, partial=self._is_partial)
            return Snapshot(commit=commit, files=files)
        if commit not in self._snapshots:
            self._snapshots[commit] = Snapshot(commit=commit, files=self._files(commit))
        return self._snapshots[commit]

    def _files(self, commit: str) -> tuple[File, ...]:
        known = self._known
        found = _files_by_known_listing(self._stored(), known, commit) if known else None
        if found is None or found.different > _FEW_DIFFERENT:
            self._worth_keeping.add(commit)
        if found is None:
            return list_files_of_tree(self._git, self._stored(), commit, partial=False)
        return found.files

    @cached_property
    def _known(self) -> _KnownListing | None:
        return _read_listing(self._folder)

    def keep(self, commit: str) -> None:
        """Keep the files of a source commit for the next pass, if many had to be looked up or git had to be asked."""
        if commit in self._worth_keeping and len(self._snapshots[commit].files) >= FEW_ENTRIES:
            tree = _tree_of_commit(self._stored(), commit)
            if tree is not None:
                self._known = _KnownListing(tree, self._snapshots[commit].files)
                _write_listing(self._folder, self._known)


def _read_listing(folder: Path) -> _KnownListing | None:
    """Return the listing that an earlier pass kept; None without one, or with one that is not as it was written."""
    content = read_privately(folder / _NAME, _LARGEST) or b""
    encoded = content[_DIGEST:]
    if hashlib.sha256(encoded).digest() != content[:_DIGEST]:
        return None
    try:
        tree, files = (found := msgpack.decode(encoded, type=_Content)).tree, found.files
    except DecodeError:
        return None
    decoded = (File(path.decode("utf-8", "surrogateescape"), mode, id_, size) for path, mode, id_, size in files)
    return _KnownListing(tree, tuple(decoded))


def _write_listing(folder: Path, listing: _KnownListing) -> None:
    """Keep the files of a commit, if that is possible."""
    files = tuple((_encoded_path(path), mode, id_, size) for path, mode, id_, size in listing.files)
    encoded = msgpack.encode(_Content(listing.tree, files))
    with suppress(OSError):
        write_privately(folder / _NAME, hashlib.sha256(encoded).digest() + encoded)


class _ListedByDifference(NamedTuple):
    """The files of a commit, and how many of them differ from what was known."""

    files: tuple[File, ...]
    different: int = 0


def _files_by_known_listing(stored: StoredObjects, known: _KnownListing, commit: str) -> _ListedByDifference | None:
    """Return the files of a commit that differs in little from what is known; None where that is not easy."""
    tree = _tree_of_commit(stored, commit)
    if tree is None or tree == known.tree:
        return None if tree is None else _ListedByDifference(known.files)
    differences = _Differences({}, set())
    if not differences.add_those_of_folders(stored, known.tree, tree):
        return None
    sizes = stored.sizes({entry.id for entry in differences.files.values() if entry.mode != _SUBMODULE})
    new: dict[str, File] = {}
    for path, entry in differences.files.items():
        size = 0 if entry.mode == _SUBMODULE else sizes.get(entry.id)
        if size is None or entry.mode not in LISTED:
            return None
        name = path.decode("utf-8", "surrogateescape")
        new[name] = File(name, entry.mode, entry.id, size)
    gone = {path.decode("utf-8", "surrogateescape") for path in differences.gone}
    found = [new.pop(file.path, file) for file in known.files if file.path not in gone]
    files = sorted([*found, *new.values()], key=lambda file: _encoded_path(file.path)) if new else found
    return _ListedByDifference(tuple(files), len(differences.files) + len(differences.gone))


_SUBMODULE = 0o160000


class _Differences(NamedTuple):
    """The files in which two trees differ: those that are new or other ones, and the paths of those that are gone."""

    files: dict[bytes, TreeEntry]
    gone: set[bytes]

    def add_those_of_folders(self, stored: StoredObjects, old: bytes | None, new: bytes | None) -> bool:
        """Add the differences between two folders and all below them; False where that is not easy."""
        waiting: list[tuple[bytes, bytes | None, bytes | None]] = [(b"", old, new)]
        for _ in range(_MOST_DIFFERENT):
            if not waiting:
                return True
            prefix, *ids = waiting.pop()
            before, after = (_entries_of_folder(stored, id_) for id_ in ids)
            if before is None or after is None:
                return False
            for name in {name for name, _ in before.items() ^ after.items()}:
                one, other = before.get(name), after.get(name)
                self._add_entry(prefix + name, one, other)
                if _is_folder(one) or _is_folder(other):
                    waiting.append((prefix + name + b"/", _id_of_folder(one), _id_of_folder(other)))
            if len(self.files) + len(self.gone) > _MOST_DIFFERENT:
                return False
        return False

    def _add_entry(self, path: bytes, before: TreeEntry | None, after: TreeEntry | None) -> None:
        if after is not None and not _is_folder(after):
            self.files[path] = after
        elif before is not None and not _is_folder(before):
            self.gone.add(path)


def _id_of_folder(entry: TreeEntry | None) -> bytes | None:
    return entry.id if entry is not None and entry.mode == TREE_MODE else None


def _is_folder(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.mode == TREE_MODE


def _entries_of_folder(stored: StoredObjects, tree: bytes | None) -> dict[bytes, TreeEntry] | None:
    """Return the entries of a folder by name; none of one that is not there, None where it is not easily read."""
    if tree is None:
        return {}
    content = stored.read((tree,), "tree").get(tree)
    try:
        return None if content is None else {entry.name: entry for entry in parse_tree(content, stored.algorithm)}
    except ValueError:
        return None


def _tree_of_commit(stored: StoredObjects, commit: str) -> bytes | None:
    id_ = bytes.fromhex(commit)
    content = stored.read((id_,), "commit").get(id_)
    return None if content is None else parse_commit(commit, content).tree


def _encoded_path(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
