"""The seam between a source and the tools that build folders of it: what a build is asked for, and what comes of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from .broken import Broken
from .built_files import BuiltFile
from .files import FileSelection, Reason, Skipped, SourceFile, select_files
from .fleet_file import FleetSource
from .manifests import Contents, ParseCache, ReadBlobs, load_manifests


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltSource:
    """The outcome of all builds of a source.

    ``files`` are their output, with ``contents`` by id. ``claimed`` are the files of the source that some build reads,
    which are therefore no manifests of their own. ``broken`` has the builds that failed; ``tools`` the names and
    versions of what was used.
    """

    files: tuple[BuiltFile, ...] = ()
    contents: Mapping[bytes, bytes] = field(default_factory=dict, repr=False)
    claimed: frozenset[str] = frozenset()
    broken: tuple[Broken, ...] = ()
    tools: tuple[str, ...] = ()

    def read_with(self, read: ReadBlobs) -> ReadBlobs:
        """Return what reads blobs of the source, and output."""

        def read_all(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
            wanted = set(ids)
            own = wanted & self.contents.keys()
            return {**(read(wanted - own) if wanted - own else {}), **{id_: self.contents[id_] for id_ in own}}

        return read_all


class Build(Protocol):
    """Build the folders that a selection names, from the files of the whole tree."""

    def __call__(self, files: Sequence[SourceFile], selection: FileSelection, read: ReadBlobs) -> BuiltSource:
        """Return what came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """The files of a source as they are read: those of the selection with what was built of its folders."""

    selection: FileSelection
    contents: Contents
    built: BuiltSource


def read_files(
    files: Sequence[SourceFile], home: FleetSource, read: ReadBlobs, cache: ParseCache | None, build: Build | None
) -> ReadFiles:
    """Select the files of a fleet, build the folders among them, and parse the output with what no build reads.

    A file beside a kustomization that does not list it is not read, and worth a word where it holds manifests.
    argosy.yaml is read whatever builds do with it.
    """
    paths, is_building = home.fleet.source.paths, build is not None
    selection = select_files(files, folder=home.folder, paths=paths, ignore=home.ignore, is_building=is_building)
    built = build(files, selection, read) if build is not None else BuiltSource()
    plain = [file for file in selection.files if file.path == home.path or file.path not in built.claimed]
    beside = [file for file in selection.beside if file.path not in built.claimed]
    unlisted = {place.file.path for place in load_manifests(beside, read=read, cache=cache).manifests}
    skipped = (*selection.skipped, *(Skipped(path, Reason.UNLISTED) for path in unlisted))
    chosen = (*plain, *built.files)
    return ReadFiles(
        selection=replace(selection, files=chosen, skipped=tuple(sorted(skipped))),
        contents=load_manifests(chosen, read=built.read_with(read), cache=cache),
        built=built,
    )
