"""The seam between a source and the tools that build folders of it: what a build is asked for, and what comes of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.locked.model import ExternalSource
from reconciler.locked.reading import RepositoryFiles
from reconciler.locked.store import ContentStore
from reconciler.source.deployers.readers import Readers
from reconciler.source.deployers.request import BuiltFolder, FolderRequest
from reconciler.source.deployers.rounds import Deployed, Rounds, plain_files
from reconciler.source.deployers.trees import LockedTrees
from render.errors import Problem
from render.model import ObjectRef, Template
from render.values import DiscreetStruct
from render.words import listed

from .broken import Broken
from .built_files import BuiltFile
from .chart_classes import chart_members
from .chart_requests import ChartRequest, ChartRequests
from .charts import KIND as CHART
from .charts import ChartSource, config_maps_in
from .external import KIND as SOURCE
from .external import load_external_sources, lock_of
from .facts import FactsOf, no_facts
from .files import FileSelection, Reason, Skipped, SourceFile, select_files
from .fleet_file import FleetSource
from .manifests import (
    Contents,
    FieldProblem,
    LocatedManifest,
    ParseCache,
    ReadBlobs,
    RightManifests,
    argosy_objects,
    load_manifests,
)
from .releases import Releases, is_release


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

    def combined_with(self, other: "BuiltSource") -> "BuiltSource":
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

    def read_with(self, read: ReadBlobs) -> ReadBlobs:
        """Return what reads blobs of the source, and output."""
        if not self.contents:
            return read

        def read_all(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
            wanted = set(ids)
            own = wanted & self.contents.keys()
            return {**(read(wanted - own) if wanted - own else {}), **{id_: self.contents[id_] for id_ in own}}

        return read_all


LockedOf = Callable[[], LockedTrees]
"""Return the contents of the Sources of a fleet, where some kustomization may need them."""


class Build(Protocol):
    """Build the folders that a selection names, from the files of the whole tree."""

    def __call__(
        self, files: Sequence[SourceFile], selection: FileSelection, read: ReadBlobs, locked: LockedOf
    ) -> BuiltSource:
        """Return the outcome of the build."""

    def build_folders(self, requests: Sequence[FolderRequest], locked: LockedTrees) -> Sequence[BuiltFolder]:
        """Return what came of these folders, in order."""

    def render_charts(self, requests: Sequence[ChartRequest]) -> BuiltSource:
        """Return what came of these charts."""

    def without_cache(self) -> "Build":
        """Return what builds all of it anew."""


class Caches(NamedTuple):
    """Values of earlier runs: parsed blobs, right manifests, and the content of Sources outside the repository."""

    parsed: ParseCache | None = None
    right: RightManifests | None = None
    contents: ContentStore | None = None

    def without_values(self) -> "Caches":
        """Return what an earlier run has no say in, but for the content of Sources, which has digests of its own."""
        return Caches(contents=self.contents)


NO_CACHES = Caches()


class SourceReading(NamedTuple):
    """Everything a source is read with: blobs, values of earlier runs, what builds its folders, and facts of members.

    Without ``build`` no folder is built and no chart rendered: they are left out. ``facts`` tell the scope of kinds
    that only members know (see ``kind_scopes``); with None, a scope that nothing tells is no problem yet.
    """

    read: ReadBlobs
    caches: Caches = NO_CACHES
    build: Build | None = None
    facts: FactsOf | None = no_facts

    def without_values(self) -> "SourceReading":
        """Return what reads all of it anew."""
        return self._replace(caches=self.caches.without_values(), build=self.build and self.build.without_cache())


class ReadFiles(Struct, frozen=True, kw_only=True):
    """The files of a source as they are read: those of the selection with what was built of its folders."""

    selection: FileSelection
    contents: Contents
    built: BuiltSource


def read_files(
    files: Sequence[SourceFile],
    home: FleetSource,
    reading: SourceReading,
    made: Sequence[LocatedManifest] = (),
) -> ReadFiles:
    """Select the files of a fleet, build the folders among them, and parse the output with what no build reads.

    ``made`` are objects that charts make; what they deploy is built as well.

    A file beside a kustomization that does not list it is not read, and worth a word where it holds manifests.
    argosy.yaml is read whatever builds do with it.
    """
    read, caches, build, _ = reading
    cache = caches.parsed
    paths, is_building = home.fleet.source.paths, build is not None
    selection = select_files(files, folder=home.folder, paths=paths, ignore=home.ignore, is_building=is_building)
    built = _built(files, selection, Readers.of(home, files, read, caches.contents), reading, made)
    plain = [file for file in selection.files if file.path == home.path or file.path not in built.claimed]
    beside = [file for file in selection.beside if file.path not in built.claimed]
    unlisted = {place.file.path for place in load_manifests(beside, read=read, cache=cache).manifests}
    skipped = (*selection.skipped, *(Skipped(path, Reason.UNLISTED) for path in unlisted))
    chosen = (*plain, *built.files)
    contents = load_manifests(chosen, read=built.read_with(read), cache=cache)
    readers = Readers.of(home, files, read, caches.contents)
    others = tuple(place for place in contents.manifests if build is None or not readers.takes(place))
    return ReadFiles(
        selection=replace(selection, files=chosen, skipped=tuple(sorted(skipped))),
        contents=contents._replace(manifests=others),
        built=built,
    )


def _built(
    files: Sequence[SourceFile],
    selection: FileSelection,
    readers: Readers,
    reading: SourceReading,
    made: Sequence[LocatedManifest],
) -> BuiltSource:
    """Build the folders that objects of other tools deploy, where they are read, and all other kustomizations.

    A kustomization may make such an object, and may then be a part of what that one deploys. So they are built in
    turns, until no object comes to light any more.
    """
    build, read, caches = reading.build, readers.repository.read, reading.caches
    if build is None:
        return BuiltSource()

    def locked_trees() -> LockedTrees:
        return readers.locked_trees(load_manifests(selection.files, read=read, cache=caches.parsed).manifests)

    if not readers.kinds:
        return build(files, selection, read, locked_trees)
    rounds = Rounds(readers, build.build_folders, caches.parsed)
    entries = [*load_manifests(selection.files, read=read, cache=caches.parsed).manifests, *made]
    deployed, built = rounds.final(entries), BuiltSource()
    while True:
        unclaimed = replace(selection, kustomizations=tuple(plain_files(selection.kustomizations, deployed.claimed)))
        built = build(files, unclaimed, read, locked_trees)
        more = load_manifests(built.files, read=built.read_with(read), cache=caches.parsed).manifests
        known = {(place.file.path, place.number) for place in entries}
        fresh = [place for place in more if (place.file.path, place.number) not in known]
        if not any(map(readers.reads, fresh)):
            return _with_deployed(built, deployed)
        entries += fresh
        deployed = rounds.final(entries)


def _with_deployed(built: BuiltSource, deployed: Deployed) -> BuiltSource:
    """Return what kustomizations made, with what the objects of other tools deploy."""
    return built.combined_with(
        BuiltSource(
            files=deployed.files,
            contents=deployed.contents,
            claimed=deployed.claimed,
            broken=deployed.broken,
            warnings=deployed.warnings,
            tools=deployed.tools,
            implied=deployed.implied,
        )
    )


def unlisted_warnings(skipped: Iterable[Skipped]) -> Iterator[Problem]:
    """Yield a warning for each folder with files that its kustomization does not list."""
    by_folder: dict[str, list[str]] = {}
    for each in skipped:
        if each.reason is Reason.UNLISTED:
            folder, _, name = each.path.rpartition("/")
            by_folder.setdefault(folder, []).append(name)
    for folder, names in by_folder.items():
        path = f"{folder}/{names[0]}" if len(names) == 1 else folder
        others = f"{listed(names)}: " if len(names) > 1 else ""
        yield Problem(path, 0, "", f"not read: {others}{Reason.UNLISTED}")


def with_charts(
    found: ReadFiles,
    files: Sequence[SourceFile],
    home: FleetSource,
    reading: SourceReading,
    made: Sequence[LocatedManifest] = (),
) -> ReadFiles:
    """Render the charts that manifests ask for, and ``made`` beside them; return the others with the outcome."""
    manifests, (read, caches, build, facts) = found.contents.manifests, reading
    places, every = [*argosy_objects(CHART, manifests), *_releases(manifests, made, home)], (*made, *manifests)
    if not places or build is None:
        return found
    external = load_external_sources(argosy_objects(SOURCE, manifests))
    repository = RepositoryFiles(files, folder=home.folder, read=read)
    locked = lock_of((*external.sources, *found.built.implied), repository, caches.contents).locked
    asked = ChartSource(
        files={file.path: file for file in files},
        folder=home.folder,
        read=read,
        locked=locked,
        config_maps=dict(config_maps_in(every, home.fleet.default_namespace)),
        default_namespace=home.fleet.default_namespace,
        members=chart_members(manifests, home.fleet, facts or no_facts),
        cache=caches.parsed,
    ).requests(places, Releases.of(home.folder, (file.path for file in files), every, external.sources, locked))
    rendered = build.render_charts(asked.requests)
    rendered = replace(
        rendered,
        problems=(*asked.problems, *rendered.problems),
        broken=(*asked.broken, *rendered.broken),
        warnings=(*asked.warnings, *rendered.warnings),
        is_by_facts=asked.is_by_facts,
        charts=asked.charts,
        implied=locked.implied if locked else (),
    )
    return with_built(_without_asked(found, asked), rendered, reading)


def _releases(
    manifests: Sequence[LocatedManifest], made: Sequence[LocatedManifest], home: FleetSource
) -> Iterator[LocatedManifest]:
    """Yield the releases that are rendered; one that a chart makes, too, is read as it stands in a file."""
    kinds = home.fleet.source.rendered
    written = [place for place in manifests if kinds and is_release(place, kinds)]
    known = {ObjectRef.of(place.manifest) for place in written}
    yield from written
    yield from (each for each in made if is_release(each, kinds) and ObjectRef.of(each.manifest) not in known)


def _without_asked(found: ReadFiles, asked: ChartRequests) -> ReadFiles:
    """Return manifests without what asks for charts, of which the folders are not skipped any more."""
    left_out = tuple(
        each for each in found.selection.skipped if not (each.reason is Reason.HELM and each.path in asked.folders)
    )
    return replace(
        found,
        selection=replace(found.selection, skipped=left_out),
        contents=found.contents._replace(
            manifests=tuple(place for place in found.contents.manifests if id(place) not in asked.taken)
        ),
    )


def with_built(found: ReadFiles, built: BuiltSource, reading: SourceReading) -> ReadFiles:
    """Return manifests with those of files that were built of them."""
    every, contents = found.built.combined_with(built), found.contents
    more = load_manifests(built.files, read=every.read_with(reading.read), cache=reading.caches.parsed)
    return ReadFiles(
        selection=replace(found.selection, files=(*found.selection.files, *built.files)),
        contents=Contents(
            manifests=(*contents.manifests, *more.manifests),
            problems=(*contents.problems, *more.problems),
            unreadable=(*contents.unreadable, *more.unreadable),
            skipped=(*contents.skipped, *more.skipped),
        ),
        built=every,
    )
