"""The tools that people deploy with beside Argosy, as a reading of a source is handed them.

What knows these tools is only imported for a fleet that has something for them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.source.files import KUSTOMIZATIONS, FileSelection, SourceFile
from reconciler.source.fleet_file import FleetSource
from reconciler.source.manifests import ParseCache, ReadBlobs, argosy_objects
from reconciler.source.reading import BuiltSource, NoOtherTools, ReadFiles, SourceReading
from reconciler.source.roles import HELM_CHART

if TYPE_CHECKING:
    from reconciler.building.builds import KnownOutcomes
    from reconciler.building.requests import Build, BuiltFolder, ChartRequest, FolderRequest, LockedOf
    from reconciler.building.source_trees import LockedTrees

    from .readers import Readers


class GitOpsTools(Struct, frozen=True):
    """Helm, kustomize, Flux and Argo CD: everything that they would make of the files of a fleet, by one builder."""

    build: "Build"

    def read_folders(self, files: Sequence[SourceFile], home: FleetSource, reading: SourceReading) -> ReadFiles:
        """Read the files of a fleet with what is built of its folders; what asks for charts stays a manifest."""
        if not home.fleet.source.rendered and not any(file.path.endswith(KUSTOMIZATIONS) for file in files):
            return NoOtherTools().read_folders(files, home, reading)
        from .folders import read_with_folders

        readers = _readers_of_fleet(files, home, reading)
        return _read_without_sealed(read_with_folders(readers, self.build, reading), readers)

    def read_everything(self, files: Sequence[SourceFile], home: FleetSource, reading: SourceReading) -> ReadFiles:
        """Read the files of a fleet with what is made of its folders and its charts, until nothing else comes of it."""
        if home.fleet.source.rendered:
            from .made_by_charts import read_deployed

            readers = _readers_of_fleet(files, home, reading)
            return _read_without_sealed(read_deployed(readers, self.build, reading), readers)
        found = self.read_folders(files, home, reading)
        if not argosy_objects(HELM_CHART, found.contents.manifests):
            return found
        from .rendering import read_files_with_charts

        return read_files_with_charts(found, _readers_of_fleet(files, home, reading), self.build, reading)

    def without_cache(self) -> "GitOpsTools":
        """Return what makes all of it anew."""
        return GitOpsTools(self.build.without_cache())


def _read_without_sealed(found: ReadFiles, readers: "Readers") -> ReadFiles:
    """Return what was read, with a problem for what is not read because SOPS encrypted it."""
    return replace(found, contents=found.contents.refuse_encrypted_where_read(readers.is_of_read_kind))


def _readers_of_fleet(files: Sequence[SourceFile], home: FleetSource, reading: SourceReading) -> "Readers":
    from .readers import Readers

    return Readers.of(home, files, reading.read, reading.caches.contents)


class LaterBuild(Struct):
    """The builder of sources, only imported for one that has something to build: one builder for a whole load.

    ``known`` are the builds of kustomizations that earlier loads of the same process made.
    """

    cache: ParseCache | None
    known: "KnownOutcomes" = field(default_factory=dict)
    _made: "Build | None" = None

    def __call__(
        self, files: Sequence[SourceFile], selection: FileSelection, read: ReadBlobs, locked: "LockedOf"
    ) -> BuiltSource:
        """Return what is built of the kustomizations that a fleet selects."""
        return self._builder()(files, selection, read, locked) if selection.kustomizations else BuiltSource()

    def build_folders(self, requests: "Sequence[FolderRequest]", locked: "LockedTrees") -> "Sequence[BuiltFolder]":
        """Return the outcome of these folders, in order."""
        return self._builder().build_folders(requests, locked) if requests else ()

    def render_charts(self, requests: "Sequence[ChartRequest]") -> BuiltSource:
        """Return the outcome of these charts."""
        return self._builder().render_charts(requests) if requests else BuiltSource()

    def without_cache(self) -> "Build":
        """Return what builds all of it anew."""
        return LaterBuild(None, {}, self._made.without_cache() if self._made else None)

    def _builder(self) -> "Build":
        if self._made is None:
            from reconciler.building.builder import SourceBuilder

            self._made = SourceBuilder(cache=self.cache, known=self.known)
        return self._made
