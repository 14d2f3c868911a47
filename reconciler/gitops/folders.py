"""The folders of a fleet, built: kustomizations, and what objects of Flux and Argo CD deploy."""

from collections.abc import Sequence

from msgspec.structs import replace

from reconciler.building.requests import Build
from reconciler.building.source_trees import LockedTrees
from reconciler.source.files import FileSelection, select_files
from reconciler.source.manifests import LocatedManifest, load_manifests
from reconciler.source.reading import BuiltSource, ReadFiles, SourceReading, parse_selected_files

from .readers import Readers
from .rounds import Rounds, plain_files


def read_with_folders(
    readers: Readers, build: Build, reading: SourceReading, made: Sequence[LocatedManifest] = ()
) -> ReadFiles:
    """Select the files of a fleet, build the folders among them, and parse the output with what no build reads.

    ``made`` are objects that charts make; what they deploy is built as well.
    """
    home, files = readers.home, readers.repository.files
    paths = home.fleet.source.paths
    selection = select_files(files, folder=home.folder, paths=paths, ignore=home.ignore, is_building=True)
    found = parse_selected_files(selection, home, _built_folders(selection, readers, build, reading, made), reading)
    others = tuple(place for place in found.contents.manifests if not readers.is_whole_object_read(place))
    return replace(found, contents=found.contents._replace(manifests=others))


def _built_folders(
    selection: FileSelection,
    readers: Readers,
    build: Build,
    reading: SourceReading,
    made: Sequence[LocatedManifest],
) -> BuiltSource:
    """Build the folders that objects of other tools deploy, where they are read, and all other kustomizations.

    A kustomization may make such an object, and may then be a part of what that one deploys. So they are built in
    turns, until no object comes to light any more.
    """
    files, read, caches = readers.repository.files, reading.read, reading.caches

    def locked_trees() -> LockedTrees:
        return readers.locked_trees(load_manifests(selection.files, read=read, cache=caches.parsed).manifests)

    if not readers.kinds:
        return build(files, selection, read, locked_trees)
    rounds = Rounds(readers, build.build_folders, caches.parsed)
    written = load_manifests(selection.files, read=read, cache=caches.parsed)
    entries = [*written.manifests, *made]
    deployed, built = rounds.source_after_last_round(entries, written.sealed), BuiltSource()
    while True:
        unclaimed = replace(selection, kustomizations=tuple(plain_files(selection.kustomizations, deployed.claimed)))
        built = build(files, unclaimed, read, locked_trees)
        more = load_manifests(built.files, read=built.reader_of_source_and_built(read), cache=caches.parsed).manifests
        known = {(place.file.path, place.number) for place in entries}
        fresh = [place for place in more if (place.file.path, place.number) not in known]
        if not any(map(readers.reads, fresh)):
            return built.merged_with_built_source(deployed)
        entries += fresh
        deployed = rounds.source_after_last_round(entries, written.sealed)
