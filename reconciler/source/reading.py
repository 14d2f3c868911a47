"""The reading of a source: the files of a fleet, parsed, and what other tools make of them.

How charts, kustomizations and the objects of Flux and Argo CD become objects, ``reconciler.gitops`` knows. A reading is
handed that as ``OtherTools``, and knows nothing else of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.locked.model import ExternalSource
from reconciler.locked.store import ContentStore
from render.errors import Problem
from render.model import Template
from render.values import DiscreetStruct
from render.words import first_few

from .broken import Broken
from .built_files import BuiltFile
from .checked_before import NOTHING_CHECKED, CheckedManifests
from .facts import FactsOf, no_facts
from .files import KUSTOMIZATIONS, FileSelection, Reason, Skipped, SourceFile, select_files
from .fleet_file import FleetSource
from .manifests import Contents, FieldProblem, ParseCache, ReadBlobs, RightManifests, load_manifests


class BuiltSource(DiscreetStruct, frozen=True, kw_only=True):
    """The outcome of all builds of a source.

    ``files`` are their output, with ``contents`` by id. ``claimed`` are the files of the source that some build reads,
    which are therefore no manifests of their own; ``taken`` has those of them that stand outside the folder of the
    kustomization that builds upon them, with that one. ``broken`` has the builds that failed, ``problems`` what
    may not even be tried; ``tools`` are the names and versions of what was used. ``is_by_facts``: some of it depends on
    what members are observed to be. ``charts`` are what asks for charts, as override policies select it. ``implied``
    are Sources that nobody wrote, of places that objects of other tools name.
    """

    UNSHOWN = ("contents",)

    files: tuple[BuiltFile, ...] = ()
    contents: Mapping[bytes, bytes] = field(default_factory=dict)
    claimed: frozenset[str] = frozenset()
    taken: Mapping[str, str] = field(default_factory=dict)
    broken: tuple[Broken, ...] = ()
    problems: tuple[FieldProblem, ...] = ()
    warnings: tuple[FieldProblem, ...] = ()
    tools: tuple[str, ...] = ()
    is_by_facts: bool = False
    charts: tuple[Template, ...] = ()
    implied: tuple[ExternalSource, ...] = ()

    @property
    def unbuilt_paths(self) -> frozenset[str]:
        """The files that kustomizations would read, or whose folder they stand in, of which none can be built."""
        made = {path for file in self.files for path, _ in file.inputs}
        broken = [each for each in self.broken if each.problem.path.endswith(KUSTOMIZATIONS)]
        folders = tuple(f"{each.problem.path.rpartition('/')[0]}/" for each in broken if "/" in each.problem.path)
        inputs = {path for each in broken for path, _ in each.files}
        return frozenset(path for path in self.claimed - made if path in inputs or path.startswith(folders))

    def merged_with_built_source(self, other: "BuiltSource") -> "BuiltSource":
        """Return the outcome of both."""
        return BuiltSource(
            files=(*self.files, *other.files),
            contents={**self.contents, **other.contents},
            claimed=self.claimed | other.claimed,
            taken={**self.taken, **other.taken},
            broken=(*self.broken, *other.broken),
            problems=(*self.problems, *other.problems),
            warnings=(*self.warnings, *other.warnings),
            tools=tuple(sorted({*self.tools, *other.tools})),
            is_by_facts=self.is_by_facts or other.is_by_facts,
            charts=(*self.charts, *other.charts),
            implied=tuple({each.name: each for each in (*self.implied, *other.implied)}.values()),
        )

    def reader_of_source_and_built(self, read: ReadBlobs) -> ReadBlobs:
        """Return what reads blobs of the source, and output."""
        if not self.contents:
            return read

        def read_all(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
            wanted = set(ids)
            own = wanted & self.contents.keys()
            return {**(read(wanted - own) if wanted - own else {}), **{id_: self.contents[id_] for id_ in own}}

        return read_all


class OtherTools(Protocol):
    """The tools that people deploy with beside Argosy, and the objects that they would make of the files of a fleet."""

    def read_folders(self, files: Sequence[SourceFile], home: FleetSource, reading: "SourceReading") -> "ReadFiles":
        """Read the files of a fleet with what is built of its folders; what asks for charts stays a manifest."""

    def read_everything(self, files: Sequence[SourceFile], home: FleetSource, reading: "SourceReading") -> "ReadFiles":
        """Read the files of a fleet with what is made of its folders and its charts, until nothing else comes of it."""

    def without_cache(self) -> "OtherTools":
        """Return what makes all of it anew."""


class NoOtherTools(NamedTuple):
    """No tool at all: folders of kustomizations are left out, and what asks for a chart is a manifest like others."""

    def read_folders(self, files: Sequence[SourceFile], home: FleetSource, reading: "SourceReading") -> "ReadFiles":
        """Read the files of a fleet as they stand."""
        paths = home.fleet.source.paths
        selection = select_files(files, folder=home.folder, paths=paths, ignore=home.ignore, is_building=False)
        return parse_selected_files(selection, home, BuiltSource(), reading)

    def read_everything(self, files: Sequence[SourceFile], home: FleetSource, reading: "SourceReading") -> "ReadFiles":
        """Read the files of a fleet as they stand."""
        return self.read_folders(files, home, reading)

    def without_cache(self) -> OtherTools:
        """Return the same, as there is nothing to remember."""
        return self


class Caches(NamedTuple):
    """Values of earlier runs: parsed blobs, right manifests, and the content of Sources outside the repository.

    ``right`` are right by their schemas; ``checked`` are admitted, or right in all that is no matter of schemas.
    """

    parsed: ParseCache | None = None
    right: RightManifests | None = None
    checked: CheckedManifests = NOTHING_CHECKED
    contents: ContentStore | None = None

    def without_values(self) -> "Caches":
        """Return what an earlier run has no say in, but for the content of Sources, which has digests of its own."""
        return Caches(contents=self.contents)


NO_CACHES = Caches()


class SourceReading(NamedTuple):
    """Everything a source is read with: blobs, values of earlier runs, other tools, and facts of members.

    ``facts`` tell the scope of kinds that only members know (see ``scopes``); with None, a scope that nothing
    tells is no problem yet. So many ``processes`` may parse what is new.
    """

    read: ReadBlobs
    caches: Caches = NO_CACHES
    other_tools: OtherTools = NoOtherTools()
    facts: FactsOf | None = no_facts
    processes: int = 1

    def without_values(self) -> "SourceReading":
        """Return what reads all of it anew."""
        return self._replace(caches=self.caches.without_values(), other_tools=self.other_tools.without_cache())


class ReadFiles(Struct, frozen=True, kw_only=True):
    """The files of a source as they are read: those of the selection with what was built of its folders."""

    selection: FileSelection
    contents: Contents
    built: BuiltSource


def parse_selected_files(
    selection: FileSelection, home: FleetSource, built: BuiltSource, reading: SourceReading
) -> ReadFiles:
    """Parse the files that are selected, and what was built of them, without the files that builds read.

    A file beside a kustomization that does not list it is not read, and worth a word where it holds manifests.
    argosy.yaml is read whatever builds do with it.
    """
    read, cache = reading.read, reading.caches.parsed
    plain = [file for file in selection.files if file.path == home.path or file.path not in built.claimed]
    beside = [file for file in selection.beside if file.path not in built.claimed]
    unlisted = {place.file.path for place in load_manifests(beside, read=read, cache=cache).all_manifests}
    skipped = (*selection.skipped, *(Skipped(path, Reason.UNLISTED) for path in unlisted))
    chosen = (*plain, *built.files)
    read_all = built.reader_of_source_and_built(read)
    contents = load_manifests(chosen, read=read_all, cache=cache, processes=reading.processes)
    found = load_manifests(selection.logins, read=read, cache=cache).skipped
    logins = (each for each in found if each.reason is Reason.CREDENTIALS)
    return ReadFiles(
        selection=replace(selection, files=chosen, skipped=tuple(sorted(skipped))),
        contents=contents._replace(skipped=(*contents.skipped, *logins)),
        built=built,
    )


def files_with_built_ones(found: ReadFiles, built: BuiltSource, reading: SourceReading) -> ReadFiles:
    """Return manifests with those of files that were built of them."""
    every, contents = found.built.merged_with_built_source(built), found.contents
    more = load_manifests(built.files, read=every.reader_of_source_and_built(reading.read), cache=reading.caches.parsed)
    return ReadFiles(
        selection=replace(found.selection, files=(*found.selection.files, *built.files)),
        contents=Contents(
            manifests=(*contents.manifests, *more.manifests),
            problems=(*contents.problems, *more.problems),
            unreadable=(*contents.unreadable, *more.unreadable),
            skipped=(*contents.skipped, *more.skipped),
            sealed=(*contents.sealed, *more.sealed),
        ),
        built=every,
    )


def warnings_of_unlisted_files(skipped: Iterable[Skipped]) -> Iterator[Problem]:
    """Yield a warning for each folder with files that its kustomization does not list."""
    by_folder: dict[str, list[str]] = {}
    for each in skipped:
        if each.reason is Reason.UNLISTED:
            folder, _, name = each.path.rpartition("/")
            by_folder.setdefault(folder, []).append(name)
    for folder, names in by_folder.items():
        path = f"{folder}/{names[0]}" if len(names) == 1 else folder
        others = f"{first_few(names)}: " if len(names) > 1 else ""
        yield Problem(path, 0, "", f"not read: {others}{Reason.UNLISTED}")
