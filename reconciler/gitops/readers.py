"""The objects of other tools that are read, by kind, and what they may take their folders from."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from reconciler.building.requests import FolderRequest, UnusableRequest
from reconciler.building.source_trees import LockedTrees, SourceTree
from reconciler.gitops.argo.application_sets import APPLICATION_SET, applications_of
from reconciler.gitops.argo.applications import APPLICATION, ArgoSources, address_of_this_repository
from reconciler.gitops.argo.destinations import Destinations
from reconciler.gitops.argo.generators.parameters import Generators
from reconciler.gitops.argo.generators.syntax import TemplateError
from reconciler.gitops.argo.generators.texts import TemplateTexts
from reconciler.gitops.charts.releases import is_release
from reconciler.gitops.flux.kustomizations import (
    ARTIFACTS,
    KUSTOMIZATION,
    REPOSITORIES,
    FluxSources,
    flux_objects,
    source_that_is_this_repository,
)
from reconciler.gitops.flux.releases import HELM_RELEASE
from reconciler.gitops.tool_kind import ToolKind
from reconciler.locked.reading import RepositoryFiles
from reconciler.locked.store import ContentStore
from reconciler.source.built_files import is_made_by_chart
from reconciler.source.external import KIND as SOURCE
from reconciler.source.external import load_external_sources, read_lock_of_sources
from reconciler.source.files import SourceFile
from reconciler.source.fleet_file import FleetSource
from reconciler.source.manifests import LocatedManifest, ReadBlobs, argosy_objects
from render.model import group_of

_FOLDER_KINDS = (KUSTOMIZATION, APPLICATION, APPLICATION_SET)
KINDS = (*_FOLDER_KINDS, HELM_RELEASE)
"""The kinds of other tools that argosy.yaml may ask for."""
_PLACES = frozenset({REPOSITORIES, ARTIFACTS})
"""Groups of the objects that say where releases and folders come from."""


class FolderSources(Struct, frozen=True, kw_only=True):
    """Everything that objects of other tools may take their folders from, at one time."""

    flux: FluxSources
    argo: ArgoSources
    locked: LockedTrees
    default_namespace: str

    def requests(self, place: LocatedManifest) -> list[FolderRequest]:
        """Return what an object deploys; UnusableRequest says why it cannot be read."""
        if KUSTOMIZATION.is_of(place.manifest):
            return [self.flux.request(place, self.default_namespace)]
        return self.argo.requests(place, self.default_namespace)

    def applications(self, place: LocatedManifest) -> tuple[list[dict[str, Any]], frozenset[tuple[str, bytes]]]:
        """Return the Applications of an ApplicationSet, and the files that say so; UnusableRequest says why not."""

        def tree_of(path: str, url: Any, revision: Any) -> SourceTree:
            tree, inside = self.argo.tree_and_path(path, url, revision)
            if inside:
                raise UnusableRequest(path, f"the Source of that repository has the folder {inside!r} alone")
            return tree

        try:
            texts = TemplateTexts.of(place.manifest["spec"])
        except TemplateError as error:
            raise UnusableRequest("spec.goTemplateOptions", str(error)) from error
        generators = Generators(texts, self.argo.destinations.clusters, tree_of)
        return applications_of(place.manifest, generators), frozenset(generators.inputs)


class Readers(Struct, frozen=True, kw_only=True):
    """The kinds that argosy.yaml asks for, over one snapshot; ``charts`` are its folders of charts."""

    home: FleetSource
    repository: SourceTree
    kinds: tuple[ToolKind, ...]
    charts: frozenset[str]
    store: ContentStore | None = None

    @classmethod
    def of(
        cls, home: FleetSource, files: Sequence[SourceFile], read: ReadBlobs, store: ContentStore | None
    ) -> "Readers":
        """Return what reads the objects of a fleet."""
        kinds = tuple(kind for kind in _FOLDER_KINDS if kind.name in home.fleet.source.rendered)
        folders = (file.path.rpartition("/") for file in files) if kinds else ()
        charts = frozenset(folder for folder, _, name in folders if name == "Chart.yaml")
        repository = SourceTree(files=files, read=read)
        return cls(home=home, repository=repository, kinds=kinds, charts=charts, store=store)

    def reads(self, place: LocatedManifest) -> bool:
        """Say whether a manifest deploys folders, and is of a kind that is to be read."""
        metadata, spec = place.manifest.get("metadata"), place.manifest.get("spec")
        if not self.kinds or not isinstance(metadata, dict) or not isinstance(spec, dict):
            return False
        if not isinstance(metadata.get("name"), str) or not isinstance(metadata.get("namespace") or "", str):
            return False
        return any(kind.is_of(place.manifest) and kind.has_folders(spec, self.charts) for kind in self.kinds)

    def _names_repositories(self, place: LocatedManifest) -> bool:
        """Say whether a manifest is read, and names repositories: it has folders, or charts that may be here."""
        return self.reads(place) or (APPLICATION.is_of(place.manifest) and self.deploys(place))

    def deploys(self, place: LocatedManifest) -> bool:
        """Say whether a manifest deploys folders or charts, and is of a kind that is to be read."""
        if self.reads(place) or not is_release(place, self.home.fleet.source.rendered):
            return self.reads(place)
        return any(
            kind.is_of(place.manifest) and kind.has_charts(place.manifest["spec"], self.charts) for kind in KINDS
        )

    def is_whole_object_read(self, place: LocatedManifest) -> bool:
        """Say whether a manifest deploys nothing but what is read of it here; an Application may have charts, too."""
        return self.reads(place) and not any(
            kind.is_of(place.manifest) and kind.has_more(place.manifest["spec"], self.charts) for kind in self.kinds
        )

    def is_of_read_kind(self, place: LocatedManifest) -> bool:
        """Say whether a manifest is of a kind that is read, whatever stands in it, or says where such a one is from."""
        rendered = self.home.fleet.source.rendered
        is_read = any(kind.name in rendered and kind.is_of(place.manifest) for kind in KINDS)
        return is_read or (bool(rendered) and group_of(place.manifest["apiVersion"]) in _PLACES)

    def locked_trees(self, manifests: Iterable[LocatedManifest]) -> LockedTrees:
        """Return the contents of the Sources among manifests."""
        external = load_external_sources(argosy_objects(SOURCE, manifests))
        files = RepositoryFiles(self.repository.files, folder=self.home.folder, read=self.repository.read)
        lock = read_lock_of_sources(external.sources, files, self.store)
        lock_input = ((lock.file.path, lock.file.id),) if lock.file else ()
        return LockedTrees(sources=external.sources, locked=lock.locked, lock=lock_input)

    def sources(self, entries: Iterable[LocatedManifest], manifests: Iterable[LocatedManifest]) -> FolderSources:
        """Return what folders are taken from; ``entries`` are the objects that stand in files, or that charts make.

        This repository is the one that most of those in files name, or of those that charts make without any.
        """
        every, namespace = list(manifests), self.home.fleet.default_namespace
        locked = self.locked_trees(every)
        objects, artifacts = flux_objects(every, namespace)
        naming = list(filter(self._names_repositories, entries))
        written = [place for place in naming if not is_made_by_chart(place.file)] or naming
        kustomizations = [place for place in written if KUSTOMIZATION.is_of(place.manifest)]
        applications = [place.manifest["spec"] for place in written if not KUSTOMIZATION.is_of(place.manifest)]
        return FolderSources(
            flux=FluxSources(
                repository=self.repository,
                objects=objects,
                artifacts=artifacts,
                own=source_that_is_this_repository(kustomizations, namespace),
                locked=locked,
            ),
            locked=locked,
            argo=ArgoSources(
                repository=self.repository,
                own=address_of_this_repository(applications),
                locked=locked,
                charts=self.charts,
                destinations=Destinations.of(every),
            ),
            default_namespace=namespace,
        )
