"""The kustomizations of a tree: which folders have one, what each names, and who builds upon whom."""

import hashlib
import posixpath
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.locked.model import UnavailableSource
from reconciler.source.files import KUSTOMIZATIONS, MAX_FILE_SIZE, SUBMODULE, SYMLINK, SourceFile
from reconciler.source.manifests import ParseCache, ReadBlobs

from .kustomization import (
    ELSEWHERE,
    Fault,
    Kustomization,
    Reference,
    Role,
    parsed_kustomization,
    read_kustomization,
)

_FORM = b"kustomization 2"
"""The form of what is remembered; another one has another name."""
MOUNT = ".argosy-sources"
"""The folder that the contents of Sources are put into."""


class StandIn(NamedTuple):
    """The real thing behind a file that was written for a build: files of the repository, and a path for people."""

    inputs: tuple[tuple[str, bytes], ...]
    shown: str


class _TreeContents(Struct):
    """The contents of a tree: those ``of_commit``, those that were ``written`` for a build, and others by their ids."""

    of_commit: ReadBlobs
    written: dict[bytes, bytes] = field(default_factory=dict)
    elsewhere: dict[bytes, ReadBlobs] = field(default_factory=dict)

    def __call__(self, wanted: Iterable[bytes]) -> Mapping[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        rest: dict[int, tuple[ReadBlobs, set[bytes]]] = {}
        for id_ in wanted:
            if id_ in self.written:
                found[id_] = self.written[id_]
            else:
                read = self.elsewhere.get(id_, self.of_commit)
                rest.setdefault(id(read), (read, set()))[1].add(id_)
        for read, ids in rest.values():
            found.update(read(ids))
        return found


class Kustomizations(Struct):
    """The kustomizations of a tree, each read once.

    ``stand_ins`` are files that were written for a build, by path; ``unavailable`` are bases of Sources whose content
    cannot be had, by their text. What is edited is a ``copy``, once for all edits: there may be as many as folders.
    """

    files: dict[str, SourceFile]
    read: "_TreeContents"
    cache: ParseCache | None = None
    _parsed: dict[bytes, Kustomization] = field(default_factory=dict)
    _by_folder: dict[str, list[SourceFile]] = field(default_factory=dict)
    stand_ins: dict[str, StandIn] = field(default_factory=dict)
    unavailable: dict[str, UnavailableSource] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Iterable[SourceFile], read: ReadBlobs, cache: ParseCache | None = None) -> "Kustomizations":
        """Return the kustomizations of a tree."""
        known = cls({file.path: file for file in files}, _TreeContents(read), cache)
        for path, file in known.files.items():
            folder, _, name = path.rpartition("/")
            if name in KUSTOMIZATIONS and is_readable_by_builds(file):
                known._by_folder.setdefault(folder, []).append(file)
        known._parse([file for found in known._by_folder.values() for file in found])
        return known

    @property
    def folders(self) -> KeysView[str]:
        """The folders with a kustomization."""
        return self._by_folder.keys()

    @property
    def has_remote_bases(self) -> bool:
        """Say whether some kustomization names what is no file of a tree."""
        every = (each for parsed in self._parsed.values() for each in parsed.references)
        return any(ELSEWHERE.search(each.text) for each in every)

    def kustomizations_at(self, folder: str) -> Sequence[tuple[SourceFile, Kustomization]]:
        """Return the files that make a folder a kustomization, and what they name."""
        return [(file, self._parsed[file.id]) for file in self._by_folder[folder]]

    def is_component(self, folder: str) -> bool:
        """Say whether a folder only has parts of other kustomizations."""
        return any(parsed.is_component for _, parsed in self.kustomizations_at(folder))

    def bases_of(self, folder: str) -> Iterator[str]:
        """Yield the folders that a kustomization builds upon."""
        for _, parsed in self.kustomizations_at(folder):
            for reference in parsed.references:
                path = path_joined_to(folder, reference.text)
                if reference.role.may_be_folder and path is not None and path != folder and path in self._by_folder:
                    yield path

    def content_of(self, file: SourceFile) -> bytes:
        """Return the content of a file."""
        return self.read([file.id])[file.id]

    def copy(self) -> "Kustomizations":
        """Return the same tree, to be edited."""
        return replace(
            self,
            files={**self.files},
            read=_TreeContents(self.read.of_commit, {**self.read.written}, {**self.read.elsewhere}),
            _parsed={**self._parsed},
            _by_folder={**self._by_folder},
            stand_ins={**self.stand_ins},
        )

    def edit(self, file: SourceFile, document: Mapping[str, Any], content: bytes, stand_in: StandIn) -> None:
        """Put another kustomization in place of all that the folder of this file has."""
        self.files[file.path] = file
        self.read.written[file.id] = content
        self._parsed[file.id] = parsed_kustomization(document)
        self._by_folder[file.path.rpartition("/")[0]] = [file]
        self.stand_ins[file.path] = stand_in

    def add(self, files: Sequence[SourceFile], read: ReadBlobs, stand_ins: Mapping[str, StandIn]) -> None:
        """Add further files."""
        added = Kustomizations.of(files, read, self.cache)
        self.files.update(added.files)
        self.read.elsewhere.update((file.id, read) for file in files)
        self._parsed.update(
            (file.id, parsed) for folder in added.folders for file, parsed in added.kustomizations_at(folder)
        )
        self._by_folder.update(
            (folder, [file for file, _ in added.kustomizations_at(folder)]) for folder in added.folders
        )
        self.stand_ins.update(stand_ins)

    def _parse(self, files: Sequence[SourceFile]) -> None:
        """Read kustomizations. What they name is remembered on disk, and nothing else, as that may be secret."""
        key_by_id = {file.id: hashlib.sha256(_FORM + b"\0" + file.id).digest() for file in files}
        known = self.cache.get_many(key_by_id.values()) if self.cache is not None else {}
        self._parsed.update(
            {id_: _kustomization_of_plain(known[key]) for id_, key in key_by_id.items() if key in known}
        )
        missing = [id_ for id_ in key_by_id if id_ not in self._parsed]
        for id_, content in (self.read(missing) if missing else {}).items():
            self._parsed[id_] = read_kustomization(content)
        fresh = {
            key_by_id[id_]: _plain_references_of(self._parsed[id_]) for id_ in missing if not self._parsed[id_].inline
        }
        if self.cache is not None and fresh:
            self.cache.put_many(fresh)


def _plain_references_of(parsed: Kustomization) -> tuple[tuple[int, Any], ...]:
    references = tuple((each.field, each.text, str(each.role)) for each in parsed.references)
    return ((0, (references, tuple(map(tuple, parsed.faults)), parsed.is_component, parsed.is_listing)),)


def _kustomization_of_plain(stored: Sequence[tuple[int, Any]]) -> Kustomization:
    references, faults, is_component, is_listing = stored[0][1]
    return Kustomization(
        references=tuple(Reference(name, text, Role(role)) for name, text, role in references),
        faults=tuple(Fault(*each) for each in faults),
        is_component=is_component,
        is_listing=is_listing,
    )


def is_readable_by_builds(file: SourceFile) -> bool:
    """Say whether a build may read a file: no link, no submodule, and not too large."""
    return file.mode not in {SYMLINK, SUBMODULE} and bool(file.id) and 0 <= file.size <= MAX_FILE_SIZE


def path_joined_to(folder: str, text: str) -> str | None:
    """Return the path in the tree that a text means, seen from a folder; None where it leads out of it.

    >>> (
    ...     path_joined_to("apps/web", "../base"),
    ...     path_joined_to("apps", "."),
    ...     path_joined_to("apps", "../../etc"),
    ...     path_joined_to("apps", "/etc"),
    ... )
    ('apps/base', 'apps', None, None)
    """
    if text.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(folder, text))
    if path == ".." or path.startswith("../"):
        return None
    return "" if path == "." else path
